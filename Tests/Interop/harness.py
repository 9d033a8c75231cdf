"""What every server in this folder shares: how it says that it is ready, and how it ends.

A test starts a server with a pipe as its standard input, reads one line of JSON from its standard
output, and closes the pipe when it is done. A test that crashes closes the pipe as well, so no server
outlives the test that started it; `--lifetime` is the second net.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading

DEFAULT_LIFETIME = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that all servers understand."""
    parser.add_argument(
        "--lifetime",
        type=float,
        default=DEFAULT_LIFETIME,
        metavar="SECONDS",
        help=f"end after this many seconds at the latest (default {DEFAULT_LIFETIME:.0f})",
    )


def announce(**fields: object) -> None:
    """Prints the one line that says the server accepts connections."""
    print(json.dumps(fields), flush=True)


class Lifetime:
    """Over when standard input reaches its end, on SIGTERM or SIGINT, or after a number of seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._over = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._over.set())
        threading.Thread(target=self._watch_standard_input, daemon=True).start()

    def _watch_standard_input(self) -> None:
        try:
            while os.read(sys.stdin.fileno(), 4096):
                pass
        except (OSError, ValueError, AttributeError):
            # No standard input at all counts as one that has ended.
            pass
        self._over.set()

    def wait(self) -> None:
        """Blocks until the server should end."""
        self._over.wait(self._seconds)


def text(value: bytes | str) -> str:
    """Bytes from the wire as JSON can carry them: UTF-8, with `\\xNN` where they are not.

    A string may hold surrogate escapes, which is how Python's parsers pass on bytes that are not UTF-8.
    """
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    return value.decode("utf-8", "backslashreplace")
