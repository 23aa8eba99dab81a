"""Sites made real: a directory as it is, one that must lie on a stated filesystem, or a target of the lab.

A target of the lab stands as long as its steps: brought up before the first, taken down after the last, whatever ends them. A run
that was killed finds its own leavings by its folder's name, takes them down and starts from a fresh filesystem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.consistency import mounts_needed
from leadline.plan.sites import Site
from leadline.plan.steps import Step
from leadline.run.crews.alone import Alone
from leadline.run.grounds import Ground
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.namespace import NamespaceHost
from leadline.run.hosts.supervised import SupervisedHost
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.lifecycle import clear_leavings, standing
from leadline.run.lab.network import SUBNET
from leadline.run.lab.object_stores import stores_of_lab, without_keys
from leadline.run.lab.parts import counted_namespaces, devices_of, processor_groups
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import Ready, Seat, lab_state
from leadline.run.lab.target_caches import clear_target_caches
from leadline.run.lab.tools import in_groups
from leadline.run.manning import crew_of, manned
from leadline.run.needs import FOR_DATA, Needs
from leadline.run.object_folder import remove_leavings
from leadline.run.object_grounds import store_ground, stores_of_files, with_buckets
from leadline.run.observe.block_devices import disk_names_under
from leadline.run.observe.filesystem import describe_filesystem
from leadline.run.observe.fuse_queues import FuseQueue, find_fuse_queue
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import find_mount
from leadline.run.observe.network_interfaces import interface_names
from leadline.run.observe.network_namespaces import NamespaceReader
from leadline.run.seams import Client, Target
from leadline.run.targets.mounted import Mounted, check_filesystem
from leadline.run.targets.work_directory import WorkDirectory, check_directory, is_marked
from leadline.spec.campaign import Hosts
from leadline.spec.object_target import store_of_target

NO_HOSTS = Hosts.model_validate({})
KINDS = ("type", "is_fuse", "is_network", "is_memory")
"""What of a filesystem decides how its figures are judged."""
FUSE_QUEUES = "fuse_queues"
"""By client: the limits of its FUSE mount's queue, or why it cannot be read."""
TOLD_TO_STEPS = ("data_over_network",)
"""What a target says of itself that decides it too."""


@dataclass(frozen=True)
class Standing:
    """The grounds of one run."""

    directory: Path
    """That the run was pointed at; sites that name another have their own."""
    owner: str
    """The run folder: whose leavings may be taken down."""
    tell: Callable[[str], None]
    on_ground: Callable[[Ground], None] = lambda ground: None
    """Hears of every ground as soon as it stands, to record what it is."""
    hosts: Hosts = NO_HOSTS
    """Where the load comes from."""
    sections: frozenset[str] = frozenset()
    """Of a user's job file: fio names files after them."""
    named: frozenset[str] = frozenset()
    """Files that a user's job file names."""
    needs: Needs = FOR_DATA
    """What the steps ask of hosts."""
    machine: Machine = field(default_factory=Machine)

    @contextmanager
    def standing(self, site: Site) -> Iterator[Ground]:
        """Up, prepared, recorded; cleaned up and down at the end of the block."""
        with self._place(site) as ground:
            ground.target.prepare()
            try:
                with with_buckets(ground, self.tell) as ready:
                    self.on_ground(ready)
                    yield ready
            finally:
                ground.target.clean_up()

    def _place(self, site: Site) -> AbstractContextManager[Ground]:
        if site.target:
            return self._in_the_lab(site)
        return store_ground(site, Path.cwd()) if site.url else self._directory(site)

    def clear(self, site: Site) -> None:
        """What was marked there by a leadline that is no more, or the lab that this run left; a refusal is told and ends nothing."""
        try:
            if site.url:
                remove_leavings(store_of_target(site.url, site.options), self.tell)
            elif site.target:
                clear_leavings(site.target, self.owner, self.tell)
            elif is_marked(path := Path(site.directory) if site.directory else self.directory):
                left = self._safeguards(path, site, site.filesystem)
                left.prepare()
                left.clean_up()
        except UserError as error:
            self.tell(str(error))

    @contextmanager
    def _directory(self, site: Site) -> Iterator[Ground]:
        directory = check_directory(Path(site.directory) if site.directory else self.directory)
        safeguards = self._safeguards(directory, site, site.filesystem)
        mounts = [check_directory(Path(path)) for path in site.mounts]
        with manned(
            self.hosts, directory, safeguards, site.filesystem, site.clients, self.needs, mounts
        ) as there:
            ground = self._ground(site, directory, there.clients, there.target)
            queues = there.fuse_queues or ground.step_facts.get(FUSE_QUEUES)
            yield replace(
                ground,
                crew=there.crew,
                facts=there.facts,
                addresses=there.addresses,
                stores=stores_of_files(there.clients),
                elsewhere=there.elsewhere,
                step_facts={**ground.step_facts, **({FUSE_QUEUES: queues} if queues else {})},
            )

    @contextmanager
    def _in_the_lab(self, site: Site) -> Iterator[Ground]:
        name = site.target
        if self.hosts.kind != "lab":
            raise UserError(
                f'{name} has clients of its own; take [hosts] kind = "{self.hosts.kind}" out, or measure a directory'
            )
        wishes = Wishes(
            site.size_bytes, max(site.clients, 1), site.storage_nodes, dict(site.options), site.conditions
        )
        with (
            standing(name, lab_target(name), wishes, self.tell, self.owner) as ready,
            self._lab_ground(site, ready, _directory_of(site, ready)) as ground,
        ):
            yield ground

    @contextmanager
    def _lab_ground(self, site: Site, ready: Ready, directory: Path) -> Iterator[Ground]:
        mounted = "://" not in ready.directory
        clients = tuple(_client(number, seat, directory) for number, seat in enumerate(ready.clients, 1)) or (
            Client("local", LocalHost(), directory),
        )
        ground = self._ground(
            site, directory, clients, self._safeguards(directory, site, ready.filesystem if mounted else "")
        )
        disks = [path.name for path in devices_of(ready.facts)]
        unmounted = {"type": ready.filesystem, "is_fuse": False, "is_network": True, "is_memory": False}
        with NamespaceReader(counted_namespaces(lab_state(site.target), ready)) as reader:
            yield replace(
                ground,
                crew=crew_of(clients, self.hosts, _addresses(ready))
                if site.clients > 1
                else Alone(clients[0]),
                mounted=mounted,
                accesses=ready.accesses,
                addresses=_addresses(ready),
                devices=list(dict.fromkeys([*ground.devices, *disks])),
                namespaces=reader if ready.hosts else None,
                groups=processor_groups(lab_state(site.target), ready) if ready.hosts else {},
                stores=stores_of_lab(site.target, ready, [client.name for client in clients]),
                facts={"name": site.target, **without_keys(ready.facts)},
                step_facts={
                    **ground.step_facts,
                    **({} if mounted else {"filesystem": unmounted}),
                    **{name: ready.facts[name] for name in TOLD_TO_STEPS if name in ready.facts},
                },
                clear_caches=partial(clear_target_caches, ready.facts),
            )

    def _ground(self, site: Site, directory: Path, clients: tuple[Client, ...], target: Target) -> Ground:
        kind = describe_filesystem(self.machine, directory)
        facts: dict[str, Any] = {}
        if site.target or site.directory:
            facts["filesystem"] = {name: kind.get(name) for name in KINDS}
        if given := site.conditions.given():
            facts["site_conditions"] = given
        queues = _queues(self.machine, clients)
        if queues:
            facts[FUSE_QUEUES] = {name: queue.facts() for name, queue in queues.items()}
        return Ground(
            site=site,
            name=site.label or str(directory),
            directory=directory,
            clients=clients,
            crew=Alone(clients[0]),
            target=target,
            devices=disk_names_under(self.machine, directory),
            interfaces=interface_names(self.machine),
            queues={name: queue.waiting for name, queue in queues.items() if queue.waiting},
            step_facts=facts,
        )

    def _safeguards(self, directory: Path, site: Site, filesystem: str) -> Target:
        inner = WorkDirectory(directory, site.size_bytes, self.sections, self.named)
        return Mounted(inner, filesystem, filesystem_of) if filesystem else inner


