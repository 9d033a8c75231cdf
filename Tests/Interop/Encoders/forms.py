"""The forms that every encoder is given: what is easy to get wrong in names, values and files.

A form is handed to encoders in a file of one line a part, whose words are base64 of UTF-8, so that it takes
no parser in any language:

    text NAME VALUE
    file NAME FILENAME TYPE PATH

The last component of PATH is FILENAME, since browsers send what the file is called. Types follow from the
filenames' extensions, as browsers have it.
"""

from __future__ import annotations

import base64
import dataclasses
import pathlib
import random


@dataclasses.dataclass(frozen=True)
class Text:
    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class File:
    name: str
    filename: str
    content: bytes

    @property
    def content_type(self) -> str:
        return "text/plain" if self.filename.endswith(".txt") else "application/octet-stream"


Form = list[Text | File]

EVERY_BYTE = bytes(range(256))


def noise(size: int) -> bytes:
    # Seeded, so that a failure repeats.
    return random.Random(size).randbytes(size)


def all_forms() -> dict[str, Form]:
    delimiter_like = b"\r\n--\r\n----\r\n\r\n--boundary--\r\n" + "\r\n--".encode() * 1000
    return {
        "plain": [Text("title", "Holiday"), File("file", "hello.txt", b"Hello, world\n")],
        "non-ascii": [
            Text("naïve", "Ærøskøbing"),
            Text("名前", "値 🌊"),
            File("fichier à joindre", "résumé – 名.txt", "é".encode()),
            File("🌊", "ABC~‾¥≈¤･・•∙·☼★星🌟星★☼·∙•・･¤≈¥‾~XYZ.bin", b"\xff\xfe"),
        ],
        "quotes": [
            Text('a"b', 'v"w'),
            Text("it's", "it's"),
            File('"quoted"', 'say "hi".txt', b'"'),
        ],
        "backslashes": [
            Text("a\\b", "c\\d"),
            File("path\\to", "C:\\fakepath\\new.txt", b"\\"),
            # Not at a name's end or before a quote, where browsers' names are ambiguous: they escape quotes only.
            File("double\\\\d", "x\\y\\z.bin", b"\\\\"),
        ],
        "punctuation": [
            Text("a;b; c", "d;e"),
            Text("100%25 %22 %0D%0A", "%22%0D"),
            Text(" outer blanks ", " outer blanks "),
            Text("a,b:c/d?e[0]{f}<g>&h", "&amp;<>"),
            File("semi;colon", "a;b; filename=c.txt", b";"),
            File("percent%22", "100% %22 %2F.bin", b"%"),
        ],
        "newlines in names": [
            Text("a\nb", "lf"),
            Text("a\rb", "cr"),
            Text("a\r\nb", "crlf"),
            File("c\nd", "e\nf.txt", b"lf"),
            File("c\rd", "e\r\nf.bin", b"crlf"),
        ],
        "newlines in values": [
            Text("lf", "one\ntwo\n"),
            Text("crlf", "one\r\ntwo\r\n"),
            Text("blank lines", "\r\n\r\n\r\n"),
            Text("dashes", "--\r\n--boundary\r\n--boundary--\r\n"),
        ],
        "empty": [
            Text("value", ""),
            File("file", "empty.txt", b""),
            Text("last", ""),
        ],
        "awkward content": [
            File("every byte", "bytes.bin", EVERY_BYTE * 300),
            File("like delimiters", "delimiters.bin", delimiter_like),
            File("ends in CR", "cr.bin", b"data\r"),
            File("ends in CRLF", "crlf.bin", b"data\r\n"),
            File("ends like a delimiter", "dashes.bin", b"data\r\n--"),
            File("CRLF", "lines.txt", b"\r\n" * 50_000),
            File("CR", "returns.bin", b"\r" * 70_000),
        ],
        "large file": [
            Text("before", "b"),
            File("large", "large.bin", noise(7 * 1024 * 1024 + 13)),
            Text("after", "a"),
        ],
        "long text": [Text("long", "ü" * 200_000)],
        "many fields": [Text(f"field {index % 100}", f"value {index}") for index in range(500)],
        "many files": [File("files[]", f"file {index}.bin", noise(index)) for index in range(60)],
        "same names": [
            Text("x", "1"),
            Text("x", "2"),
            File("x", "x.txt", b"3"),
            File("x", "x.txt", b"4"),
        ],
    }


def store(form: Form, directory: pathlib.Path) -> pathlib.Path:
    """Writes the form's files and the file that describes it; gives the latter's path."""

    def word(value: str) -> str:
        return base64.b64encode(value.encode()).decode() or "="

    directory.mkdir()
    lines = []
    for number, part in enumerate(form):
        if isinstance(part, Text):
            lines.append(f"text {word(part.name)} {word(part.value)}")
        else:
            # A directory each: equal filenames are allowed in a form.
            path = directory / str(number) / part.filename
            path.parent.mkdir(parents=True)
            path.write_bytes(part.content)
            lines.append(f"file {word(part.name)} {word(part.filename)} {word(part.content_type)} {word(str(path))}")
    described = directory / "form"
    described.write_text("\n".join(lines) + "\n")
    return described


def load(path: str) -> list[tuple[str, ...]]:
    """What `store` wrote, as tuples of the line's decoded words."""

    def text(word: str) -> str:
        return "" if word == "=" else base64.b64decode(word).decode()

    with open(path, encoding="ascii") as file:
        return [(kind, *map(text, words)) for kind, *words in map(str.split, file)]
