#!/usr/bin/env bash
# What neither the compiler nor swift-format can see. A build on Linux accepts all of this.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0

# forbid PATTERN WHY PATH... - no line of code may match. Comments may: they say what is not done and why.
forbid() {
    local pattern=$1 why=$2
    shift 2
    local found
    found=$(grep -rnE --include='*.swift' "$pattern" "$@" | grep -vE '^[^:]+:[0-9]+:[[:space:]]*//' || true)
    if [[ -n $found ]]; then
        printf 'error: %s\n%s\n\n' "$why" "$found" >&2
        failed=1
    fi
}

libraries=(Sources/Sluice Sources/SluiceCurl Sources/SluiceFoundation)

# These are in the standard library of macOS 26 and of its siblings only, and the package promises macOS 15.
# Array.span cannot be told from ContiguousArray.span by its text; keep bytes in ContiguousArray.
forbid '\.(utf8Span|mutableSpan)\b|\bUTF8Span\b|\bInlineArray\b|\.utf8\.span\b' \
    "not there on the oldest platforms that Package.swift promises" "${libraries[@]}"

forbid '^[[:space:]]*((@[[:alnum:]_]+|public|package|internal|private|fileprivate)[[:space:]]+)*import[[:space:]].*\bFoundation' \
    "the engine, the transport and the tool do without Foundation" \
    Sources/Sluice Sources/SluiceCurl Sources/SluiceTool

forbid '\b(fatalError|preconditionFailure)\(|\btry!|\bas!' \
    "a trap that input, files or the network might reach: throw a typed error instead" \
    Sources

# A promise is held by tests that are there.
while read -r suite; do
    if [[ -z $(find Tests -name "$suite.swift") ]]; then
        printf 'error: SECURITY.md names %s, which is no suite\n' "$suite" >&2
        failed=1
    fi
done < <(grep -oE '`[[:alnum:]]+Tests`' SECURITY.md | tr -d '`' | sort -u)

exit "$failed"
