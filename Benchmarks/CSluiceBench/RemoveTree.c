#define _XOPEN_SOURCE 700
#include "CSluiceBench.h"

#include <ftw.h>
#include <stdio.h>

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

int sluice_remove_tree(const char *path) { return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }
