"""The two ordinary users that the suite becomes, and whether they can get to the directory at all.

A mount without `allow_other`, or a closed folder above it, would fail dozens of cases that say nothing about the filesystem.
"""

from __future__ import annotations

import grp
import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError

PREFERRED = ("nobody", "daemon", "bin", "mail", "games")


@dataclass(frozen=True)
class Account:
    """A user and the primary group, which the suite wants to belong together."""

    user: str
    group: str


def two_accounts() -> tuple[Account, Account]:
    """Of this system, the usual ones first; raises UserError where there are not two."""
    found = [account for name in PREFERRED if (account := _account(name)) is not None]
    if len(found) < 2:
        raise UserError(
            "pjdfstest needs two ordinary users and this system has fewer of nobody, daemon, bin, mail and games; "
            "add one: useradd --system daemon"
        )
    return found[0], found[1]


def check_reach(account: Account, directory: Path) -> None:
    """Raises UserError where this user cannot enter the directory. Only root can ask."""
    if os.geteuid() != 0 or _enters(account, directory):
        return
    closed = [path for path in (*reversed(directory.parents), directory) if not _enters(account, path)]
    at = closed[0] if closed else directory
    raise UserError(
        f"the user {account.user}, as whom the suite tests access rights, cannot enter {at}; "
        f"open it (chmod o+x {at}), or mount it with allow_other if it is a FUSE filesystem"
    )


def _enters(account: Account, path: Path) -> bool:
    who = pwd.getpwnam(account.user)
    asked = subprocess.run(
        ["test", "-x", str(path)], user=who.pw_uid, group=who.pw_gid, extra_groups=[], cwd="/", check=False
    )
    return asked.returncode == 0


def _account(name: str) -> Account | None:
    try:
        user = pwd.getpwnam(name)
        return Account(name, grp.getgrgid(user.pw_gid).gr_name) if user.pw_uid else None
    except KeyError:
        return None
