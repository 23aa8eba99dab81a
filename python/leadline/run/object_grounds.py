"""What steps on objects stand on: a store by its address, and each client's folder in a store while a site stands.

The folder is claimed when the site stands and removed when it is left; after `kill -9` the next run does it (object_folder.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from leadline.plan.sites import Site
from leadline.run.crews.alone import Alone
from leadline.run.grounds import Ground
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.supervised import SupervisedHost
from leadline.run.object_folder import Tell, own_folder
from leadline.run.observe.block_devices import disk_names_under
from leadline.run.observe.machine import Machine
from leadline.run.observe.network_interfaces import interface_names
from leadline.run.seams import Bucket, Client
from leadline.run.targets.no_files import NoFiles
from leadline.spec.object_store import ObjectStore, parse_store
from leadline.spec.object_target import store_of_target


@contextmanager
def store_ground(site: Site, directory: Path) -> Iterator[Ground]:
    """A store by its address, reached from this machine; raises UserError where its keys are missing. Nothing is written to `directory`."""
    store, machine = store_of_target(site.url, site.options), Machine()
    client = Client("local", LocalHost(), directory)
    of_files = store.scheme == "fs"
    kind = {"type": store.scheme, "is_fuse": False, "is_network": not of_files, "is_memory": False}
    yield Ground(
        site=site, name=site.label, directory=directory, clients=(client,), crew=Alone(client), target=NoFiles(directory),
        mounted=False, devices=disk_names_under(machine, Path(store.options["root"])) if of_files else (),
        interfaces=interface_names(machine), stores={client.name: store}, step_facts={"filesystem": kind},
        facts={"name": "object store", "store": store.shown, "options": dict(store.options)},
    )  # fmt: skip


def stores_of_files(clients: Sequence[Client]) -> dict[str, ObjectStore]:
    """A directory as an object store, as each client sees it."""
    return {client.name: parse_store(str(client.directory)) for client in clients}


@contextmanager
def with_buckets(ground: Ground, tell: Tell) -> Iterator[Ground]:
    """The ground with a folder of leadline's own for each client, where its steps work on objects; gone afterwards."""
    if not ground.site.objects:
        yield ground
        return
    with ExitStack() as stack:
        buckets = {}
        for client in ground.clients:
            if client.name in ground.stores:
                store = ground.stores[client.name]
                host = client.host if isinstance(client.host, SupervisedHost) else None
                buckets[client.name] = Bucket(
                    store, stack.enter_context(own_folder(store, False, tell, host))
                )
        yield replace(ground, buckets=buckets)
