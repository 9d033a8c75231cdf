#!/usr/bin/env python3
"""A real HTTP server (aiohttp) that tells what it received.

Prints one line when it is ready: {"http": PORT, "https": PORT or null, "unix": PATH or null}. Every
endpoint takes any method and a body of any size, in constant memory:

    /upload              parses the multipart body; answers with each part's names, headers, size, SHA-256
    /raw                 does not parse: size and SHA-256 of the whole body
    /discard             reads and forgets, as fast as it can; answers {"size"}
    /redirect/CODE?to=URL[&drain=1]
    /basic[?drain=1], /digest[?drain=1][&algorithm=MD5|SHA-256]
                         401 unless the user is `user` and the password `pass`, then like /upload
    /status/CODE[?drain=1][&body=TEXT][&retry-after=SECONDS]
    /flaky/KEY?failures=N[&status=503][&retry-after=SECONDS][&drain=1]
                         fails N times for each KEY, then like /upload
    /echo-headers        the request's headers
    /gather/N            answers when N requests are there at the same time; {"gathered": N}
    /slow-response?seconds=S, /big-response?bytes=N
                         after the body was read
    /files/NAME          with --files DIR: files, with ETag, Range and If-Range

Without `drain=1` a refusal is sent before the body is read; the rest of the body is then read for ten
seconds at most, as aiohttp does in production. 100 Continue is sent when the body begins to be read,
so a refusal comes in its place.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import collections
import hashlib
import hmac
import logging
import pathlib
import re
import secrets
import ssl
import warnings

from aiohttp import BodyPartReader, MultipartReader, StreamReader, hdrs, web
from aiohttp.multipart import (
    BadContentDispositionHeader,
    BadContentDispositionParam,
    content_disposition_filename,
    parse_content_disposition,
)

import harness

CHUNK_SIZE = 256 * 1024
USER, PASSWORD, REALM = "user", "pass", "sluice"
DIGESTS = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}

# --------------------------------------------------------------------------------------------------
# Reading bodies


CONTINUED = "100 Continue was sent"


def expects_continue(request: web.Request) -> bool:
    return request.headers.get(hdrs.EXPECT, "").lower() == "100-continue"


async def body(request: web.Request) -> StreamReader:
    """The request's body, after 100 Continue where the client waits for it."""
    if expects_continue(request) and CONTINUED not in request:
        request[CONTINUED] = True
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # aiohttp counts what it writes, and must not take these for bytes of the answer.
        request.writer.output_size = 0
        await request.writer.drain()
    return request.content


async def drain(request: web.Request) -> int:
    size = 0
    async for chunk in (await body(request)).iter_any():
        size += len(chunk)
    return size


async def drain_if_asked(request: web.Request) -> None:
    if request.query.get("drain") == "1":
        await drain(request)


async def describe_part(part: BodyPartReader | MultipartReader) -> dict[str, object]:
    """A part as aiohttp sees it; `rawDisposition` is for comparing names exactly."""
    disposition = part.headers.get(hdrs.CONTENT_DISPOSITION)
    _, parameters = parse_content_disposition(disposition)
    described: dict[str, object] = {
        "name": optional_text(content_disposition_filename(parameters, "name")),
        "filename": optional_text(content_disposition_filename(parameters, "filename")),
        "contentType": optional_text(part.headers.get(hdrs.CONTENT_TYPE)),
        "rawDisposition": optional_text(disposition),
        "headers": [[harness.text(name), harness.text(value)] for name, value in part.headers.items()],
    }
    if isinstance(part, MultipartReader):
        described |= {"size": None, "sha256": None, "parts": await describe_parts(part)}
        return described
    digest = hashlib.sha256()
    size = 0
    while chunk := await part.read_chunk(CHUNK_SIZE):
        digest.update(chunk)
        size += len(chunk)
    return described | {"size": size, "sha256": digest.hexdigest()}


async def describe_parts(reader: MultipartReader) -> list[dict[str, object]]:
    parts = []
    while (part := await reader.next()) is not None:
        parts.append(await describe_part(part))
    return parts


def optional_text(value: str | None) -> str | None:
    return None if value is None else harness.text(value)


def describe_request(request: web.Request) -> dict[str, object]:
    return {
        "method": request.method,
        "headers": [[harness.text(name), harness.text(value)] for name, value in request.raw_headers],
        "contentLength": request.content_length,
        "transferEncoding": request.headers.get(hdrs.TRANSFER_ENCODING),
    }


