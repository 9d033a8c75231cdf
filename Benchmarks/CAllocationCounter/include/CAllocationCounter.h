// Counts the calls into the C allocator of the whole process, by standing in for it.
#ifndef SLUICE_ALLOCATION_COUNTER_H
#define SLUICE_ALLOCATION_COUNTER_H

#include <stdint.h>

// The calls of malloc, calloc, realloc, memalign and their kin so far; -1 where they cannot be counted.
int64_t sluice_allocation_count(void);

#endif
