"""Faults of an API layer that hands on less than it was asked for: each takes the body of a request and gives another.

A gateway loses options in the same way, so a proxy shows them on any server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Body = dict[str, Any]


def without(*names: str) -> Callable[[Body], Body]:
    """These options never arrive."""
    return lambda body: {name: value for name, value in body.items() if name not in names}


def fixed_seed(body: Body) -> Body:
    """Every request without a seed has the same one."""
    return {"seed": 1234, **body}


def fixed_sampling(body: Body) -> Body:
    """Sampled requests are sampled in one way, whatever they ask for; greedy ones are spared."""
    if not body.get("temperature"):
        return body
    return {**without("top_k", "top_p", "min_p")(body), "temperature": 1.0}


def always_greedy(body: Body) -> Body:
    """Nothing is ever sampled."""
    return {**body, "temperature": 0.0}


def last_stop_alone(body: Body) -> Body:
    """Of several stop strings the last is looked for."""
    stop = body.get("stop")
    return {**body, "stop": stop[-1:]} if isinstance(stop, list) and len(stop) > 1 else body


def without_system(body: Body) -> Body:
    """System messages are dropped, unless nothing else is there."""
    kept = [message for message in body["messages"] if message.get("role") not in ("system", "developer")]
    return {**body, "messages": kept or body["messages"]}
