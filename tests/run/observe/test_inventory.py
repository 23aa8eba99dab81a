"""A recorded machine against sheets that it keeps, and against sheets that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.observe.finding import Finding, State
from leadline.run.observe.inventory import compare_inventory
from leadline.run.observe.machine import Machine
from leadline.spec.load_nominal import build_nominal, load_nominal


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Two threads at 2.9 GHz under powersave, a NIC of 10 Gb/s, a solid-state drive of 1.6 TB."""
    files = {
        "proc/cpuinfo": "processor : 0\ncpu MHz : 2899.5\n\nprocessor : 1\ncpu MHz : 1200.0\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
        "sys/class/net/eth0/speed": "10000\n",
        "sys/class/net/eth0/operstate": "up\n",
        "sys/class/net/eth0/type": "1\n",
        "sys/class/net/eth0/device/vendor": "0x8086\n",
        "sys/class/block/nvme0n1/size": f"{1_600_321_314_816 // 512}\n",
        "sys/class/block/nvme0n1/queue/rotational": "0\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Machine(tmp_path)


def found(machine: Machine, **table: object) -> dict[str, Finding]:
    return {each.subject: each for each in compare_inventory(build_nominal(dict(table), "n.toml"), machine)}


def test_a_machine_that_is_what_its_sheets_say_is_all_ok(machine: Machine) -> None:
    findings = found(
        machine, cpu_clock="2.9GHz", cpu_governor="powersave", threads=2, nics={"eth0": "10Gb/s"},
        disks={"nvme0n1": {"size": "1.6TB", "kind": "ssd"}},
    )  # fmt: skip
    assert {each.state for each in findings.values()} == {State.OK}
    assert len(findings) == 6


def test_whatever_is_off_is_said_with_both_figures_and_what_to_do(machine: Machine) -> None:
    findings = found(
        machine, cpu_clock="3.5GHz", cpu_governor="performance", threads=4, nics={"eth0": "25Gb/s"},
        disks={"nvme0n1": {"size": "3.2TB", "kind": "disk"}},
    )  # fmt: skip
    assert {each.state for each in findings.values()} == {State.LIMITED}
    assert "2.90 GHz of 3.50 GHz (83 %)" in findings["CPU clock"].sentence
    assert "powersave, performance wanted" in findings["CPU governor"].sentence
    assert "cpupower frequency-set -g performance" in str(findings["CPU governor"].remedy)
    assert "10 Gb/s of 25 Gb/s" in findings["NIC eth0"].sentence
    assert "1,600 GB of 3,200 GB (50 %)" in findings["disk nvme0n1, size"].sentence


def test_what_is_not_there_is_missing_and_what_cannot_be_read_is_not_called_wrong(machine: Machine) -> None:
    findings = found(machine, nics={"eth1": "1Gb/s"}, disks={"sdz": {}})
    assert {each.state for each in findings.values()} == {State.MISSING}
    assert "there are: eth0" in findings["NIC eth1"].sentence
    bare = found(Machine(machine.root / "nothing"), cpu_clock="3GHz", cpu_governor="performance")
    assert all("not compared" in each.sentence for each in bare.values())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"cpu_clok": "3GHz"}, 'unknown key "cpu_clok" in .nominal.; did you mean "cpu_clock"'),
        ({"cpu_clock": "fast"}, '"fast" is not a clock; write "3.5GHz"'),
        ({"nics": {"eth0": "quick"}}, "`nominal.nics.eth0`.*is not a bandwidth"),
        ({"disks": {"sda": {"sise": "1TB"}}}, 'unknown key "disks.sda.sise".*did you mean "size"'),
    ],
)
def test_a_mistake_in_the_sheets_is_one_sentence(table: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        build_nominal(table, "n.toml")


def test_a_file_without_the_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "n.toml").write_text("[limits]\n")
    with pytest.raises(UserError, match=r"has no table \[nominal\]"):
        load_nominal(tmp_path / "n.toml")
