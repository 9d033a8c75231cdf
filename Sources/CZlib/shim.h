// zlib as Swift can call it: the macro deflateInit2 as a function.
#ifndef SLUICE_CZLIB_SHIM_H
#define SLUICE_CZLIB_SHIM_H

#include <zlib.h>

// With zlib's own default of memory. `window_bits` also says what is around the deflated bytes: -15 nothing, with the
// largest window, and 31 gzip's header and trailer.
static inline int sluice_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
