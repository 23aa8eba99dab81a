"""A store as the engine is told of it, and the engine's sentences about stores as a user reads them.

Keys go through the engine's environment: a step is a file.
"""

from __future__ import annotations

import json
import re
from typing import Any

from leadline.errors import did_you_mean
from leadline.spec.object_store import ObjectStore

SECRETS_VARIABLE = "LEADLINE_OBJECT_STORE_SECRETS"
_UNKNOWN_OPTION = re.compile(r'has no option "(?P<given>[^"]*)": known are (?P<known>.*)')


def described(store: ObjectStore) -> dict[str, Any]:
    """As the engine reads it; without the secrets."""
    step: dict[str, Any] = {"scheme": store.scheme, "options": dict(store.options)}
    return step | ({"secrets_variable": SECRETS_VARIABLE} if store.secrets else {})


def environment(store: ObjectStore) -> dict[str, str]:
    """Where the engine finds them."""
    return {SECRETS_VARIABLE: json.dumps(dict(store.secrets))} if store.secrets else {}


def in_words(reason: str) -> str:
    """The engine's own sentence, with the nearest option for one that it does not know, and what to do about the usual ones."""
    sentence = reason.rpartition("engine_step.json: ")[2]
    unknown = _UNKNOWN_OPTION.search(sentence)
    if unknown:
        nearest = did_you_mean(unknown["given"], unknown["known"].split(", "))
        return f'there is no option "{unknown["given"]}"{nearest or "; known are " + unknown["known"]}'
    advice = next((words for sign, words in _ADVICE.items() if sign in sentence), "")
    return f"{sentence}{advice}"


_ADVICE = {
    "NoSuchBucket": "; make the bucket first, or name another",
    "ECONNREFUSED": "; nothing listens at that endpoint, so check address and port",
    "InvalidAccessKeyId": "; check the keys",
    "SignatureDoesNotMatch": "; check the secret key",
    "ENOSPC": "; make room there, or ask for less with --big-object-size and --objects",
    "UnknownIssuer": "; let SSL_CERT_FILE name the certificate of its authority (a PEM file)",
    "dns error": "; check the name of the endpoint",
    "ConfigInvalid": "; give what is missing by --option",
}
"""What to do, by what the sentence holds."""
