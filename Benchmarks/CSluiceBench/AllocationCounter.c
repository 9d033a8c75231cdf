#include "CSluiceBench.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// The sanitizers have an allocator of their own, which sees nothing where it is not asked.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLUICE_IS_SANITIZED 1
#else
#define SLUICE_IS_SANITIZED 0
#endif

#if defined(__GLIBC__) && !SLUICE_IS_SANITIZED

// The executable's definitions come before the C library's, for the Swift runtime's calls too.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic int64_t count;

static void note(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    note();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note();
    void *allocated = __libc_memalign(alignment, size);
    if (allocated == NULL) return ENOMEM;
    *memory = allocated;
    return 0;
}

int64_t sluice_allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

#else

int64_t sluice_allocation_count(void) { return -1; }

#endif
