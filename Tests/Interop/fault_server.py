#!/usr/bin/env python3
"""A plain socket server that goes wrong on request, for uploads and downloads that are tried again.

    fault_server.py --files DIR     -> {"http": PORT}

    GET /files/NAME?...     a file of DIR, with Range and If-Range
    POST|PUT /upload?...    reads the body; answers {"size", "sha256", "attempt"}
    GET /requests?key=K     what was asked with `key=K`: [{"method", "target", "range", "ifRange", "size"}]; of a field
                            that came several times all values, as a list with commas

The query says what goes wrong, in `faults=A,B,C`: the first request with its `key` gets A, the second B, and those behind
the last one nothing. A fault is one of

    reset@N close@N stall@N   the connection is reset, closed, or nothing more moves, after N bytes: of the answer's
                              body for a GET, of the request's for an upload
    drop                      the connection is closed without an answer
    NNNlong                   an answer with this status and 2 MiB
    NNN  NNN/S  NNN/+S        an answer with this status; with Retry-After: S, or the date S seconds after its Date
    see                       a 303 that leads to the same target, after the request's body
    challenge                 a 401 that asks for Digest credentials, after the request's body
    wrong-range               a 206 that begins a byte too early
    part-range                a 206 that ends a byte too early
    open-range                a 206 with the next 1000 bytes, that does not say how long the whole is
    bare-206                  a 206 without Content-Range
    two-ranges                a 206 with a second Content-Range that contradicts the first
    coded-range               a 206 with gzip as its Content-Encoding
    untagged-range            a 206 without ETag
    two-tags                  a 206 with another ETag behind the right one
    cut-range                 a 206 without Content-Length, with 500 bytes and the end of the connection
    whole                     a 200 with all of it, whatever was asked for
    long-header               a header field of 200 KiB
    other                     from now on the file is NAME.other, with another ETag
    ok                        nothing

and `etag=strong|weak|none` (strong), `modified=yes|now|no` (no; a Last-Modified of yesterday, or of this second),
`length=yes|no` (yes; else the body ends with the connection), `coding=C` for a Content-Encoding that is said of it, and `framing=A|B` for an answer with these fields in place of
a Content-Length, five bytes, and the end of the connection.
"""

from __future__ import annotations

import argparse
import collections
import email.utils
import hashlib
import json
import pathlib
import re
import socket
import struct
import threading
import time
import urllib.parse

import harness

BUFFER_SIZE = 64 * 1024
HEAD_LIMIT = 256 * 1024
IDLE_SECONDS = 120


class Gone(Exception):
    """The connection is over."""


