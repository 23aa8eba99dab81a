"""The targets of the lab, by name. A new one is one file beside this one and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.cephfs import CephFS
from leadline.run.lab.glusterfs import GlusterFS
from leadline.run.lab.juicefs import JuiceFS
from leadline.run.lab.laboratory import LabTarget
from leadline.run.lab.loop_filesystems import LOCAL
from leadline.run.lab.moosefs import MooseFS
from leadline.run.lab.nfs import Nfs
from leadline.run.lab.s3 import ObjectStore

TARGETS: Mapping[str, LabTarget] = {
    **LOCAL,
    "juicefs": JuiceFS(),
    "s3": ObjectStore(),
    "glusterfs": GlusterFS(),
    "moosefs": MooseFS(),
    "cephfs": CephFS(),
    "nfs": Nfs(),
}


def lab_target(name: str) -> LabTarget:
    """Raises UserError for a name that nobody knows."""
    if name not in TARGETS:
        raise UserError(
            f'the lab has no target "{name}"{did_you_mean(name, TARGETS)} (leadline lab list shows them)'
        )
    return TARGETS[name]
