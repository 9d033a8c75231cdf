#!/usr/bin/env bash
# Runs tests under AddressSanitizer (with LeakSanitizer) and ThreadSanitizer, and fails where there is a report.
#
#     Scripts/sanitize.sh [address|thread [FILTER]]
#
# Both without a name. FILTER is a regular expression of tests, in place of the selection below.
#
# Nothing is suppressed. ThreadSanitizer is told what Swift's Mutex does: Tests/CSluiceTestSupport/MutexAnnotations.c.
set -euo pipefail
cd "$(dirname "$0")/.."

kinds=(address thread)
if (($# > 0)); then kinds=("$1"); fi
filter=${2:-}

for kind in "${kinds[@]}"; do
    # Of SluiceFoundation and SluiceCurl what is Sluice's own: URLSession and libcurl are not built for the sanitizers.
    case $kind in
    address)
        # Leaks are looked for at the end of each process, those of single tests among them.
        export ASAN_OPTIONS=detect_leaks=1
        selections=(
            '^SluiceTests\.'
            '^SluiceCurlTests\.(CancellationStorm|TLS|UploadEvents|Receiver|TransferFault|FileWriter)Tests'
            '^SluiceFoundationTests\.(FoundationParts|BodyInputStream)'
        )
        ;;
    thread)
        export TSAN_OPTIONS=exitcode=66
        # What has more than one thread, thirteen uses of which are cancelled so often each.
        export SLUICE_CANCELLATIONS=${SLUICE_CANCELLATIONS:-250}
        selections=(
            '^SluiceTests\.(CancellationStorm|ParallelReader|BodyChunks|Async|GzipCancellation|ReadInterrupt|Stream)'
            '^SluiceTests\.(SavedPart|MultipartReader|ProgressDelivery|ProgressStream|GunzippedContent)'
            '^SluiceCurlTests\.(CancellationStorm|UploadEvents)Tests'
            '^SluiceFoundationTests\.BodyInputStream'
        )
        ;;
    *)
        echo "usage: Scripts/sanitize.sh [address|thread [FILTER]]" >&2
        exit 2
        ;;
    esac
    if [[ -n $filter ]]; then selections=("$filter"); fi
    swift build --build-tests --sanitize="$kind" --scratch-path ".build/$kind"
    for selection in "${selections[@]}"; do
        echo "== $kind: $selection"
        # One after the other: under a sanitizer, a thousand tests that run at once wait for each other past every limit.
        swift test --skip-build --disable-xctest --no-parallel --sanitize="$kind" --scratch-path ".build/$kind" \
            --filter "$selection"
    done
done
