#!/usr/bin/env bash
# Builds the documentation of every library from what `make build` left, and fails on any warning: a dead
# symbol link, a parameter that does not exist, a "Returns" on a function that returns nothing.
#
#     Scripts/build-docs.sh [BIN_PATH]     -> .build/docs/<Module>.doccarchive, a static site each
#
# Symbol graphs are extracted from the built modules, so nothing is compiled a second time.
set -euo pipefail
cd "$(dirname "$0")/.."

modules=(Sluice SluiceFoundation SluiceCurl)
bin_path=${1:-.build/debug}
output=.build/docs
graphs=.build/symbol-graphs

if ! command -v docc >/dev/null; then
    echo "build-docs.sh: docc is not on the PATH; it comes with the Swift toolchain" >&2
    exit 1
fi

# C modules that the Swift modules were built against; the extractor loads them again.
clang_flags=()
for map in "$PWD"/Sources/*/module.modulemap "$PWD/$bin_path"/*.build/module.modulemap \
    "$PWD"/Sources/*/include/module.modulemap; do
    if [[ -e $map ]]; then clang_flags+=(-Xcc "-fmodule-map-file=$map"); fi
done
for flag in $(pkg-config --cflags libcurl zlib); do clang_flags+=(-Xcc "$flag"); done

target=$(swift -print-target-info | sed -n 's/.*"triple" *: *"\([^"]*\)".*/\1/p' | head -n 1)
sdk=()
if [[ $(uname -s) == Darwin ]]; then sdk=(-sdk "$(xcrun --show-sdk-path)"); fi

rm -rf "$graphs"
mkdir -p "$output"
dependencies=()
for module in "${modules[@]}"; do
    catalog=Sources/$module/Documentation.docc
    if [[ ! -d $catalog ]]; then
        echo "build-docs.sh: $catalog is missing; every library has a catalog" >&2
        exit 1
    fi
    mkdir -p "$graphs/$module"
    swift symbolgraph-extract -module-name "$module" -I "$bin_path/Modules" -target "$target" \
        -minimum-access-level public -emit-extension-block-symbols -skip-inherited-docs \
        ${sdk[@]+"${sdk[@]}"} "${clang_flags[@]}" -output-dir "$graphs/$module"

    archive=$output/$module.doccarchive
    rm -rf "$archive"
    docc convert "$catalog" \
        --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" \
        --fallback-bundle-identifier "sluice.$module" \
        --output-path "$archive" \
        --warnings-as-errors \
        --transform-for-static-hosting --hosting-base-path "$module" \
        --enable-experimental-external-link-support \
        ${dependencies[@]+"${dependencies[@]}"} | sed '/^$/d'
    # A module's pages may link to those of the modules before it.
    dependencies+=(--dependency "$archive")
    echo "$archive"
done
