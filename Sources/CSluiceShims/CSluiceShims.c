#define _GNU_SOURCE
#include "CSluiceShims.h"

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void sluice_set_thread_name(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
#ifdef __APPLE__
    pthread_setname_np(cut);
#else
    pthread_setname_np(pthread_self(), cut);
#endif
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

int sluice_remove_tree(const char *path) { return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

int sluice_memmem(const void *bytes, size_t count, const void *needle, size_t needle_count) {
    return memmem(bytes, count, needle, needle_count) != NULL;
}


#ifdef __linux__

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/statfs.h>
#include <unistd.h>

ssize_t sluice_copy_file_range(int in, int64_t *in_offset, int out, size_t count) {
    return copy_file_range(in, in_offset, out, NULL, count, 0);
}

ssize_t sluice_splice(int in, int64_t *in_offset, int out, size_t count) {
    return splice(in, in_offset, out, NULL, count, SPLICE_F_MOVE | SPLICE_F_MORE);
}

ssize_t sluice_sendfile(int out, int in, int64_t *in_offset, size_t count) {
    return sendfile(out, in, in_offset, count);
}

int sluice_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int sluice_set_pipe_capacity(int pipe, int capacity) { return fcntl(pipe, F_SETPIPE_SZ, capacity); }

int sluice_eventfd(void) { return eventfd(0, EFD_CLOEXEC); }

int sluice_is_synthetic_file(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    switch ((unsigned long)status.f_type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case TRACEFS_MAGIC:
    case DEBUGFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case SECURITYFS_MAGIC:
        return 1;
    default:
        return 0;
    }
}

int64_t sluice_mtime_nanoseconds(const struct stat *status) {
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

#else

int64_t sluice_mtime_nanoseconds(const struct stat *status) {
    return (int64_t)status->st_mtimespec.tv_sec * 1000000000 + status->st_mtimespec.tv_nsec;
}

#endif
