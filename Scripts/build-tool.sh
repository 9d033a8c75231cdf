#!/usr/bin/env bash
# Builds the tool for use, and prints its path. The Swift runtime is linked into it where there is one to link: that
# takes 2 MiB less memory than sharing it, and starts quicker.
#
#     Scripts/build-tool.sh [SWIFT_BUILD_OPTION]...
set -euo pipefail
cd "$(dirname "$0")/.."

options=(-c release --product sluice "$@")
# Its own scratch directory: else this build and the ordinary one would undo each other's work.
if [[ -d $(dirname "$(command -v swift)")/../lib/swift_static ]]; then
    options+=(--static-swift-stdlib --scratch-path .build/static)
fi
swift build "${options[@]}" >&2
echo "$(swift build "${options[@]}" --show-bin-path)/sluice"
