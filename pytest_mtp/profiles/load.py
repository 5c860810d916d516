"""A profile by name or by file, read and checked; no parameter is filled in yet."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_mtp.core.errors import SuiteError, UsageError, nearest
from pytest_mtp.core.profile import Profile
from pytest_mtp.profiles.translation import ProfileBuilder
from pytest_mtp.suites.files import read
from pytest_mtp.suites.schema import SchemaFolder
from pytest_mtp.suites.validation import validate

SUFFIX = ".profile.yaml"
SCHEMA = "profile.schema.json"
SCHEMAS = SchemaFolder(Path(__file__).parent / "schemas", (SCHEMA,))
BUILTIN = Path(__file__).parent / "builtin"


def load_profile(name_or_path: str | Path, *, shown: str | None = None) -> Profile:
    """A built-in profile by its name, or the one in a file: whatever has a folder in front or ends in `.yaml`.

    Raise UsageError for an unknown name, SuiteError with file and line for a file that is wrong. `shown` is the path as
    messages print it.
    """
    text = str(name_or_path)
    if is_file_name(text):
        return _read(Path(text).expanduser(), shown or text)
    if text not in profile_names():
        known = profile_names()
        raise UsageError(f"no built-in profile {text!r}{nearest(text, known)}; there are {', '.join(known)}, and files named NAME{SUFFIX}")
    return _read(BUILTIN / f"{text}{SUFFIX}", shown or f"{text}{SUFFIX}")


def profile_names() -> tuple[str, ...]:
    """Of those that come with the package."""
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in BUILTIN.glob(f"*{SUFFIX}")))


def is_file_name(text: str) -> bool:
    """Names of built-in profiles have no folder and no suffix."""
    return os.sep in text or text.endswith((".yaml", ".yml"))


def _read(path: Path, shown: str) -> Profile:
    document = read(path, shown, keys="schema_version, profile")
    validate(document, SCHEMA, SCHEMAS)
    profile = ProfileBuilder(document).build()
    if path.parent == BUILTIN and path.name != f"{profile.name}{SUFFIX}":
        raise SuiteError(f"the profile is named {profile.name!r}, and its file {path.name}", path=shown, line=1)
    return profile
