"""Python's parsers as peers; README.md has the protocol.

    python_peers.py PARSER (--version | BODY BOUNDARY)
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import metadata

CHUNK_SIZE = 64 * 1024

# The number of parts, and of bytes in them.
Counts = tuple[int, int]


def split(body: bytes) -> list[bytes]:
    """The body in pieces, which these parsers want as bytes; what making them costs is none of theirs."""
    return [body[start : start + CHUNK_SIZE] for start in range(0, len(body), CHUNK_SIZE)]


def parse_python_multipart(chunks: list[bytes], boundary: str) -> Counts:
    from python_multipart.multipart import MultipartParser

    parts = size = 0

    def part_end() -> None:
        nonlocal parts
        parts += 1

    def part_data(_: bytes, start: int, end: int) -> None:
        nonlocal size
        size += end - start

    # Headers have to be collected, as whoever uses the parser does.
    headers: list[bytes] = []
    parser = MultipartParser(
        boundary,
        {
            "on_part_begin": headers.clear,
            "on_header_field": lambda data, start, end: headers.append(data[start:end]),
            "on_header_value": lambda data, start, end: headers.append(data[start:end]),
            "on_part_data": part_data,
            "on_part_end": part_end,
        },
    )
    for chunk in chunks:
        parser.write(chunk)
    parser.finalize()
    return parts, size


def parse_multipart(chunks: list[bytes], boundary: str) -> Counts:
    from multipart import MultipartSegment, PushMultipartParser

    parts = size = 0
    with PushMultipartParser(boundary) as parser:
        for chunk in chunks:
            for event in parser.parse(chunk):
                if isinstance(event, MultipartSegment):
                    parts += 1
                elif event:
                    size += len(event)
        if not parser.closed:
            list(parser.parse(b""))
    return parts, size


def parse_streaming_form_data(chunks: list[bytes], boundary: str) -> Counts:
    from streaming_form_data import StreamingFormDataParser
    from streaming_form_data.targets import BaseTarget

    class Counter(BaseTarget):
        parts = size = 0

        def on_finish(self) -> None:
            Counter.parts += 1

        def on_data_received(self, chunk: bytes) -> None:
            Counter.size += len(chunk)

    parser = StreamingFormDataParser({"Content-Type": f'multipart/form-data; boundary="{boundary}"'})
    counter = Counter()
    parser.register("any", counter, lambda *_: True)
    for chunk in chunks:
        parser.data_received(chunk)
    return counter.parts, counter.size


def parse_werkzeug(chunks: list[bytes], boundary: str) -> Counts:
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

    decoder = MultipartDecoder(boundary.encode(), max_form_memory_size=None, max_parts=None)
    source = iter(chunks)
    parts = size = 0
    while True:
        event = decoder.next_event()
        if isinstance(event, NeedData):
            decoder.receive_data(next(source, None))
        elif isinstance(event, Data):
            size += len(event.data)
        elif isinstance(event, (Field, File)):
            parts += 1
        elif isinstance(event, Epilogue):
            return parts, size


PARSERS: dict[str, Callable[[list[bytes], str], Counts]] = {
    "multipart": parse_multipart,
    "python-multipart": parse_python_multipart,
    "streaming-form-data": parse_streaming_form_data,
    "werkzeug": parse_werkzeug,
}


def main() -> None:
    parser, *arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print(f"{parser} {metadata.version(parser)} on Python {sys.version.split()[0]}")
        return
    path, boundary = arguments
    with open(path, "rb") as file:
        chunks = split(file.read())
    for _ in sys.stdin:
        started = time.perf_counter()
        parts, size = PARSERS[parser](chunks, boundary)
        seconds = time.perf_counter() - started
        print(json.dumps({"seconds": seconds, "parts": parts, "bytes": size}), flush=True)


if __name__ == "__main__":
    main()
