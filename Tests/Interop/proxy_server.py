#!/usr/bin/env python3
"""A real, small proxy that tells what it was asked for.

    proxy_server.py --kind http|https|socks5 --log FILE [--user USER:PASSWORD] [--tls DIR]    -> {"http": PORT}

An HTTP proxy takes CONNECT and absolute URLs; `https` is the same over TLS, with make_certificates.py's certificate. Each
connection adds a line to FILE: what was asked for, and with what credentials ("-" for none). With `--user` all others are
refused: 407, or by SOCKS5's own answer.
"""

from __future__ import annotations

import argparse
import base64
import pathlib
import socket
import ssl
import struct
import threading

import harness

SECONDS = 60


class Refused(Exception):
    """The client has no right, or does not speak the protocol."""


def copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def join(client: socket.socket, server: socket.socket) -> None:
    """Carries bytes both ways until both have ended."""
    back = threading.Thread(target=copy, args=(server, client), daemon=True)
    back.start()
    copy(client, server)
    back.join(SECONDS)


class Proxy:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._lock = threading.Lock()

    def _log(self, *words: str) -> None:
        with self._lock, open(self._options.log, "a", encoding="utf-8") as file:
            file.write(" ".join(words) + "\n")

    def serve(self, peer: socket.socket) -> None:
        try:
            peer.settimeout(SECONDS)
            if self._options.kind == "https":
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self._options.tls / "server.pem", self._options.tls / "server.key")
                peer = context.wrap_socket(peer, server_side=True)
            with peer:
                if self._options.kind == "socks5":
                    self._serve_socks(peer)
                else:
                    self._serve_http(peer)
        except (OSError, Refused, ValueError):
            peer.close()

    def _serve_http(self, peer: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            data = peer.recv(65536)
            if not data:
                raise Refused
            head += data
        head, _, rest = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        given = fields.pop("Proxy-Authorization", "-")
        if given.startswith("Basic "):
            given = base64.b64decode(given[6:]).decode()
        self._log(method, target, given)
        if self._options.user not in (None, given):
            peer.sendall(
                b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
            )
            return
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            with socket.create_connection((host.strip("[]"), int(port)), SECONDS) as server:
                peer.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                join(peer, server)
            return
        host, _, path = target.removeprefix("http://").partition("/")
        name, _, port = host.partition(":")
        # One request a connection, so that nobody has to look for the next one.
        kept = [f"{field}: {value}" for field, value in fields.items() if field.lower() != "connection"]
        head = "\r\n".join((f"{method} /{path} HTTP/1.1", *kept, "Connection: close", "", "")).encode("latin-1")
        with socket.create_connection((name, int(port or 80)), SECONDS) as server:
            server.sendall(head + rest)
            join(peer, server)

    def _serve_socks(self, peer: socket.socket) -> None:
        def take(count: int) -> bytes:
            data = b""
            while len(data) < count:
                piece = peer.recv(count - len(data))
                if not piece:
                    raise Refused
                data += piece
            return data

        # RFC 1928 section 3, RFC 1929.
        _, count = take(2)
        methods = take(count)
        given = "-"
        if self._options.user is not None:
            if 2 not in methods:
                peer.sendall(b"\x05\xff")
                raise Refused
            peer.sendall(b"\x05\x02")
            user = take(take(2)[1])
            password = take(take(1)[0])
            given = f"{user.decode()}:{password.decode()}"
            peer.sendall(b"\x01\x00" if given == self._options.user else b"\x01\x01")
            if given != self._options.user:
                raise Refused
        else:
            peer.sendall(b"\x05\x00")
        _, command, _, kind = take(4)
        host = take(take(1)[0]).decode() if kind == 3 else socket.inet_ntoa(take(4))
        (port,) = struct.unpack("!H", take(2))
        self._log("name" if kind == 3 else "address", f"{host}:{port}", given)
        if command != 1:
            raise Refused
        with socket.create_connection((host, port), SECONDS) as server:
            peer.sendall(b"\x05\x00\x00\x01" + b"\x00" * 6)
            join(peer, server)


def accept_for_ever(listener: socket.socket, proxy: Proxy) -> None:
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=proxy.serve, args=(peer,), daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--kind", choices=("http", "https", "socks5"), default="http")
    parser.add_argument("--log", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--user", metavar="USER:PASSWORD")
    parser.add_argument("--tls", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    lifetime = harness.Lifetime(options.lifetime)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept_for_ever, args=(listener, Proxy(options)), daemon=True).start()
    harness.announce(http=listener.getsockname()[1])
    lifetime.wait()


if __name__ == "__main__":
    main()
