#define _GNU_SOURCE
#include "CSluiceBench.h"

#include <errno.h>

#ifdef __linux__

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Options that prctl refuses, so that the marks have no other effect.
enum { mark_begin = 0x534C5501, mark_end = 0x534C5502 };

void sluice_begin_counting(void) { prctl(mark_begin, 0, 0, 0, 0); }
void sluice_end_counting(void) { prctl(mark_end, 0, 0, 0, 0); }

// <linux/ptrace.h> and <sys/ptrace.h> do not go together.
enum { get_syscall_info = 0x420e, at_entry = 1, at_exit = 2 };
struct syscall_info {
    uint8_t op, padding[3];
    uint32_t arch;
    uint64_t instruction_pointer, stack_pointer;
    union {
        struct {
            uint64_t number, arguments[6];
        } entry;
        struct {
            int64_t result;
            uint8_t is_error;
        } exit;
    };
};

enum { most_threads = 2048 };

struct thread {
    pid_t id;
    // Of the call that it is in, -1 where it is in none that counts.
    int number;
};

struct trace {
    pid_t child;
    bool is_counting;
    int run, runs;
    struct sluice_system_calls *counts;
    int64_t *by_number;
    int thread_count;
    struct thread threads[most_threads];
};

static struct thread *find_thread(struct trace *trace, pid_t id) {
    for (int index = 0; index < trace->thread_count; index++)
        if (trace->threads[index].id == id) return &trace->threads[index];
    if (trace->thread_count == most_threads) return NULL;
    struct thread *thread = &trace->threads[trace->thread_count++];
    *thread = (struct thread){.id = id, .number = -1};
    return thread;
}

static void forget_thread(struct trace *trace, pid_t id) {
    for (int index = 0; index < trace->thread_count; index++)
        if (trace->threads[index].id == id) trace->threads[index--] = trace->threads[--trace->thread_count];
}

static bool knows_thread(const struct trace *trace, pid_t id) {
    for (int index = 0; index < trace->thread_count; index++)
        if (trace->threads[index].id == id) return true;
    return false;
}

// Seizes every thread that there is; those made later follow by themselves.
static int seize(struct trace *trace) {
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", trace->child);
    for (bool found_more = true; found_more;) {
        found_more = false;
        DIR *tasks = opendir(path);
        if (tasks == NULL) return errno;
        for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
            pid_t id = (pid_t)atoi(entry->d_name);
            if (id <= 0 || knows_thread(trace, id)) continue;
            if (ptrace(PTRACE_SEIZE, id, NULL, (void *)options) != 0) {
                // A thread that ended between the listing and here is none.
                if (errno == ESRCH) continue;
                int error = errno;
                closedir(tasks);
                return error;
            }
            ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
            if (find_thread(trace, id) == NULL) {
                closedir(tasks);
                return EAGAIN;
            }
            found_more = true;
        }
        closedir(tasks);
    }
    return 0;
}

static void add_bytes(struct sluice_system_calls *counts, int number, int64_t bytes) {
    switch (number) {
    case SYS_read: case SYS_pread64: case SYS_readv: case SYS_preadv: case SYS_preadv2:
    case SYS_recvfrom: case SYS_recvmsg: case SYS_getrandom:
        counts->bytes_in += bytes;
        break;
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_pwritev2:
    case SYS_sendto: case SYS_sendmsg:
        counts->bytes_out += bytes;
        break;
    case SYS_copy_file_range: case SYS_sendfile: case SYS_splice: case SYS_tee: case SYS_vmsplice:
        counts->bytes_within_kernel += bytes;
        break;
    default: break;
    }
}

// Takes note of a thread's entry into or exit from a system call. Returns whether that was the last mark.
static bool note(struct trace *trace, pid_t id) {
    struct syscall_info info;
    memset(&info, 0, sizeof info);
    if (ptrace(get_syscall_info, id, (void *)sizeof info, &info) <= 0) return false;
    struct thread *thread = find_thread(trace, id);
    if (info.op == at_entry) {
        int number = (int)info.entry.number;
        if (number == SYS_prctl && info.entry.arguments[0] == mark_begin) {
            trace->is_counting = true;
        } else if (number == SYS_prctl && info.entry.arguments[0] == mark_end) {
            trace->is_counting = false;
            return ++trace->run == trace->runs;
        } else if (trace->is_counting && number != SYS_restart_syscall) {
            // (A call that goes on after the interruption with which watching began is none.)
            trace->counts[trace->run].calls++;
            if (trace->run == 0 && number >= 0 && number < sluice_system_call_numbers) trace->by_number[number]++;
            if (thread != NULL) thread->number = number;
        }
    } else if (info.op == at_exit && thread != NULL) {
        if (trace->is_counting && thread->number >= 0 && info.exit.result > 0)
            add_bytes(&trace->counts[trace->run], thread->number, info.exit.result);
        thread->number = -1;
    }
    return false;
}

