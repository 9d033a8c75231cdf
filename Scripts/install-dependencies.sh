#!/usr/bin/env bash
# Makes sure that what building and testing needs is there. What is missing is installed with apt-get where
# that is possible (as root or through sudo), and named where it is not. Nothing is touched if all is there.
#
#     Scripts/install-dependencies.sh [interop|peers|memcheck]...     what those need, too
set -euo pipefail

missing=()

# need PACKAGE COMMAND... - the Debian package to install if the command fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has_chromium() {
    command -v chromium chromium-headless-shell chromium-browser google-chrome
}

# Tested by what they are for, not by their name: any libcurl with headers will do, not only OpenSSL's.
need pkg-config pkg-config --version
need zlib1g-dev pkg-config --exists zlib
need libcurl4-openssl-dev pkg-config --exists libcurl
need libssl-dev pkg-config --exists libcrypto
need libmicrohttpd-dev pkg-config --exists libmicrohttpd
need python3 python3 --version
need python3-venv python3 -c 'import venv, ensurepip'
need curl curl --version
# What the benchmark compares compression with.
need pigz pigz --version
# On Debian nginx is not on the PATH of everyone.
need nginx-light env PATH="$PATH:/usr/sbin:/usr/local/sbin" nginx -v
if [[ $(uname -s) == Linux ]]; then
    need binutils readelf --version
fi

for group in "$@"; do
    case $group in
    interop)
        need golang-go go version
        need nodejs node --version
        need default-jdk-headless javac -version
        need libhttpmime-java test -e /usr/share/java/httpmime.jar
        need chromium has_chromium
        ;;
    peers)
        need golang-go go version
        need nodejs node --version
        need gcc cc --version
        need node-busboy test -e /usr/share/nodejs/busboy
        ;;
    memcheck)
        need valgrind valgrind --version
        need binutils objcopy --version
        ;;
    *)
        echo "install-dependencies.sh: there is no group '$group'" >&2
        exit 64
        ;;
    esac
done

if ! command -v swift >/dev/null; then
    echo "install-dependencies.sh: swift is not on the PATH; Sluice needs Swift 6.2 or newer (swift.org/install)" >&2
    exit 1
fi
if [[ ${#missing[@]} -eq 0 ]]; then
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "install-dependencies.sh: please install what Debian calls: ${missing[*]}" >&2
    exit 1
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
    as_root=(sudo)
    # A build must not wait for a password where nobody is there to type it.
    if ! command -v sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
        echo "install-dependencies.sh: please run: sudo apt-get install ${missing[*]}" >&2
        exit 1
    fi
fi

echo "Installing ${missing[*]}"
${as_root[@]+"${as_root[@]}"} apt-get -o Acquire::Retries=3 update -qq
${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends "${missing[@]}"
