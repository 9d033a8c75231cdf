#define _GNU_SOURCE
#include "CSluiceShims.h"

#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void sluice_set_thread_name(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
#ifdef __APPLE__
    pthread_setname_np(cut);
#else
    pthread_setname_np(pthread_self(), cut);
#endif
}

int sluice_pipe(int *ends) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int sluice_rename_new(int from_directory, const char *from, int to_directory, const char *to) {
#if defined(__APPLE__)
    return renameatx_np(from_directory, from, to_directory, to, RENAME_EXCL);
#elif defined(RENAME_NOREPLACE)
    return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int sluice_rename_exchange(int from_directory, const char *from, int to_directory, const char *to) {
#if defined(__APPLE__)
    return renameatx_np(from_directory, from, to_directory, to, RENAME_SWAP);
#elif defined(RENAME_EXCHANGE)
    return renameat2(from_directory, from, to_directory, to, RENAME_EXCHANGE);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int sluice_is_loopback(int descriptor) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &size) != 0) return 0;
    if (peer.ss_family == AF_INET) {
        return ntohl(((struct sockaddr_in *)&peer)->sin_addr.s_addr) >> 24 == 127;
    }
    if (peer.ss_family == AF_INET6) {
        const struct in6_addr *address = &((struct sockaddr_in6 *)&peer)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
    }
    return 0;
}

int sluice_memmem(const void *bytes, size_t count, const void *needle, size_t needle_count) {
    return memmem(bytes, count, needle, needle_count) != NULL;
}

// The common way: a file with a name of its own, which is removed at once.
static int open_and_unlink(const char *directory) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/sluice.XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0) unlink(path);
    return descriptor;
}

int sluice_open_temporary_file(const char *directory) {
#ifdef O_TMPFILE
    // O_EXCL: nobody can give it a name.
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    // EISDIR and ENOENT are what kernels say that do not know the flag, EOPNOTSUPP what file systems do.
    if (descriptor >= 0 || (errno != EISDIR && errno != EOPNOTSUPP && errno != ENOENT)) return descriptor;
#endif
    return open_and_unlink(directory);
}

int sluice_core_count(void) {
#ifdef __linux__
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
#endif
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

#ifdef __linux__

#include <linux/magic.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

ssize_t sluice_copy_file_range(int in, int64_t *in_offset, int out, size_t count) {
    return copy_file_range(in, in_offset, out, NULL, count, 0);
}

ssize_t sluice_splice(int in, int64_t *in_offset, int out, size_t count, int expects_more) {
    return splice(in, in_offset, out, NULL, count, SPLICE_F_MOVE | (expects_more ? SPLICE_F_MORE : 0));
}

ssize_t sluice_sendfile(int out, int in, int64_t *in_offset, size_t count) {
    return sendfile(out, in, in_offset, count);
}

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
    case EFIVARFS_MAGIC:
    case BPF_FS_MAGIC:
    case PSTOREFS_MAGIC:
    case SELINUX_MAGIC:
    case 0x62656570: // configfs, which the header lacks
        return 1;
    default:
        return 0;
    }
}

static void fill(struct sluice_status *result, const struct stat *status) {
    *result = (struct sluice_status){
        .mode = status->st_mode,
        .user = status->st_uid,
        .group = status->st_gid,
        .links = status->st_nlink,
        .size = status->st_size,
        .blocks = status->st_blocks,
        .device = (uint64_t)major(status->st_dev) << 32 | minor(status->st_dev),
        .inode = status->st_ino,
        .modified = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
    };
}

// Without a time of birth, for kernels and sandboxes that know no statx.
static int plain_status(int descriptor, const char *path, struct sluice_status *result) {
    struct stat status;
    if ((path ? stat(path, &status) : fstat(descriptor, &status)) != 0) return -1;
    fill(result, &status);
    return 0;
}

int sluice_short_status(int descriptor, struct sluice_status *result) {
    struct stat status;
#if defined(SYS_fstat) && (defined(__x86_64__) || defined(__aarch64__))
    // glibc's fstat goes by way of a path since 2.33, which takes the kernel a fifth longer; the structure is the same.
    if (syscall(SYS_fstat, descriptor, &status) != 0) return -1;
#else
    if (fstat(descriptor, &status) != 0) return -1;
#endif
    fill(result, &status);
    return 0;
}

int sluice_status(int descriptor, const char *path, struct sluice_status *result) {
    struct statx status;
    if (statx(
            path ? AT_FDCWD : descriptor, path ? path : "", path ? 0 : AT_EMPTY_PATH,
            STATX_BASIC_STATS | STATX_BTIME, &status
        ) != 0) {
        return errno == ENOSYS || errno == EPERM ? plain_status(descriptor, path, result) : -1;
    }
    *result = (struct sluice_status){
        .mode = status.stx_mode,
        .user = status.stx_uid,
        .group = status.stx_gid,
        .links = status.stx_nlink,
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
        .user = status.st_uid,
        .group = status.st_gid,
        .links = status.st_nlink,
        .size = status.st_size,
        .blocks = status.st_blocks,
        .device = (uint64_t)status.st_dev,
        .inode = status.st_ino,
        .modified = (int64_t)status.st_mtimespec.tv_sec * 1000000000 + status.st_mtimespec.tv_nsec,
        .born = (int64_t)status.st_birthtimespec.tv_sec * 1000000000 + status.st_birthtimespec.tv_nsec,
    };
    return 0;
}

int sluice_short_status(int descriptor, struct sluice_status *result) {
    int status = sluice_status(descriptor, NULL, result);
    result->born = 0;
    return status;
}

#endif
