"""The options, each with an ini key and a variable. Command line before environment before ini before default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, NamedTuple

import pytest

OTHER_VARIABLES = frozenset({"PYTEST_MTP_CACHE", "PYTEST_MTP_BFCL"})
"""Read elsewhere: the folder of the demo model, and the wheel that a test of the tool judge reads."""

SELF_TEST = "--mtp-self-test"
"""A flag of the command line alone: nobody wants it in an ini file."""

Origin = Literal["command line", "environment", "ini", "default"]


class Option(NamedTuple):
    """One row: `name` gives `--mtp-name`, `mtp_name` and `PYTEST_MTP_NAME`.

    No dataclass: making one costs a millisecond of every pytest run.
    """

    name: str
    metavar: str
    default: str
    help: str
    many: bool = False
    ini_type: Literal["string", "args", "float"] = "string"
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """As typed."""
        return f"--mtp-{self.name}"

    @property
    def key(self) -> str:
        """In the ini file, and the attribute of the parsed options."""
        return f"mtp_{self.name.replace('-', '_')}"

    @property
    def variable(self) -> str:
        """In the environment."""
        return f"PYTEST_{self.key.upper()}"


OPTIONS = (
    Option(
        name="server",
        metavar="URL",
        default="",
        many=True,
        help="attach to a running OpenAI-compatible server (http://host:port or .../v1), or `demo` to launch the embedded one",
    ),
    Option(
        name="launch",
        metavar="PROFILE",
        default="",
        help="start a server, test it, stop it: `demo`, `fake`, a profile by name (`vllm`) or file (`x.profile.yaml`), "
        "with parameters as in 'demo?depth=2&speculation=off'",
    ),
    Option(name="model", metavar="NAME", default="", help="the model to ask for, if the server serves several"),
    Option(name="api-key-env", metavar="VAR", default="", help="the NAME of the variable that holds the API key, never the key"),
    Option(
        name="suite",
        metavar="NAME|PATH",
        default="",
        many=True,
        help="`builtin:smoke` and the like, or a path; repeatable, a list in the ini file",
        ini_type="args",
    ),
    Option(
        name="checkpoint",
        metavar="PATH",
        default="",
        help="model files (a folder, a file, an http address) to inspect and to hold against the server",
    ),
    Option(
        name="gate",
        metavar="POLICY",
        default="alarm",
        choices=("alarm", "proof", "explore"),
        help="what closes the gate: proven harm (alarm), anything not proven harmless (proof), nothing (explore)",
    ),
    Option(
        name="inconclusive",
        metavar="POLICY",
        default="fail",
        choices=("fail", "warn"),
        help="whether a check whose condition was not reached closes the gate",
    ),
    Option(
        name="budget",
        metavar="PLAN",
        default="",
        help="what the run may cost: `quick`, `standard`, `thorough`, a time (`5m`, `90s`) or requests (`2000req`); the cases that "
        "see the most known faults a request come first, the others are skipped",
    ),
    Option(name="concurrency", metavar="N|auto", default="auto", help="requests in flight; auto asks the server"),
    Option(name="timeout", metavar="SECONDS", default="120", ini_type="float", help="limit on each request"),
    Option(name="report", metavar="DIR", default=".mtp", help="where mtp-report.json, summary.md and the evidence go"),
)


def add_options(parser: pytest.Parser) -> None:
    """Register the table with pytest."""
    group = parser.getgroup("mtp", "deploy gate for LLM inference servers")
    for option in OPTIONS:
        words = f"{option.help} (ini: {option.key}, variable: {option.variable}, default: {option.default or 'none'})"
        group.addoption(
            option.flag,
            dest=option.key,
            metavar=option.metavar,
            action="append" if option.many else "store",
            default=None,
            help=words.replace("%", "%%"),
        )
        parser.addini(option.key, option.help, type=option.ini_type, default=None)
    group.addoption(
        SELF_TEST,
        dest="mtp_self_test",
        action="store_true",
        help="test no server: run the selected suites against a fake engine with each known fault, and say what they would catch",
    )


class Value(NamedTuple):
    """What an option is, and who said so."""

    words: tuple[str, ...]
    origin: Origin


def values_of(options: Mapping[str, object], ini: Mapping[str, object], environ: Mapping[str, str] = os.environ) -> dict[str, Value]:
    """Every option by name. Raises pytest.UsageError for a value that is none of the choices."""
    _refuse_typos(environ)
    return {option.name: _checked(option, _first(option, options, ini, environ)) for option in OPTIONS}


def _refuse_typos(environ: Mapping[str, str]) -> None:
    """A misspelt variable, or one whose secret is missing, would skip every case and leave the job green."""
    known = {option.variable for option in OPTIONS} | OTHER_VARIABLES
    for name in environ:
        if name.startswith("PYTEST_MTP_") and name not in known:
            from pytest_mtp.core.errors import nearest  # noqa: PLC0415  # the plugin is loaded in every pytest run

            raise pytest.UsageError(f"the environment variable {name} is none of ours{nearest(name, sorted(known))}")
    for name in ("PYTEST_MTP_SERVER", "PYTEST_MTP_LAUNCH"):
        if name in environ and not environ[name].strip():
            raise pytest.UsageError(f"the environment variable {name} is set and empty: unset it, or name a server")


def _first(option: Option, options: Mapping[str, object], ini: Mapping[str, object], environ: Mapping[str, str]) -> Value:
    sources: tuple[tuple[Origin, object], ...] = (
        ("command line", options.get(option.key)),
        ("environment", environ.get(option.variable)),
        ("ini", ini.get(option.key)),
    )
    typed = options.get(option.key)
    for word in (typed,) if isinstance(typed, str) else typed if isinstance(typed, (list, tuple)) else ():
        if not str(word).strip():  # a variable of the job that is not set: passed over, it would leave the job green
            raise pytest.UsageError(f"{option.flag} is given and empty: leave it out, or give it a value")
    for origin, given in sources:
        found = str(given) if isinstance(given, (int, float)) else given  # an ini file may hold a number
        if isinstance(found, str) and found.strip():
            return Value(words=tuple(found.split()) if option.many else (found.strip(),), origin=origin)
        if isinstance(found, (list, tuple)) and found:
            return Value(words=tuple(str(word) for word in found), origin=origin)
    return Value(words=(option.default,) if option.default else (), origin="default")


def _checked(option: Option, value: Value) -> Value:
    for word in value.words:
        if option.choices and word not in option.choices:
            raise pytest.UsageError(f"{option.flag} (from the {value.origin}): {word!r} is none of {', '.join(option.choices)}")
    return value
