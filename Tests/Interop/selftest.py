#!/usr/bin/env python3
"""Checks the servers and parsers of this folder, so that a red Swift test points at Swift.

Every check is bounded in time, and every server is ended through its standard input. Prints
"N passed, N failed" and exits with 1 if any failed.
"""

from __future__ import annotations

import contextlib
import email.utils
import gzip
import hashlib
import http.client
import json
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 20
BOUNDARY = "selftest-boundary"
CONTENT_TYPE = f"multipart/form-data; boundary={BOUNDARY}"

# Not random, so that a failure repeats; with every byte value, and with what looks like delimiters.
NOISE = bytes((i * i + i // 251) & 0xFF for i in range(300_000)) + f"\r\n--{BOUNDARY[:-1]}\r\n\r".encode()


def form(*parts: tuple[str, bytes]) -> bytes:
    body = b"".join(
        f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n" for head, content in parts
    )
    return body + f"--{BOUNDARY}--\r\n".encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


FIELD = 'Content-Disposition: form-data; name="é %22;"'
FILE = 'Content-Disposition: form-data; name="f"; filename="noise.bin"\r\nContent-Type: application/octet-stream'
BODY = form((FIELD, "hellö".encode()), (FILE, NOISE), ('Content-Disposition: form-data; name="empty"', b""))


@contextlib.contextmanager
def running(script: str, *arguments: object) -> Iterator[dict[str, object]]:
    """The server's ready line; the server ends with the block."""
    command = [sys.executable, str(HERE / script), "--lifetime", "120", *map(str, arguments)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        line = server.stdout.readline()
        assert line, f"{script} printed no ready line"
        yield json.loads(line)
        server.stdin.close()
        code = server.wait(TIMEOUT)
        assert code == 0, f"{script} ended with {code}"
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
        server.stdout.close()


def ask(
    port: int,
    path: str,
    body: bytes = BODY,
    method: str = "POST",
    chunked: bool = False,
    tls: ssl.SSLContext | None = None,
    **fields: str,
) -> tuple[int, dict[str, str], bytes]:
    if tls is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    else:
        connection = http.client.HTTPSConnection("localhost", port, timeout=TIMEOUT, context=tls)
    headers = {"Content-Type": CONTENT_TYPE} | {name.replace("_", "-"): value for name, value in fields.items()}
    with contextlib.closing(connection):
        source = (body[i : i + 70_000] for i in range(0, len(body), 70_000)) if chunked else body
        connection.request(method, path, body=source, headers=headers, encode_chunked=chunked)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def ask_json(*arguments: object, **options: object) -> dict[str, object]:
    code, _, body = ask(*arguments, **options)
    assert code == 200, f"{code}: {body[:500]!r}"
    return json.loads(body)


def check_parts(parts: list[dict[str, object]]) -> None:
    assert [(part["name"], part["filename"], part["size"]) for part in parts] == [
        ("é %22;", None, 6),
        ("f", "noise.bin", len(NOISE)),
        ("empty", None, 0),
    ], parts
    assert parts[1]["sha256"] == sha256(NOISE)
    assert parts[1]["contentType"] == "application/octet-stream"
    assert parts[0]["rawDisposition"] == FIELD.split(": ", 1)[1]


# --------------------------------------------------------------------------------------------------
# upload_server.py


def upload_describes_what_it_got(directory: pathlib.Path) -> None:
    with running("upload_server.py") as ready:
        port = ready["http"]
        answer = ask_json(port, "/upload", X_Test="yes")
        check_parts(answer["parts"])
        assert answer["contentLength"] == len(BODY) and answer["transferEncoding"] is None
        assert answer["method"] == "POST" and ["X-Test", "yes"] in answer["headers"]
        answer = ask_json(port, "/upload", method="PUT", chunked=True)
        check_parts(answer["parts"])
        assert answer["contentLength"] is None and answer["transferEncoding"] == "chunked"
        many = form(*((f'Content-Disposition: form-data; name="{i}"', b"x" * 50) for i in range(10_000)))
        assert len(ask_json(port, "/upload", body=many)["parts"]) == 10_000
        assert ask(port, "/upload", body=BODY[:-10])[0] == 400
        raw = ask_json(port, "/raw", chunked=True)
        assert (raw["size"], raw["sha256"]) == (len(BODY), sha256(BODY))
        assert ask_json(port, "/discard") == {"size": len(BODY)}
        nested = f"--{BOUNDARY}\r\n{FIELD}\r\nContent-Type: multipart/mixed; boundary=in\r\n\r\n".encode()
        nested += f"--in\r\n\r\nabc\r\n--in--\r\n\r\n--{BOUNDARY}--\r\n".encode()
        assert ask_json(port, "/upload", body=nested)["parts"][0]["parts"][0]["size"] == 3


def refusals_come_before_the_body(directory: pathlib.Path) -> None:
    with running("upload_server.py") as ready:
        for path, code in {
            "/redirect/307?to=/upload": 307,
            "/basic": 401,
            "/digest": 401,
            "/status/413?body=no": 413,
            "/flaky/key?failures=1&retry-after=2": 503,
        }.items():
            with socket.create_connection(("127.0.0.1", ready["http"]), timeout=TIMEOUT) as peer:
                head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n"
                peer.sendall(head.encode())
                answer = peer.recv(65536)
                assert answer.startswith(f"HTTP/1.1 {code} ".encode()), answer
        assert ask(ready["http"], "/redirect/308?to=/upload&drain=1")[1]["Location"] == "/upload"
        assert ask(ready["http"], "/status/507?drain=1&body=full")[::2] == (507, b"full")
        check_parts(ask_json(ready["http"], "/flaky/key?failures=1")["parts"])
        refused = ask(ready["http"], "/flaky/other?drain=1&retry-after=3")
        assert refused[0] == 503 and refused[1]["Retry-After"] == "3"


def responses_take_their_time_and_size(directory: pathlib.Path) -> None:
    (directory / "file").write_bytes(NOISE)
    with running("upload_server.py", "--files", directory) as ready:
        port = ready["http"]
        assert ask(port, "/big-response?bytes=1000001")[2] == (bytes(range(256)) * 4000)[:1000001]
        started = time.monotonic()
        assert ask(port, "/slow-response?seconds=0.3")[0] == 200
        assert time.monotonic() - started >= 0.3
        assert ["X-Test", "1"] in ask_json(port, "/echo-headers", X_Test="1")["headers"]
        code, fields, content = ask(port, "/files/file", body=b"", method="GET", Range="bytes=10-99")
        assert code == 206 and content == NOISE[10:100] and "Etag" in fields, fields


def credentials_are_checked(directory: pathlib.Path) -> None:
    with running("upload_server.py") as ready:
        for scheme, path in (("basic", "/basic"), ("digest", "/digest"), ("digest", "/digest?algorithm=SHA-256")):
            for password, code in (("pass", "200"), ("wrong", "401")):
                curl = subprocess.run(
                    ["curl", "-sS", "-o", directory / "answer", "-w", "%{http_code}", "--max-time", str(TIMEOUT)]
                    + [f"--{scheme}", "-u", f"user:{password}", "-F", "a=b"]
                    + [f"http://127.0.0.1:{ready['http']}{path}"],
                    capture_output=True,
                    text=True,
                )
                assert curl.stdout == code, (path, password, curl)


def certificates_are_what_they_say(directory: pathlib.Path) -> None:
    subprocess.run([sys.executable, HERE / "make_certificates.py", directory], check=True, timeout=TIMEOUT)
    trusting = ssl.create_default_context(cafile=directory / "ca.pem")
    path = directory / "s"
    with running("upload_server.py", "--tls", directory, "--unix", path) as ready:
        check_parts(ask_json(ready["https"], "/upload", tls=trusting)["parts"])
        assert path.is_socket() and ready["unix"] == str(path)
        fails(ready["https"], ssl.create_default_context(cafile=directory / "other-ca.pem"), "unable to get")
    for certificate, reason in (("wronghost", "mismatch"), ("expired", "expired")):
        with running("upload_server.py", "--tls", directory, "--certificate", certificate) as ready:
            fails(ready["https"], trusting, reason)


def fails(port: int, tls: ssl.SSLContext, reason: str) -> None:
    try:
        ask(port, "/upload", tls=tls)
    except ssl.SSLCertVerificationError as error:
        assert reason in str(error), error
    else:
        raise AssertionError(f"no error about {reason}")


# --------------------------------------------------------------------------------------------------
# raw_server.py


def recording_is_exact(directory: pathlib.Path) -> None:
    for mode in ("record", "no-continue", "slow-read", "discard"):
        records = directory / mode
        with running("raw_server.py", "--mode", mode, "--record", records, "--rate", 3_000_000) as ready:
            for number, chunked in ((1, False), (2, True)):
                answer = ask_json(ready["http"], "/", chunked=chunked)
                assert answer["size"] == len(BODY), answer
                if mode != "discard":
                    assert answer["sha256"] == sha256(BODY)
                recorded = (records / f"request-{number}.bin").read_bytes()
                facts = json.loads((records / f"request-{number}.json").read_text())
                assert facts["complete"] and facts["size"] == len(BODY)
                assert facts["framing"] == ("chunked" if chunked else "content-length")
                head, content = recorded[: facts["headBytes"]], recorded[facts["headBytes"] :]
                assert head.startswith(b"POST / HTTP/1.1\r\n") and head.endswith(b"\r\n\r\n")
                assert content.endswith(b"\r\n0\r\n\r\n") if chunked else content == BODY
    with running("raw_server.py", "--mode", "discard") as ready:
        assert ask_json(ready["http"], "/") == {"size": len(BODY)}


def pipelined_requests_are_kept_apart(directory: pathlib.Path) -> None:
    request = b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n"
    with running("raw_server.py", "--record", directory) as ready:
        with socket.create_connection(("127.0.0.1", ready["http"]), timeout=TIMEOUT) as peer:
            peer.sendall(request * 3)
            received = b""
            while received.count(sha256(b"abc").encode()) < 3:
                data = peer.recv(65536)
                assert data, received
                received += data
            peer.sendall(b"PUT / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
        deadline = time.monotonic() + TIMEOUT
        while not (directory / "request-4.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert json.loads((directory / "request-4.json").read_text())["complete"] is False
    assert [(directory / f"request-{n}.bin").read_bytes() for n in (1, 2, 3)] == [request] * 3


def expect_is_answered_or_not(directory: pathlib.Path) -> None:
    head = b"POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    for mode, answered in (("record", True), ("no-continue", False), ("stall", False)):
        with running("raw_server.py", "--mode", mode) as ready:
            with socket.create_connection(("127.0.0.1", ready["http"]), timeout=TIMEOUT) as peer:
                peer.sendall(head)
                peer.settimeout(TIMEOUT if answered else 0.3)
                try:
                    received = peer.recv(65536)
                except TimeoutError:
                    received = b""
                assert received == (b"HTTP/1.1 100 Continue\r\n\r\n" if answered else b""), (mode, received)


def early_ends_look_right(directory: pathlib.Path) -> None:
    expected = {"close-early": b"", "reset-early": ConnectionResetError, "413-early": b"HTTP/1.1 413 "}
    for mode, outcome in expected.items():
        with running("raw_server.py", "--mode", mode, "--after", 1000, "--record", directory / mode) as ready:
            with socket.create_connection(("127.0.0.1", ready["http"]), timeout=TIMEOUT) as peer:
                peer.sendall(b"POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + b"x" * 1000)
                try:
                    received = peer.recv(65536)
                    assert isinstance(outcome, bytes) and received[:13] == outcome, (mode, received)
                except ConnectionResetError:
                    assert outcome is ConnectionResetError, mode
            facts = json.loads((directory / mode / "request-1.json").read_text())
            assert facts["complete"] is False and facts["size"] == (0 if mode == "413-early" else 1000), facts


def stalled_server_stops_the_sender(directory: pathlib.Path) -> None:
    with running("raw_server.py", "--mode", "stall") as ready:
        with socket.create_connection(("127.0.0.1", ready["http"]), timeout=0.5) as peer:
            peer.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n")
            try:
                peer.sendall(bytes(100_000_000))
            except TimeoutError:
                pass
            else:
                raise AssertionError("it read on")
            # Abort rather than wait for what nobody reads.
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def paths_say_how_to_answer(directory: pathlib.Path) -> None:
    expected = bytes(index % 251 for index in range(3000))
    with running("session_server.py", "--record", directory) as ready:
        port = ready["http"]
        assert ask_json(port, "/ok") == {"size": len(BODY), "sha256": sha256(BODY)}
        status, fields, body = ask(port, "/status/307?Location=/ok&body=moved")
        assert (status, fields["Location"], body) == (307, "/ok", b"moved")
        for path in ("/bytes/3000", "/chunked/3000", "/unframed/3000"):
            assert ask(port, path)[2] == expected, path
        assert gzip.decompress(ask(port, "/gzip/3000")[2]) == expected
        for path in ("/cut/3000/10", "/chunked-cut/3000/10"):
            try:
                ask(port, path)
            except http.client.IncompleteRead:
                continue
            raise AssertionError(f"{path} is whole")
        assert ask(port, "/basic")[0] == 401
        assert ask(port, "/basic", Authorization="Basic eA==")[0] == 200
        assert ask(port, "/answer-after/1000/413")[0] == 413
        facts = json.loads((directory / "request-1.json").read_text())
        assert facts["complete"] and facts["size"] == len(BODY), facts


# --------------------------------------------------------------------------------------------------
# nginx_server.py and parse.py


def nginx_stores_bodies(directory: pathlib.Path) -> None:
    with running("nginx_server.py") as ready:
        port = ready["http"]
        for chunked in (False, True):
            answer = ask_json(port, "/upload", chunked=chunked)
            assert pathlib.Path(answer["file"]).read_bytes() == BODY
            assert answer["contentLength"] == ("" if chunked else str(len(BODY)))
            assert answer["transferEncoding"] == ("chunked" if chunked else "")
        assert ask(port, "/small")[0] == 413
        assert ask(port, "/small", body=b"small")[0] == 200
        assert ask(port, "/store/noise", body=NOISE, method="PUT")[0] == 201
        code, _, content = ask(port, "/store/noise", body=b"", method="GET", Range="bytes=-100")
        assert code == 206 and content == NOISE[-100:]
        stored = pathlib.Path(ready["directory"])
    assert not stored.exists()


def parsers_agree(directory: pathlib.Path) -> None:
    bodies = {"good": BODY, "cut": BODY[:-9]}
    jobs = ""
    for name, body in bodies.items():
        (directory / name).write_bytes(body)
        jobs += json.dumps({"path": str(directory / name), "contentType": CONTENT_TYPE}) + "\n"
    done = subprocess.run(
        [sys.executable, HERE / "parse.py"], input=jobs, capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    good, cut = map(json.loads, done.stdout.splitlines())
    for parser in ("aiohttp", "werkzeug", "email"):
        if parser == "werkzeug":
            good[parser][0]["name"] = good[parser][0]["name"].replace('"', "%22")
        check_parts(good[parser])
        assert "error" in cut[parser], parser


# --------------------------------------------------------------------------------------------------
# fault_server.py


def raw(port: int, request: bytes) -> bytes:
    """What comes back until the connection ends."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as peer:
        peer.sendall(request)
        peer.shutdown(socket.SHUT_WR)
        while data := peer.recv(65536):
            received += data
    return received


def uploads_go_wrong_as_asked(directory: pathlib.Path) -> None:
    with running("fault_server.py") as ready:
        port = ready["http"]
        faults = "503,429/7,503/+9,see,challenge,close@1000,reset@1000,drop,408"
        path = f"/upload?key=a&faults={faults}"
        assert ask(port, path)[::2] == (503, b"refused with 503\n")
        assert ask(port, path)[1]["Retry-After"] == "7"
        fields = ask(port, path)[1]
        wait = email.utils.parsedate_to_datetime(fields["Retry-After"]) - email.utils.parsedate_to_datetime(fields["Date"])
        assert 8 <= wait.total_seconds() <= 10, fields
        code, fields, _ = ask(port, path)
        assert (code, fields["Location"]) == (303, path)
        code, fields, _ = ask(port, path, method="PUT")
        assert code == 401 and fields["WWW-Authenticate"].startswith("Digest "), fields
        for _ in ("close", "reset", "drop"):
            try:
                ask(port, path)
            except (http.client.RemoteDisconnected, ConnectionError):
                continue
            raise AssertionError("there is an answer")
        assert ask(port, path)[0] == 408
        answer = {"size": len(BODY), "sha256": sha256(BODY), "attempt": 10}
        assert ask_json(port, path) == answer
        requests = ask_json(port, "/requests?key=a", method="GET", body=b"")
        whole = len(BODY)
        assert [request["size"] for request in requests] == [whole] * 5 + [1000, 1000, 0, whole, whole], requests
        assert [request["method"] for request in requests] == ["POST"] * 4 + ["PUT"] + ["POST"] * 5
        assert ask_json(port, "/requests?key=b", method="GET", body=b"") == []


def downloads_go_wrong_as_asked(directory: pathlib.Path) -> None:
    (directory / "file").write_bytes(NOISE)
    (directory / "file.other").write_bytes(NOISE[::-1])
    size = len(NOISE)
    with running("fault_server.py", "--files", directory) as ready:
        port = ready["http"]

        def get(fault: str, query: str = "", **fields: str) -> tuple[int, dict[str, str], bytes]:
            path = f"/files/file?key={fault}{query}&faults={fault}{query}"
            return ask(port, path, method="GET", body=b"", **fields)

        code, fields, content = get("ok")
        assert (code, content, fields["Content-Length"]) == (200, NOISE, str(size))
        tag = fields["ETag"]
        rest = {"Range": "bytes=1000-", "If_Range": tag}
        expected = {
            "ok": (206, f"bytes 1000-{size - 1}/{size}", NOISE[1000:]),
            "wrong-range": (206, f"bytes 999-{size - 1}/{size}", NOISE[999:]),
            "part-range": (206, f"bytes 1000-{size - 2}/{size}", NOISE[1000:-1]),
            "open-range": (206, "bytes 1000-1999/*", NOISE[1000:2000]),
            "bare-206": (206, None, NOISE[1000:]),
            "whole": (200, None, NOISE),
            "other": (200, None, NOISE[::-1]),
        }
        for fault, (status, content_range, bytes_sent) in expected.items():
            code, fields, content = get(fault, "&again", **rest)
            assert (code, fields.get("Content-Range")) == (status, content_range), (fault, fields)
            assert content == bytes_sent and (fields["ETag"] == tag) == (fault != "other"), fault
        assert get("ok", Range=f"bytes={size}-")[0] == 416
        assert get("ok", Range="bytes=1000-", If_Range='"x"')[0] == 200
        head = raw(port, b"GET /files/file?faults=long-header HTTP/1.1\r\n\r\n")
        assert len(head.partition(b"X-Long: ")[2]) == 200 * 1024 + 4
        assert get("404")[::2] == (404, b"refused with 404\n")

        for fault in ("close", "reset"):
            head, _, body = raw_until_reset(port, f"/files/file?key={fault}&faults={fault}@5000")
            assert f"Content-Length: {size}".encode() in head and body == NOISE[:5000], (fault, len(body))
        for query, field, present in (
            ("etag=weak", b"ETag: W/", True),
            ("etag=none", b"ETag", False),
            ("modified=yes", b"Last-Modified: ", True),
            ("length=no", b"Content-Length", False),
        ):
            head, _, body = raw_until_reset(port, f"/files/file?{query}", b"Connection: close\r\n")
            assert (field in head) == present, (query, head)
        # A field that comes twice shows.
        twice = b"GET /files/file?key=twice&length=no HTTP/1.1\r\nRange: bytes=0-\r\nRange: bytes=5-\r\n\r\n"
        assert raw(port, twice).startswith(b"HTTP/1.1 200 ")
        requests = ask_json(port, "/requests?key=twice", method="GET", body=b"")
        assert [request["range"] for request in requests] == ["bytes=0-, bytes=5-"]


def raw_until_reset(port: int, path: str, fields: bytes = b"") -> tuple[bytes, bytes, bytes]:
    """The head, the empty line, and as much of the body as comes in a second where the connection stays open."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\n".encode() + fields + b"\r\n")
        try:
            while data := peer.recv(65536):
                received += data
                head, _, body = received.partition(b"\r\n\r\n")
                if f"Content-Length: {len(body)}".encode() in head:
                    break
        except ConnectionResetError:
            pass
    return received.partition(b"\r\n\r\n")


# --------------------------------------------------------------------------------------------------
# proxy_server.py


def proxied(arguments: list[str], url: str) -> tuple[int, str]:
    """curl's exit code and the answer's status, with the body posted through a proxy."""
    done = subprocess.run(
        ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", str(TIMEOUT)]
        + ["-H", "Expect:", "--data-binary", "@-", *arguments, url],
        input=BODY,
        capture_output=True,
    )
    return done.returncode, done.stdout.decode()


def proxies_tell_what_they_were_asked_for(directory: pathlib.Path) -> None:
    subprocess.run([sys.executable, HERE / "make_certificates.py", directory], check=True, timeout=TIMEOUT)
    ca = str(directory / "ca.pem")
    with running("upload_server.py", "--tls", directory) as server:
        plain, secure = f"http://127.0.0.1:{server['http']}/raw", f"https://localhost:{server['https']}/raw"
        for kind in ("http", "https", "socks5"):
            log = directory / kind
            scheme = {"http": "http", "https": "https", "socks5": "socks5h"}[kind]
            arguments = ["--kind", kind, "--log", log, "--tls", directory, "--user", "user:pass word"]
            with running("proxy_server.py", *arguments) as ready:
                proxy = ["--proxy", f"{scheme}://localhost:{ready['http']}", "--cacert", ca, "--proxy-cacert", ca]
                user = ["--proxy-user", "user:pass word"]
                assert proxied(proxy + user, plain) == (0, "200"), kind
                assert proxied(proxy + user, secure) == (0, "200"), kind
                # The answer may be lost with the connection, on which the body is sent meanwhile.
                assert proxied(proxy + ["--proxy-user", "user:wrong"], plain)[1] in ("407", "000"), kind
                assert proxied(proxy + ["--proxy-user", "user:wrong"], secure)[0] != 0, kind
            lines = log.read_text().splitlines()
            if kind == "socks5":
                # Whoever is refused has asked for nothing yet.
                assert lines == [
                    f"name 127.0.0.1:{server['http']} user:pass word",
                    f"name localhost:{server['https']} user:pass word",
                ] or lines == [
                    f"address 127.0.0.1:{server['http']} user:pass word",
                    f"name localhost:{server['https']} user:pass word",
                ], lines
            else:
                target = f"localhost:{server['https']}"
                assert lines == [
                    f"POST {plain} user:pass word",
                    f"CONNECT {target} user:pass word",
                    f"POST {plain} user:wrong",
                    f"CONNECT {target} user:wrong",
                ], lines
        log = directory / "open"
        with running("proxy_server.py", "--log", log) as ready:
            assert proxied(["--proxy", f"http://127.0.0.1:{ready['http']}"], plain) == (0, "200")
        assert log.read_text() == f"POST {plain} -\n"


# --------------------------------------------------------------------------------------------------
# h2_server.py


def streams_go_wrong_as_asked(directory: pathlib.Path) -> None:
    with running("h2_server.py") as ready:
        # What curl says of each, and how often it asks: it does so again by itself where it is told that nobody looked.
        outcomes = {
            "ok": (0, 1),
            "refuse@0": (0, 2),
            "refuse@100000": (0, 2),
            "reset@100000": (92, 1),
            "goaway@100000": (16, 1),
            "farewell@100000": (18, 1),
            "drop@100000": (56, 1),
        }
        for fault, (code, count) in outcomes.items():
            query = f"key={fault}&faults={fault}"
            returned, answer = http2(ready["http"], f"/upload?{query}", "--data-binary", "@-")
            # A newer curl has other numbers for the same.
            assert (returned == 0) == (code == 0), (fault, returned)
            if code == 0:
                assert json.loads(answer) == {"size": len(BODY), "sha256": sha256(BODY), "attempt": count}
            requests = json.loads(http2(ready["http"], f"/requests?{query}")[1])
            assert len(requests) == count and all(request["method"] == "POST" for request in requests), fault
            if "@" in fault:
                assert requests[0]["size"] >= int(fault.partition("@")[2]), (fault, requests)
        assert json.loads(http2(ready["http"], "/upload?key=get")[1])["size"] == 0


def http2(port: int, path: str, *arguments: str) -> tuple[int, bytes]:
    done = subprocess.run(
        ["curl", "-s", "--http2-prior-knowledge", "--max-time", str(TIMEOUT), *arguments]
        + [f"http://127.0.0.1:{port}{path}"],
        input=BODY,
        capture_output=True,
    )
    return done.returncode, done.stdout


CHECKS: list[Callable[[pathlib.Path], None]] = [
    upload_describes_what_it_got,
    refusals_come_before_the_body,
    responses_take_their_time_and_size,
    credentials_are_checked,
    certificates_are_what_they_say,
    recording_is_exact,
    pipelined_requests_are_kept_apart,
    expect_is_answered_or_not,
    early_ends_look_right,
    stalled_server_stops_the_sender,
    paths_say_how_to_answer,
    nginx_stores_bodies,
    parsers_agree,
    uploads_go_wrong_as_asked,
    downloads_go_wrong_as_asked,
    proxies_tell_what_they_were_asked_for,
    streams_go_wrong_as_asked,
]


def main() -> None:
    if shutil.which("curl") is None:
        sys.exit("selftest.py: curl is not installed")
    failed = 0
    for check in CHECKS:
        with tempfile.TemporaryDirectory(prefix="sluice-") as directory:
            try:
                check(pathlib.Path(directory))
            except Exception:  # Whatever went wrong, the next check is independent of it.
                failed += 1
                print(f"FAILED {check.__name__}", file=sys.stderr)
                traceback.print_exc()
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
