"""Addresses of object stores: what they come to, what is refused, and that keys never get out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.spec.object_store import SCHEMES, is_secret, parse_store

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hushhush"}
NOBODY = {"AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/credentials"}


def test_a_directory_is_a_store_by_its_path_or_as_file() -> None:
    assert parse_store("/data/x") == parse_store("file:///data/x")
    assert parse_store("x").options["root"] == str(Path("x").absolute())
    assert parse_store("file:///data/a%20b").options["root"] == "/data/a b"


def test_s3_takes_bucket_prefix_endpoint_and_the_environment() -> None:
    store = parse_store(
        "s3://box/some/where?endpoint=http://host:9000", (), KEYS | {"AWS_REGION": "eu-west-1"}
    )
    assert dict(store.options) | {} == {
        "bucket": "box", "root": "/some/where", "endpoint": "http://host:9000", "region": "eu-west-1", "disable_ec2_metadata": "true",
    }  # fmt: skip
    assert store.secrets == {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "hushhush"}
    assert store.shown == "s3://box/some/where at http://host:9000"


def test_the_address_of_a_lab_is_s3_at_that_endpoint() -> None:
    store = parse_store("http://10.77.1.1:7070/leadline", (), KEYS)
    assert (store.scheme, store.options["bucket"], store.options["root"]) == ("s3", "leadline", "/")
    assert store.options["endpoint"] == "http://10.77.1.1:7070"


def test_an_option_beats_the_environment_and_the_environment_goes_without_saying() -> None:
    environment = KEYS | {"AWS_ENDPOINT_URL": "http://a"}
    assert parse_store("s3://box", (), environment).options["endpoint"] == "http://a"
    assert parse_store("s3://box", ("endpoint=http://b",), environment).options["endpoint"] == "http://b"


def test_other_services_keep_their_own_words() -> None:
    store = parse_store("azblob://box/in", ("account_name=me", "account_key=hushhush"))
    assert (store.options["container"], store.options["account_name"]) == ("box", "me")
    assert store.secrets == {"account_key": "hushhush"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("azblb://box", 'did you mean "azblob"'),
        ("ftp://host/box", "known are"),
        ("s3://", "names no bucket; write s3://BUCKET"),
        ("http://host:9000", "names no bucket; write http://HOST:PORT/BUCKET"),
        ("http://host:port/box", "no address"),
        ("http://me:hushhush@host/box", "before its @"),
        ("s3://box?secret_access_key=hushhush", "addresses are stored"),
        ("s3://box", "there are no keys for S3: set AWS_ACCESS_KEY_ID"),
        ("file://elsewhere/data", "names a host, elsewhere"),
        ("file://", "names no directory"),
        ("", "names no directory"),
    ],
)
def test_what_is_no_address_is_refused_in_one_sentence_without_its_keys(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refusal:
        parse_store(text, (), NOBODY)
    assert "hushhush" not in str(refusal.value) and "\n" not in str(refusal.value)


def test_an_option_that_is_no_pair_is_refused_without_what_may_be_a_key() -> None:
    with pytest.raises(UserError, match="is not KEY=VALUE"):
        parse_store("/x", ("region",))
    with pytest.raises(UserError, match="is not KEY=VALUE"):
        parse_store("/x", ("=hush",))


def test_an_open_bucket_needs_no_keys() -> None:
    assert parse_store("s3://box", ("skip_signature=true",), NOBODY).secrets == {}


@pytest.mark.parametrize(
    "name",
    [
        "secret_access_key",
        "access_key_id",
        "session_token",
        "account_key",
        "sas_token",
        "password",
        "credential",
    ],
)
def test_options_that_hold_keys_are_known(name: str) -> None:
    assert is_secret(name)


def test_plain_options_are_shown() -> None:
    assert not any(
        map(is_secret, ("bucket", "endpoint", "region", "root", "account_name", "disable_ec2_metadata"))
    )


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_one_sentence(text: str) -> None:
    try:
        store = parse_store(text, (), KEYS)
    except UserError as error:
        assert str(error)
    else:
        assert store.scheme and "hushhush" not in store.shown + repr(store)


@given(
    st.sampled_from(SCHEMES),
    st.text(alphabet="ab:@/?#%[]=&\\\0 é", max_size=30),
    st.dictionaries(st.sampled_from(["region", "endpoint", "secret_access_key"]), st.just("v"), max_size=3),
)
def test_odd_addresses_never_leak_keys(scheme: str, rest: str, options: dict[str, str]) -> None:
    words = [
        f"{name}={value}hushhush" if is_secret(name) else f"{name}={value}" for name, value in options.items()
    ]
    try:
        store = parse_store(
            f"{scheme}://{rest}",
            words,
            {"AWS_ACCESS_KEY_ID": "hushhush", "AWS_SECRET_ACCESS_KEY": "hushhush"},
        )
    except UserError as error:
        assert "hushhush" not in str(error)
    else:
        assert "hushhush" not in repr(store) and "hushhush" not in repr(dict(store.options))
