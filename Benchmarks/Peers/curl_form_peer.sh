#!/bin/bash
# `curl -F` as a peer; README.md has the protocol. It starts curl for every line, as whoever uses it does.
if [[ $# -eq 1 && $1 == --version ]]; then
    curl --version | head -n 1
    exit
fi
url=$1
shift
arguments=()
for path in "$@"; do arguments+=(-F "file=@$path"); done
while read -r _; do
    curl -s -f -o /dev/null -H Expect: "${arguments[@]}" "$url" || exit
    echo "{\"parts\": $#}"
done
