#!/usr/bin/env python3
"""Sends forms with `curl -F`.

    curl_client.py {URL FORM}...
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

import forms


# Linux allows 128 KiB, and a character has up to four bytes.
LONGEST_ARGUMENT = 30_000


def quoted(text: str) -> str:
    """As curl's -F wants what may hold semicolons and commas."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def arguments(form: str, directory: str) -> list[str]:
    result: list[str] = []
    for kind, name, *rest in forms.load(form):
        if kind == "text" and len(rest[0]) > LONGEST_ARGUMENT:
            path = pathlib.Path(directory, str(len(result)))
            path.write_bytes(rest[0].encode())
            result += ["-F", f"{name}=<{path}"]
        elif kind == "text":
            result += ["--form-string", f"{name}={rest[0]}"]
        else:
            filename, content_type, path = rest
            result += ["-F", f"{name}=@{quoted(path)};type={content_type};filename={quoted(filename)}"]
    return result


def main() -> None:
    jobs = sys.argv[1:]
    # A .curlrc might say anything.
    curl = ["curl", "-q", "--silent", "--show-error", "--fail", "--max-time", "30", "-o", "/dev/null"]
    for url, form in zip(jobs[::2], jobs[1::2], strict=True):
        with tempfile.TemporaryDirectory(prefix="sluice-interop.") as directory:
            subprocess.run([*curl, *arguments(form, directory), url], check=True)


if __name__ == "__main__":
    main()
