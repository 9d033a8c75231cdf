#!/usr/bin/env python3
"""Decodes with `sluice decode` what other people's encoders sent, and compares it with what they were given.

    interop.py SLUICE [--only ENCODER|page] [--keep DIR]

Every encoder sends every form of forms.py over HTTP to a server on loopback, which keeps the bodies. Each body
is then decoded by Sluice, and has to be what was given (encoders.py lists what encoders themselves change);
and by three other parsers, which have to see the same parts as Sluice does. An encoder that is not there or
fails is a failure. Last, Chromium uploads through the page of `sluice receive`. Prints a line an encoder and "N passed, N failed", and exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import chromium
import encoders
import forms
import parse
import receive_page
from recorder import Recorded, Recorder

TIMEOUT = 120
PAGE = "page"
REFUSED = 65


class Checks:
    """Counts what was right, and says what was not."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def equal(self, what: str, found: object, wanted: object) -> None:
        if found == wanted:
            self.passed += 1
        else:
            self.fail(f"{what}:\n    found  {shown(found)}\n    wanted {shown(wanted)}")

    def fail(self, what: str) -> None:
        self.failed += 1
        print(f"FAILED {what}", flush=True)


def shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 2000 else f"{text[:1000]} ... {text[-1000:]}"


def differing(found: list[dict[str, object]], wanted: list[dict[str, object]]) -> tuple[object, object]:
    """The first parts that differ, with their number, since hundreds would not be read."""
    for number, (one, other) in enumerate(zip(found, wanted)):
        if one != other:
            return {"part": number} | one, {"part": number} | other
    return len(found), len(wanted)


# --------------------------------------------------------------------------------------------------
# Sluice


def decode(sluice: str, recorded: Recorded) -> tuple[int, str, str]:
    command = [sluice, "decode", str(recorded.body), "--content-type", recorded.content_type, "--list", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr


def only(part: dict[str, object], *keys: str) -> dict[str, object]:
    return {key: part.get(key) for key in keys}


GIVEN = ("name", "filename", "contentType", "size", "sha256")


# --------------------------------------------------------------------------------------------------
# Other parsers


# Names are compared as the whole value of Content-Disposition: what a parser makes of it differs, see parse.py.
SEEN = ("contentType", "rawDisposition", "size", "sha256")

# What another parser cannot do, and why.
FOREIGN_GAPS = {
    # email takes any line break for CRLF, and so adds nothing that could be compared.
    ("email", "awkward content"): "takes a lone CR at the end of a part for a line break",
}


def as_seen(part: dict[str, object]) -> dict[str, object]:
    """What Sluice says of a part, in the shape of parse.py."""
    headers = part["headers"]
    disposition = next((value for name, value in headers if name.lower() == "content-disposition"), None)
    return {"contentType": part["contentType"], "rawDisposition": disposition, **only(part, "size", "sha256")}


def check_foreign(checks: Checks, what: str, form: str, recorded: Recorded, sluice: list[dict[str, object]]) -> None:
    wanted = [as_seen(part) for part in sluice]
    for name, parser in parse.PARSERS.items():
        if (name, form) in FOREIGN_GAPS:
            continue
        result = parse.attempt(parser, str(recorded.body), recorded.content_type)
        if isinstance(result, dict):
            checks.fail(f"{what}: {name} refuses it: {result['error']}")
        else:
            found = [only(part, *SEEN) for part in result]
            checks.equal(f"{what}: {name}", *((0, 0) if found == wanted else differing(found, wanted)))


# --------------------------------------------------------------------------------------------------


def check(checks: Checks, sluice: str, encoder: encoders.Encoder, name: str, form: forms.Form, recorded: Recorded) -> None:
    what = f"{encoder.name}: {name}"
    status, output, errors = decode(sluice, recorded)
    if name in encoder.invalid:
        checks.equal(f"{what} (it {encoder.invalid[name]}): status and output", (status, output), (REFUSED, ""))
        return
    if status != 0:
        checks.fail(f"{what}: sluice decode ended with {status}: {errors}")
        return
    parts = json.loads(output)
    found, wanted = [only(part, *GIVEN) for part in parts], encoders.expected(encoder, form)
    wanted = [only(part, *GIVEN) for part in wanted]
    checks.equal(what, *((0, 0) if found == wanted else differing(found, wanted)))
    check_foreign(checks, what, name, recorded, parts)


def check_encoder(
    checks: Checks,
    sluice: str,
    encoder: encoders.Encoder,
    all_forms: dict[str, forms.Form],
    described: dict[str, pathlib.Path],
    recorder: Recorder,
) -> None:
    def job(name: str) -> encoders.Job:
        return f"{encoder.name} {name}", all_forms[name], described[name]

    possible = [name for name in all_forms if name not in encoder.refused]
    try:
        encoder.run([job(name) for name in possible], recorder)
        sent = {name: recorder.take(job(name)[0], seconds=5) for name in possible}
    except Exception as error:  # Whatever keeps an encoder from sending is one and the same failure.
        checks.fail(f"{encoder.name}: did not send its forms: {type(error).__name__}: {error}")
        return
    for name in possible:
        check(checks, sluice, encoder, name, all_forms[name], sent[name])
    for name, why in encoder.refused.items():
        try:
            encoder.run([job(name)], recorder)
            checks.fail(f"{encoder.name}: {name}: it {why} no longer; expect what it sends now")
        except encoders.EncoderError:
            checks.passed += 1


def version(encoder: encoders.Encoder) -> str:
    try:
        done = subprocess.run(encoder.version, capture_output=True, text=True, timeout=TIMEOUT)
        return done.stdout.splitlines()[0]
    except (OSError, IndexError):
        return "not there"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sluice")
    arguments.add_argument("--only", metavar="ENCODER")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="leave the bodies here")
    options = arguments.parse_args()

    parse.silence_parsers()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="sluice-interop.") as temporary:
        work = pathlib.Path(temporary)
        bodies, build = options.keep or work / "bodies", work / "build"
        for directory in (bodies, build):
            directory.mkdir(parents=True, exist_ok=True)
        recorder = Recorder(bodies)
        all_forms = forms.all_forms()
        described = {
            name: forms.store(form, work / f"form-{number}") for number, (name, form) in enumerate(all_forms.items())
        }
        for encoder in encoders.all_encoders(build):
            if options.only not in (None, encoder.name):
                continue
            before = checks.passed
            check_encoder(checks, options.sluice, encoder, all_forms, described, recorder)
            print(f"{encoder.name} ({version(encoder)}): {checks.passed - before} checks passed", flush=True)
        if options.only in (None, PAGE):
            try:
                checks.passed += receive_page.check(options.sluice, recorder, work)
                print("the page of sluice receive: uploads, cancels, and is not to be used by others", flush=True)
            except (AssertionError, OSError, chromium.BrowserError) as error:
                checks.fail(f"the page of sluice receive: {error}")
        recorder.close()
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(checks.failed > 0 or checks.passed == 0)


if __name__ == "__main__":
    main()
