"""What can be asked of the NFS target, and Ganesha's configuration that comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.laboratory import Wishes

PROTOCOL = 3
"""libnfs 4.0.0 cannot write by NFSv4: a request does not fit its buffer."""
NUMBER, FLAG = "a whole number", "true or false"
FORMS = {NUMBER: r"\d{1,12}", FLAG: "true|false"}


@dataclass(frozen=True)
class Setting:
    """One option in its owner's own words."""

    place: str
    """Where it is written: a block of Ganesha's configuration, or the URL that libnfs is given."""
    form: str


CORE, EXPORT, URL = "NFS_CORE_PARAM", "EXPORT", "url"
SETTINGS: Mapping[str, Setting] = {
    "RPC_Ioq_ThrdMax": Setting(CORE, NUMBER),
    "DRC_Disabled": Setting(CORE, FLAG),
    "MaxRead": Setting(EXPORT, NUMBER),
    "MaxWrite": Setting(EXPORT, NUMBER),
    "NFS_Commit": Setting(EXPORT, FLAG),
    "Attr_Expiration_Time": Setting(EXPORT, NUMBER),
    "readahead": Setting(URL, NUMBER),
    "autoreconnect": Setting(URL, NUMBER),
}
"""ganesha-core-config(8), ganesha-export-config(8), and the URL arguments of libnfs.h: those that change speed or durability."""


@dataclass(frozen=True)
class Shape:
    """What the wishes come to."""

    nodes: int
    options: Mapping[str, str]

    @property
    def query(self) -> str:
        """The end of a URL: what the client is told."""
        told = "&".join(f"{name}={text}" for name, text in self.of(URL).items())
        return f"?{told}" if told else ""

    def of(self, place: str) -> dict[str, str]:
        """The options that are written there."""
        return {name: text for name, text in self.options.items() if SETTINGS[name].place == place}


def shape_of(wishes: Wishes) -> Shape:
    """Raises UserError for what no NFS server or client knows."""
    nodes = 1 if wishes.storage_nodes is None else wishes.storage_nodes
    if wishes.clients < 1 or nodes < 1:
        raise UserError("nfs needs at least 1 client and 1 storage node (a server)")
    for name, text in wishes.options.items():
        if name not in SETTINGS:
            raise UserError(
                f'nfs has no option "{name}"{did_you_mean(name, SETTINGS)} (it has {", ".join(SETTINGS)})'
            )
        if not re.fullmatch(FORMS[SETTINGS[name].form], text):
            raise UserError(f'the option "{name}" of nfs is {SETTINGS[name].form}, not "{text}"')
    return Shape(nodes, dict(wishes.options))


def configuration(folder: Path, export: str, shape: Shape) -> str:
    """Of one server: NFSv3 over TCP and nothing that would need another daemon (locks, quotas, Kerberos)."""
    core = {
        "Protocols": str(PROTOCOL), "mount_path_pseudo": "true", "Enable_NLM": "false", "Enable_RQUOTA": "false", "Enable_UDP": "false",
        **shape.of(CORE),
    }  # fmt: skip
    exported = {
        "Export_Id": "1", "Path": str(folder), "Pseudo": export, "Protocols": str(PROTOCOL), "Transports": "TCP",
        "Access_Type": "RW", "Squash": "No_Root_Squash", "SecType": "sys", **shape.of(EXPORT),
    }  # fmt: skip
    return "\n".join(
        (
            _block(CORE, core),
            _block("NFS_KRB5", {"Active_krb5": "false"}),
            _block(EXPORT, exported, "FSAL { Name = VFS; }\n"),
        )
    )


def _block(name: str, settings: Mapping[str, str], more: str = "") -> str:
    lines = "".join(f"{key} = {text};\n" for key, text in settings.items())
    return f"{name} {{\n{lines}{more}}}\n"