class Book:
    """What was asked with each key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[str, list[dict[str, object]]] = collections.defaultdict(list)
        self._others: set[str] = set()

    def enter(self, key: str, request: dict[str, object]) -> int:
        with self._lock:
            self._requests[key].append(request)
            return len(self._requests[key])

    def requests(self, key: str) -> list[dict[str, object]]:
        with self._lock:
            return list(self._requests[key])

    def change(self, key: str) -> None:
        with self._lock:
            self._others.add(key)

    def has_changed(self, key: str) -> bool:
        with self._lock:
            return key in self._others


class Connection:
    def __init__(self, peer: socket.socket, files: pathlib.Path | None, book: Book) -> None:
        self._peer = peer
        self._files = files
        self._book = book
        self._pending = b""

    def serve(self) -> None:
        with self._peer:
            self._peer.settimeout(IDLE_SECONDS)
            try:
                while self._serve_request():
                    pass
            except (Gone, OSError, ValueError):
                pass

    # Reading.

    def _receive(self) -> bytes:
        data, self._pending = self._pending or self._peer.recv(BUFFER_SIZE), b""
        if not data:
            raise Gone
        return data

    def _head(self) -> tuple[str, str, dict[str, str]]:
        head = b""
        while b"\r\n\r\n" not in head:
            head += self._receive()
            if len(head) > HEAD_LIMIT:
                raise Gone
        head, _, self._pending = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        fields = {}
        for line in lines:
            name, _, value = line.partition(":")
            # RFC 9110 section 5.3.
            given = fields.get(name.lower())
            fields[name.lower()] = value.strip() if given is None else f"{given}, {value.strip()}"
        return method, target, fields

    def _body(self, fields: dict[str, str], limit: int | None) -> tuple[int, str]:
        """Reads the body, or `limit` bytes of what comes of it."""
        digest = hashlib.sha256()
        size = 0
        left = int(fields.get("content-length", 0))
        if limit is not None:
            left = min(left, limit)
        while left > 0:
            data = self._receive()
            data, self._pending = data[:left], data[left:]
            digest.update(data)
            size += len(data)
            left -= len(data)
        return size, digest.hexdigest()

    # Answering.

    def _send(self, status: str, body: bytes, *fields: str, body_sent: int | None = None) -> None:
        head = "\r\n".join((f"HTTP/1.1 {status}", f"Date: {email.utils.formatdate(usegmt=True)}", *fields, "", ""))
        self._peer.sendall(head.encode() + body[:body_sent])

    def _reset(self) -> bool:
        self._peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def _end(self, fault: str) -> bool:
        if fault == "reset":
            return self._reset()
        if fault == "stall":
            threading.Event().wait(IDLE_SECONDS)
        return False

    def _refuse(self, fault: str) -> bool:
        status, _, after = fault.partition("/")
        fields = []
        if after.startswith("+"):
            fields = [f"Retry-After: {email.utils.formatdate(time.time() + int(after[1:]), usegmt=True)}"]
        elif after:
            fields = [f"Retry-After: {after}"]
        body = f"refused with {status}\n".encode() * (100_000 if status.endswith("long") else 1)
        status = status.removesuffix("long")
        self._send(f"{status} No", body, f"Content-Length: {len(body)}", *fields)
        return True

    # Requests.

    def _serve_request(self) -> bool:
        method, target, fields = self._head()
        parts = urllib.parse.urlsplit(target)
        # Here a plus is a plus.
        pairs = urllib.parse.parse_qs(parts.query.replace("+", "%2B"))
        query = {name: values[-1] for name, values in pairs.items()}
        key = query.get("key", "")
        if parts.path == "/requests":
            body = json.dumps(self._book.requests(key)).encode()
            self._send("200 OK", body, f"Content-Length: {len(body)}")
            return True
        request: dict[str, object] = {
            "method": method,
            "target": target,
            "range": fields.get("range"),
            "ifRange": fields.get("if-range"),
            "size": 0,
        }
        attempt = self._book.enter(key, request)
        faults = query.get("faults", "").split(",")
        fault = faults[attempt - 1] if attempt <= len(faults) else "ok"
        if fault == "drop":
            return False
        kind, _, count = fault.partition("@")
        limit = int(count) if count else None
        if parts.path == "/upload":
            return self._upload(fields, request, attempt, kind, limit)
        if re.fullmatch(r"\d\d\d(long|/\+?\d+)?", fault):
            return self._refuse(fault)
        return self._download(parts.path, query, key, fields, kind, limit)

    def _upload(
        self, fields: dict[str, str], request: dict[str, object], attempt: int, kind: str, limit: int | None
    ) -> bool:
        if fields.get("expect", "").lower() == "100-continue":
            self._peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        size, digest = self._body(fields, limit)
        request["size"] = size
        if kind in ("reset", "close", "stall"):
            return self._end(kind)
        if re.match(r"\d\d\d", kind):
            return self._refuse(kind)
        if kind == "see":
            self._send("303 See Other", b"", "Content-Length: 0", f"Location: {request['target']}")
            return True
        if kind == "challenge":
            challenge = 'WWW-Authenticate: Digest realm="x", nonce="a", qop="auth"'
            self._send("401 Unauthorized", b"", "Content-Length: 0", challenge)
            return True
        body = json.dumps({"size": size, "sha256": digest, "attempt": attempt}).encode()
        self._send("200 OK", body, f"Content-Length: {len(body)}", "Content-Type: application/json")
        return True

    def _download(
        self, path: str, query: dict[str, str], key: str, fields: dict[str, str], kind: str, limit: int | None
    ) -> bool:
        if kind == "long-header":
            self._send("200 OK", b"", "Content-Length: 0", f"X-Long: {'x' * 200 * 1024}")
            return True
        name = path.removeprefix("/files/")
        if kind == "other":
            self._book.change(key)
        changed = self._book.has_changed(key)
        content = (self._files / (f"{name}.other" if changed else name)).read_bytes()
        etag = f'"{hashlib.md5(content).hexdigest()}"'
        headers = []
        tag_kind = query.get("etag", "strong")
        if tag_kind != "none":
            headers.append(f"ETag: {'W/' if tag_kind == 'weak' else ''}{etag}")
        modified = {
            "yes": email.utils.formatdate(time.time() // 86400 * 86400 - (43200 if changed else 86400), usegmt=True),
            "now": email.utils.formatdate(usegmt=True),
        }.get(query.get("modified", "no"))
        if modified:
            headers.append(f"Last-Modified: {modified}")

        if "coding" in query:
            headers.append(f"Content-Encoding: {query['coding']}")

        status = "200 OK"
        start, end = 0, len(content)
        asked = re.fullmatch(r"bytes=(\d+)-", fields.get("range", ""))
        condition = fields.get("if-range")
        if asked and kind != "whole" and condition in (None, etag if tag_kind == "strong" else modified, modified):
            start = int(asked[1])
            if start >= len(content):
                self._send("416 No", b"", f"Content-Range: bytes */{len(content)}", "Content-Length: 0")
                return True
            shift = 1 if kind == "wrong-range" else 0
            end -= 1 if kind == "part-range" else 0
            end = min(end, start + 1000) if kind == "open-range" else end
            status = "206 Partial Content"
            start -= shift
            if kind != "bare-206":
                total = "*" if kind == "open-range" else len(content)
                headers.append(f"Content-Range: bytes {start}-{end - 1}/{total}")
            if kind == "two-ranges":
                headers.append(f"Content-Range: bytes {start + 1}-{end - 1}/{total}")
            if kind == "coded-range":
                headers.append("Content-Encoding: gzip")
            if kind == "untagged-range":
                headers = [header for header in headers if not header.startswith("ETag:")]
            if kind == "two-tags":
                headers.append('ETag: "another"')
            if kind == "cut-range":
                self._send(status, content[start : start + 500], *headers, "Connection: close")
                return False
        if "framing" in query:
            self._send(status, content[:5], *headers, *query["framing"].split("|"))
            return False
        body = content[start:end]
        has_length = query.get("length", "yes") == "yes"
        headers.append(f"Content-Length: {len(body)}" if has_length else "Connection: close")
        self._send(status, body, *headers, body_sent=limit)
        if kind in ("reset", "close", "stall"):
            # What was sent is to arrive, which a reset would otherwise overtake.
            if kind == "reset":
                time.sleep(0.05)
            return self._end(kind)
        return has_length


def accept_for_ever(listener: socket.socket, files: pathlib.Path | None) -> None:
    book = Book()
    while True:
        peer, _ = listener.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(peer, files, book).serve, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--files", type=pathlib.Path, metavar="DIR", help="what GET gives")
    options = parser.parse_args()
    lifetime = harness.Lifetime(options.lifetime)
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    threading.Thread(target=accept_for_ever, args=(listener, options.files), daemon=True).start()
    harness.announce(http=listener.getsockname()[1])
    lifetime.wait()


if __name__ == "__main__":
    main()
