#!/usr/bin/env bash
# Uploads a file of 1 GiB to a real HTTP server on this machine, and shows that it arrived as it was, how
# fast, and how little memory the tool took. Ends with PASS and status 0, or FAIL and status 1.
#
#     SLUICE_DEMO_MIB=100 Scripts/demo.sh      another size
set -euo pipefail
cd "$(dirname "$0")/.."

mebibytes=${SLUICE_DEMO_MIB:-1024}
python=.build/venv/bin/python
sluice=.build/release/sluice

Scripts/install-dependencies.sh
Scripts/make-venv.sh
swift build -c release --product sluice

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
        "$python" - "$work/measured" "$@" <<'PYTHON'
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
"$python" - "$work/demo.bin" "$mebibytes" <<'PYTHON'
import os, sys
with open(sys.argv[1], "wb") as file:
    for _ in range(int(sys.argv[2])):
        file.write(os.urandom(1024 * 1024))
PYTHON

# The server ends when its standard input does, so also if this script is killed outright.
mkfifo "$work/until"
"$python" Tests/Interop/upload_server.py <"$work/until" >"$work/ready" &
server=$!
exec 3>"$work/until"
for _ in $(seq 300); do
    if [[ -s $work/ready ]] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
done
port=$(sed -n 's/.*"http": \([0-9]*\).*/\1/p' "$work/ready")
if [[ -z $port ]]; then
    echo "demo.sh: the server did not start" >&2
    exit 1
fi

progress=plain
if [[ -t 2 ]]; then progress=bar; fi

echo "Uploading it to http://127.0.0.1:$port/upload"
status=0
measure "$sluice" upload "http://127.0.0.1:$port/upload" --progress "$progress" \
    -F "file=@$work/demo.bin" -F comment=hello >"$work/answer" 3>&- || status=$?
if [[ $status -ne 0 ]]; then
    echo "sluice ended with status $status; the server answered:" >&2
    head -c 2000 "$work/answer" >&2
    printf '\nFAIL\n'
    exit 1
fi

if command -v sha256sum >/dev/null; then digest=(sha256sum); else digest=(shasum -a 256); fi
sent=$("${digest[@]}" <"$work/demo.bin" | cut -d ' ' -f 1)

"$python" - "$work" "$sent" <<'PYTHON'
import hashlib, json, os, pathlib, sys

work, sent = pathlib.Path(sys.argv[1]), sys.argv[2]
size = os.path.getsize(work / "demo.bin")
seconds, peak = map(float, (work / "measured").read_text().split())
answer = json.loads((work / "answer").read_text())
parts = {part["name"]: part for part in answer.get("parts", [])}
file, comment = parts.get("file", {}), parts.get("comment", {})
framing = f"Content-Length {answer.get('contentLength')}"
if answer.get("transferEncoding"):
    framing = f"Transfer-Encoding {answer['transferEncoding']}"

print(f"""
size        {size:,} bytes ({size / 2**20:.0f} MiB), sent with {framing}
time        {seconds:.2f} s, {size / 2**20 / max(seconds, 0.01):.0f} MiB/s, the receiver parsing and hashing all of it
peak memory {peak / 1024:.1f} MiB
sent        {sent}
received    {file.get("sha256")}
comment     {"as sent" if comment.get("sha256") == hashlib.sha256(b"hello").hexdigest() else "NOT as sent"}
""")
right = (
    file.get("sha256") == sent
    and file.get("size") == size
    and file.get("filename") == "demo.bin"
    and comment.get("sha256") == hashlib.sha256(b"hello").hexdigest()
    and len(parts) == len(answer["parts"]) == 2
)
print("PASS" if right else "FAIL")
sys.exit(not right)
PYTHON
