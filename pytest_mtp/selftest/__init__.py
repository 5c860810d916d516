"""Known faults and the proof that the gate sees them; `FakeServer` is an engine of known answers."""

from pytest_mtp.selftest.server import FakeServer

__all__ = ["FakeServer"]