# --------------------------------------------------------------------------------------------------
# Endpoints


async def upload(request: web.Request) -> web.Response:
    if not request.content_type.startswith("multipart/"):
        size = await drain(request)
        if size == 0:
            return web.json_response(describe_request(request) | {"parts": []})
        return web.json_response({"error": "the body is not multipart"}, status=415)
    await body(request)
    try:
        parts = await describe_parts(await request.multipart())
        # What follows the closing delimiter is not looked at, but must be read before answering.
        await drain(request)
    except (ValueError, AssertionError, RuntimeError, web.HTTPException) as error:
        return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
    return web.json_response(describe_request(request) | {"parts": parts})


async def raw(request: web.Request) -> web.Response:
    digest = hashlib.sha256()
    size = 0
    async for chunk in (await body(request)).iter_any():
        digest.update(chunk)
        size += len(chunk)
    return web.json_response(describe_request(request) | {"size": size, "sha256": digest.hexdigest()})


async def discard(request: web.Request) -> web.Response:
    return web.json_response({"size": await drain(request)})


async def redirect(request: web.Request) -> web.Response:
    await drain_if_asked(request)
    return web.Response(
        status=int(request.match_info["code"]),
        headers={hdrs.LOCATION: request.query["to"]},
        text="elsewhere\n",
    )


async def basic(request: web.Request) -> web.Response:
    expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    if hmac.compare_digest(request.headers.get(hdrs.AUTHORIZATION, ""), expected):
        return await upload(request)
    await drain_if_asked(request)
    return web.json_response(
        {"error": "unauthorized"},
        status=401,
        headers={hdrs.WWW_AUTHENTICATE: f'Basic realm="{REALM}", charset="UTF-8"'},
    )


# A nonce per process and one realm are all that a test needs of RFC 7616; nonce counts are checked so
# that a client which repeats one is found out.
NONCE = secrets.token_hex(16)
used_nonce_counts: set[str] = set()


def digest_is_right(request: web.Request, algorithm: str) -> bool:
    header = request.headers.get(hdrs.AUTHORIZATION, "")
    if not header.startswith("Digest "):
        return False
    fields = {
        name.lower(): quoted or plain
        for name, quoted, plain in re.findall(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s,]+))', header)
    }

    def digest(*parts: str) -> str:
        return DIGESTS[algorithm](":".join(parts).encode()).hexdigest()

    count = fields.get("nc", "")
    expected = digest(
        digest(USER, REALM, PASSWORD),
        NONCE,
        count,
        fields.get("cnonce", ""),
        "auth",
        digest(request.method, request.raw_path),
    )
    right = (
        fields.get("username") == USER
        and fields.get("realm") == REALM
        and fields.get("nonce") == NONCE
        and fields.get("uri") == request.raw_path
        and fields.get("algorithm", "MD5") == algorithm
        and fields.get("qop") == "auth"
        and hmac.compare_digest(fields.get("response", ""), expected)
    )
    use = f"{count}:{fields.get('cnonce')}"
    if not right or use in used_nonce_counts:
        return False
    used_nonce_counts.add(use)
    return True


async def digest(request: web.Request) -> web.Response:
    algorithm = request.query.get("algorithm", "MD5")
    if algorithm not in DIGESTS:
        return web.json_response({"error": "unknown algorithm"}, status=400)
    if digest_is_right(request, algorithm):
        return await upload(request)
    await drain_if_asked(request)
    challenge = f'Digest realm="{REALM}", qop="auth", algorithm={algorithm}, nonce="{NONCE}", opaque="sluice"'
    return web.json_response(
        {"error": "unauthorized"}, status=401, headers={hdrs.WWW_AUTHENTICATE: challenge}
    )


def refusal(request: web.Request, status: int) -> web.Response:
    headers = {hdrs.CONNECTION: "close"}
    if "retry-after" in request.query:
        headers[hdrs.RETRY_AFTER] = request.query["retry-after"]
    response = web.Response(status=status, headers=headers, text=request.query.get("body", ""))
    response.force_close()
    return response


async def status(request: web.Request) -> web.Response:
    await drain_if_asked(request)
    return refusal(request, int(request.match_info["code"]))


failures: collections.Counter[str] = collections.Counter()


async def flaky(request: web.Request) -> web.Response:
    key = request.match_info["key"]
    if failures[key] < int(request.query.get("failures", "1")):
        failures[key] += 1
        await drain_if_asked(request)
        return refusal(request, int(request.query.get("status", "503")))
    return await upload(request)


