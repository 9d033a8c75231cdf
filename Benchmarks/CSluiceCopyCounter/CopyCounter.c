#define _GNU_SOURCE
#include "CSluiceCopyCounter.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef __GLIBC__

static _Atomic int64_t copied;

// One function does for all: memmove is memcpy that allows overlaps.
static void *counted(void *to, const void *from, size_t count) {
    static void *(*_Atomic move)(void *, const void *, size_t);
    void *(*actual)(void *, const void *, size_t) = atomic_load_explicit(&move, memory_order_relaxed);
    if (actual == NULL) {
        *(void **)&actual = dlsym(RTLD_NEXT, "memmove");
        atomic_store_explicit(&move, actual, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&copied, (int64_t)count, memory_order_relaxed);
    return actual(to, from, count);
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) { return counted(to, from, count); }

void *memmove(void *to, const void *from, size_t count) { return counted(to, from, count); }

void *mempcpy(void *restrict to, const void *restrict from, size_t count) {
    return (char *)counted(to, from, count) + count;
}

// What callers become that were built with -D_FORTIFY_SOURCE. The benchmark trusts their sizes.
void *__memcpy_chk(void *restrict to, const void *restrict from, size_t count, size_t room) {
    (void)room;
    return counted(to, from, count);
}

void *__memmove_chk(void *to, const void *from, size_t count, size_t room) {
    (void)room;
    return counted(to, from, count);
}

int64_t sluice_copied_bytes(void) { return atomic_load_explicit(&copied, memory_order_relaxed); }

#else

int64_t sluice_copied_bytes(void) { return -1; }

#endif
