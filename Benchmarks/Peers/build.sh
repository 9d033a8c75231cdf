#!/usr/bin/env bash
# Puts an executable for every peer into .build/peers, and prints their versions. README.md says what they do.
#
# What they are written in has to be there: `make bench-peers` sees to that.
set -euo pipefail
cd "$(dirname "$0")/../.."

sources=$PWD/Benchmarks/Peers
peers=$PWD/.build/peers
venv=.build/venv-peers

Scripts/make-venv.sh "$venv" "$sources/requirements.txt"

# Made anew, so that none is left of what is no longer one.
rm -rf "$peers"
mkdir -p "$peers"

(cd "$peers" && go build -o go "$sources/go_peer.go" && go build -o go-upload "$sources/go_upload_peer.go")

read -ra libcurl < <(pkg-config --cflags --libs libcurl)
cc -O2 -Wall -Wextra -o "$peers/curl-mime" "$sources/curl_mime_peer.c" "${libcurl[@]}"

# wrap NAME COMMAND... - an executable that runs the command with the arguments it is given.
wrap() {
    local path=$peers/$1
    shift
    printf '#!/bin/sh\nexec' >"$path"
    printf " '%s'" "$@" >>"$path"
    printf ' "$@"\n' >>"$path"
    chmod +x "$path"
}

# Where Debian keeps modules, which only Debian's own Node looks through.
wrap node-busboy env NODE_PATH=/usr/share/nodejs "$(command -v node)" "$sources/node_busboy_peer.js"
wrap node-upload "$(command -v node)" "$sources/node_upload_peer.js"
wrap curl-form "$sources/curl_form_peer.sh"
for client in aiohttp requests-toolbelt; do
    wrap "$client" "$PWD/$venv/bin/python" "$sources/python_upload_peers.py" "$client"
done
for parser in multipart python-multipart streaming-form-data werkzeug; do
    wrap "$parser" "$PWD/$venv/bin/python" "$sources/python_peers.py" "$parser"
done

for peer in "$peers"/*; do
    printf '%-20s %s\n' "$(basename "$peer")" "$("$peer" --version)"
done
