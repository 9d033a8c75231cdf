#define _GNU_SOURCE

#include "CSluiceTestSupport.h"

#if defined(__linux__) && __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// On Linux, Swift's Mutex is an atomic word that is swapped in the caller, which ThreadSanitizer sees. Only where it is held
// does it wait and wake in a futex inside libswiftSynchronization, which is not built for the sanitizer: the order that
// the futex makes is not seen, and what the mutex protects is reported as a race. These two stand before that library's, and
// say what it does. Nothing is suppressed by that: a race beside the mutex is reported as ever.

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void Lock(uint32_t thread, __attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) void Unlock(__attribute__((swift_context)) void *mutex);

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

Lock sluice_lock_slow __asm__(LOCK_SLOW);
Unlock sluice_unlock_slow __asm__(UNLOCK_SLOW);

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

__attribute__((swiftcall)) void sluice_lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    static _Atomic(void *) function;
    if (function == NULL) function = next(LOCK_SLOW);
    ((Lock *)function)(thread, mutex);
    __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void sluice_unlock_slow(__attribute__((swift_context)) void *mutex) {
    static _Atomic(void *) function;
    if (function == NULL) function = next(UNLOCK_SLOW);
    __tsan_release(mutex);
    ((Unlock *)function)(mutex);
}

int sluice_has_mutex_annotations(void) { return 1; }

#else

int sluice_has_mutex_annotations(void) { return 0; }

#endif
