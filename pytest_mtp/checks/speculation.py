"""Is speculation really on? Counters that moved with our own requests decide, never a flag."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance, Counters, SpecDecode, SpecState
from pytest_mtp.core.protocols import Server
from pytest_mtp.judge.acceptance import broken_identities
from pytest_mtp.judge.ledger import Ledger, ledger_of

DEAD_AFTER_DRAFTS = 32
"""Drafted tokens without one acceptance that prove a dead drafter: a drafter right one time in ten, and so hardly worth its
cost, would show none with probability 0.9^32 = 3 %, and the shipped prompts draft several times as many."""

UNDRAFTED_TOKENS = 2
"""The first token of a reply comes from prefill and the last needs no draft: a server may lawfully draft nothing for two."""

LOOKUP = ("ngram", "lookup", "suffix", "pld")
"""Words in the names of methods that draft only where the text repeats itself, so that no drafts prove no fault."""

_PATIENCE, _PAUSE_S = 4, 0.05


class Meter:
    """A server's counters, read after each stretch of our requests, so that no token falls between two stretches.

    Some servers count just after they have answered: while tokens of ours are missing the counters are read again, a few
    times in all. One whose counters never catch up is not waited for again.
    """

    def __init__(self, server: Server) -> None:
        """Reads them for the first time."""
        self._server, self._patience = server, _PATIENCE
        self.reading = server.engine.counters(server.client)

    def moved(self, exchanges: Sequence[Exchange]) -> Counters | None:
        """What they moved by since the last reading, during these exchanges; None where there are none."""
        before = self.reading
        while True:
            self.reading = self._server.engine.counters(self._server.client)
            if before is None or self.reading is None:
                return None
            moved = self.reading.since(before)
            if not self._patience or (ledger(self._server, exchanges, moved).surplus_tokens or 0) >= 0:
                return moved
            self._patience -= 1
            time.sleep(_PAUSE_S)


def restless(server: Server) -> bool:
    """Drafts are counted while nothing of ours runs, so that what the counters move by is not what we cause."""
    first, again = server.engine.counters(server.client), server.engine.counters(server.client)
    idle = again.since(first).acceptance if first is not None and again is not None else None
    return idle is not None and idle.drafted > 0


def ledger(server: Server, exchanges: Sequence[Exchange], moved: Counters | None) -> Ledger:
    """These exchanges against what the counters moved by during them."""
    replies = [server.engine.acceptance_of(exchange.reply) for exchange in exchanges if exchange.reply is not None]
    return ledger_of(exchanges, replies, moved, depth=server.facts.speculation.depth)


def evidence_of_speculation(configured: SpecDecode, book: Ledger, *, signs: Sequence[str] = ()) -> SpecDecode:
    """The state that these requests prove, the proof before the claims.

    `signs` are weaker evidence, shown after the counts: they change no state.
    """
    state, why = _state(configured, book)
    words = [*([why] if why else []), *_told(book), *signs]
    return dataclasses.replace(configured, state=state, evidence=(*words, *configured.evidence), acceptance=book.counts)


def drafts_by_lookup(method: str | None) -> bool:
    """Whether this method drafts only what stood in the text before."""
    return any(word in (method or "").lower() for word in LOOKUP)


def _state(configured: SpecDecode, book: Ledger) -> tuple[SpecState, str]:
    """The state, and why where the counts alone do not say it."""
    if not book.requests:
        return "unknown", "no request of ours was answered"
    broken = contradiction(book)
    if broken:
        return "unknown", f"the counts contradict themselves, and prove nothing: {broken}"
    drafted, accepted = drafted_and_accepted(book)
    if drafted is None:
        return "unknown", _why_not_seen(book)
    if accepted:
        return "active", ""
    if drafts_by_lookup(configured.method):
        return "unknown", f"{configured.method} drafts only where the text repeats itself: this proves nothing"
    if drafted >= DEAD_AFTER_DRAFTS:
        return "dead", ""
    if drafted:
        return "unknown", f"{drafted} drafts are too few to call the drafter dead"
    if book.emitted is not None and book.emitted <= UNDRAFTED_TOKENS * book.requests:
        return "unknown", f"{book.emitted} tokens in {book.requests} replies are too few to be drafted"
    claims = configured.method is not None or configured.depth is not None or configured.state in ("active", "dead")
    return ("dead" if claims else "inactive"), ""


def contradiction(book: Ledger) -> str:
    """The first identity that the counts which would decide break; empty where they hold."""
    return next((words for counts in (book.counts, book.own) if counts is not None for words in broken_identities(counts)), "")


def _why_not_seen(book: Ledger) -> str:
    if book.restarted:
        return "the server's counters started anew during our requests, and replies tell of no drafts"
    if book.contaminated:
        return "requests of others moved the counters, and replies tell of no drafts"
    if book.partial:
        return "the counters did not see all of our requests, and replies tell of no drafts"
    return "neither counters nor replies tell of drafts"


def drafted_and_accepted(book: Ledger) -> tuple[int | None, int]:
    """T and A.

    Where only steps and tokens are counted, each step is one draft at least, and what is emitted beyond the prefill's token
    and one token a step was accepted.
    """
    if book.counts is not None:
        return book.counts.drafted, book.counts.accepted
    if book.passes is None or book.emitted is None:
        return None, 0
    return book.passes, max(0, book.emitted - book.requests - book.passes) if book.passes else 0


def _told(book: Ledger) -> list[str]:
    """What each source says, one line a source, and what spoils it."""
    words = []
    moved = book.moved
    if book.restarted:
        words.append("a counter went backwards during our requests: the server restarted, or the series was reset")
    elif moved is not None and moved.acceptance is not None:
        words.append(f"{_name(moved.acceptance)}: {_counted(moved.acceptance)} during our requests")
    if moved is not None and book.passes is not None and (moved.acceptance is None or book.step_length is not None):
        length = f", {book.step_length:.2f} tokens a step" if book.step_length is not None else ""
        words.append(f"{moved.source or 'counters'}: {book.passes} verify steps during our requests{length}")
    if book.own is not None:
        told = f" in {len(book.replies) - book.silent} of {len(book.replies)} replies" if book.silent else " in our replies"
        words.append(f"{book.own.source or 'replies'}: {_counted(book.own)}{told}")
    elif any(part is not None and part.batch_wide for part in book.replies):
        words.append("the counts of each reply are those of its whole batch, and other requests were in it: not used")
    words += traffic(book)
    if book.conflict:
        words.append(f"two sources contradict each other: {book.conflict}")
    return words


def traffic(book: Ledger) -> list[str]:
    """Whose tokens moved the counters, where it is not ours alone."""
    words = []
    if book.foreign_tokens:
        words.append(f"{book.foreign_tokens} of the tokens generated meanwhile are not ours")
    elif book.foreign_drafts:
        words.append(f"{book.foreign_drafts} of the drafts made meanwhile are not ours")
    elif book.impossible_tokens:
        words.append(f"drafts of at least {book.impossible_tokens} tokens more than ours were accepted meanwhile")
    if words:
        words[0] += ": the counters cannot tell whose drafts they saw"
    elif (book.surplus_tokens or 0) < 0:
        missing = -(book.surplus_tokens or 0)
        words.append(f"the counters miss {missing} of our {book.emitted} tokens: several servers behind one address, or usage counts more")
    return words


def _counted(counts: Acceptance) -> str:
    tree = " (nodes of a tree)" if counts.tree else ""
    return f"{counts.drafted} drafted{tree}, {counts.accepted} accepted"


def _name(counts: Acceptance) -> str:
    return counts.source or "counters"
