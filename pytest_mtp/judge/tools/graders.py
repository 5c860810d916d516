"""The graders of `calls`, `no_call` and `any_call`.

Each also judges the serving of the calls: the wire, the schema, and markup in the text. A case without such an expectation
whose request offers tools gets the same from `tool_findings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext, Judgement, View, conclude
from pytest_mtp.judge.tools.answer import accepted_calls, canonical_parsed, json_text
from pytest_mtp.judge.tools.comparing import compare_arguments
from pytest_mtp.judge.tools.dispatch import Dispatch, compare, dispatch, dispatch_findings
from pytest_mtp.judge.tools.expected import Expected, Gold, expected_calls, gold_of
from pytest_mtp.judge.tools.intent import intent_findings
from pytest_mtp.judge.tools.leaks import leaks_in
from pytest_mtp.judge.tools.offered import offer_of
from pytest_mtp.judge.tools.reading import ReadCall, read_calls
from pytest_mtp.judge.tools.shown import gold_shown
from pytest_mtp.judge.tools.turns import after_result_findings
from pytest_mtp.judge.tools.validity import schema_breaches
from pytest_mtp.judge.tools.wire import wire_breaches
from pytest_mtp.judge.tools.written import TextCall
from pytest_mtp.judge.words.normal import excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the serving did, whatever was expected. `lost` are calls that the model made and the wire does not have."""

    calls: tuple[ReadCall, ...]
    findings: tuple[Finding, ...]
    lost: tuple[TextCall, ...]

    def has(self, code: str) -> bool:
        """A finding of that code that fails."""
        return any(finding.code == code and finding.severity != "note" for finding in self.findings)


def tool_findings(view: View, context: GradeContext) -> tuple[Finding, ...]:
    """Wire, schema, leaks and repeated calls of one reply, without any expectation."""
    return (*served(view, context).findings, *_again(view, context))


def served(view: View, context: GradeContext) -> Served:
    """The same with the calls."""
    severity = context.case_severity
    calls = read_calls(view.reply, view.ask)
    leaks = leaks_in(view, calls, severity)
    findings = (*wire_breaches(view.reply, view.ask, calls, severity), *schema_breaches(calls, severity), *leaks.findings)
    return Served(calls=calls, findings=findings, lost=leaks.calls)


