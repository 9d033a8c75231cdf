"""A headless Chromium that is driven over its debugging pipe, without any library in between."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator

PROGRAMS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
TIMEOUT = 60.0


class BrowserError(Exception):
    """The browser refused a command, ended, or took too long."""


class Browser:
    """One page. Commands are those of the Chrome DevTools protocol."""

    def __init__(self, process: subprocess.Popen[bytes], to_browser: int, from_browser: int) -> None:
        self._process = process
        self._to = to_browser
        self._from = from_browser
        self._pending = b""
        self._numbers = itertools.count(1)
        target = self.command("Target.createTarget", session=None, url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", session=None, targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.command("Page.enable")
        self.command("DOM.enable")

    def _receive(self, deadline: float) -> dict[str, object]:
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise BrowserError("the browser does not answer")
            data = os.read(self._from, 1 << 16)
            if not data:
                raise BrowserError(f"the browser ended with {self._process.wait(TIMEOUT)}")
            self._pending += data
        message, self._pending = self._pending.split(b"\0", 1)
        return json.loads(message)

    def command(self, method: str, session: str | None = "", **parameters: object) -> dict[str, object]:
        number = next(self._numbers)
        message: dict[str, object] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session or self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, expression: str) -> object:
        """The value of an expression of JavaScript; of the promise's outcome where it is one."""
        answer = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_until(self, expression: str, seconds: float = TIMEOUT) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise BrowserError(f"{expression} did not come true; the page: {self.evaluate('document.body.innerText')}")
            time.sleep(0.02)

    def open(self, url: str) -> None:
        answer = self.command("Page.navigate", url=url)
        if "errorText" in answer:
            raise BrowserError(f"{url}: {answer['errorText']}")
        self.wait_until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def choose_files(self, selector: str, choices: list[list[str]]) -> None:
        """Chooses files in the file inputs that the selector finds, in their order, as a user would."""
        root = self.command("DOM.getDocument")["root"]["nodeId"]
        inputs = self.command("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
        if len(inputs) != len(choices):
            raise BrowserError(f"{len(inputs)} inputs for {len(choices)} choices of files")
        for node, files in zip(inputs, choices):
            self.command("DOM.setFileInputFiles", nodeId=node, files=files)


@contextlib.contextmanager
def running() -> Iterator[Browser]:
    """A browser with an empty profile, which ends with the block."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise BrowserError(f"there is none of {', '.join(PROGRAMS)}")
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="sluice-chromium.", ignore_cleanup_errors=True) as profile:
        options = [
            "--headless=new",
            f"--user-data-dir={profile}",
            # Without a sandbox only where it cannot have one; the pages are ours.
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-proxy-server",
            "--remote-debugging-pipe",
        ]
        # The browser reads commands from its descriptor 3 and answers on 4, whatever ours are.
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        log = pathlib.Path(profile, "log").open("wb")
        with log:
            process = subprocess.Popen(
                ["/bin/bash", "-c", script, "bash", str(to_browser[0]), str(from_browser[1]), program, *options],
                pass_fds=(to_browser[0], from_browser[1]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Filenames are UTF-8; and what it keeps about its user goes with the profile.
                env=os.environ | {"LC_ALL": "C.UTF-8", "HOME": profile},
                start_new_session=True,
            )
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            yield Browser(process, to_browser[1], from_browser[0])
        except BrowserError as error:
            said = pathlib.Path(profile, "log").read_text(errors="replace")[-2000:]
            raise BrowserError(f"{error}\n{said}") from error
        finally:
            # It ends by itself when nobody is at the other end of the pipe.
            os.close(to_browser[1])
            os.close(from_browser[0])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
