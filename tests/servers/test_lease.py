"""Leases over threads and processes, proved by the order of events and never by time."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import threading

import pytest

from pytest_mtp.servers.lease import FileLease

SPAWN = multiprocessing.get_context("spawn")


def log(path, word):
    """One line, atomically: O_APPEND orders the writers."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{word}\n".encode())
    os.close(descriptor)


def work(folder, journal, kind, rounds):
    lease = FileLease(folder)
    for _ in range(rounds):
        with lease.exclusive() if kind == "x" else lease.shared():
            log(journal, f"+{kind}")
            log(journal, f"-{kind}")


def overlaps(words):
    """Times that an exclusive holder was not alone; the most sharers at once."""
    inside = {"x": 0, "s": 0}
    wrong = most = 0
    for word in words:
        inside[word[1]] += 1 if word[0] == "+" else -1
        wrong += inside["x"] > 1 or (inside["x"] == 1 and inside["s"] > 0)
        most = max(most, inside["s"])
    assert inside == {"x": 0, "s": 0}
    return wrong, most


def test_nothing_overlaps_an_exclusive_lease_between_processes(tmp_path):
    journal = tmp_path / "journal"
    crew = [SPAWN.Process(target=work, args=(tmp_path / "lease", journal, kind, 60)) for kind in "xxss"]
    for process in crew:
        process.start()
    for process in crew:
        process.join()
    words = journal.read_text().split()
    assert [process.exitcode for process in crew] == [0] * 4
    assert words.count("+x") == words.count("+s") == 120
    assert overlaps(words)[0] == 0


def test_nothing_overlaps_an_exclusive_lease_between_threads(tmp_path):
    words = []
    lease = FileLease(tmp_path / "lease")

    def run(kind):
        for _ in range(60):
            with lease.exclusive() if kind == "x" else lease.shared():
                words.append(f"+{kind}")
                words.append(f"-{kind}")

    crew = [threading.Thread(target=run, args=(kind,)) for kind in "xxss"]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert words.count("+x") == words.count("+s") == 120
    assert overlaps(words)[0] == 0


def test_many_share_at_once(tmp_path):
    lease = FileLease(tmp_path / "lease")
    together = threading.Barrier(3)

    def run():
        with lease.shared():
            together.wait(timeout=30)  # passes only when all three are inside

    crew = [threading.Thread(target=run) for _ in range(3)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert not together.broken


def test_who_wants_to_be_alone_is_not_overtaken_by_new_sharers(tmp_path):
    lease = FileLease(tmp_path / "lease")
    order, queued = [], threading.Event()

    def alone():
        queued.set()
        with lease.exclusive():
            order.append("alone")

    def late():
        with lease.shared():
            order.append("late")

    with lease.shared():
        writer = threading.Thread(target=alone)
        writer.start()
        queued.wait()
        turnstile = tmp_path / "lease" / "turnstile.lock"
        while not is_locked(turnstile):  # the writer stands in the turnstile and waits for us to leave
            pass
        reader = threading.Thread(target=late)
        reader.start()
        order.append("first")
    writer.join()
    reader.join()
    assert order == ["first", "alone", "late"]


def is_locked(path):
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def hold_for_ever(folder, held):
    with FileLease(folder).exclusive():
        held.set()
        threading.Event().wait()


def test_a_killed_holder_holds_no_more(tmp_path):
    held = SPAWN.Event()
    holder = SPAWN.Process(target=hold_for_ever, args=(tmp_path / "lease", held))
    holder.start()
    held.wait()
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with FileLease(tmp_path / "lease").exclusive():
        assert is_locked(tmp_path / "lease" / "room.lock")


@pytest.mark.parametrize("way", ["shared", "exclusive"])
def test_an_exception_inside_releases(tmp_path, way):
    lease = FileLease(tmp_path / "lease")
    with pytest.raises(ZeroDivisionError), getattr(lease, way)():
        raise ZeroDivisionError
    assert not is_locked(tmp_path / "lease" / "room.lock")
    assert not is_locked(tmp_path / "lease" / "turnstile.lock")
