"""Faults of the model itself: the reply is wrong before any API layer sees it, so its own continuations agree with it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from pytest_mtp.selftest.book import Call
from pytest_mtp.selftest.brain import Answer
from pytest_mtp.selftest.dice import pick
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.tokens import split

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CHOICE = re.compile(r"\b([A-D])\b(?=[^A-Za-z]*$)")
_WORDS_BEFORE_LOOP = 10
_LOOP_TOKENS = 7


def wrong_value(answer: Answer, _scene: Scene) -> Answer:
    """The last number wherever it stands, else the chosen letter, else the last word is another. Prose and programs are spared."""
    text = answer.content
    if answer.loose or answer.stratum == "code" or not text:
        return answer
    numbers = _NUMBER.findall(text)
    if numbers:
        last = numbers[-1]
        other = re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit.group()) + 1) % 10), last)
        return replace(answer, content=re.sub(rf"(?<![\d.]){re.escape(last)}(?!\.?\d)", other, text))
    if choice := _CHOICE.search(text):
        letter = choice.group(1)
        return replace(answer, content=text[: choice.start()] + "ABCD"[("ABCD".index(letter) + 1) % 4] + text[choice.end() :])
    if text.lstrip().startswith(("{", "[")):
        return answer  # another word might break a schema, which is another fault
    return replace(answer, content=re.sub(r"[^\W\d_]+(?=[^\w]*$)", _other_word, text))


def _other_word(match: re.Match[str]) -> str:
    return {"true": "false", "false": "true", "yes": "no", "no": "yes"}.get(match.group().lower(), "nothing")


def replacement_characters(answer: Answer, _scene: Scene) -> Answer:
    """Some characters outside ASCII become as many U+FFFD as they have bytes; plain prose gets a broken dash.

    Characters of four bytes are always cut into tokens, others now and then.
    """
    text = answer.content
    if text.isascii():
        if not answer.loose:
            return answer
        return replace(answer, content=text.replace(", ", "\ufffd\ufffd\ufffd, ", 1) if ", " in text else text + "\ufffd")
    places = [place for place, character in enumerate(text) if not character.isascii()]
    cut = {place for count, place in enumerate(places) if count % 4 == 0 or ord(text[place]) > 0xFFFF}
    broken = ("\ufffd" * len(c.encode("utf-8", "surrogatepass")) if place in cut else c for place, c in enumerate(text))
    return replace(answer, content="".join(broken))


def endless_loop(answer: Answer, scene: Scene) -> Answer:
    """After some tokens the same few come again until the budget is full."""
    if answer.calls or not answer.content:
        return answer
    pieces = split(answer.content)
    head = pieces[:_WORDS_BEFORE_LOOP]
    loop = (pieces[_WORDS_BEFORE_LOOP : _WORDS_BEFORE_LOOP + _LOOP_TOKENS] or pieces) + [" again"]
    done = len(split(scene.request.prefix or ""))
    times = 2 * (scene.budget + done) // len(loop) + 2  # twice, since pieces may join into fewer tokens
    return replace(answer, content="".join(head + loop * times), loose=False)


def swapped_arguments(answer: Answer, _scene: Scene) -> Answer:
    """Two values of one type within a call change places."""
    return replace(answer, calls=tuple(_swapped(call) for call in answer.calls))


def _swapped(call: Call) -> Call:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return call
    if not isinstance(arguments, dict):
        return call
    names = list(arguments)
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            if type(arguments[one]) is type(arguments[other]) and arguments[one] != arguments[other]:
                arguments[one], arguments[other] = arguments[other], arguments[one]
                return replace(call, arguments=json.dumps(arguments, ensure_ascii=False))
    return call


def single_quotes(answer: Answer, _scene: Scene) -> Answer:
    """Arguments as Python prints them."""
    return replace(answer, calls=tuple(replace(call, arguments=repr(json.loads(call.arguments))) for call in answer.calls))


def ignored_choice(answer: Answer, scene: Scene) -> Answer:
    """Words where a call was demanded."""
    if scene.request.tool_choice in ("auto", "none"):
        return answer
    return replace(answer, content="I can look that up for you.", calls=())


def ignored_schema(answer: Answer, scene: Scene) -> Answer:
    """Words before the JSON where JSON alone was demanded."""
    if scene.request.response_format is None:
        return answer
    return replace(answer, content=f"Sure, here is what you asked for, as well as I can tell it: {answer.content[:-1]}")


def ignored_result(answer: Answer, scene: Scene) -> Answer:
    """The call of the turn before, once more."""
    if scene.request.last_role != "tool":
        return answer
    before = [message["tool_calls"] for message in scene.request.messages if message.get("tool_calls")]
    calls = tuple(Call(name=call["function"]["name"], arguments=_text(call["function"]["arguments"])) for call in before[-1])
    return replace(answer, content="", calls=calls)


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def leaked_reasoning(answer: Answer, _scene: Scene) -> Answer:
    """The names of the channels and the reasoning between them stand before the answer."""
    if not answer.content:
        return answer
    return replace(answer, content=f"analysisThe user asks something, and I know what to say.assistantfinal{answer.content}")


def mojibake(answer: Answer, _scene: Scene) -> Answer:
    """Each byte of a character outside ASCII is taken for a character."""
    return replace(answer, content=answer.content.encode("utf-8", "replace").decode("latin-1"))


def wrong_script(answer: Answer, scene: Scene) -> Answer:
    """Now and then a word of prose is one of another script."""
    if not answer.loose:
        return answer
    words = answer.content.split(" ")
    strange = ("的时候", "исход", "ขอบคุณ", "あり", "그리고")
    for place in range(4, len(words), 9):
        words[place] = strange[pick(scene.request.key, place) % len(strange)]
    return replace(answer, content=" ".join(words))
