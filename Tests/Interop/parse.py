#!/usr/bin/env python3
r"""Parses multipart bodies with three independent parsers, for differential tests.

Reads lines of {"path": FILE, "contentType": VALUE} and answers each, in order, with one line
{"aiohttp": RESULT, "werkzeug": RESULT, "email": RESULT}. A RESULT is a list of parts

    {"name", "filename", "contentType", "size", "sha256", "headers": [[name, value], ...], "rawDisposition"}

or {"error": TEXT}. To aiohttp, a part with a Content-Encoding has "decodedSize" and "decodedSha256", too, unless it is
one of form-data. A part that is itself multipart has "parts" in place of size and sha256 where the parser
goes into it (aiohttp and email do, werkzeug does not).

`name` and `filename` are what the parser makes of them, and parsers differ; `rawDisposition` is the header's
value as the parser saw it, so compare that where names have to match exactly. What is known:

    aiohttp   undoes backslash escapes (`x\y` becomes `xy`), strips leading `\` and `/`, leaves
              `%22`; gives no name where a quoted value holds two `;`; refuses control characters but TAB, NUL
              among them; swallows a first form-data part called `_charset_`, or fails if it is the only one.
    werkzeug  drops the backslash of every escape, turns `%22` into `"`; refuses a part that has no
              Content-Disposition or is not UTF-8; takes a bare CR or LF for a line break.
    email     undoes `\"` and `\\` only; takes any line break for CRLF, also around delimiters; calls an empty
              form an error; and holds the whole body in memory (a body over 64 MiB is an error here).

To werkzeug and email a name that ends in a backslash does not end there, since `\"` is an escape to them.
"""

from __future__ import annotations

import asyncio
import email.message
import email.parser
import email.policy
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator

from aiohttp import BodyPartReader, MultipartReader, StreamReader, hdrs
from aiohttp.base_protocol import BaseProtocol
from aiohttp.multipart import (
    BadContentDispositionHeader,
    BadContentDispositionParam,
    content_disposition_filename,
    parse_content_disposition,
)
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

import harness

CHUNK_SIZE = 64 * 1024
# The parsers' own limits are theirs to test; long names and 10,000 parts have to pass here.
NO_LIMIT = 2**30
EMAIL_LIMIT = 64 * 1024 * 1024

Part = dict[str, object]


def chunks(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_SIZE):
            yield chunk


def optional_text(value: str | None) -> str | None:
    return None if value is None else harness.text(value)


def describe(
    name: str | None, filename: str | None, headers: list[tuple[str, str]]
) -> Part:
    def first(wanted: str) -> str | None:
        return next((optional_text(value) for field, value in headers if field.lower() == wanted), None)

    return {
        "name": optional_text(name),
        "filename": optional_text(filename),
        "contentType": first("content-type"),
        "rawDisposition": first("content-disposition"),
        "headers": [[harness.text(field), harness.text(value)] for field, value in headers],
    }


def digest(data: bytes) -> Part:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


# --------------------------------------------------------------------------------------------------
# aiohttp


class FileProtocol(BaseProtocol):
    """Stands in for a connection: a StreamReader asks it to pause when it has enough."""

    @property
    def connected(self) -> bool:
        return True

    def pause_reading(self) -> None:
        self._reading_paused = True

    def resume_reading(self, resume_parser: bool = True) -> None:
        self._reading_paused = False


async def feed(path: str, protocol: FileProtocol, stream: StreamReader) -> None:
    for chunk in chunks(path):
        while protocol._reading_paused:
            await asyncio.sleep(0)
        stream.feed_data(chunk)
    stream.feed_eof()


async def describe_aiohttp(reader: MultipartReader) -> list[Part]:
    parts = []
    while (part := await reader.next()) is not None:
        _, parameters = parse_content_disposition(part.headers.get(hdrs.CONTENT_DISPOSITION))
        described = describe(
            content_disposition_filename(parameters, "name"),
            content_disposition_filename(parameters, "filename"),
            list(part.headers.items()),
        )
        if isinstance(part, BodyPartReader):
            hasher = hashlib.sha256()
            size = 0
            raw = bytearray()
            while chunk := await part.read_chunk(CHUNK_SIZE):
                hasher.update(chunk)
                if hdrs.CONTENT_ENCODING in part.headers:
                    raw += chunk
                size += len(chunk)
            described |= {"size": size, "sha256": hasher.hexdigest()}
            if hdrs.CONTENT_ENCODING in part.headers:
                decoded = digest(b"".join([bytes(piece) async for piece in part.decode_iter(raw)]))
                described |= {"decodedSize": decoded["size"], "decodedSha256": decoded["sha256"]}
        else:
            described["parts"] = await describe_aiohttp(part)
        parts.append(described)
    return parts


