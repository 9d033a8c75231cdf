// What the benchmark needs of libc and Swift cannot reach.
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <stdint.h>
#include <sys/types.h>

// The calls of malloc, calloc, realloc, memalign and their kin in the whole process so far, counted by standing in
// for them; -1 where they cannot be counted.
int64_t sluice_allocation_count(void);

// The bytes that memcpy and its kin have moved in the whole process so far; -1 where the library that counts them is
// not loaded.
int64_t sluice_copied_byte_count(void);

// A file without a name, in memory (memfd_create): its descriptor, or -1 with errno.
int sluice_memory_file(void);

// Removes a directory and all below it, without following links (nftw, which the overlay lacks): 0, or -1.
int sluice_remove_tree(const char *path);

// What a process asked of the kernel while it was counted.
struct sluice_system_calls {
    int64_t calls;
    // Bytes that the kernel copied into its memory (read, recv and their kin), out of it (write, send), and from one
    // descriptor to another (copy_file_range, sendfile, splice).
    int64_t bytes_in;
    int64_t bytes_out;
    int64_t bytes_within_kernel;
};

enum { sluice_system_call_numbers = 1024 };

// Says to a process that traces this one where counting begins and ends.
void sluice_begin_counting(void);
void sluice_end_counting(void);

// Counts the system calls of all threads of a child, but not those of its own children, between the marks above.
//
// A byte is written to `go` once the child is watched. Each of the `runs` stretches between marks fills one element of
// `counts`; `by_number` gets the calls of the first by their numbers, and has room for sluice_system_call_numbers.
// Returns 0, or an errno value: EPERM where the system does not allow it, ENOSYS where it cannot, ECHILD where the
// child ended meanwhile (it is then waited for).
int sluice_count_system_calls(
    pid_t child, int go, int runs, struct sluice_system_calls *counts, int64_t *by_number);

// A system call's name, or NULL for those that no row makes many of.
const char *sluice_system_call_name(int number);

#endif
