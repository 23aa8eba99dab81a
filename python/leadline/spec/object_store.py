"""The address of an object store as a user writes it: checked, with its keys kept apart from everything that is shown or stored.

`/dir`, `file:///dir`, `s3://bucket/prefix?endpoint=http://host:9000`, `http://host:9000/bucket` (S3 there), and `scheme://bucket` for
what else the engine serves. Keys come from the environment or from `--option`, never from the address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from leadline.errors import UserError, did_you_mean

BUCKETS = {
    "azblob": "container",
    "cos": "bucket",
    "gcs": "bucket",
    "obs": "bucket",
    "oss": "bucket",
    "s3": "bucket",
}
"""What each service calls it."""
SCHEMES = ("file", "http", "https", *BUCKETS)
SECRET = re.compile(r"secret|token|password|passphrase|credential|key|(^|_)sas(_|$)", re.IGNORECASE)
S3_ENVIRONMENT = {
    "access_key_id": ("AWS_ACCESS_KEY_ID",),
    "secret_access_key": ("AWS_SECRET_ACCESS_KEY",),
    "session_token": ("AWS_SESSION_TOKEN",),
    "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
}
DEFAULT_REGION = "us-east-1"
"""Servers of one's own take any; AWS itself names the right one when it is wrong."""


@dataclass(frozen=True)
class ObjectStore:
    """Where objects lie."""

    scheme: str
    """As the engine knows it: "fs", "s3" ..."""
    options: Mapping[str, str]
    """Without secrets: may be shown and stored."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Never shown, never stored: they reach the engine through its environment."""

    @property
    def shown(self) -> str:
        """The address without its keys."""
        if self.scheme == "fs":
            return self.options["root"]
        bucket, root = self.options.get(BUCKETS[self.scheme], ""), self.options.get("root", "").strip("/")
        at = f" at {self.options['endpoint']}" if self.options.get("endpoint") else ""
        return f"{self.scheme}://{bucket}{'/' + root if root else ''}{at}"


def parse_store(
    text: str, given: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> ObjectStore:
    """Raises UserError for what is no address of a store, and for S3 without keys. `given`: key=value, in the service's own words."""
    extra = dict(_pair(word) for word in given)
    if "://" not in text:
        return _directory(text, extra)
    split = _split(text)
    scheme = split.scheme.lower()
    if scheme == "file":
        if split.netloc not in ("", "localhost"):
            raise UserError(
                f'"{text}" names a host, {split.netloc}; a directory of this machine is file:///DIRECTORY'
            )
        return _directory(unquote(split.path), extra)
    if scheme not in SCHEMES:
        raise UserError(
            f'there is no object store "{scheme}://"{did_you_mean(scheme, SCHEMES)} (known are {", ".join(SCHEMES)})'
        )
    options = {**_of_address(text, scheme), **extra}
    if scheme in ("s3", "http", "https"):
        return _s3(options, os.environ if environment is None else environment)
    return _divided(scheme, options)


def is_secret(option: str) -> bool:
    """Whether what an option holds must not be shown or stored."""
    return SECRET.search(option) is not None


def _pair(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key:
        shown = key if is_secret(key) else word
        raise UserError(f'--option "{shown}" is not KEY=VALUE; write it as in --option region=eu-west-1')
    return key.strip(), value


def _split(text: str):  # type: ignore[no-untyped-def]  # urllib's own type has no public name
    try:
        split = urlsplit(text)
        _ = split.port  # raises for a port that is none
    except ValueError as error:
        raise UserError(f"that is no address of an object store: {str(error).splitlines()[0]}") from None
    if "@" in split.netloc:
        raise UserError(
            "the address holds a user or a key before its @; give keys by the environment (AWS_ACCESS_KEY_ID ...) or --option"
        )
    return split


def _directory(path: str, extra: Mapping[str, str]) -> ObjectStore:
    if not path or "\0" in path:
        raise UserError("the address of the object store names no directory; write file:///DIRECTORY")
    return _divided("fs", {"root": str(Path(path).absolute()), **extra})


def _of_address(text: str, scheme: str) -> dict[str, str]:
    """Bucket, prefix, endpoint, and the options after the question mark."""
    split = _split(text)
    options = dict(parse_qsl(split.query, keep_blank_values=True))
    for name in options:
        if is_secret(name):
            raise UserError(
                f"the address holds `{name}`, and addresses are stored; give it by the environment or --option"
            )
    path = unquote(split.path).strip("/")
    bucket_name = BUCKETS.get(scheme, "bucket")
    if scheme in ("http", "https"):
        bucket, _, path = path.partition("/")
        options["endpoint"] = f"{scheme}://{split.netloc}"
    else:
        bucket = split.netloc
    if bucket:
        options[bucket_name] = bucket
    if not options.get(bucket_name):
        raise UserError(
            f'"{text.partition("?")[0]}" names no {bucket_name}; write {scheme}://{_example(scheme)}'
        )
    return {**options, "root": f"/{path}" if path else "/"}


def _example(scheme: str) -> str:
    return "HOST:PORT/BUCKET" if scheme in ("http", "https") else BUCKETS[scheme].upper()


def _s3(options: dict[str, str], environment: Mapping[str, str]) -> ObjectStore:
    for name, variables in S3_ENVIRONMENT.items():
        found = next((environment[each] for each in variables if environment.get(each)), None)
        if found and name not in options:
            options[name] = found
    options.setdefault("region", DEFAULT_REGION)
    signed = options.get("skip_signature") != "true"
    if signed and not ("access_key_id" in options and "secret_access_key" in options):
        _check_profile(options, environment)
    options.setdefault(
        "disable_ec2_metadata", "true"
    )  # else a missing key is a wait for a service that is not there
    return _divided("s3", options)


def _check_profile(options: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Keys may be in the user's own files, or the machine's own in a cloud."""
    named = environment.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials"
    if Path(named).expanduser().is_file() or options.get("disable_ec2_metadata") == "false":
        return
    raise UserError(
        "there are no keys for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --option skip_signature=true for an open bucket"
    )


def _divided(scheme: str, options: Mapping[str, str]) -> ObjectStore:
    plain = {name: value for name, value in options.items() if not is_secret(name)}
    secrets = {name: value for name, value in options.items() if is_secret(name)}
    return ObjectStore(scheme, plain, secrets)
