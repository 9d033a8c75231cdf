// zlib as Swift can call it: the macros deflateInit2 and inflateInit2 as functions.
#ifndef SLUICE_CZLIB_SHIM_H
#define SLUICE_CZLIB_SHIM_H

#include <zlib.h>

// With zlib's own default of memory. `window_bits` also says what is around the deflated bytes: -15 nothing, with the
// largest window, and 31 gzip's header and trailer.
static inline int sluice_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

// gzip members (RFC 1952), and no other format.
static inline int sluice_inflate_init(z_stream *stream) {
    return inflateInit2(stream, MAX_WBITS + 16);
}

#endif
