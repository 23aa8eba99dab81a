"""The `url` of a campaign's target: checked as far as it can be without its keys, which no campaign holds.

Keys come from the environment: the AWS_... of S3, and for other services LEADLINE_OBJECT_OPTION_ with the option's name in capitals
(LEADLINE_OBJECT_OPTION_ACCOUNT_KEY).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from leadline.errors import UserError
from leadline.spec.object_store import ObjectStore, is_secret, parse_store

KEY_VARIABLE = "LEADLINE_OBJECT_OPTION_"
_STAND_IN = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
"""A campaign may be checked where its keys are not."""


def check_url(url: str) -> None:
    """Raises ValueError for what is no address of an object store, or holds a key."""
    if "://" not in url:
        raise ValueError(
            f'has url = "{url}", which names no kind of store; write s3://BUCKET?endpoint=http://HOST:PORT or http://HOST:PORT/BUCKET, '
            "or set `directory` for a folder"
        )
    try:
        parse_store(url, environment=_STAND_IN)
    except UserError as error:
        raise ValueError(f"has a `url` that cannot be used: {error}") from None


def check_store_options(options: Mapping[str, Any]) -> None:
    """Raises ValueError for a key: campaigns are stored with their runs."""
    for name in options:
        if is_secret(name):
            raise ValueError(
                f"has the key `{name}` among its options, and campaigns are stored; give it by the environment "
                f"({KEY_VARIABLE}{name.upper()}, for S3 also AWS_ACCESS_KEY_ID ...)"
            )


def url_title(url: str) -> str:
    """Without the options after the question mark."""
    return url.partition("?")[0]


def store_of_target(
    url: str, options: Iterable[tuple[str, str]] = (), environment: Mapping[str, str] | None = None
) -> ObjectStore:
    """With its keys; raises UserError where they are missing."""
    known = os.environ if environment is None else environment
    keys = [
        f"{name.removeprefix(KEY_VARIABLE).lower()}={value}"
        for name, value in known.items()
        if name.startswith(KEY_VARIABLE)
    ]
    return parse_store(url, [*keys, *(f"{name}={value}" for name, value in options)], known)
