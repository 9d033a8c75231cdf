#!/usr/bin/env bash
# The tool runs wherever libcurl, zlib, libcrypto and libmicrohttpd are: it must not pull in Foundation, nor anything else unnoticed.
#
#     Scripts/check-linkage.sh [BIN_PATH]
set -euo pipefail
cd "$(dirname "$0")/.."

executable=${1:-.build/debug}/sluice

if [[ $(uname -s) != Linux ]]; then
    echo "check-linkage.sh: only ELF executables are looked at; nothing checked"
    exit 0
fi

# Directly needed libraries. The Swift runtime's own are named one by one, since libswift* would let
# Foundation's and the testing library's through.
allowed='^(libswift(Core|_Concurrency|_StringProcessing|_RegexParser|Synchronization|Glibc|_Builtin_float|SwiftOnoneSupport|_Volatile)'
allowed+='|libcurl|libz|libcrypto|libmicrohttpd|libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|ld-linux[-a-z0-9_]*)\.so(\.[0-9]+)*$'

needed=$(readelf -d "$executable" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
unexpected=$(grep -vE "$allowed" <<<"$needed" || true)
if [[ -n $unexpected ]]; then
    printf 'error: %s needs what it should not:\n%s\n' "$executable" "$unexpected" >&2
    exit 1
fi
echo "$executable needs $(wc -l <<<"$needed") libraries, all of them expected"
