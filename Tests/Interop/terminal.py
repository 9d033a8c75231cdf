#!/usr/bin/env python3
r"""Runs a command on a terminal of its own, and tells what it showed.

    terminal.py [OPTION]... -- COMMAND...

Standard input and standard error of the command are the terminal, standard output is not. Prints one line of JSON when
the command has ended: {"status": N or null, "signal": N or null, "output": TEXT, "screen": TEXT, "echoed": [BOOL, ...],
"echo": BOOL}, where `screen` is all that came to the terminal, `echoed` whether the terminal echoed at each answer, and
`echo` whether it does so in the end.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import struct
import subprocess
import tempfile
import termios

import harness


def set_columns(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def echoes(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=100, help="the terminal's width")
    parser.add_argument("--resize", type=int, metavar="COLUMNS", help="its width from the second line in place on")
    parser.add_argument(
        "--when",
        nargs=2,
        action="append",
        default=[],
        metavar=("SHOWN", "TYPED"),
        help=r"type something once something is shown; \x03 is Ctrl-C",
    )
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    controller, terminal = pty.openpty()
    set_columns(terminal, options.columns)
    answers = [(shown, typed.encode().decode("unicode_escape").encode()) for shown, typed in options.when]
    screen = ""
    echoed = []

    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            options.command,
            stdin=terminal,
            stdout=output,
            stderr=terminal,
            start_new_session=True,
            # So that Ctrl-C reaches the command.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        # The terminal stays open here, so that reading does not end with the command: look at both.
        os.set_blocking(controller, False)
        seen = 0
        while True:
            ended = process.poll() is not None
            try:
                screen += harness.text(os.read(controller, 65536))
                continue
            except BlockingIOError:
                pass
            if answers and answers[0][0] in screen[seen:]:
                _, typed = answers.pop(0)
                seen = len(screen)
                echoed.append(echoes(terminal))
                os.write(controller, typed)
            if options.resize is not None and screen.count("\r") >= 2:
                set_columns(terminal, options.resize)
                options.resize = None
            if ended:
                break
            try:
                process.wait(0.01)
            except subprocess.TimeoutExpired:
                pass
        output.seek(0)
        code = process.returncode
        facts = {
            "status": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "output": harness.text(output.read()),
            "screen": screen,
            "echoed": echoed,
            "echo": echoes(terminal),
        }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
