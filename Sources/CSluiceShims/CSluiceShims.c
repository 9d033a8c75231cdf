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

int sluice_status(int descriptor, const char *path, struct sluice_status *result) {
    struct statx status;
    if (statx(
            path ? AT_FDCWD : descriptor, path ? path : "", path ? 0 : AT_EMPTY_PATH,
            STATX_BASIC_STATS | STATX_BTIME, &status
        ) != 0) {
        return -1;
    }
    *result = (struct sluice_status){
        .mode = status.stx_mode,
        .size = (int64_t)status.stx_size,
        .blocks = (int64_t)status.stx_blocks,
        .device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor,
        .inode = status.stx_ino,
        .modified = status.stx_mtime.tv_sec * 1000000000 + status.stx_mtime.tv_nsec,
    };
    if (status.stx_mask & STATX_BTIME) {
        result->born = status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
    }
    return 0;
}

#else

int sluice_status(int descriptor, const char *path, struct sluice_status *result) {
    struct stat status;
    if ((path ? stat(path, &status) : fstat(descriptor, &status)) != 0) return -1;
    *result = (struct sluice_status){
        .mode = status.st_mode,
        .size = status.st_size,
        .blocks = status.st_blocks,
        .device = (uint64_t)status.st_dev,
        .inode = status.st_ino,
        .modified = (int64_t)status.st_mtimespec.tv_sec * 1000000000 + status.st_mtimespec.tv_nsec,
        .born = (int64_t)status.st_birthtimespec.tv_sec * 1000000000 + status.st_birthtimespec.tv_nsec,
    };
    return 0;
}

#endif
