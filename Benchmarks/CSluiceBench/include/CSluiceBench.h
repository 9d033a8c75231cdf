// What the benchmark needs of libc and Swift cannot reach.
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <stdint.h>

// The calls of malloc, calloc, realloc, memalign and their kin in the whole process so far, counted by standing in
// for them; -1 where they cannot be counted.
int64_t sluice_allocation_count(void);

// Removes a directory and all below it, without following links (nftw, which the overlay lacks): 0, or -1.
int sluice_remove_tree(const char *path);

#endif