async def echo_headers(request: web.Request) -> web.Response:
    await drain(request)
    return web.json_response(describe_request(request))


gathering: collections.defaultdict[int, list[asyncio.Event]] = collections.defaultdict(list)


async def gather(request: web.Request) -> web.Response:
    await drain(request)
    count = int(request.match_info["count"])
    here = asyncio.Event()
    gathering[count].append(here)
    if len(gathering[count]) == count:
        for other in gathering.pop(count):
            other.set()
    async with asyncio.timeout(120):
        await here.wait()
    return web.json_response({"gathered": count})


async def slow_response(request: web.Request) -> web.Response:
    await drain(request)
    await asyncio.sleep(float(request.query.get("seconds", "1")))
    return web.Response(text="slow\n")


async def big_response(request: web.Request) -> web.StreamResponse:
    await drain(request)
    left = int(request.query.get("bytes", "1048576"))
    response = web.StreamResponse()
    response.content_type = "application/octet-stream"
    response.content_length = left
    await response.prepare(request)
    block = bytes(range(256)) * (CHUNK_SIZE // 256)
    while left > 0:
        await response.write(block[:left])
        left -= min(left, len(block))
    return response


# --------------------------------------------------------------------------------------------------
# The server


async def decide_later(_: web.Request) -> None:
    """Leaves `Expect: 100-continue` to `body()`, in place of aiohttp's answer before any handler runs."""


@web.middleware
async def close_unless_continued(request: web.Request, handler) -> web.StreamResponse:
    """A client that was never told to continue need not send the body: nothing can follow on the connection."""
    response = await handler(request)
    if expects_continue(request) and CONTINUED not in request and not response.prepared:
        response.force_close()
    return response


def make_application(files: pathlib.Path | None) -> web.Application:
    # A limit of 0 would mean "no limit" only to Request.read(); the multipart reader wants a number.
    application = web.Application(client_max_size=2**62, middlewares=[close_unless_continued])
    for path, handler in {
        "/upload": upload,
        "/raw": raw,
        "/discard": discard,
        "/redirect/{code:30[12378]}": redirect,
        "/basic": basic,
        "/digest": digest,
        r"/status/{code:[2-5]\d\d}": status,
        "/flaky/{key}": flaky,
        "/echo-headers": echo_headers,
        r"/gather/{count:\d+}": gather,
        "/slow-response": slow_response,
        "/big-response": big_response,
    }.items():
        application.router.add_route("*", path, handler, expect_handler=decide_later)
    if files is not None:
        application.router.add_static("/files", files)
    return application


def tls_context(directory: pathlib.Path, certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / f"{certificate}.pem", directory / f"{certificate}.key")
    return context


async def serve(options: argparse.Namespace) -> None:
    lifetime = harness.Lifetime(options.lifetime)
    runner = web.AppRunner(
        make_application(options.files),
        access_log=None,
        # The body is shown as it was sent, whatever Content-Encoding it claims.
        auto_decompress=False,
        read_bufsize=1024 * 1024,
        shutdown_timeout=0.2,
        handle_signals=False,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        if options.tls is not None:
            context = tls_context(options.tls, options.certificate)
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        if options.unix is not None:
            await web.UnixSite(runner, options.unix).start()
        ports = [address[1] for address in runner.addresses if isinstance(address, tuple)]
        harness.announce(
            http=ports[0],
            https=ports[1] if options.tls is not None else None,
            unix=options.unix,
        )
        await asyncio.to_thread(lifetime.wait)
    finally:
        await runner.cleanup()


def is_not_a_lost_client(record: logging.LogRecord) -> bool:
    """Clients that go away in the middle are what half of the tests are about, and no news."""
    return not (record.exc_info and isinstance(record.exc_info[1], ConnectionError))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--tls", type=pathlib.Path, metavar="DIR", help="serve HTTPS too, with make_certificates.py's")
    parser.add_argument("--certificate", default="server", metavar="NAME", help="which of DIR's (default: server)")
    parser.add_argument("--unix", metavar="PATH", help="listen on a unix socket too")
    parser.add_argument("--files", type=pathlib.Path, metavar="DIR", help="serve DIR under /files/")
    options = parser.parse_args()
    warnings.simplefilter("ignore", BadContentDispositionHeader)
    warnings.simplefilter("ignore", BadContentDispositionParam)
    logging.getLogger("aiohttp.server").addFilter(is_not_a_lost_client)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    asyncio.run(serve(options))


if __name__ == "__main__":
    main()
