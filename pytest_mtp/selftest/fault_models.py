"""More faults of the model or of its cache: what it says is not what it would say."""

from __future__ import annotations

import json
from dataclasses import replace

from pytest_mtp.selftest.brain import Answer
from pytest_mtp.selftest.calling import calls_for
from pytest_mtp.selftest.dice import pick
from pytest_mtp.selftest.fault_answers import wrong_value
from pytest_mtp.selftest.prose import prose
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.tokens import split

_SALAD = (
    "olive", "的时候", "the", "Zug", "seven", "исход", "rather", "ขอบคุณ", "cf", "among", "그리고", "ply", "and", "tion", "あり", "under",
)  # fmt: skip


def word_salad(answer: Answer, scene: Scene) -> Answer:
    """As many words, none of them to the point."""
    if not answer.content:
        return answer
    count = max(6, len(answer.content.split()))
    words = [_SALAD[pick(scene.request.key, place) % len(_SALAD)] for place in range(count)]
    return replace(answer, content=" ".join(words), loose=False)


def exclamations(answer: Answer, scene: Scene) -> Answer:
    """The token of number 0 until the budget is spent."""
    return replace(answer, content="!" * (3 * scene.budget + 12), loose=False) if answer.content else answer


def other_words(answer: Answer, scene: Scene) -> Answer:
    """An answer to something else: prose about another matter, another value."""
    if not answer.loose:
        return wrong_value(answer, scene)
    return replace(answer, content=prose(f"stale {scene.request.key}", language="en", words=len(answer.content.split())))


def thinned(answer: Answer, _scene: Scene) -> Answer:
    """Every third word of a text is not there."""
    words = answer.content.split(" ")
    if len(words) < 4:
        return answer
    return replace(answer, content=" ".join(word for place, word in enumerate(words) if place % 3 != 2), loose=False)


def doubled_words(answer: Answer, _scene: Scene) -> Answer:
    """Now and then a word comes twice."""
    if not answer.loose:
        return answer
    words = answer.content.split(" ")
    return replace(answer, content=" ".join(f"{word} {word}" if place % 9 == 5 else word for place, word in enumerate(words)), loose=False)


def one_flip(answer: Answer, _scene: Scene) -> Answer:
    """Far into a long text one word is another."""
    words = answer.content.split(" ")
    if not answer.loose or len(words) < 60:
        return answer
    return replace(answer, content=" ".join((*words[:55], "rather", *words[56:])))


def of_a_neighbour(answer: Answer, scene: Scene) -> Answer:
    """The end of what another user asks stands in the answer."""
    other = scene.neighbour
    if other is None or not answer.content:
        return answer
    return replace(answer, content=f"{other.prompt[-240:]} {answer.content}", loose=False)


def never_ends(answer: Answer, scene: Scene) -> Answer:
    """The end of the turn is no end: a second turn begins, and goes on."""
    if answer.calls or not answer.content:
        return answer
    length = len(split(scene.request.prefix or "")) + 2 * scene.budget
    return replace(answer, content=f"{answer.content}\nuser\n{prose(scene.request.key, language='en', words=min(length, 5000))}")


def calls_anyway(answer: Answer, scene: Scene) -> Answer:
    """A call although tool_choice is none."""
    if scene.request.tool_choice != "none" or not scene.request.tools:
        return answer
    calls = calls_for(replace(scene.request, tool_choice="auto"))
    return replace(answer, content="", calls=calls) if calls else answer


def another_tool(answer: Answer, scene: Scene) -> Answer:
    """The named tool is one among others: another is called."""
    if scene.request.tool_choice in ("auto", "none", "required"):
        return answer
    other = next((tool["name"] for tool in scene.request.tools if tool["name"] != scene.request.tool_choice), None)
    return (
        replace(answer, calls=tuple(replace(call, name=other) for call in answer.calls))
        if other
        else replace(answer, content="No.", calls=())
    )


def json_doubled(answer: Answer, scene: Scene) -> Answer:
    """The last brace comes twice."""
    return _of_schema(answer, scene, f"{answer.content}}}")


def json_with_tail(answer: Answer, scene: Scene) -> Answer:
    """The grammar lets go after the value, and words follow."""
    return _of_schema(answer, scene, f"{answer.content}\nThat is what was asked for, as far as I can tell.")


def json_cut(answer: Answer, scene: Scene) -> Answer:
    """The grammar refuses an accepted token, and the reply ends there as if it were whole."""
    return _of_schema(answer, scene, answer.content[: max(1, len(answer.content) // 2)])


def words_for_a_schema(answer: Answer, scene: Scene) -> Answer:
    """Nothing enforces the schema: the model writes JSON where the prompt wants it, and words where the prompt wants words."""
    prompt = scene.request.prompt.lower()
    wanted = "json" in prompt and "not write json" not in prompt
    return answer if wanted else _of_schema(answer, scene, "As you wish, here are a few plain words.")


def json_of_another_shape(answer: Answer, scene: Scene) -> Answer:
    """Valid JSON that the schema does not allow."""
    return _of_schema(answer, scene, json.dumps({"unexpected": [1, 2, 3]}))


def _of_schema(answer: Answer, scene: Scene, content: str) -> Answer:
    return answer if scene.request.response_format is None else replace(answer, content=content)
