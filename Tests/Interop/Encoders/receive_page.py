"""Checks the page of `sluice receive` in a real browser: that it uploads, shows progress, and is the only one that may."""

from __future__ import annotations

import contextlib
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import chromium
from forms import File, noise
from recorder import Recorder

TIMEOUT = 60
SMALL = File("file", "résumé \"1\".txt", b"small")
# Browsers write a quotation mark like this, and a receiver cannot tell it from one that was there.
STORED_SMALL = "résumé %221%22.txt"
LARGE = File("file", "large.bin", noise(96 * 1024 * 1024))

# Collects what the progress bar shows from here on.
WATCH = """
window.seen = []
new MutationObserver(() => window.seen.push(document.getElementById("progress").value))
    .observe(document.getElementById("status"), { childList: true, characterData: true, subtree: true })
"""


@contextlib.contextmanager
def receiving(sluice: str, directory: pathlib.Path) -> Iterator[str]:
    """The URL of a receiver, which is ended by SIGTERM and has to leave nothing of its own."""
    server = subprocess.Popen(
        [sluice, "receive", "--port", "0", "--into", str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield server.stdout.readline().strip()
        server.terminate()
        assert server.wait(TIMEOUT) == -signal.SIGTERM, server.returncode
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
        server.stdout.close()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def check_upload(browser: chromium.Browser, url: str, inbox: pathlib.Path, files: list[str]) -> None:
    browser.open(url)
    browser.evaluate(WATCH)
    browser.choose_files("input[type=file]", [files])
    browser.evaluate("document.querySelector('button').click()")
    browser.wait_until("document.getElementById('status').textContent === 'Stored.'")
    listed = browser.evaluate("[...document.querySelectorAll('#stored li')].map(item => item.textContent)")
    stored = sorted(path.name for path in inbox.iterdir())
    assert stored == sorted([LARGE.filename, STORED_SMALL]), stored
    assert len(listed) == 2 and all(name in "".join(listed) for name in stored), listed
    assert (inbox / LARGE.filename).read_bytes() == LARGE.content
    assert (inbox / STORED_SMALL).read_bytes() == SMALL.content
    seen = browser.evaluate("window.seen")
    assert any(0 < value < 1 for value in seen), f"the progress bar showed {seen}"
    assert browser.evaluate("document.getElementById('progress').hidden")


def check_cancel(browser: chromium.Browser, url: str, inbox: pathlib.Path, files: list[str]) -> None:
    before = sorted(inbox.iterdir())
    browser.open(url)
    # As slow as needed for the button to come in time.
    browser.command("Network.enable")
    browser.command(
        "Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=1 << 20
    )
    browser.choose_files("input[type=file]", [files])
    browser.evaluate("document.querySelector('button').click()")
    browser.wait_until("document.getElementById('progress').value > 0")
    browser.evaluate("document.getElementById('cancel').click()")
    browser.wait_until("document.getElementById('status').textContent.startsWith('Cancelled')")
    wait_for(lambda: sorted(inbox.iterdir()) == before, "a cancelled upload left something")
    browser.command("Network.disable")


def check_other_site(browser: chromium.Browser, recorder: Recorder, url: str, inbox: pathlib.Path) -> None:
    """A page of another origin, which may send forms anywhere."""
    before = sorted(inbox.iterdir())
    recorder.pages["elsewhere"] = []
    browser.open(recorder.url("elsewhere"))
    browser.evaluate(
        f"const data = new FormData(); data.append('file', new File(['x'], 'evil.txt'));"
        f"fetch('{url}', {{ method: 'POST', mode: 'no-cors', body: data }}).then(() => true)"
    )
    browser.evaluate(
        f"document.forms[0].action = '{url}'; document.forms[0].innerHTML = '<input name=a value=b>';"
        f"document.forms[0].submit()"
    )
    browser.wait_until("document.body.innerText.includes('another site')")
    assert sorted(inbox.iterdir()) == before, sorted(inbox.iterdir())


def check(sluice: str, recorder: Recorder, work: pathlib.Path) -> int:
    """Checks all of it.

    Returns the number of checks; an AssertionError says which one failed.
    """
    inbox = work / "inbox"
    files = []
    for file in (SMALL, LARGE):
        path = work / "chosen" / file.filename
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.content)
        files.append(str(path))
    with receiving(sluice, inbox) as url, chromium.running() as browser:
        check_upload(browser, url, inbox, files)
        check_cancel(browser, url, inbox, files)
        check_other_site(browser, recorder, url, inbox)
    assert not [path for path in inbox.iterdir() if path.name.startswith(".")]
    return 3
