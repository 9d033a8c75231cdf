#!/usr/bin/env bash
# Fuzzes the parser with libFuzzer, from the corpus in Tests/Corpus, and fails on the first finding.
#
#     Scripts/fuzz.sh [LIBFUZZER_OPTION...]     FUZZ_SECONDS=600 Scripts/fuzz.sh
#
# What is new goes to .build/fuzz-corpus; an input that is a finding is left in .build/fuzz-findings. Copy it into
# Tests/Corpus, which is part of the tests, when it is mended.
set -euo pipefail
cd "$(dirname "$0")/.."

SLUICE_FUZZ=1 swift build -c release --scratch-path .build/fuzz --product SluiceFuzz \
    -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld -Xcc -fsanitize=fuzzer-no-link

mkdir -p .build/fuzz-corpus .build/fuzz-findings
exec .build/fuzz/release/SluiceFuzz .build/fuzz-corpus Tests/Corpus \
    -max_total_time="${FUZZ_SECONDS:-60}" -max_len=2048 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -dict=Tests/Corpus.dict -artifact_prefix=.build/fuzz-findings/ "$@"
