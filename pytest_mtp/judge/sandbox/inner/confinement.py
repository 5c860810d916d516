"""The walls: limits, namespaces, a root of its own, Landlock; an audit hook where the kernel offers less.

Each wall that stands is named in `held`, and only then. Nothing is assumed: a wall that cannot be built is left out.
"""

# os.path is loaded by then; pathlib is not, and every program would pay for it.
# ruff: noqa: PTH101, PTH103, PTH106, PTH109, PTH112, PTH114, PTH115, PTH116, PTH118, PTH120, PTH123, PTH208, PTH211

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import signal
import socket
import sys
from typing import Any

landlock: Any = None  # set by the entry

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_PRIVATE, _REC, _BIND, _REMOUNT, _RDONLY, _NOSUID, _NODEV = 0x40000, 0x4000, 0x1000, 0x20, 0x1, 0x2, 0x4
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
_PROCESSES, _FILES, _FILE_BYTES, _ROOM_BYTES = 24, 64, 16 << 20, 32 << 20


class Walls:
    """Built in two steps with a fork between, since a new PID namespace begins with the next child."""

    def __init__(self, orders: dict[str, Any]) -> None:
        """`layers` names what may be tried; `room` is an empty folder that the caller made and removes."""
        self._layers = set(orders["layers"])
        self._room: str = orders["room"]
        self._wall_s: float = orders["wall_s"]
        self._memory: int = orders["memory_mb"] << 20
        self._libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
        self._held: list[str] = []
        self._own_root = False
        self._readable = [*orders.get("readable", ()), os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "lib"), *_LIBRARIES]
        if sys.base_prefix.startswith("/nix/"):
            self._readable.append("/nix/store")

    def unshare(self) -> None:
        """Leave the network, the processes and the mounts of the host, as root or in a user namespace."""
        if self._libc is None or "namespaces" not in self._layers:
            return
        spaces = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
        uid, gid = os.getuid(), os.getgid()
        if uid == 0 and self._libc.unshare(spaces) == 0:
            self._held += ["net-namespace", "pid-namespace", "mount-namespace"]
        elif self._libc.unshare(spaces | _NEWUSER) == 0:
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
            self._held += ["user-namespace", "net-namespace", "pid-namespace", "mount-namespace"]

    def enter(self) -> list[str]:
        """Everything else, in the process that will run the program. Returns the names of the walls that stand."""
        os.setsid()
        self._first_to_be_killed()
        if "mount-namespace" in self._held and self._new_root():
            self._held.append("own-root")
        else:
            os.chdir(self._room)
        self._drop_user()
        self._limit()
        if self._libc is not None:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after the change of user, which forgets it
            self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            self._drop_capabilities()
            self._libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
            if "landlock" in self._layers:
                readable = ["/"] if self._own_root else self._readable
                word = landlock.restrict(readable, [os.getcwd(), "/dev/null"])
                self._held += [word] if word else []
        if not self._sealed():
            _forbid_fork_exec()
            sys.addaudithook(_Watch(self._readable, os.getcwd()))
            self._held.append("audit-hook")
        return self._held

    def sweep(self) -> None:
        """In the outer process, after the end: whatever the program left running without a PID namespace is killed."""
        if "pid-namespace" in self._held:
            return
        for _ in range(100):
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children") as file:
                for child in file.read().split():
                    with contextlib.suppress(OSError):
                        os.kill(int(child), signal.SIGKILL)

    def _sealed(self) -> bool:
        """Whether the kernel alone holds files, network and processes."""
        files = self._own_root or any(word.startswith("landlock") for word in self._held)
        return files and "net-namespace" in self._held and "pid-namespace" in self._held

    def _first_to_be_killed(self) -> None:
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")

    def _new_root(self) -> bool:
        """An empty memory file system with the interpreter's own folders in it, read only."""
        assert self._libc is not None  # only called with a mount namespace
        if self._mount(None, "/", None, _REC | _PRIVATE, None):
            return False
        if self._mount("tmpfs", self._room, "tmpfs", _NOSUID | _NODEV, f"size={_ROOM_BYTES},mode=755"):
            return False
        for path in dict.fromkeys(os.path.realpath(path) for path in self._readable):
            if os.path.isdir(path):
                self._bind(path, self._room + path)
        for path in self._readable:  # /lib is a link to usr/lib on many systems
            if os.path.islink(path) and not os.path.lexists(self._room + path):
                os.makedirs(os.path.dirname(self._room + path), exist_ok=True)
                os.symlink(os.readlink(path), self._room + path)
        os.makedirs(self._room + "/work")
        os.chmod(self._room + "/work", 0o777)  # noqa: S103  # the program becomes another user, and nobody else is in here
        os.makedirs(self._room + "/dev", exist_ok=True)
        with open(self._room + "/dev/null", "w"):
            pass
        self._mount("/dev/null", self._room + "/dev/null", None, _BIND, None)
        os.makedirs(self._room + "/old")
        number = _PIVOT_ROOT.get(os.uname().machine, -1)
        if number < 0 or self._libc.syscall(number, self._room.encode(), (self._room + "/old").encode()) != 0:
            return False
        os.chdir("/")
        if self._libc.umount2(b"/old", 2) != 0:
            return False
        os.rmdir("/old")
        os.chdir("/work")
        self._own_root = True
        return True

    def _bind(self, source: str, target: str) -> None:
        os.makedirs(target, exist_ok=True)
        if self._mount(source, target, None, _BIND | _REC, None) == 0:
            self._mount(None, target, None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV, None)

    def _mount(self, source: str | None, target: str, kind: str | None, flags: int, options: str | None) -> int:
        assert self._libc is not None  # only called with a mount namespace
        words = [None if word is None else word.encode() for word in (source, target, kind, options)]
        return int(self._libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]))

    def _drop_user(self) -> None:
        """Root becomes a user that nobody is, so that the limit on processes counts for it."""
        if os.getuid() != 0 or "user-namespace" in self._held:
            return
        nobody = random.SystemRandom().randrange(61_000, 65_000)
        if not self._own_root:
            if not all(_open_to_all(path) for path in (os.path.dirname(os.__file__), os.path.dirname(self._room))):
                return
            os.chown(self._room, nobody, nobody)
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(nobody, nobody, nobody)
            os.setresuid(nobody, nobody, nobody)
            self._held.append("own-user")

    def _limit(self) -> None:
        seconds = int(self._wall_s) + 2
        limits = {
            "CORE": 0, "CPU": seconds, "AS": self._memory, "FSIZE": _FILE_BYTES, "NOFILE": _FILES, "NPROC": self._processes(), "MEMLOCK": 0,
        }  # fmt: skip
        for name, value in limits.items():
            with contextlib.suppress(AttributeError, OSError, ValueError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        self._held.append("rlimits")

    def _processes(self) -> int:
        """Inside a namespace or as a user of its own the count starts at us; else at what the user runs already."""
        if {"user-namespace", "own-user"} & set(self._held):
            return _PROCESSES
        mine = 0
        with contextlib.suppress(OSError):
            for name in os.listdir("/proc"):
                with contextlib.suppress(OSError):
                    mine += (
                        len(os.listdir(f"/proc/{name}/task")) if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid() else 0
                    )
        return (mine or 4096) + _PROCESSES

    def _drop_capabilities(self) -> None:
        assert self._libc is not None  # only called on Linux
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        self._libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _open_to_all(path: str) -> bool:
    """Whether every folder on the way may be passed by anybody."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def _forbid_fork_exec() -> None:
    """`subprocess` asks the audit hook, the function below it does not."""
    with contextlib.suppress(ImportError):
        import _posixsubprocess  # noqa: PLC0415  # only where the kernel does not hold processes

        def refuse(*_: Any) -> None:
            raise PermissionError("new processes are not allowed in the sandbox")

        _posixsubprocess.fork_exec = refuse  # type: ignore[assignment]  # a refusal never returns


class _Watch:
    """Says no from inside the interpreter. A fence for clumsy programs, not a wall: what it watches shares its memory."""

    def __init__(self, readable: list[str], room: str) -> None:
        self._readable = tuple(os.path.realpath(path) + os.sep for path in readable)
        self._room = os.path.realpath(room) + os.sep
        self._busy = False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        local = event == "socket.__new__" and args[1] == socket.AF_UNIX  # event loops talk to themselves through a pair of them
        if event in _NEVER or (event.startswith(_NEVER_BEGINNINGS) and not local):
            raise PermissionError(f"{event} is not allowed in the sandbox")
        if event == "import" and str(args[0]).split(".")[0] in {"ctypes", "_ctypes"}:
            raise PermissionError(f"the import of {args[0]} is not allowed in the sandbox")
        if event == "open":
            mode, flags = args[1], args[2] if len(args) > 2 else 0
            writing = bool(set(str(mode or "r")) & set("wax+")) or bool(int(flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            self._check(args[0], writing=writing)
        elif event in _TOUCHING:
            for path in args[:2] if event in {"os.rename", "os.link", "os.symlink"} else args[:1]:
                self._check(path, writing=True)
        elif event in {"os.listdir", "os.scandir", "os.walk", "glob.glob"}:
            self._check(args[0] if args and args[0] is not None else ".", writing=False)
        elif event in {"os.kill", "os.killpg"} and args[0] != os.getpid():
            raise PermissionError("signals to other processes are not allowed in the sandbox")

    def _check(self, path: Any, *, writing: bool) -> None:
        if isinstance(path, int) or self._busy:
            return
        self._busy = True
        try:
            real = os.path.realpath(os.fsdecode(path)) + os.sep
        finally:
            self._busy = False
        allowed = (self._room,) if writing else (self._room, *self._readable)
        if not real.startswith(allowed) and real != "/dev/null/":
            raise PermissionError(f"{os.fsdecode(path)} lies outside the sandbox")


_NEVER = frozenset({
    "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "subprocess.Popen", "pty.spawn",
    "ctypes.dlopen", "ctypes.dlsym", "resource.setrlimit", "resource.prlimit", "os.putenv", "webbrowser.open", "sys.addaudithook",
    "os.setxattr", "syslog.syslog", "mmap.__new__",
})  # fmt: skip
_NEVER_BEGINNINGS = ("socket.", "ftplib.", "http.", "imaplib.", "nntplib.", "poplib.", "smtplib.", "telnetlib.", "urllib.")
_TOUCHING = frozenset({
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate", "os.utime",
    "os.chdir", "shutil.rmtree", "shutil.move", "shutil.copyfile", "shutil.copytree", "sqlite3.connect", "os.mkfifo", "os.mknod",
    "tempfile.mkdtemp",
})  # fmt: skip
