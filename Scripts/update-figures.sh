#!/usr/bin/env bash
# Measures everything with the built benchmark, and puts table and picture into the README. Takes some minutes, and is
# worth it on a machine that does nothing else.
#
#     Scripts/update-figures.sh [OPTIONS OF sluice-bench]
set -euo pipefail
cd "$(dirname "$0")/.."

# Not a name of this machine's: the README shows the command.
table=.build/figures.md
trap 'rm -f "$table" README.md.new' EXIT

status=0
.build/release/sluice-bench --peers --scale "$@" \
    --markdown "$table" --svg Benchmarks/results.svg --html .build/bench.html --save .build/bench.json || status=$?
# 1 says that a row is short of its mark, which the table says too.
[[ $status -le 1 ]] || exit "$status"

awk -v table="$table" '
    /^<!-- figures: end -->$/ { inside = 0 }
    !inside { print }
    /^<!-- figures: begin -->$/ { inside = 1; while ((getline line < table) > 0) print line }
' README.md >README.md.new
mv README.md.new README.md
echo "README.md and Benchmarks/results.svg are new; the page is .build/bench.html, the results are .build/bench.json."