async def run_aiohttp(path: str, content_type: str) -> list[Part]:
    loop = asyncio.get_running_loop()
    protocol = FileProtocol(loop)
    stream = StreamReader(protocol, CHUNK_SIZE, loop=loop)
    feeding = asyncio.create_task(feed(path, protocol, stream))
    try:
        reader = MultipartReader(
            {hdrs.CONTENT_TYPE: content_type}, stream, max_field_size=NO_LIMIT, max_headers=NO_LIMIT
        )
        return await describe_aiohttp(reader)
    finally:
        feeding.cancel()


def parse_with_aiohttp(path: str, content_type: str) -> list[Part]:
    return asyncio.run(run_aiohttp(path, content_type))


# --------------------------------------------------------------------------------------------------
# werkzeug


def parse_with_werkzeug(path: str, content_type: str) -> list[Part]:
    _, options = parse_options_header(content_type)
    decoder = MultipartDecoder(options["boundary"].encode("ascii"), max_form_memory_size=None, max_parts=None)
    parts: list[Part] = []
    hasher, size = hashlib.sha256(), 0
    source = chunks(path)
    while True:
        event = decoder.next_event()
        if isinstance(event, NeedData):
            decoder.receive_data(next(source, None))
        elif isinstance(event, (Field, File)):
            filename = event.filename if isinstance(event, File) else None
            parts.append(describe(event.name, filename, list(event.headers)))
            hasher, size = hashlib.sha256(), 0
        elif isinstance(event, Data):
            hasher.update(event.data)
            size += len(event.data)
            if not event.more_data:
                parts[-1] |= {"size": size, "sha256": hasher.hexdigest()}
        elif isinstance(event, Epilogue):
            return parts


# --------------------------------------------------------------------------------------------------
# email


def email_parameter(disposition: str, name: str) -> str | None:
    # Asked of a message that holds the header as decoded UTF-8: asked of the parsed part itself, a raw
    # UTF-8 name would come back as "unknown-8bit" replacement characters.
    message = email.message.Message()
    message["Content-Disposition"] = disposition
    value = message.get_param(name, header="content-disposition")
    return email.utils.collapse_rfc2231_value(value) if isinstance(value, tuple) else value


def describe_email(message: email.message.Message) -> list[Part]:
    payload = message.get_payload()
    if not isinstance(payload, list):
        defects = ", ".join(type(defect).__name__ for defect in message.defects)
        raise ValueError(f"not a multipart body: {defects}")
    for defect in message.defects:
        raise ValueError(type(defect).__name__)
    parts = []
    for part in payload:
        headers = [(name, harness.text(value)) for name, value in part.raw_items()]
        disposition = next((value for name, value in headers if name.lower() == "content-disposition"), "")
        described = describe(
            email_parameter(disposition, "name"), email_parameter(disposition, "filename"), headers
        )
        if part.get_content_maintype() == "multipart":
            described["parts"] = describe_email(part)
        elif part.is_multipart():
            raise ValueError(f"{part.get_content_type()} is parsed, not kept")
        else:
            # decode=True gives the bytes as they were, once there is no Content-Transfer-Encoding to undo.
            del part["Content-Transfer-Encoding"]
            described |= digest(part.get_payload(decode=True))
        parts.append(described)
    return parts


def parse_with_email(path: str, content_type: str) -> list[Part]:
    with open(path, "rb") as file:
        body = file.read(EMAIL_LIMIT + 1)
    if len(body) > EMAIL_LIMIT:
        raise ValueError("the body is too large for a parser that holds it in memory")
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    return describe_email(email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body))


# --------------------------------------------------------------------------------------------------


PARSERS: dict[str, Callable[[str, str], list[Part]]] = {
    "aiohttp": parse_with_aiohttp,
    "werkzeug": parse_with_werkzeug,
    "email": parse_with_email,
}


def attempt(parser: Callable[[str, str], list[Part]], path: str, content_type: str) -> object:
    try:
        return parser(path, content_type)
    except Exception as error:  # What a parser raises on odd input is a finding, whatever its type.
        return {"error": f"{type(error).__name__}: {error}"}


def silence_parsers() -> None:
    """What a parser warns of is in its result as well."""
    warnings.simplefilter("ignore", BadContentDispositionHeader)
    warnings.simplefilter("ignore", BadContentDispositionParam)


def main() -> None:
    silence_parsers()
    for line in sys.stdin:
        if not line.strip():
            continue
        job = json.loads(line)
        results = {name: attempt(parser, job["path"], job["contentType"]) for name, parser in PARSERS.items()}
        print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
