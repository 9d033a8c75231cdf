#!/usr/bin/env bash
# Fuzzes with libFuzzer, from the corpora in Tests/Corpus, and fails on the first finding.
#
#     Scripts/fuzz.sh [TARGET [LIBFUZZER_OPTION...]]     one target; all of them one after the other without a name
#     FUZZ_SECONDS=600 Scripts/fuzz.sh parser            for ten minutes; 10 seconds a target unless set
#     FUZZ_MINIMIZE=1 Scripts/fuzz.sh parser             prints which of the new inputs reach what no kept one does
#
# The targets are the directories of Tests/Corpus. `parser` is the fast one, for tens of millions of executions; `body`
# checks the same parser against itself in many ways of cutting, some thousand times a second.
#
# What is new goes to .build/fuzz-corpus/TARGET; an input that is a finding is left in .build/fuzz-findings. Copy it to
# Tests/Corpus/TARGET, which is part of the tests, when it is mended.
set -euo pipefail
cd "$(dirname "$0")/.."

# Swift's own report of a crash comes before libFuzzer can write the input down.
export SWIFT_BACKTRACE=enable=no

targets=(parser body headers disposition content-type gunzip filename form-argument)
if (($# > 0)); then
    targets=("$1")
    shift
fi
for target in "${targets[@]}"; do
    [[ -d Tests/Corpus/$target ]] || { echo "Tests/Corpus has no directory $target" >&2; exit 2; }
done

SLUICE_FUZZ=1 swift build -c release --scratch-path .build/fuzz --product SluiceFuzz \
    -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld -Xcc -fsanitize=fuzzer-no-link

# The place of a cut is one byte, so that longer bodies than this are not cut at every place.
declare -A longest=([parser]=256 [body]=2048 [gunzip]=4096)

for target in "${targets[@]}"; do
    echo "== $target"
    new=.build/fuzz-corpus/$target
    mkdir -p "$new" .build/fuzz-findings
    export SLUICE_FUZZ_TARGET=$target
    if [[ -n ${FUZZ_MINIMIZE:-} ]]; then
        # Into a copy of what is kept: what is added to it is what was missing.
        minimal=.build/fuzz-minimal/$target
        rm -rf "$minimal"
        mkdir -p .build/fuzz-minimal
        cp -r "Tests/Corpus/$target" "$minimal"
        .build/fuzz/release/SluiceFuzz -merge=1 "$minimal" "$new"
        diff -rq "Tests/Corpus/$target" "$minimal" || true
        continue
    fi
    .build/fuzz/release/SluiceFuzz "$new" "Tests/Corpus/$target" \
        -max_total_time="${FUZZ_SECONDS:-10}" -max_len="${longest[$target]:-512}" -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -dict=Tests/Corpus.dict -artifact_prefix=".build/fuzz-findings/$target-" "$@"
done
