#!/usr/bin/env bash
# Uploads and downloads for a time, through real servers and with random faults, and fails where a file is not what was
# sent, where something is left, and where memory, descriptors or threads grow. See Tests/Soak.
#
#     Scripts/soak.sh [WAYS]     SOAK_SECONDS=3600 Scripts/soak.sh     Scripts/soak.sh session
#
# Ten minutes unless SOAK_SECONDS says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

# Whole files are compared in memory. Without these, the allocator keeps up to 16 times the largest, one for each arena,
# and a leak would have to be larger than that to be seen.
export MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_ARENA_MAX=2

exec stdbuf -oL .build/debug/SluiceSoak .build/debug/sluice "${SOAK_SECONDS:-600}" "$@"
