#!/usr/bin/env python3
"""A server of HTTP/2 without TLS that goes wrong on request, for streams that are tried again.

    h2_server.py     -> {"http": PORT}

    POST|PUT|GET /upload?...    reads the body; answers {"size", "sha256", "attempt"}
    GET /requests?key=K         what was asked with `key=K`: [{"method", "size"}]

The client has to know that it is HTTP/2. The query says what goes wrong, in `faults=A,B,C`: the first stream with its
`key` gets A, the second B, and those behind the last one nothing. A fault is one of

    refuse@N     after N bytes of the body the stream is reset with REFUSED_STREAM: nobody acted on it
    reset@N      the same with INTERNAL_ERROR: somebody may have
    goaway@N     GOAWAY, by which this stream was not looked at
    farewell@N   GOAWAY, by which this stream was looked at; then the connection is closed
    drop@N       the connection is closed without a word
    ok           nothing
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import socket
import threading
import urllib.parse

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

import harness
from fault_server import Book, Gone

BUFFER_SIZE = 64 * 1024
IDLE_SECONDS = 120


@dataclasses.dataclass
class Stream:
    request: dict[str, object]
    attempt: int
    fault: str
    limit: int
    size: int = 0
    digest: hashlib._Hash = dataclasses.field(default_factory=hashlib.sha256)
    is_over: bool = False


class Connection:
    def __init__(self, peer: socket.socket, book: Book) -> None:
        self._peer = peer
        self._book = book
        self._http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self._streams: dict[int, Stream] = {}

    def serve(self) -> None:
        with self._peer:
            self._peer.settimeout(IDLE_SECONDS)
            try:
                self._http.initiate_connection()
                while True:
                    self._flush()
                    data = self._peer.recv(BUFFER_SIZE)
                    if not data:
                        return
                    for event in self._http.receive_data(data):
                        self._handle(event)
            except (Gone, OSError, ValueError, h2.exceptions.H2Error):
                pass

    def _flush(self) -> None:
        self._peer.sendall(self._http.data_to_send())

    def _handle(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived():
                self._begin(event.stream_id, dict(event.headers))
            case h2.events.DataReceived():
                self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                stream = self._streams[event.stream_id]
                stream.digest.update(event.data)
                stream.size += len(event.data)
                stream.request["size"] = stream.size
                self._fail_if_due(event.stream_id, stream)
            case h2.events.StreamEnded():
                stream = self._streams.get(event.stream_id)
                if stream is not None and not stream.is_over:
                    answer = {"size": stream.size, "sha256": stream.digest.hexdigest(), "attempt": stream.attempt}
                    self._answer(event.stream_id, answer)

    def _begin(self, number: int, fields: dict[str, str]) -> None:
        parts = urllib.parse.urlsplit(fields[":path"])
        query = {name: values[-1] for name, values in urllib.parse.parse_qs(parts.query).items()}
        key = query.get("key", "")
        if parts.path == "/requests":
            self._answer(number, self._book.requests(key))
            return
        request: dict[str, object] = {"method": fields[":method"], "size": 0}
        attempt = self._book.enter(key, request)
        faults = query.get("faults", "ok").split(",")
        fault, _, limit = (faults[attempt - 1] if attempt <= len(faults) else "ok").partition("@")
        stream = self._streams[number] = Stream(request, attempt, fault, int(limit or 0))
        self._fail_if_due(number, stream)

    def _answer(self, number: int, content: object) -> None:
        body = json.dumps(content).encode()
        fields = [(":status", "200"), ("content-type", "application/json"), ("content-length", str(len(body)))]
        self._http.send_headers(number, fields)
        self._http.send_data(number, body, end_stream=True)

    def _fail_if_due(self, number: int, stream: Stream) -> None:
        if stream.is_over or stream.fault == "ok" or stream.size < stream.limit:
            return
        stream.is_over = True
        if stream.fault in ("refuse", "reset"):
            codes = h2.errors.ErrorCodes
            code = codes.REFUSED_STREAM if stream.fault == "refuse" else codes.INTERNAL_ERROR
            self._http.reset_stream(number, code)
            return
        if stream.fault in ("goaway", "farewell"):
            self._http.close_connection(last_stream_id=number if stream.fault == "farewell" else 0)
            self._flush()
        if stream.fault == "goaway":
            # The client is to read it, and not to be told by a reset that nobody reads what it sends.
            while self._peer.recv(BUFFER_SIZE):
                pass
        raise Gone


def accept_for_ever(listener: socket.socket) -> None:
    book = Book()
    while True:
        peer, _ = listener.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(peer, book).serve, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    options = parser.parse_args()
    lifetime = harness.Lifetime(options.lifetime)
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    threading.Thread(target=accept_for_ever, args=(listener,), daemon=True).start()
    harness.announce(http=listener.getsockname()[1])
    lifetime.wait()


if __name__ == "__main__":
    main()
