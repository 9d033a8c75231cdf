#!/usr/bin/env python3
"""Makes the certificates for TLS tests: `make_certificates.py DIR`.

    ca.pem         the authority that signed the certificates below; a client trusts this one
    server.pem/.key      for localhost, 127.0.0.1 and ::1
    wronghost.pem/.key   valid, for another host
    expired.pem/.key     for localhost, but no longer valid
    client.pem/.key      for a client called `Sluice test client`
    locked.pem           the same, with the key in the file, encrypted with `open sesame`
    other-ca.pem   an authority that signed none of them
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib

import trustme
from cryptography.hazmat.primitives import serialization


def write_certificate(directory: pathlib.Path, name: str, certificate: trustme.LeafCert) -> None:
    chain = b"".join(pem.bytes() for pem in certificate.cert_chain_pems)
    (directory / f"{name}.pem").write_bytes(chain)
    key = directory / f"{name}.key"
    # A private key that others may read is a bad example, even in a test.
    with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(certificate.private_key_pem.bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)

    authority = trustme.CA(organization_name="Sluice test authority")
    authority.cert_pem.write_to_path(directory / "ca.pem")
    hosts = ("localhost", "127.0.0.1", "::1")
    write_certificate(directory, "server", authority.issue_cert(*hosts))
    write_certificate(directory, "wronghost", authority.issue_cert("wrong.host.example"))
    now = datetime.datetime.now(datetime.timezone.utc)
    expired = authority.issue_cert(
        *hosts,
        not_before=now - datetime.timedelta(days=30),
        not_after=now - datetime.timedelta(days=1),
    )
    write_certificate(directory, "expired", expired)
    client = authority.issue_cert("client.example", common_name="Sluice test client")
    write_certificate(directory, "client", client)
    key = serialization.load_pem_private_key(client.private_key_pem.bytes(), None)
    encryption = serialization.BestAvailableEncryption(b"open sesame")
    locked = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    (directory / "locked.pem").write_bytes(client.cert_chain_pems[0].bytes() + locked)
    trustme.CA(organization_name="Another test authority").cert_pem.write_to_path(directory / "other-ca.pem")


if __name__ == "__main__":
    main()
