"""A cable with a length: `python delaying_cable.py PORT_A PORT_B DELAY_SECONDS` passes frames between two interfaces of its network
namespace, each after the delay; for kernels without netem. Good for a hundred Mb/s. Prints a line when it is ready.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time
from collections import deque

ALL_PROTOCOLS = 3  # ETH_P_ALL
IGNORE_OUTGOING = 23  # PACKET_IGNORE_OUTGOING, packet(7)
SOL_PACKET = 263
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33  # include/uapi/asm-generic/socket.h; root may go beyond the limits
FRAME_BYTES = 1 << 16
BUFFER_BYTES = 4 << 20


def main() -> None:
    """Until it is ended. A cable waits for no processor: whatever else runs here, it comes first."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    ports = [opened(name) for name in sys.argv[1:3]]
    delay_seconds = float(sys.argv[3])
    other = {ports[0]: ports[1], ports[1]: ports[0]}
    under_way: deque[tuple[float, socket.socket, bytes]] = deque()
    print("ready", flush=True)
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        readable, _, _ = select.select(ports, [], [], wait)
        for port in readable:
            while frame := received(port):
                under_way.append((time.monotonic() + delay_seconds, other[port], frame))
        while under_way and under_way[0][0] <= time.monotonic():
            _, port, frame = under_way.popleft()
            with contextlib.suppress(OSError):  # a queue that is full drops
                port.send(frame)


def opened(name: str) -> socket.socket:
    """Everything that comes in at the interface, and nothing that we send there ourselves."""
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    port.setsockopt(SOL_PACKET, IGNORE_OUTGOING, 1)
    port.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES)
    port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    port.bind((name, 0))
    port.setblocking(False)
    return port


def received(port: socket.socket) -> bytes:
    """Empty when there is nothing more."""
    try:
        return port.recv(FRAME_BYTES)
    except BlockingIOError:
        return b""


if __name__ == "__main__":
    main()
