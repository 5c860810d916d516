"""Token counts that contradict each other or the reply.

Only what no honest server does is accused. Absent counts are a note; reasoning tokens may or may not be inside the
completion count; several choices share one count, so that a budget cannot be held against it.
"""

from __future__ import annotations

from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext, View

_BUDGET_KEYS = ("max_completion_tokens", "max_tokens")
_UNBOUNDED_KEYS = ("best_of", "use_beam_search", "n")


def usage_findings(view: View, context: GradeContext) -> list[Finding]:
    """PROTO.usage, one finding a contradiction, or PROTO.usage_missing."""
    usage = view.reply.usage
    if usage is None or (usage.prompt_tokens is None and usage.completion_tokens is None and usage.total_tokens is None):
        return [context.finding("PROTO.usage_missing", "the reply carries no token counts")]
    evidence = {name: value for name, value in usage.to_dict().items() if value is not None}
    return [context.finding("PROTO.usage", title, evidence=evidence) for title in _contradictions(view)]


def _contradictions(view: View) -> list[str]:
    usage = view.reply.usage
    assert usage is not None
    prompt, completion, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    cached, thought = usage.cached_tokens, usage.reasoning_tokens
    wrong = [
        f"{name} is {value}"
        for name, value in (("prompt_tokens", prompt), ("completion_tokens", completion), ("total_tokens", total))
        if value is not None and value < 0
    ]
    if prompt is not None and completion is not None and total is not None:
        apart = prompt + completion + (thought or 0)  # some servers count reasoning beside the completion
        if total not in {prompt + completion, apart}:
            wrong.append(f"total_tokens is {total}, prompt_tokens {prompt} + completion_tokens {completion} make {prompt + completion}")
    if prompt == 0 and view.prompt.strip():
        wrong.append("prompt_tokens is 0, and a prompt was sent")
    if prompt is not None and cached is not None and cached > prompt:
        wrong.append(f"cached_tokens is {cached}, more than all {prompt} prompt_tokens")
    written = view.reply.text or view.reply.reasoning or view.reply.tool_calls
    if thought and prompt is not None and completion is not None and thought > completion and total == prompt + completion:
        wrong.append(f"reasoning_tokens is {thought}, more than all {completion} completion_tokens, which the total counts alone")
    if completion == 0 and not thought and written:
        wrong.append(f"completion_tokens is 0, and {len(view.reply.text)} characters came")
    limit = _budget(view)
    if completion is not None and limit is not None and completion > limit:
        wrong.append(f"completion_tokens is {completion}, above max_tokens {limit}")
    return wrong


def _budget(view: View) -> int | None:
    """The most tokens that the request allowed; None where that cannot be told."""
    ask = view.ask
    if any(key in ask.extra_body for key in _UNBOUNDED_KEYS) or view.reply.choices > 1 or (ask.sampling.n or 1) > 1:
        return None
    for key in _BUDGET_KEYS:
        value = ask.extra_body.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return ask.sampling.max_tokens
