#!/usr/bin/env python3
"""A plain socket server whose paths say how it answers; it records what it receives as raw_server.py does.

Prints one line when it is ready: {"http": PORT}. `--record DIR` works as it does there, and so do the recordings. The
path is looked at after the request's body was read, except where `early` is in the query:

    /ok                       200 with {"size", "sha256"} of the body
    /status/CODE?FIELD=VALUE  an answer with these header fields; `&body=TEXT` is its body
    /bytes/N                  N bytes of a pattern, with a Content-Length
    /cut/N/K                  the same, closed after K bytes
    /chunked/N, /chunked-cut/N/K
                              the same, in chunked coding
    /gzip/N                   the same as /bytes, with a Content-Encoding
    /unframed/N               N bytes, ended by closing the connection
    /drip/N/SECONDS           N bytes, one each so many seconds
    /hang                     nothing, ever
    /basic                    401 with a challenge for Basic, unless there is an Authorization
    /close-after/K            reads K bytes of the body and closes without an answer
    /answer-after/K/CODE      reads K bytes of the body, answers and closes
    /race-redirect?Location=URL
                              307 with keep-alive; the connection is reset as soon as the next request's head is there
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import pathlib
import time
import urllib.parse
from collections.abc import Callable

import harness
import raw_server

PATTERN = bytes(index % 251 for index in range(251 * 1024))


def pattern(size: int) -> list[memoryview]:
    """The bytes 0 to 250, over and over, in pieces."""
    view = memoryview(PATTERN)
    return [view[: min(len(view), size - start)] for start in range(0, size, len(view))]


class PathConnection(raw_server.Connection):
    """One connection, each of whose requests is handled as its path says."""

    _closes_on_next = False

    def _handle(self, head: raw_server.Head, report: dict[str, object]) -> Callable[[], bool]:
        if self._closes_on_next:
            return self._reset
        target = urllib.parse.urlsplit(head.target)
        name, *words = target.path.strip("/").split("/")
        query = dict(urllib.parse.parse_qsl(target.query))
        if name in ("close-after", "answer-after"):
            self._read_some(head, int(words[0]), report)
            if name == "close-after":
                return self._close
            return lambda: self._answer_and_linger(words[1])
        if "early" not in query:
            digest = hashlib.sha256()

            def consume(data: bytes) -> None:
                report["size"] += len(data)
                digest.update(data)

            self._continue_if_wanted(head)
            self._read_body(head, consume)
            report |= {"complete": True, "sha256": digest.hexdigest()}
        self._head, self._report, self._query = head, report, query
        answer = getattr(self, "_do_" + name.replace("-", "_"))
        return lambda: answer(*words)

    def _read_some(self, head: raw_server.Head, left: int, report: dict[str, object]) -> None:
        self._continue_if_wanted(head)
        while left > 0:
            data = self._take(left)
            left -= len(data)
            report["size"] += len(data)

    def _answer_and_linger(self, code: str) -> bool:
        self._send(f"{code} Early", b"early\n", "Connection: close")
        self._linger()
        return False

    def _do_ok(self) -> bool:
        return self._answer(self._head, self._report)

    def _do_status(self, code: str) -> bool:
        body = self._query.pop("body", "").encode()
        is_early = self._query.pop("early", None) is not None
        self._send(f"{code} Status", body, *(f"{name}: {value}" for name, value in self._query.items()))
        if is_early:
            self._linger()
        return not is_early

    def _do_bytes(self, size: str) -> bool:
        return self._do_cut(size, size)

    def _do_cut(self, size: str, sent: str) -> bool:
        self._peer.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        for piece in pattern(int(sent)):
            self._peer.sendall(piece)
        return size == sent

    def _do_chunked(self, size: str) -> bool:
        self._send_chunks(int(size))
        self._peer.sendall(b"0\r\n\r\n")
        return True

    def _do_chunked_cut(self, size: str, sent: str) -> bool:
        self._send_chunks(int(sent))
        return False

    def _send_chunks(self, size: int) -> None:
        self._peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in pattern(size):
            self._peer.sendall(b"%x\r\n%s\r\n" % (len(piece), piece.tobytes()))

    def _do_unframed(self, size: str) -> bool:
        self._peer.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        for piece in pattern(int(size)):
            self._peer.sendall(piece)
        return False

    def _do_gzip(self, size: str) -> bool:
        coded = gzip.compress(b"".join(pattern(int(size))), 1)
        self._send("200 OK", coded, "Content-Encoding: gzip")
        return True

    def _do_drip(self, size: str, seconds: str) -> bool:
        self._peer.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        for _ in range(int(size)):
            self._peer.sendall(b"x")
            time.sleep(float(seconds))
        return True

    def _do_hang(self) -> bool:
        return self._stall()

    def _do_basic(self) -> bool:
        if "authorization" in self._head.fields:
            return self._do_ok()
        self._send("401 Unauthorized", b"who are you\n", 'WWW-Authenticate: Basic realm="raw"')
        return True

    def _do_race_redirect(self) -> bool:
        self._closes_on_next = True
        return self._do_status("307")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--record", type=pathlib.Path, metavar="DIR", help="write requests to files here")
    options = parser.parse_args()
    # What a connection of raw_server.py wants to know besides.
    options.mode, options.linger, options.rate = "record", 1.0, 1.0
    raw_server.serve(options, PathConnection)


if __name__ == "__main__":
    main()
