#!/usr/bin/env bash
# Uploads a file of 1 GiB with `sluice upload` to `sluice receive` on this machine, and shows that it arrived as it
# was, how fast, and how little memory both took. Ends with PASS and status 0, or FAIL and status 1.
#
#     SLUICE_DEMO_MIB=100 Scripts/demo.sh      another size
set -euo pipefail
cd "$(dirname "$0")/.."

mebibytes=${SLUICE_DEMO_MIB:-1024}

Scripts/install-dependencies.sh
sluice=$(Scripts/build-tool.sh -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error)

work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-demo.XXXXXX")
server=
clean_up() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap clean_up EXIT
# A signal has to end the script for EXIT to run.
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# measure COMMAND... - runs it and writes its seconds and peak memory in KiB to $work/measured.
measure() {
    if /usr/bin/time -f '' true 2>/dev/null; then
        /usr/bin/time -q -f '%e %M' -o "$work/measured" "$@"
    else
        # The peak counts this interpreter's own few MiB, which the command's process was made from.
        python3 - "$work/measured" "$@" <<'PYTHON'
import resource, subprocess, sys, time
started = time.monotonic()
code = subprocess.call(sys.argv[2:])
seconds = time.monotonic() - started
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
with open(sys.argv[1], "w") as file:
    print(f"{seconds:.2f} {peak}", file=file)
sys.exit(code)
PYTHON
    fi
}

echo "Making a file of $mebibytes MiB of random bytes"
python3 - "$work/demo.bin" "$mebibytes" <<'PYTHON'
import os, sys
with open(sys.argv[1], "wb") as file:
    for _ in range(int(sys.argv[2])):
        file.write(os.urandom(1024 * 1024))
PYTHON

"$sluice" receive --port 0 --into "$work/inbox" >"$work/url" 2>"$work/log" &
server=$!
for _ in $(seq 300); do
    if [[ -s $work/url ]] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
done
url=$(head -n 1 "$work/url")
if [[ -z $url ]]; then
    echo "demo.sh: the receiver did not start: $(cat "$work/log")" >&2
    exit 1
fi

progress=plain
if [[ -t 2 ]]; then progress=bar; fi

echo "Uploading it to $url"
status=0
measure "$sluice" upload "$url" --progress "$progress" \
    -F "file=@$work/demo.bin" -F comment=hello >"$work/answer" || status=$?
if [[ $status -ne 0 ]]; then
    echo "sluice ended with status $status; the server answered:" >&2
    head -c 2000 "$work/answer" >&2
    printf '\nFAIL\n'
    exit 1
fi

peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$server/status" 2>/dev/null || true)
kill "$server"
wait "$server" || true
server=

if command -v sha256sum >/dev/null; then digest=(sha256sum); else digest=(shasum -a 256); fi
sent=$("${digest[@]}" <"$work/demo.bin" | cut -d ' ' -f 1)
stored=$("${digest[@]}" <"$work/inbox/demo.bin" | cut -d ' ' -f 1)

python3 - "$work" "$sent" "$stored" "$peak" <<'PYTHON'
import json, os, pathlib, sys

work, sent, stored, receiver_peak = pathlib.Path(sys.argv[1]), *sys.argv[2:]
size = os.path.getsize(work / "demo.bin")
seconds, sender_peak = map(float, (work / "measured").read_text().split())
receiver_memory = f"{int(receiver_peak) / 1024:.1f} MiB" if receiver_peak else "an unknown amount"
parts = {part["name"]: part for part in json.loads((work / "answer").read_text())}
file, comment = parts.get("file", {}), parts.get("comment", {})

print(f"""
size        {size:,} bytes ({size / 2**20:.0f} MiB)
time        {seconds:.2f} s, {size / 2**20 / max(seconds, 0.01):.0f} MiB/s, read, sent, parsed and written to a file
peak memory {sender_peak / 1024:.1f} MiB to send, {receiver_memory} to receive
sent        {sent}
stored      {stored}
comment     {comment.get("value")!r}
""")
right = (
    stored == sent
    and file.get("size") == size
    and file.get("filename") == "demo.bin"
    and comment.get("value") == "hello"
    and len(parts) == 2
    and os.listdir(work / "inbox") == ["demo.bin"]
)
print("PASS" if right else "FAIL")
sys.exit(not right)
PYTHON