def grade_calls(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """The accepted calls and no others, matched one to one."""
    expected = expected_calls(expect)
    done = served(view, context)
    result = dispatch(expected, done.calls)
    if _ended_early(view, done, expected, result):
        return conclude([*done.findings, _early(view, expected, result, context)])
    findings = list(dispatch_findings(expected, done.calls, result, context.case_severity))
    wanted = {f"call {call}" for _, call in result.matched}
    findings += [finding for finding in _again(view, context) if finding.where not in wanted]
    unmatched = [expected.golds[i] for i in range(len(expected.golds)) if all(i != gold for gold, _ in result.matched)]
    if _all_lost(unmatched, done.lost, view, expected) or done.has("TOOL.forced"):
        findings = [finding for finding in findings if finding.code not in ("TOOL.missing", "TOOL.count")]
    if not done.has("TOOL.intent"):
        findings += intent_findings(unmatched, view, done.calls, context.case_severity)
    findings = [*done.findings, *findings]
    if any(finding.severity != "note" for finding in findings):
        return conclude(
            findings, answer=canonical_parsed([(call.wire, call.parsed) for call in done.calls], view.ask, ordered=expected.ordered)
        )
    if len(result.matched) == len(expected.golds):
        return conclude(findings, answer=expected.answer)
    golds = [(expected.golds[i].name, expected.golds[i].arguments) for i, _ in result.matched]
    return conclude(findings, answer=accepted_calls(golds, ordered=expected.ordered))


def grade_no_call(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """No call, and text in its place; a refusal is text."""
    if expect.spec is not True:
        raise UsageError(f"no_call: write no_call: true, not {expect.spec!r}")
    done = served(view, context)
    findings = [*done.findings, *_again(view, context)]
    if done.calls and not done.has("TOOL.none_expected"):
        title = f"expected no call, got {done.calls[0].shown()}" + (f" and {len(done.calls) - 1} more" if len(done.calls) > 1 else "")
        evidence = {"calls": [call.shown(400) for call in done.calls[:8]]}
        findings.append(context.finding("TOOL.none_expected", title, where="call 0", evidence=evidence))
    if not done.calls and not view.text.strip() and not view.reply.refusal and not done.lost:
        code = _why_empty(view)
        findings.append(context.finding(code, f"expected text instead of a call, got neither; finish reason {view.reply.finish_reason!r}"))
    return conclude(findings, answer=canonical_parsed([(call.wire, call.parsed) for call in done.calls], view.ask))


def grade_any_call(view: View, expect: Expect, context: GradeContext) -> Judgement:
    """A valid call of one of the named tools, and of no other unless `extra: allow`."""
    golds = _any_of(expect, view)
    extra = expect.options.get("extra") in ("allow", True)
    extra_args = expect.options.get("extra_args") in ("allow", True)
    done = served(view, context)
    fitting = [call for call in done.calls if any(compare(gold, call, extra_args=extra_args).distance == 0 for gold in golds)]
    findings = list(done.findings)
    names = " or ".join(dict.fromkeys(gold_shown(gold.name, gold.arguments, limit=60) for gold in golds[:4]))
    expected = Expected(golds=(golds[0],))
    result = dispatch(expected, done.calls)
    if not fitting and _ended_early(view, done, expected, result):
        return conclude([*findings, _early(view, expected, result, context)])
    strangers = [call for call in done.calls if call.fits and call not in fitting]
    if not done.calls and not done.lost and not done.has("TOOL.forced"):
        got = excerpt(view.text, 60)
        findings.append(context.finding("TOOL.missing", f"expected a call of {names}, got {repr(got) if got else 'no call and no text'}"))
    if not (extra and fitting):
        findings.extend(
            context.finding("TOOL.spurious", f"expected a call of {names}, got {call.shown()}", where=call.where) for call in strangers
        )
    judgement = conclude(findings, answer=canonical_parsed([(call.wire, call.parsed) for call in done.calls], view.ask))
    if judgement.outcome == "PASS":
        return conclude(findings, answer=json_text(sorted({call.name for call in fitting})))
    return judgement


def _again(view: View, context: GradeContext) -> tuple[Finding, ...]:
    """Calls whose result already stands in the request."""
    if not view.reply.tool_calls or not any(message.get("role") == "tool" for message in view.ask.messages):
        return ()
    return after_result_findings(view.reply, view.ask, context.case_severity, uses_result=False)


def _any_of(expect: Expect, view: View) -> list[Gold]:
    spec = expect.spec
    if spec is True:
        golds = [Gold(name=name) for name in offer_of(view.ask).tools]
    else:
        listed = [spec] if isinstance(spec, (str, Mapping)) else spec
        if not isinstance(listed, (list, tuple)):
            raise UsageError(f"any_call: expected a name, {{name}} or a list of them, got {spec!r}")
        golds = [gold_of(item, f"any_call[{index}]") for index, item in enumerate(listed)]
    if not golds:
        raise UsageError("any_call: no tool is named")
    return golds


def _ended_early(view: View, done: Served, expected: Expected, result: Dispatch) -> bool:
    """The reply ended before it could be judged, and what is there contradicts nothing."""
    wanted = len(expected.golds) if expected.at_least is None else expected.at_least
    if len(result.matched) >= wanted or done.lost:
        return False
    if view.reply.refusal or view.reply.finish_reason == "content_filter":
        return not done.calls
    return view.truncated and sum(call.arguments is not None for call in done.calls) == len(result.matched)


def _early(view: View, expected: Expected, result: Dispatch, context: GradeContext) -> Finding:
    code = _why_empty(view)
    gold = next(gold for i, gold in enumerate(expected.golds) if all(i != other for other, _ in result.matched))
    limit = view.ask.sampling.max_tokens
    cut = f"cut at max_tokens={limit}" if limit else "cut at the server's limit"
    end = {"GEN.refusal": "refused", "GEN.filtered": "a content filter ended the reply"}.get(code, cut)
    title = f"expected {gold_shown(gold.name, gold.arguments)}, {end} before it; the reply ends: {excerpt(repr(_tail(view)), 50)}"
    return context.finding(code, title, evidence={"finish_reason": view.reply.finish_reason})


def _tail(view: View) -> str:
    calls = view.reply.tool_calls
    return (calls[-1].arguments if calls else view.text or view.reasoning)[-40:]


def _why_empty(view: View) -> str:
    if view.reply.refusal:
        return "GEN.refusal"
    if view.reply.finish_reason == "content_filter":
        return "GEN.filtered"
    return "GEN.truncated" if view.truncated else "GEN.empty"


def _all_lost(golds: Iterable[Gold], lost: Sequence[TextCall], view: View, expected: Expected) -> bool:
    """Every accepted call without a partner was made in the text: the parser is blamed, not the model."""
    tools = offer_of(view.ask).tools
    left = list(lost)
    for gold in golds:
        for call in left:
            tool = tools.get(call.name)
            if call.name == gold.name and not (
                gold.arguments is not None
                and compare_arguments(gold.arguments, call.arguments, tool.parameters if tool else None, extra=expected.extra_args)[0]
            ):
                left.remove(call)
                break
        else:
            return False
    return True
