#!/usr/bin/env bash
# Runs the tool's main paths under valgrind's memcheck, with servers on loopback. Fails where memory is read or written
# that is not the tool's, where something depends on what was never set, where memory is lost for good, and where a
# command does not do what it should. It needs no suppressions.
#
#     Scripts/memcheck.sh [TOOL]      another one than the debug build, which `make build` makes
set -euo pipefail
cd "$(dirname "$0")/.."

tool=${1:-.build/debug/sluice}
repository=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-memcheck.XXXXXX")
children=()
clean_up() {
    for child in ${children[@]+"${children[@]}"}; do kill "$child" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap clean_up EXIT
# A signal has to end the script for EXIT to run.
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# valgrind 3.19 gives up on the compiler's debugging information; the names of functions are left.
objcopy --strip-debug "$tool" "$work/sluice"
cd "$work"

# memcheck NAME PROGRAM... - the program under memcheck, whose findings go to NAME.log.
memcheck() {
    local name=$1
    shift
    timeout 300 valgrind --quiet --tool=memcheck --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite --error-exitcode=99 --fair-sched=yes --log-file="$name.log" "$@"
}

failed=0
# check STATUS NAME ARGUMENT... - the tool has to end with the status, and without a finding.
check() {
    local expected=$1 name=$2 status=0
    shift 2
    memcheck "$name" ./sluice "$@" >"$name.out" 2>"$name.err" || status=$?
    report "$expected" "$name" "$status"
}

report() {
    local expected=$1 name=$2 status=$3
    if [[ $status -eq $expected && ! -s $name.log ]]; then
        echo "ok      $name"
    else
        echo "FAILED  $name: status $status, not $expected; what was found:"
        cat "$name.log" "$name.err"
        failed=1
    fi
}

# same FILE FILE - what came has to be what was sent.
same() {
    cmp "$1" "$2" || failed=1
}

# wait_for FILE - until there is something in it.
wait_for() {
    for _ in $(seq 600); do
        [[ ! -s $1 ]] || return 0
        sleep 0.1
    done
    echo "memcheck.sh: nothing came in $1" >&2
    exit 1
}

# A net with holes would catch nothing either: what it is to find is made first.
"$(dirname "$(readlink -f "$(command -v swift)")")/clang" -O0 -x c -o holes - <<'C'
#include <stdlib.h>
#include <string.h>
int main(int count, char **arguments) {
    char *volatile bytes = malloc(10);
    if (count > 1) {
        int end = bytes[10];
        free(bytes);
        return end & 0;
    }
    bytes = 0;
    return 0;
}
C
for arguments in "" "read"; do
    status=0
    memcheck holes ./holes $arguments || status=$?
    if [[ $status -ne 99 ]]; then
        echo "memcheck.sh: valgrind finds nothing where there is something (status $status)" >&2
        exit 1
    fi
done

head -c 3000000 /dev/urandom >random
seq 300000 >text
form=(-F title=Holiday -F 'photo=@random;type=image/png' -F 'log=@text;gzip')

check 0 encode-file encode --boundary B "${form[@]}" -o body --print-content-type --print-length
check 0 encode-output encode --boundary B "${form[@]}"
same body encode-output.out
check 0 encode-group encode -F 'group=(' -F in=side -F 'photo=@random' -F '=)' -F 'tar=@-;filename=x' <text
check 66 encode-missing encode -F a=@missing -o nothing
check 0 decode-list decode --boundary B body --json
check 0 decode-files decode --boundary B body --into parts
same random parts/random
check 73 decode-taken decode --boundary B body --into parts
check 0 decode-replacing decode --boundary B body --into parts --force
head -c 2000000 body >cut
check 65 decode-cut decode --boundary B cut --into nothing
check 64 usage encode --no-such-option

# Two uploads from one tool to the other: the first is refused.
status=0
memcheck receive ./sluice receive --port 0 --once --into inbox --digests --max-file 10M >receive.out 2>receive.err &
receiver=$!
children+=("$receiver")
wait_for receive.out
url=$(cat receive.out)
head -c 20000000 /dev/zero >large
check 22 upload-refused upload "$url" -F large=@large -f --progress none
check 0 upload upload "$url" "${form[@]}" -f --progress json
wait "$receiver" || status=$?
children=()
report 0 receive "$status"
same random inbox/random

# The server ends with its standard input.
mkfifo lifetime
python3 "$repository/Tests/Interop/session_server.py" <lifetime >server.out &
children+=("$!")
exec 3>lifetime
wait_for server.out
server="http://127.0.0.1:$(sed 's/[^0-9]//g' server.out)"
check 0 upload-several upload "$server/ok" "${form[@]}" --next "$server/status/307?Location=/ok" -L -F a=b \
    --next "$server/status/503" -F a=b --retry 1 --parallel 2
check 69 upload-nowhere upload http://127.0.0.1:1/ -F a=b
check 0 download-file download "$server/bytes/3000000" -o downloaded
check 0 download-output download "$server/chunked/3000000"
same downloaded download-output.out
check 22 download-refused download "$server/status/404?body=none" -o nothing
check 74 download-cut download "$server/cut/3000000/1000000" -o nothing
exec 3>&-

exit "$failed"