// Lets a thread run on unwatched.
static void detach(pid_t id) {
    ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
    int status;
    if (waitpid(id, &status, __WALL) != id || !WIFSTOPPED(status)) return;
    int signal = WSTOPSIG(status);
    bool is_delivery = status >> 16 == 0 && signal != (SIGTRAP | 0x80) && signal != SIGTRAP;
    ptrace(PTRACE_DETACH, id, NULL, (void *)(long)(is_delivery ? signal : 0));
}

// Lets all threads run on unwatched; `stopped` is stopped already, and goes on last: until then the process cannot end,
// which would leave threads that are watched and dead, and so a process that nobody could wait for.
static void let_go(struct trace *trace, pid_t stopped) {
    for (int index = 0; index < trace->thread_count; index++)
        if (trace->threads[index].id != stopped) detach(trace->threads[index].id);
    // Those that came into being meanwhile are watched from their first instruction on, and stand there still.
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", trace->child);
    DIR *tasks = opendir(path);
    if (tasks != NULL) {
        for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
            pid_t id = (pid_t)atoi(entry->d_name);
            if (id > 0 && id != stopped && !knows_thread(trace, id)) detach(id);
        }
        closedir(tasks);
    }
    if (stopped > 0) ptrace(PTRACE_DETACH, stopped, NULL, NULL);
}

int sluice_count_system_calls(
    pid_t child, int go, int runs, struct sluice_system_calls *counts, int64_t *by_number) {
    static struct trace trace;
    trace = (struct trace){.child = child, .runs = runs, .counts = counts, .by_number = by_number};
    memset(counts, 0, sizeof *counts * (size_t)runs);
    memset(by_number, 0, sizeof *by_number * sluice_system_call_numbers);
    int error = seize(&trace);
    if (error != 0) {
        // Nothing is held: what was seized stands still until it is let go.
        if (trace.thread_count > 0) let_go(&trace, 0);
        return error;
    }
    if (write(go, "\n", 1) != 1) return errno;
    while (true) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (id == child) return ECHILD;
            forget_thread(&trace, id);
            continue;
        }
        int signal = WSTOPSIG(status);
        long deliver = 0;
        if (signal == (SIGTRAP | 0x80)) {
            if (note(&trace, id)) {
                let_go(&trace, id);
                return 0;
            }
        } else if (status >> 16 == 0) {
            deliver = signal;
        } else {
            // A new thread's first stop, the parent's report of it, or the interruption that began it all.
            find_thread(&trace, id);
        }
        ptrace(PTRACE_SYSCALL, id, NULL, (void *)deliver);
    }
}

const char *sluice_system_call_name(int number) {
    switch (number) {
#define NAME(call) case SYS_##call: return #call;
    NAME(read) NAME(write) NAME(pread64) NAME(pwrite64) NAME(readv) NAME(writev) NAME(preadv) NAME(pwritev)
    NAME(openat) NAME(close) NAME(fstat) NAME(lseek) NAME(fadvise64) NAME(fcntl) NAME(statx) NAME(newfstatat)
    NAME(copy_file_range) NAME(sendfile) NAME(splice) NAME(ftruncate) NAME(unlinkat) NAME(renameat) NAME(fsync)
    NAME(socket) NAME(connect) NAME(accept4) NAME(sendto) NAME(recvfrom) NAME(sendmsg) NAME(recvmsg) NAME(shutdown)
    NAME(setsockopt) NAME(getsockopt) NAME(getsockname) NAME(getpeername) NAME(ppoll) NAME(epoll_pwait) NAME(epoll_ctl)
    NAME(futex) NAME(mmap) NAME(munmap) NAME(mprotect) NAME(madvise) NAME(mremap) NAME(brk) NAME(clone) NAME(pipe2)
    NAME(eventfd2) NAME(rt_sigaction) NAME(rt_sigprocmask) NAME(sched_yield) NAME(getrandom) NAME(wait4) NAME(exit)
#ifdef SYS_open
    NAME(open) NAME(stat) NAME(lstat) NAME(unlink) NAME(poll) NAME(epoll_wait)
#endif
#undef NAME
    default: return NULL;
    }
}

#else

void sluice_begin_counting(void) {}
void sluice_end_counting(void) {}

int sluice_count_system_calls(
    pid_t child, int go, int runs, struct sluice_system_calls *counts, int64_t *by_number) {
    (void)child, (void)go, (void)runs, (void)counts, (void)by_number;
    return ENOSYS;
}

const char *sluice_system_call_name(int number) {
    (void)number;
    return 0;
}

#endif