def _directory_of(site: Site, ready: Ready) -> Path:
    """What steps stand on. For targets reached past a mount a folder that goes down with the lab, whoever takes it down."""
    name = site.target
    if "://" not in ready.directory:
        return check_directory(Path(ready.directory))
    if not ready.accesses and not site.objects:
        raise UserError(
            f"{name} is an object store at {ready.directory} with no files in it to measure; take another target"
        )
    folder = lab_state(name).folder / "unmounted"
    folder.mkdir(exist_ok=True)
    return folder.resolve()


def _client(number: int, seat: Seat, directory: Path) -> Client:
    """In its namespace, where it has one; a filesystem of this machine alone may still hold its client's groups."""
    name = f"client{number}"
    where = directory if "://" in seat.directory else Path(seat.directory)
    if seat.namespace:
        host = NamespaceHost(name, seat.namespace, seat.groups)
        return Client(name, host, where, seat.namespace, groups=seat.groups)
    return Client(name, SupervisedHost(name, partial(in_groups, seat.groups)), where, groups=seat.groups)


def _queues(machine: Machine, clients: Sequence[Client]) -> dict[str, FuseQueue]:
    """Of the clients whose FUSE mounts are this machine's."""
    here = {each.name: each.directory for each in clients if each.machine == "local"}
    found = {name: find_fuse_queue(machine, directory) for name, directory in here.items()}
    return {name: queue for name, queue in found.items() if queue is not None}


def _addresses(ready: Ready) -> dict[str, str]:
    """Of the clients, on the lab's network."""
    return {name: f"{SUBNET}.{number}" for name, number in ready.hosts.items()}


def check_mounts(steps: Sequence[Step], directory: Path, site: Site) -> None:
    """Raises UserError when a step needs more mounts of a directory than are given: one client alone is late for nobody."""
    wanted = max((mounts_needed(step.cell) for step in steps if step.files == "mounts"), default=0)
    if wanted > 1 + len(site.mounts):
        raise UserError(
            f"{directory} has {1 + len(site.mounts)} of the {wanted} mounts that clients of consistency need, the witness included; list "
            "the same directory on further mounts in [target] mounts, or set control = true to see one mount twice"
        )


def check_stated(directory: Path, site: Site) -> None:
    """Raises UserError when something else is mounted there than the site states."""
    if site.filesystem and (wrong := check_filesystem(directory, site.filesystem, filesystem_of)):
        raise UserError(wrong)


def filesystem_of(path: Path) -> str | None:
    """The type in the mount table."""
    mount = find_mount(Machine(), path)
    return mount.type if mount else None


def described(ground: Ground) -> Mapping[str, Any]:
    """A ground as the environment record keeps it."""
    return {
        "directory": str(ground.directory),
        "filesystem": ground.step_facts.get("filesystem", {}),
        "options": dict(ground.site.options),
        "storage_nodes": ground.site.storage_nodes,
        "clients": [client.name for client in ground.clients],
        "conditions": ground.site.conditions.given(),
        "target": dict(ground.facts),
    }
