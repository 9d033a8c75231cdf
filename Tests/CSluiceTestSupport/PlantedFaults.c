#include "CSluiceTestSupport.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *sluice_sanitizer(void) {
#if __has_feature(address_sanitizer)
    return "address";
#elif __has_feature(thread_sanitizer)
    return "thread";
#else
    return "";
#endif
}

__attribute__((noinline)) void sluice_plant_leak(void) {
    // More than one, since an old pointer may still lie about in a register or on the stack.
    for (int count = 0; count < 100; count++) {
        char *volatile bytes = malloc(1000);
        memset(bytes, 1, 1000);
        bytes = NULL;
    }
}

__attribute__((noinline)) int sluice_plant_overrun(void) {
    char *volatile bytes = malloc(10);
    memset(bytes, 1, 10);
    int byte = bytes[10];
    free(bytes);
    return byte;
}

static int shared;

static void *count_up(void *unused) {
    for (int count = 0; count < 100000; count++) shared++;
    return unused;
}

int sluice_plant_race(void) {
    pthread_t threads[2];
    for (int index = 0; index < 2; index++) {
        if (pthread_create(&threads[index], NULL, count_up, NULL) != 0) abort();
    }
    for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
    return shared;
}
