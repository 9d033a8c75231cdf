#define _GNU_SOURCE
#include "CSluiceTool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

void sluice_options_begin(void) {
#ifdef __APPLE__
    optreset = 1;
    optind = 1;
#else
    // Both glibc and musl take 0 for "from the start, forgetting the last scan".
    optind = 0;
#endif
    opterr = 0;
}

int sluice_options_next(
    int count, char *const *arguments, const char *short_options, const struct option *long_options,
    const char **argument
) {
    optarg = 0;
    optopt = 0;
    int result = getopt_long(count, arguments, short_options, long_options, 0);
    *argument = optarg;
    return result;
}

int sluice_options_index(void) { return optind; }

int sluice_options_refused(void) { return optopt; }

int sluice_terminal_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : -1;
}

static sigset_t set_of(const int *numbers, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int index = 0; index < count; index++) sigaddset(&set, numbers[index]);
    return set;
}

void sluice_block_signals(const int *numbers, int count) {
    sigset_t set = set_of(numbers, count);
    pthread_sigmask(SIG_BLOCK, &set, 0);
}

void sluice_unblock_signal(int number) {
    sigset_t set = set_of(&number, 1);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
}

int sluice_wait_for_signal(const int *numbers, int count) {
    sigset_t set = set_of(numbers, count);
    int number;
    while (sigwait(&set, &number) != 0) {}
    return number;
}

int sluice_signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN;
}

int sluice_reserve_blocks(int descriptor, long long offset, long long count) {
#ifdef __linux__
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count);
#else
    (void)descriptor, (void)offset, (void)count;
    return -1;
#endif
}
