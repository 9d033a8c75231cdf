// The few libc calls and macros that Swift's Glibc overlay does not import.
#ifndef SLUICE_SHIMS_H
#define SLUICE_SHIMS_H

#include <stdint.h>
#include <sys/types.h>

// A pipe that is closed on exec.
int sluice_pipe(int *ends);

#ifdef __linux__

// copy_file_range(2): bytes from one file to another inside the kernel.
ssize_t sluice_copy_file_range(int in, int64_t *in_offset, int out, size_t count);

// splice(2) with SPLICE_F_MOVE, and SPLICE_F_MORE where `expects_more`; `in_offset` may be NULL (pipes have none).
ssize_t sluice_splice(int in, int64_t *in_offset, int out, size_t count, int expects_more);

// sendfile(2) with a 64-bit offset.
ssize_t sluice_sendfile(int out, int in, int64_t *in_offset, size_t count);

// fcntl(2) F_SETPIPE_SZ.
int sluice_set_pipe_capacity(int pipe, int capacity);

// eventfd(2), close-on-exec.
int sluice_eventfd(void);

// Whether the descriptor is on a file system that makes up its files as they are read (procfs, sysfs,
// tracefs, ...), so that their sizes say nothing: 1, 0, or -1 with errno.
int sluice_is_synthetic_file(int descriptor);

#endif

// renameat(2) that fails with EEXIST where there is something of the new name, and with EINVAL, ENOSYS or ENOTSUP where
// the system cannot: 0, or -1 with errno.
int sluice_rename_new(int from_directory, const char *from, int to_directory, const char *to);

// Exchanges the names of two files: 0, or -1 with errno, which is EINVAL, ENOSYS or ENOTSUP where the system cannot.
int sluice_rename_exchange(int from_directory, const char *from, int to_directory, const char *to);

// Names the calling thread for debuggers and `top -H`; longer names are cut.
void sluice_set_thread_name(const char *name);

// 1 where the descriptor is a TCP socket that is connected to this very machine, else 0.
int sluice_is_loopback(int descriptor);

// 1 where `needle` occurs in `bytes` (memmem, which POSIX lacks), else 0.
int sluice_memmem(const void *bytes, size_t count, const void *needle, size_t needle_count);

// A file without a name in the directory, open for reading and writing by its owner alone: its descriptor, or -1 with
// errno.
int sluice_open_temporary_file(const char *directory);

// The cores that this process may run on, by its affinity where the system has one; 0 where it does not say.
int sluice_core_count(void);

// What stat(2) says of the file with this path, or of the descriptor where the path is NULL: 0, or -1 with errno.
// Times are nanoseconds. `born` is what stat(2) does not say on Linux; 0 where the file system does not know.
struct sluice_status {
    uint32_t mode, user, group;
    uint64_t links;
    int64_t size, blocks;
    uint64_t device, inode;
    int64_t modified, born;
};
int sluice_status(int descriptor, const char *path, struct sluice_status *result);

// The same for a descriptor by fstat(2), which is quicker: `born` is 0.
int sluice_short_status(int descriptor, struct sluice_status *result);

#endif
