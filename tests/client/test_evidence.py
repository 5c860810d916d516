"""Exchanges on disk."""

from __future__ import annotations

import json
import multiprocessing
import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_mtp.client.evidence import append_exchange, read_exchanges
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.exchange import Attempt, Exchange, Fault, Timeline
from pytest_mtp.core.reply import Reply


def exchange(content: str, headers: dict[str, str] | None = None) -> Exchange:
    return Exchange(
        ask=Ask(messages=({"role": "user", "content": content},)),
        url="http://h/v1/chat/completions",
        model="m",
        reply=Reply(content=content, headers=headers or {}),
        timeline=Timeline(sent_ns=1),
    )


def test_what_was_written_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written = [exchange(text) for text in ("plain", "lone \ud83d surrogate", "nul \0", "line\nbreak \u2028 \x85", "caf\u00e9")]
    for one in written:
        append_exchange(path, one)
    assert list(read_exchanges(path)) == written
    assert path.read_bytes().isascii()
    assert path.read_bytes().count(b"\n") == len(written)


def test_secret_headers_are_masked_wherever_they_stand(tmp_path: Path) -> None:
    secrets = {"Set-Cookie": "a=s3cret", "x-api-key": "s3cret", "authorization": "Bearer s3cret", "x-ratelimit-remaining-tokens": "7"}
    fault = Fault(kind="busy", code="INFRA.busy", message="", headers=secrets)
    failed = Exchange(
        ask=Ask(messages=()), url="u", model="m", fault=fault, timeline=Timeline(sent_ns=1), attempts=(Attempt(duration_s=1, fault=fault),)
    )
    path = tmp_path / "a.jsonl"
    append_exchange(path, exchange("x", secrets))
    append_exchange(path, failed)
    assert "s3cret" not in path.read_text()
    assert all(json.dumps({"x-ratelimit-remaining-tokens": "7"})[1:-1].replace(" ", "") in line for line in path.read_text().splitlines())


def test_the_hook_edits_the_record_before_it_is_written(tmp_path: Path) -> None:
    def forget(plain: dict[str, Any]) -> None:
        plain["ask"]["messages"] = []
        plain["reply"]["content"] = "[removed]"

    path = tmp_path / "a.jsonl"
    append_exchange(path, exchange("personal"), redact=forget)
    assert "personal" not in path.read_text()
    assert [one.reply.content for one in read_exchanges(path) if one.reply] == ["[removed]"]


def test_a_hook_that_raises_lets_nothing_be_written(tmp_path: Path) -> None:
    def fails(plain: dict[str, Any]) -> None:
        raise KeyError("ask")

    path = tmp_path / "a.jsonl"
    with pytest.raises(KeyError):
        append_exchange(path, exchange("personal"), redact=fails)
    assert not path.exists()


def test_a_half_line_of_a_dead_writer_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    append_exchange(path, exchange("one"))
    with path.open("a") as file:
        file.write('{"ask": {"mess')
    append_exchange(path, exchange("two"))
    assert [one.reply.content for one in read_exchanges(path) if one.reply] == ["one", "two"]


@pytest.mark.parametrize("line", ["{}", "7", "null", '{"ask": {"messages": 3}}'])
def test_json_that_is_no_exchange_names_its_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    append_exchange(path, exchange("one"))
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match=r"a\.jsonl:2: not an exchange"):
        list(read_exchanges(path))


def write_many(path: Path, name: str) -> None:
    for number in range(20):
        append_exchange(path, exchange(f"{name} {number} " + "x" * 20_000))


def test_threads_and_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    spawn = multiprocessing.get_context("spawn")
    writers: list[Any] = [spawn.Process(target=write_many, args=(path, "process")) for _ in range(2)]
    writers += [threading.Thread(target=write_many, args=(path, f"thread-{n}")) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    found = [one.reply.content or "" for one in read_exchanges(path) if one.reply]
    assert len(found) == 100
    for name in ("thread-0", "thread-1", "thread-2"):
        assert [text.split()[1] for text in found if text.startswith(name)] == [str(number) for number in range(20)]
