"""A server on loopback that keeps the bodies it is sent, as they were sent."""

from __future__ import annotations

import dataclasses
import http.server
import json
import pathlib
import threading
import urllib.parse

from forms import Form, Text


@dataclasses.dataclass
class Recorded:
    """A request's body in a file, and what goes with it."""

    body: pathlib.Path
    content_type: str


PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>form</title>
<form method="post" enctype="multipart/form-data" action=%s></form>
<script>
const form = document.forms[0]
for (const part of %s) {
    const control = document.createElement(part.file ? "input" : "textarea")
    control.name = part.name
    if (part.file) control.type = "file"
    else control.value = part.value
    form.append(control)
}
</script>
"""


class Recorder:
    """Takes `POST /NAME`, and shows the form of that name on `GET /NAME` as a page that submits it there."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        self._recorded: dict[str, Recorded] = {}
        self._arrived = threading.Condition()
        self.pages: dict[str, Form] = {}
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                form = recorder.pages.get(recorder.name(self.path))
                self.answer(404 if form is None else 200, "text/html", recorder.page(self.path, form or []))

            def do_POST(self) -> None:
                path = recorder.keep(self)
                self.answer(200, "text/html", b"<!DOCTYPE html><title>stored</title>")
                with recorder._arrived:
                    recorder._recorded[recorder.name(self.path)] = Recorded(path, self.headers["Content-Type"])
                    recorder._arrived.notify_all()

            def answer(self, status: int, content_type: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """Clients that go away, and those that fail on purpose, are nothing to tell."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{urllib.parse.quote(name)}"

    @staticmethod
    def name(target: str) -> str:
        return urllib.parse.unquote(target.removeprefix("/"))

    @staticmethod
    def page(target: str, form: Form) -> bytes:
        parts = [
            {"name": part.name, "value": part.value}
            if isinstance(part, Text)
            else {"name": part.name, "file": True}
            for part in form
        ]
        # "<" would let a name end the script.
        script = json.dumps(parts).replace("<", "\\u003c")
        return (PAGE % (json.dumps(target), script)).encode()

    def keep(self, request: http.server.BaseHTTPRequestHandler) -> pathlib.Path:
        path = self._directory / f"{urllib.parse.quote(self.name(request.path), safe='')}.body"
        with path.open("wb") as file:
            if "chunked" in request.headers.get("Transfer-Encoding", "").lower():
                while size := int(request.rfile.readline().split(b";")[0], 16):
                    file.write(request.rfile.read(size))
                    request.rfile.readline()
                while request.rfile.readline().strip():
                    pass
            else:
                left = int(request.headers["Content-Length"])
                while left > 0 and (data := request.rfile.read(min(left, 1 << 20))):
                    file.write(data)
                    left -= len(data)
        return path

    def take(self, name: str, seconds: float = 30) -> Recorded:
        """What was sent under that name; waits for it."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: name in self._recorded, seconds):
                raise TimeoutError(f"nothing was sent to {name!r} within {seconds:.0f} s")
            return self._recorded[name]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
