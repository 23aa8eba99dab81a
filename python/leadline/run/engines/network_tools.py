"""The foreign tools by the name that a cell gives them: adding one is one new file and one line here."""

from __future__ import annotations

from leadline.run.engines.network_fi_pingpong import FiPingpong
from leadline.run.engines.network_iperf3 import Iperf3
from leadline.run.engines.network_perftest import Perftest
from leadline.run.engines.network_qperf import Qperf
from leadline.run.engines.network_tool import NetworkTool
from leadline.run.engines.network_ucx_perftest import UcxPerftest

FOREIGN: dict[str, NetworkTool] = {
    tool.name: tool
    for tool in (
        Iperf3(),
        Qperf(),
        FiPingpong(),
        UcxPerftest(),
        Perftest("ib_send"),
        Perftest("ib_write"),
        Perftest("ib_read"),
    )
}
