"""Python's ways of sending files as peers; README.md has the protocol.

    python_uploads.py CLIENT (--version | URL FILE...)
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from importlib import metadata

Upload = Callable[[], Awaitable[None]]
# Does an upload once for every line on standard input.
Rounds = Callable[[Upload], Awaitable[None]]


async def with_requests_toolbelt(url: str, paths: list[str], rounds: Rounds) -> None:
    import requests
    from requests_toolbelt import MultipartEncoder

    with requests.Session() as session:

        async def upload() -> None:
            with ExitStack() as stack:
                files = [
                    ("file", (os.path.basename(path), stack.enter_context(open(path, "rb")), "application/octet-stream"))
                    for path in paths
                ]
                form = MultipartEncoder(files)
                session.post(url, data=form, headers={"Content-Type": form.content_type}).raise_for_status()

        await rounds(upload)


async def with_aiohttp(url: str, paths: list[str], rounds: Rounds) -> None:
    import aiohttp

    async with aiohttp.ClientSession(raise_for_status=True) as session:

        async def upload() -> None:
            with ExitStack() as stack:
                form = aiohttp.FormData()
                for path in paths:
                    file = stack.enter_context(open(path, "rb"))
                    form.add_field("file", file, filename=os.path.basename(path))
                async with session.post(url, data=form) as response:
                    await response.read()

        await rounds(upload)


CLIENTS = {"aiohttp": with_aiohttp, "requests-toolbelt": with_requests_toolbelt}


def main() -> None:
    client, *arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print(f"{client} {metadata.version(client)} on Python {sys.version.split()[0]}")
        return
    url, *paths = arguments
    # Both want all files open before they begin.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    async def rounds(upload: Upload) -> None:
        for _ in sys.stdin:
            started = time.perf_counter()
            await upload()
            print(json.dumps({"seconds": time.perf_counter() - started, "parts": len(paths)}), flush=True)

    asyncio.run(CLIENTS[client](url, paths, rounds))


if __name__ == "__main__":
    main()
