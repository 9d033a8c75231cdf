"""A proxy that answers CONNECT with a redirect, as anybody on the way to a plain HTTP proxy could.

    connect_proxy.py --location URL     -> {"http": PORT}
"""

from __future__ import annotations

import argparse
import socket
import threading

import harness


def answer(peer: socket.socket, location: str) -> None:
    with peer:
        peer.settimeout(10)
        head = b""
        while b"\r\n\r\n" not in head and len(head) < 65536:
            chunk = peer.recv(4096)
            if not chunk:
                return
            head += chunk
        peer.sendall(
            f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n".encode()
        )


def accept_for_ever(listener: socket.socket, location: str) -> None:
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=answer, args=(peer, location), daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--location", required=True, metavar="URL")
    options = parser.parse_args()
    lifetime = harness.Lifetime(options.lifetime)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept_for_ever, args=(listener, options.location), daemon=True).start()
    harness.announce(http=listener.getsockname()[1])
    lifetime.wait()


if __name__ == "__main__":
    main()
