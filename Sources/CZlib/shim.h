// zlib as Swift can call it: the macro deflateInit2 as a function.
#ifndef SLUICE_CZLIB_SHIM_H
#define SLUICE_CZLIB_SHIM_H

#include <zlib.h>

// Raw deflate (RFC 1951) with the largest window, and zlib's own default of memory.
static inline int sluice_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

#endif
