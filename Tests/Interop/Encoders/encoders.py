"""The encoders: how each is run, and what it is known to do to names and values.

What was given is what has to come out. Where an encoder changes something on the way, that is its own doing
and is written here, from its documentation or source; a parser must not undo it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
from collections.abc import Callable

import chromium
from forms import File, Form, Text
from recorder import Recorder

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 300

Change = Callable[[str], str]
# The recorder's name for it, the form, and the file that describes the form.
Job = tuple[str, Form, pathlib.Path]
Runner = Callable[[list[Job], Recorder], None]


def unchanged(text: str) -> str:
    return text


def normalised(text: str) -> str:
    """Every line break as CRLF (WHATWG HTML, "constructing the entry list" and the encoding algorithm)."""
    return re.sub(r"\r\n|\r|\n", "\r\n", text)


def percent(text: str) -> str:
    """WHATWG HTML, multipart/form-data encoding algorithm: these three and no others."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def standard_name(text: str) -> str:
    return percent(normalised(text))


def httpx_name(text: str) -> str:
    """An older draft of that algorithm: backslashes are doubled, other controls escaped too."""
    return percent(text.replace("\\", "\\\\"))


def quoted_pairs(text: str) -> str:
    """aiohttp: a backslash before every character that RFC 822 does not call qtext, blanks too."""
    return re.sub(r"[^\x21-\x7e]", lambda match: "\\" + match[0], text.replace("\\", "\\\\"))


def doubled_backslashes(text: str) -> str:
    """Backslash escapes: `\\"` is read as a quote, and `\\\\` is not, since browsers send paths like that."""
    return text.replace("\\", "\\\\")


def percent_encoded(text: str) -> str:
    """aiohttp with quote_fields: all but unreserved characters."""
    return urllib.parse.quote(text, safe="")


@dataclasses.dataclass(frozen=True)
class Encoder:
    """A way to send forms."""

    name: str
    run: Runner
    version: list[str]
    part_name: Change = standard_name
    filename: Change = percent
    value: Change = unchanged
    # The Content-Type of fields.
    text_type: str | None = None
    # Forms that it makes no valid body of, and why; the body has to be refused.
    invalid: dict[str, str] = dataclasses.field(default_factory=dict)
    # Forms that it refuses itself, and why; it has to end with an error.
    refused: dict[str, str] = dataclasses.field(default_factory=dict)


class EncoderError(Exception):
    """A program did not do what it should; says what it said."""


def run_program(*command: str, directory: pathlib.Path | None = None) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT, cwd=directory
    )
    if done.returncode != 0:
        raise EncoderError(f"{command[0]} ended with {done.returncode}: {done.stdout[-2000:]}")


def program(*command: str) -> Runner:
    """A program that takes pairs of a URL and a form."""

    def run(jobs: list[Job], recorder: Recorder) -> None:
        run_program(*command, *(word for key, _, path in jobs for word in (recorder.url(key), str(path))))

    return run


def run_chromium(jobs: list[Job], recorder: Recorder) -> None:
    """Opens a page with each form, chooses its files and submits it."""
    with chromium.running() as browser:
        for key, form, described in jobs:
            recorder.pages[key] = form
            browser.open(recorder.url(key))
            files = [
                [str(described.parent / str(number) / part.filename)]
                for number, part in enumerate(form)
                if isinstance(part, File)
            ]
            if files:
                browser.choose_files("input[type=file]", files)
            browser.evaluate("document.forms[0].submit()")
            recorder.take(key)


def java_class_path() -> str:
    jars = ("httpmime", "httpclient", "httpcore", "commons-logging", "commons-codec")
    return ":".join(f"/usr/share/java/{jar}.jar" for jar in jars)


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def python_version(package: str) -> list[str]:
    return python("-c", f"from importlib.metadata import version; print({package!r}, version({package!r}))")


RAW_LINE_BREAKS = "writes the line breaks into the header as they are"


def all_encoders(build: pathlib.Path) -> list[Encoder]:
    """Every encoder; compiled ones go to `build`."""

    def python_client(name: str, **how: object) -> Encoder:
        run = program(*python(str(HERE / "python_clients.py"), name))
        return Encoder(name, run, python_version(name.removesuffix("-unquoted")), **how)

    def run_go(jobs: list[Job], recorder: Recorder) -> None:
        # Go's cache needs a home, which not every build machine has.
        cache = [] if "HOME" in os.environ else [f"GOCACHE={build}/cache"]
        run_program("env", *cache, "go", "build", "-o", "go_client", str(HERE / "go_client.go"), directory=build)
        program(str(build / "go_client"))(jobs, recorder)

    def run_java(jobs: list[Job], recorder: Recorder) -> None:
        path = java_class_path()
        run_program("javac", "-cp", path, "-d", str(build), str(HERE / "JavaClient.java"))
        options = ["-Dfile.encoding=UTF-8", "-Dsun.jnu.encoding=UTF-8"]
        program("env", "LC_ALL=C.UTF-8", "java", *options, "-cp", f"{build}:{path}", "JavaClient")(jobs, recorder)

    chromium_program = next(filter(None, map(shutil.which, chromium.PROGRAMS)), "chromium")
    return [
        Encoder("curl", program(*python(str(HERE / "curl_client.py"))), ["curl", "--version"], part_name=percent),
        python_client("requests", part_name=percent),
        python_client("requests-toolbelt", part_name=percent),
        python_client("httpx", part_name=httpx_name, filename=httpx_name),
        python_client(
            "aiohttp",
            part_name=quoted_pairs,
            filename=percent_encoded,
            text_type="text/plain",
            refused={
                "newlines in names": "raises ValueError",
                "non-ascii": "asserts that names are ASCII",
            },
        ),
        python_client(
            "aiohttp-unquoted",
            part_name=doubled_backslashes,
            filename=doubled_backslashes,
            text_type="text/plain",
            refused={"newlines in names": "raises ValueError"},
        ),
        Encoder(
            "go",
            run_go,
            ["go", "version"],
            part_name=doubled_backslashes,
            filename=doubled_backslashes,
            invalid={"newlines in names": RAW_LINE_BREAKS},
        ),
        Encoder(
            "node",
            program("node", str(HERE / "node_client.mjs")),
            ["node", "--version"],
            value=normalised,
        ),
        Encoder(
            "java",
            run_java,
            ["dpkg-query", "--show", "libhttpmime-java"],
            part_name=doubled_backslashes,
            filename=doubled_backslashes,
            text_type="text/plain; charset=UTF-8",
            invalid={"newlines in names": RAW_LINE_BREAKS},
        ),
        Encoder("chromium", run_chromium, [chromium_program, "--version"], value=normalised),
    ]


def expected(encoder: Encoder, form: Form) -> list[dict[str, object]]:
    """The parts that the form has to come out as."""
    parts = []
    for part in form:
        if isinstance(part, Text):
            content = encoder.value(part.value).encode()
            described: dict[str, object] = {"filename": None, "contentType": encoder.text_type}
        else:
            content = part.content
            described = {"filename": encoder.filename(part.filename), "contentType": part.content_type}
        described |= {
            "name": encoder.part_name(part.name),
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        parts.append(described)
    return parts
