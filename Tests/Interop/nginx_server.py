#!/usr/bin/env python3
"""Runs a throwaway nginx from nginx.conf.in, which says what each location does.

Prints one line when it is ready: {"http": PORT, "https": PORT or null, "unix": PATH, "directory": DIR}. HTTPS speaks HTTP/2
to a client that asks for it. The answer of /upload is
{"file": PATH, "method", "protocol", "contentLength": TEXT, "transferEncoding": TEXT}; the file holds the body's bytes.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import harness

TEMPLATE = pathlib.Path(__file__).with_name("nginx.conf.in")
# A unix socket's path has to fit into 108 bytes.
LONGEST_DIRECTORY = 90
START_SECONDS = 10


def find_nginx() -> str:
    path = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    if path is None:
        sys.exit("nginx_server.py: nginx is not installed (Debian: apt-get install nginx-light)")
    return path


def tied_to_this_process() -> list[str]:
    """On Linux: has the kernel end nginx with us, even where we are killed and cannot."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--"] if setpriv is not None else []


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago; nginx cannot pick one and tell."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for probe in sockets:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in sockets]
    finally:
        for probe in sockets:
            probe.close()


def render(directory: pathlib.Path, port: int, tls_port: int, tls: pathlib.Path | None) -> str:
    secure = ""
    if tls is not None:
        tls = tls.resolve()
        secure = (
            f"listen 127.0.0.1:{tls_port} ssl http2; "
            f"ssl_certificate {tls}/server.pem; ssl_certificate_key {tls}/server.key; "
            f"ssl_client_certificate {tls}/ca.pem; ssl_verify_client optional;"
        )
    return (
        TEMPLATE.read_text()
        .replace("@DIRECTORY@", str(directory))
        .replace("@PORT@", str(port))
        .replace("@TLS@", secure)
        # Run by root, nginx would drop to a user that cannot enter the directory.
        .replace("@USER@", "user root;" if os.geteuid() == 0 else "")
    )


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def start(directory: pathlib.Path, tls: pathlib.Path | None) -> tuple[subprocess.Popen[bytes], int, int]:
    configuration = directory / "nginx.conf"
    errors = directory / "error.log"
    for _ in range(5):
        port, tls_port = free_ports(2)
        configuration.write_text(render(directory, port, tls_port, tls))
        for leftover in ("backend.sock", "http.sock", "nginx.pid"):
            (directory / leftover).unlink(missing_ok=True)
        nginx = subprocess.Popen(
            [*tied_to_this_process(), find_nginx(), "-p", str(directory), "-e", str(errors), "-c", str(configuration)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while nginx.poll() is None and time.monotonic() < deadline:
            # The file is written once the port is nginx's, and not another's that took it meanwhile.
            if (directory / "nginx.pid").exists() and answers(port):
                return nginx, port, tls_port
            time.sleep(0.02)
        stop(nginx)
        if "Address already in use" not in errors.read_text():
            break
    sys.exit(f"nginx_server.py: nginx does not start:\n{errors.read_text()}")


def stop(nginx: subprocess.Popen[bytes]) -> None:
    nginx.terminate()
    try:
        nginx.wait(5)
    except subprocess.TimeoutExpired:
        nginx.kill()
        nginx.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--tls", type=pathlib.Path, metavar="DIR", help="serve HTTPS too, with make_certificates.py's")
    options = parser.parse_args()

    lifetime = harness.Lifetime(options.lifetime)
    with tempfile.TemporaryDirectory(prefix="sluice-nginx-") as name:
        directory = pathlib.Path(name).resolve()
        if len(str(directory)) > LONGEST_DIRECTORY:
            sys.exit(f"nginx_server.py: {directory} is too long a path; set TMPDIR to a shorter one")
        (directory / "store").mkdir()
        (directory / "users").write_text("user:{PLAIN}pass\n")
        nginx, port, tls_port = start(directory, options.tls)
        try:
            https = tls_port if options.tls is not None else None
            harness.announce(http=port, https=https, unix=str(directory / "http.sock"), directory=str(directory))
            lifetime.wait()
        finally:
            stop(nginx)


if __name__ == "__main__":
    main()
