// What the command-line tool needs of libc and Swift cannot reach.
#ifndef SLUICE_TOOL_H
#define SLUICE_TOOL_H

#include <getopt.h>

// getopt_long(3), whose results are global variables, which Swift does not let one touch. One scan at a time.
// `next` gives what getopt_long gives, without its messages; `index` is optind, and `refused` optopt.
void sluice_options_begin(void);
int sluice_options_next(
    int count, char *const *arguments, const char *short_options, const struct option *long_options,
    const char **argument
);
int sluice_options_index(void);
int sluice_options_refused(void);

// The width of the terminal behind the descriptor: 0 where it does not say, -1 where it is no terminal.
int sluice_terminal_columns(int descriptor);

// Signals are blocked in the calling thread, unblocked there, or awaited until one of them comes, which is the result.
// Here, because sets of signals are a type of whichever C module Swift happens to read first.
void sluice_block_signals(const int *numbers, int count);
void sluice_unblock_signal(int number);
int sluice_wait_for_signal(const int *numbers, int count);

// 1 where the process ignores the signal, else 0; the name of the handler differs from one C library to the next.
int sluice_signal_is_ignored(int number);

// Sets blocks aside for what will be written behind a file's end; not 0 where the file system cannot.
int sluice_reserve_blocks(int descriptor, long long offset, long long count);

#endif
