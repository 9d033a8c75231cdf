#!/usr/bin/env python3
"""A plain socket server for wire tests: it sees every byte, and misbehaves on request.

Prints one line when it is ready: {"http": PORT}. `--mode` says what becomes of each request:

    record        reads it whole and answers 200 with {"size", "sha256"} of the decoded body
    no-continue   the same, but never answers `Expect: 100-continue`
    discard       the same without the SHA-256, as fast as sockets go
    slow-read     the same as record, at `--rate` bytes a second
    close-early   closes the connection, without an answer, after `--after` bytes of the body
    reset-early   the same, with a TCP reset
    413-early     answers 413 right after the headers and closes
  cut-answer    reads the request, answers 404 with three of a hundred bytes, and closes
  stale-digest  reads each request, and answers it with a challenge for Digest that calls the last one stale
    stall         reads the headers, and never anything more

With `--record DIR` the exact bytes received go to DIR/request-N.bin (N from 1, in the order in which
requests began), and when a request is over DIR/request-N.json appears beside it:
{"complete": bool, "headBytes": N, "framing": "content-length"|"chunked"|"none", "size": N of the decoded body}.
Both are there before the answer is sent.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import json
import pathlib
import socket
import struct
import threading
import time
from collections.abc import Callable

import harness

MODES = ("record", "no-continue", "discard", "slow-read", "close-early", "reset-early", "413-early", "stall", "cut-answer", "stale-digest")
BUFFER_SIZE = 256 * 1024
HEAD_LIMIT = 256 * 1024
LINE_LIMIT = 4096
# Small, so that a client notices soon that nobody reads; the kernel doubles it.
STALLED_RECEIVE_BUFFER = 16 * 1024
IDLE_SECONDS = 120


class Gone(Exception):
    """The client went away, or sent what is not HTTP."""


@dataclasses.dataclass
class Head:
    method: str
    target: str
    fields: dict[str, str]

    @classmethod
    def parse(cls, head: bytes) -> Head:
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3:
            raise Gone(f"not a request line: {first!r}")
        # A field that is sent twice shows in the recorded bytes; the last one counts here.
        fields = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if colon:
                fields[name.strip().lower()] = value.strip()
        return cls(words[0], words[1], fields)

    @property
    def framing(self) -> str:
        if self.fields.get("transfer-encoding", "").lower() == "chunked":
            return "chunked"
        return "content-length" if "content-length" in self.fields else "none"


class Recording:
    """The bytes of one request, on their way to a file."""

    def __init__(self, directory: pathlib.Path, number: int) -> None:
        self._path = directory / f"request-{number}.bin"
        self._file = open(self._path, "wb")

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)

    def close(self, **facts: object) -> None:
        self._file.close()
        unfinished = self._path.with_suffix(".json.tmp")
        unfinished.write_text(json.dumps(facts) + "\n")
        unfinished.rename(self._path.with_suffix(".json"))


class Connection:
    """Reads requests from one socket; what is received beyond the current request is kept for the next."""

    def __init__(self, peer: socket.socket, options: argparse.Namespace, numbers: itertools.count[int]) -> None:
        self._peer = peer
        self._options = options
        self._numbers = numbers
        # A slow reader takes small steps, so that its rate is even.
        size = max(1, min(BUFFER_SIZE, int(options.rate / 20))) if options.mode == "slow-read" else BUFFER_SIZE
        self._buffer = memoryview(bytearray(size))
        self._pending = b""
        self._recording: Recording | None = None

    # Reading. Each byte is recorded when it is *taken*, so pipelined requests do not mix.

    def _receive(self, limit: int) -> bytes:
        """At least one byte and at most `limit`, not yet recorded."""
        if self._pending:
            data, self._pending = self._pending[:limit], self._pending[limit:]
            return data
        count = self._peer.recv_into(self._buffer, min(limit, len(self._buffer)))
        if count == 0:
            raise Gone("end of input")
        return bytes(self._buffer[:count])

    def _take(self, limit: int) -> bytes:
        data = self._receive(limit)
        if self._recording is not None:
            self._recording.write(data)
        return data

    def _take_through(self, end: bytes, limit: int) -> bytes:
        """Everything up to and with `end`."""
        data = bytearray()
        while True:
            try:
                data += self._receive(BUFFER_SIZE)
            except Gone:
                self._record(data)
                raise
            index = data.find(end)
            if index >= 0:
                break
            if len(data) > limit:
                self._record(data)
                raise Gone(f"no {end!r} within {limit} bytes")
        cut = index + len(end)
        self._pending = bytes(data[cut:]) + self._pending
        self._record(data[:cut])
        return bytes(data[:cut])

    def _record(self, data: bytes | bytearray) -> None:
        if self._recording is not None:
            self._recording.write(data)

    def _read_sized(self, size: int, consume: Callable[[bytes], None]) -> None:
        while size > 0:
            data = self._take(size)
            size -= len(data)
            consume(data)

    def _read_chunked(self, consume: Callable[[bytes], None]) -> None:
        while True:
            line = self._take_through(b"\r\n", LINE_LIMIT)
            try:
                size = int(line.split(b";")[0], 16)
            except ValueError:
                raise Gone(f"not a chunk size: {line!r}") from None
            if size == 0:
                break
            self._read_sized(size, consume)
            if self._take_through(b"\r\n", LINE_LIMIT) != b"\r\n":
                raise Gone("a chunk is longer than it says")
        while self._take_through(b"\r\n", LINE_LIMIT) != b"\r\n":
            pass

    def _read_body(self, head: Head, consume: Callable[[bytes], None]) -> None:
        if head.framing == "chunked":
            self._read_chunked(consume)
        elif head.framing == "content-length":
            self._read_sized(int(head.fields["content-length"]), consume)

    # Answering.

    def _send(self, status: str, body: bytes, *fields: str) -> None:
        head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields, "", ""))
        self._peer.sendall(head.encode() + body)

    def _continue_if_wanted(self, head: Head) -> None:
        if head.fields.get("expect", "").lower() == "100-continue":
            self._peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _linger(self) -> None:
        """Half-closes and reads on for a while, so that the client sees the answer before a reset can eat it."""
        deadline = time.monotonic() + self._options.linger
        self._peer.shutdown(socket.SHUT_WR)
        while (left := deadline - time.monotonic()) > 0:
            self._peer.settimeout(left)
            try:
                if self._peer.recv_into(self._buffer) == 0:
                    return
            except OSError:
                return

    # One request.

    def _discard_sized(self, size: int) -> None:
        """The fast path: no copy, no digest, no record."""
        size -= len(self._pending)
        self._pending = b""
        while size > 0:
            count = self._peer.recv_into(self._buffer, min(size, BUFFER_SIZE))
            if count == 0:
                raise Gone("end of input")
            size -= count

    def _handle(self, head: Head, report: dict[str, object]) -> Callable[[], bool]:
        """Reads what the mode wants read; gives what is to be done once the recording is on disk.

        That in turn gives whether the connection stays open.
        """
        mode = self._options.mode
        if mode == "413-early":
            report["complete"] = head.framing == "none"
            return self._refuse
        if mode == "stall":
            report["complete"] = False
            return self._stall
        if mode in ("close-early", "reset-early"):
            left = self._options.after
            if head.framing != "chunked":
                left = min(left, int(head.fields.get("content-length", 0)))
            while left > 0:
                data = self._take(left)
                left -= len(data)
                report["size"] += len(data)
            return self._reset if mode == "reset-early" else self._close

        if mode != "no-continue":
            self._continue_if_wanted(head)
        if mode == "discard" and head.framing == "content-length" and self._recording is None:
            size = int(head.fields["content-length"])
            self._discard_sized(size)
            report |= {"complete": True, "size": size}
            return lambda: self._answer(head, report)

        digest = hashlib.sha256()
        started = time.monotonic()

        def consume(data: bytes) -> None:
            report["size"] += len(data)
            if mode != "discard":
                digest.update(data)
            if mode == "slow-read":
                ahead = report["size"] / self._options.rate - (time.monotonic() - started)
                time.sleep(max(0, ahead))

        self._read_body(head, consume)
        report["complete"] = True
        if mode != "discard":
            report["sha256"] = digest.hexdigest()
        if mode == "cut-answer":
            return self._cut
        if mode == "stale-digest":
            return self._challenge
        return lambda: self._answer(head, report)

    def _cut(self) -> bool:
        self._peer.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nabc")
        return False

    def _challenge(self) -> bool:
        self._send("401 Unauthorized", b"", 'WWW-Authenticate: Digest realm="x", nonce="a", stale=true')
        return True

    def _answer(self, head: Head, report: dict[str, object]) -> bool:
        body = {name: report[name] for name in ("size", "sha256") if name in report}
        self._send("200 OK", json.dumps(body).encode() + b"\n", "Content-Type: application/json")
        return head.fields.get("connection", "").lower() != "close"

    def _refuse(self) -> bool:
        self._send("413 Content Too Large", b"too large\n", "Content-Type: text/plain", "Connection: close")
        self._linger()
        return False

    def _close(self) -> bool:
        self._linger()
        return False

    def _reset(self) -> bool:
        self._peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def _stall(self) -> bool:
        threading.Event().wait()
        return False

    def _serve_request(self) -> bool:
        # The recording begins with the first byte, so that idle connections do not use up numbers.
        self._pending = self._receive(BUFFER_SIZE)
        report: dict[str, object] = {"complete": False, "headBytes": 0, "framing": "none", "size": 0}
        if self._options.record is not None:
            self._recording = Recording(self._options.record, next(self._numbers))
        try:
            raw_head = self._take_through(b"\r\n\r\n", HEAD_LIMIT)
            head = Head.parse(raw_head)
            report |= {"headBytes": len(raw_head), "framing": head.framing}
            finish = self._handle(head, report)
        finally:
            if self._recording is not None:
                self._recording.close(**report)
                self._recording = None
        return finish()

    def serve(self) -> None:
        with self._peer:
            self._peer.settimeout(IDLE_SECONDS)
            try:
                while self._serve_request():
                    pass
            except (Gone, OSError, ValueError):
                # Whoever wants to know what came before this finds it in the recording.
                pass


def accept_for_ever(listener: socket.socket, options: argparse.Namespace, connection_type: type[Connection]) -> None:
    numbers = itertools.count(1)
    while True:
        peer, _ = listener.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = connection_type(peer, options, numbers)
        threading.Thread(target=connection.serve, daemon=True).start()


def serve(
    options: argparse.Namespace, connection_type: type[Connection] = Connection, receive_buffer: int | None = None
) -> None:
    """Serves connections on loopback until its lifetime is over."""
    if options.record is not None:
        options.record.mkdir(parents=True, exist_ok=True)
    lifetime = harness.Lifetime(options.lifetime)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if receive_buffer is not None:
        # Accepted sockets inherit it; it must be set before the connection is made to count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    threading.Thread(target=accept_for_ever, args=(listener, options, connection_type), daemon=True).start()
    harness.announce(http=listener.getsockname()[1])
    lifetime.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--mode", choices=MODES, default="record")
    parser.add_argument("--record", type=pathlib.Path, metavar="DIR", help="write requests to files here")
    parser.add_argument("--after", type=int, default=65536, metavar="BYTES", help="for close-early and reset-early")
    parser.add_argument("--rate", type=float, default=1024 * 1024, metavar="BYTES", help="for slow-read, a second")
    parser.add_argument(
        "--linger",
        type=float,
        metavar="SECONDS",
        help="read on this long after closing early (default: 1 for 413-early, else 0: a reset follows at once)",
    )
    options = parser.parse_args()
    if options.linger is None:
        options.linger = 1.0 if options.mode == "413-early" else 0.0
    serve(options, receive_buffer=STALLED_RECEIVE_BUFFER if options.mode in ("stall", "slow-read") else None)


if __name__ == "__main__":
    main()
