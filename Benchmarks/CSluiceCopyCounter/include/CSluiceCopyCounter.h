// Loaded before the C library (LD_PRELOAD) into the process in which the benchmark counts, and into no other.
#ifndef SLUICE_COPY_COUNTER_H
#define SLUICE_COPY_COUNTER_H

#include <stdint.h>

// The bytes that memcpy, memmove and their kin have moved in this process so far.
int64_t sluice_copied_bytes(void);

#endif
