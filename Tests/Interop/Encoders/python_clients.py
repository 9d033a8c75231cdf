#!/usr/bin/env python3
"""Sends forms with Python's HTTP clients.

    python_clients.py CLIENT {URL FORM}...

CLIENT is requests, requests-toolbelt, httpx, aiohttp or aiohttp-unquoted (which is aiohttp told to leave names in
UTF-8); FORM is a file as forms.py describes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys

import aiohttp
import httpx
import requests
import requests_toolbelt

import forms


def entries(form: str, stack: contextlib.ExitStack) -> list[tuple[str, tuple[object, ...]]]:
    """Name, and (filename, content, type), in the shape that requests made common."""
    parts: list[tuple[str, tuple[object, ...]]] = []
    for kind, name, *rest in forms.load(form):
        if kind == "text":
            parts.append((name, (None, rest[0])))
        else:
            filename, content_type, path = rest
            parts.append((name, (filename, stack.enter_context(open(path, "rb")), content_type)))
    return parts


def send_requests(url: str, form: str) -> None:
    with contextlib.ExitStack() as stack:
        requests.post(url, files=entries(form, stack), timeout=30).raise_for_status()


def send_toolbelt(url: str, form: str) -> None:
    with contextlib.ExitStack() as stack:
        encoder = requests_toolbelt.MultipartEncoder(entries(form, stack))
        requests.post(url, data=encoder, headers={"Content-Type": encoder.content_type}, timeout=30).raise_for_status()


def send_httpx(url: str, form: str) -> None:
    with contextlib.ExitStack() as stack:
        httpx.post(url, files=entries(form, stack), timeout=30).raise_for_status()


def send_aiohttp(url: str, form: str, quote_fields: bool = True) -> None:
    async def send() -> None:
        with contextlib.ExitStack() as stack:
            data = aiohttp.FormData(quote_fields=quote_fields)
            for name, (filename, content, *content_type) in entries(form, stack):
                if filename is None:
                    # Even a form of fields alone is to be multipart.
                    data.add_field(name, content, content_type="text/plain")
                else:
                    data.add_field(name, content, filename=filename, content_type=content_type[0])
            async with aiohttp.ClientSession() as session, session.post(url, data=data) as response:
                response.raise_for_status()

    asyncio.run(send())


CLIENTS = {
    "requests": send_requests,
    "requests-toolbelt": send_toolbelt,
    "httpx": send_httpx,
    "aiohttp": send_aiohttp,
    "aiohttp-unquoted": functools.partial(send_aiohttp, quote_fields=False),
}


def main() -> None:
    client, *jobs = sys.argv[1:]
    for url, form in zip(jobs[::2], jobs[1::2], strict=True):
        CLIENTS[client](url, form)


if __name__ == "__main__":
    main()
