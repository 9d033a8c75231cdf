#!/usr/bin/env bash
# Makes a Python environment, unless it is there and was made from the same requirements.
#
#     Scripts/make-venv.sh [VENV REQUIREMENTS]
#
# Without arguments it is .build/venv, with what the interoperability tests need.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${1:-.build/venv}
requirements=${2:-Tests/Interop/requirements.txt}
stamp=$venv/requirements.txt

# It does not start where the interpreter that the environment was made with has moved or gone.
if cmp -s "$requirements" "$stamp" && "$venv/bin/python" -c 'import werkzeug' 2>/dev/null; then
    exit 0
fi

# `python3` may be a version manager's, too old or without venv; then the system's own may do.
python=
for candidate in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [[ -z $python ]]; then
    echo "make-venv.sh: no Python 3.11 or newer with venv (Debian: apt-get install python3-venv)" >&2
    exit 1
fi

echo "Making $venv with $("$python" --version)"
rm -rf "$venv"
"$python" -m venv "$venv"
install() {
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
}
# Once more: a registry that hiccups should not fail a build.
install || { sleep 3; install; }
cp "$requirements" "$stamp"
