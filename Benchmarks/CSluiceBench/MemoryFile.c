#define _GNU_SOURCE
#include "CSluiceBench.h"

#include <errno.h>
#include <sys/mman.h>

int sluice_memory_file(void) {
#ifdef __linux__
    return memfd_create("sparse", MFD_CLOEXEC);
#else
    errno = ENOSYS;
    return -1;
#endif
}
