"""A validated document to a Profile, and what no schema can say: names that exist, values that fit, patterns that compile."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_mtp.core.profile import COMMON, Parameter, Profile, Words, braced
from pytest_mtp.profiles.conditions import read_when
from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.values import check_regex
from pytest_mtp.suites.words import closest, got, listed, quoted

_ALWAYS = ("port", "alias", "python")
_TAKEN = (*COMMON, "not")


class ProfileBuilder:
    """Builds the one profile of a document; `build` raises SuiteError at the first thing that is wrong."""

    def __init__(self, document: Document) -> None:
        """The document has passed the schema."""
        self._document, self._plain = document, document.value
        self._parameters: dict[str, Parameter] = {}
        self._used: set[str] = set()

    def build(self) -> Profile:
        """Parameters first: everything else refers to them."""
        plain = self._plain
        self._parameters = {name: self._parameter(name, said) for name, said in plain.get("parameters", {}).items()}
        command = tuple(self._part(part, ("command", index)) for index, part in enumerate(plain["command"]))
        environment = plain.get("environment", {})
        speculation, log, stop, limits = (plain.get(key, {}) for key in ("speculation", "log", "stop", "limits"))
        for name, value in environment.items():
            self._note(value, ("environment", name))
        self._refuse_deafness(command, environment)
        profile = Profile(
            name=plain["profile"],
            source=self._document.source(()),
            command=command,
            description=plain.get("description", ""),
            engine=plain.get("engine"),
            parameters=self._parameters,
            environment=environment,
            served_name=self._filled(plain.get("served_name"), ("served_name",), ()),
            program_missing=plain.get("program_missing", ""),
            **self._speculation(speculation),
            fatal=self._patterns(log.get("fatal", ()), ("log", "fatal")),
            telling=self._patterns(log.get("telling", ()), ("log", "telling")),
            **{field: value for field, value in _settings(stop, limits).items() if value is not None},
        )
        self._refuse_idle()
        return profile

    def _parameter(self, name: str, said: Mapping[str, Any]) -> Parameter:
        place: Place = ("parameters", name)
        if name in _TAKEN:
            what = "a word of conditions" if name == "not" else "a parameter that every profile has"
            raise self._document.error(f"{quoted(name)} is {what}: choose another name", place, key=True)
        parameter = Parameter(**{**said, "choices": tuple(said.get("choices", ()))})
        if name == "python" and parameter.kind != "path":
            raise self._document.error("'python' is the path of an interpreter: its kind is path", (*place, "kind"))
        if (parameter.kind == "choice") != ("choices" in said):
            words = (
                "a choice needs the key 'choices'"
                if parameter.kind == "choice"
                else f"'choices' is for the kind choice, not {parameter.kind}"
            )
            raise self._document.error(words, (*place, "choices"), key=True)
        for bound in ("lowest", "highest"):
            if bound in said and parameter.kind not in ("whole", "number"):
                raise self._document.error(f"{bound!r} is for the kinds whole and number, not {parameter.kind}", (*place, bound), key=True)
        if parameter.lowest is not None and parameter.highest is not None and parameter.lowest > parameter.highest:
            raise self._document.error(f"lowest {parameter.lowest:g} is above highest {parameter.highest:g}", (*place, "lowest"))
        if "default" in said and parameter.required:
            raise self._document.error("a required parameter has no default", (*place, "default"), key=True)
        if "default" in said and (expected := parameter.problem(parameter.default)):
            raise self._document.error(f"the default does not fit: expected {expected}, got {got(parameter.default)}", (*place, "default"))
        return dataclasses.replace(parameter, default=tuple(said["default"])) if isinstance(said.get("default"), list) else parameter

    def _part(self, part: Any, place: Place) -> Words:
        if isinstance(part, str):
            return Words(words=(self._filled(part, place, ()),))
        if isinstance(part, list):
            return Words(words=tuple(self._filled(word, (*place, index), ()) for index, word in enumerate(part)))
        when = read_when(self._document, part["when"], (*place, "when"), self._parameters)
        self._used |= {condition.name for condition in when}
        sure = tuple(condition.name for condition in when if not condition.negated)
        words = (self._filled(word, (*place, "words", index), sure) for index, word in enumerate(part["words"]))
        return Words(words=tuple(words), when=when)

    def _filled(self, word: Any, place: Place, sure: Iterable[str]) -> Any:
        """The word itself; each parameter in it has a value whenever it is used: a default, `required`, or a condition."""
        if not isinstance(word, str):
            return word
        for name in self._note(word, place):
            parameter = self._parameters[name]
            if name != "python" and parameter.default is None and not parameter.required and name not in sure:
                words = f"{{{name}}} may be unset here: give the parameter a default, or put the word under `when: {name}`"
                raise self._document.error(words, place)
        return word

    def _note(self, word: str, place: Place) -> list[str]:
        """The parameters in a word, remembered as used."""
        if "\0" in word:
            raise self._document.error("a NUL character cannot stand in a command", place)
        names = [name for name in braced(word) if name in self._parameters]
        self._used |= set(names)
        return names

    def _speculation(self, said: Mapping[str, Any]) -> dict[str, Any]:
        if not said and "speculation" not in self._plain:
            return {}
        place: Place = ("speculation",)
        when = read_when(self._document, said["when"], (*place, "when"), self._parameters) if "when" in said else ()
        self._used |= {condition.name for condition in when}
        method, depth = said.get("method"), said.get("depth")
        if isinstance(depth, str) and not self._is_whole(depth):
            whole = listed(f"{{{name}}}" for name, parameter in self._parameters.items() if parameter.kind == "whole")
            words = f"expected a whole number or one such parameter ({whole or 'there is none'}), got {got(depth)}"
            raise self._document.error(words, (*place, "depth"))
        for key, word in (("method", method), ("depth", depth)):
            self._note(str(word), (*place, key))
        return {"speculation_when": when, "speculation_method": method, "speculation_depth": None if depth is None else str(depth)}

    def _is_whole(self, depth: str) -> bool:
        parameter = self._parameters.get(depth.strip("{}"))
        return depth.isdigit() or (parameter is not None and parameter.kind == "whole" and depth == f"{{{depth.strip('{}')}}}")

    def _patterns(self, patterns: Iterable[str], place: Place) -> tuple[str, ...]:
        for index, pattern in enumerate(patterns):
            check_regex(self._document, pattern, (*place, index))
        return tuple(patterns)

    def _refuse_deafness(self, command: Iterable[Words], environment: Mapping[str, str]) -> None:
        words = [word for part in command if not part.when for word in part.words]
        if not any("port" in braced(word) for word in (*words, *environment.values())):
            raise self._document.error(
                "{port} stands nowhere in the command or the environment: the server cannot know where to listen", ("command",)
            )
        if command and next(iter(command)).when:
            raise self._document.error("the command begins with the program, which stands under no condition", ("command", 0))

    def _refuse_idle(self) -> None:
        """Most often a name that is misspelt where it is used, since unknown names in braces are plain characters."""
        for name in self._parameters:
            if name not in self._used:
                stray = next((word for word in sorted(self._strays()) if closest(word, (name,))), None)
                hint = f"; does {{{stray}}} mean it?" if stray else ""
                raise self._document.error(f"the parameter {quoted(name)} is used nowhere{hint}", ("parameters", name), key=True)

    def _strays(self) -> set[str]:
        plain = self._plain
        texts = [
            word
            for part in plain["command"]
            for word in ([part] if isinstance(part, str) else part if isinstance(part, list) else part["words"])
        ]
        texts += [*plain.get("environment", {}).values(), str(plain.get("served_name", ""))]
        return {name for text in texts for name in braced(text)} - {*self._parameters, *_ALWAYS}


def _settings(stop: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stop_signals": tuple(stop["signals"]) if "signals" in stop else None,
        "stop_grace_s": float(stop["grace_s"]) if "grace_s" in stop else None,
        "start_timeout_s": float(limits["start_timeout_s"]) if "start_timeout_s" in limits else None,
        "memory_limit_mib": limits.get("memory_mib"),
    }
