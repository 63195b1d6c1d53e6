"""A process that is killed before a chosen one of its system calls that change the disk, whoever makes the call.

The process is traced with ptrace through ctypes, with all of its threads, so that calls of native libraries count as
those of Python do. Linux on x86-64 and AArch64; elsewhere, and where tracing is forbidden, ``available`` is False.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path

_TRACEME, _CONT, _SYSCALL, _SETOPTIONS, _GET_SYSCALL_INFO = 0, 7, 24, 0x4200, 0x420E
_SYSGOOD, _FORK, _VFORK, _CLONE, _EXITKILL = 1, 2, 4, 8, 0x100000
_ENTRY, _WALL = 1, 0x40000000
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_ON_HANDLES = ("write", "pwrite64", "writev", "pwritev", "ftruncate", "fallocate", "fsync", "fdatasync", "fchmod")
_NUMBERS = {  # asm/unistd_64.h and asm-generic/unistd.h of Linux
    "x86_64": {
        "write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296, "ftruncate": 77, "fallocate": 285, "fsync": 74,
        "fdatasync": 75, "fchmod": 91, "openat": 257, "open": 2, "creat": 85, "rename": 82, "renameat": 264,
        "renameat2": 316, "link": 86, "linkat": 265, "unlink": 87, "unlinkat": 263, "mkdir": 83, "mkdirat": 258,
        "chmod": 90, "fchmodat": 268, "truncate": 76, "copy_file_range": 326, "sendfile": 40,
    },
    "aarch64": {
        "write": 64, "pwrite64": 68, "writev": 66, "pwritev": 70, "ftruncate": 46, "fallocate": 47, "fsync": 82,
        "fdatasync": 83, "fchmod": 52, "openat": 56, "renameat": 38, "renameat2": 276, "linkat": 37, "unlinkat": 35,
        "mkdirat": 34, "fchmodat": 53, "truncate": 45, "copy_file_range": 285, "sendfile": 71,
    },
}  # fmt: skip
_NAMES = {number: name for name, number in _NUMBERS.get(platform.machine(), {}).items()}


def _ptrace(request: int, process: int = 0, address: int = 0, data: int | ctypes.Array[ctypes.c_char] = 0) -> int:
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.restype = ctypes.c_long
    pointer = ctypes.addressof(data) if isinstance(data, ctypes.Array) else data
    done = int(call(request, process, ctypes.c_void_p(address), ctypes.c_void_p(pointer)))
    if done < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return done


def available() -> bool:
    """Whether processes can be traced here."""
    if not sys.platform.startswith("linux") or not _NAMES:
        return False
    try:
        return killed_at(1 << 30, lambda: None, "/")[0] == 0
    except OSError:
        return False


def _change(thread: int, folder: str) -> str | None:
    """Return the name of the call that a stopped thread is about to make, where it changes the disk."""
    info = ctypes.create_string_buffer(88)
    _ptrace(_GET_SYSCALL_INFO, thread, len(info), info)
    if info.raw[0] != _ENTRY:
        return None
    number, *words = struct.unpack_from("<7Q", info.raw, 24)
    name = _NAMES.get(number)
    if name in ("open", "openat"):
        return name if words[1 if name == "open" else 2] & _WRITES else None
    if name in _ON_HANDLES:
        try:  # pipes, terminals and the like are no disk
            file = Path(f"/proc/{thread}/fd/{words[0] & 0xFFFFFFFF}").readlink()
            return name if file.is_relative_to(folder) else None
        except OSError:
            return None
    return name


def killed_at(number: int, work: Callable[[], None], folder: str) -> tuple[int, list[str]]:
    """Run work in a forked child, killed before its call of that number that changes the disk; 1 is the first.

    Writing counts where the file is in ``folder``. Returns the status, as ``os.waitpid`` gives it, and the calls up to
    there.
    """
    child = os.fork()
    if not child:
        status = 1
        try:
            _ptrace(_TRACEME)
            os.kill(os.getpid(), signal.SIGSTOP)
            work()
            status = 0
        finally:
            os._exit(status)
    os.waitpid(child, 0)
    _ptrace(_SETOPTIONS, child, 0, _SYSGOOD | _FORK | _VFORK | _CLONE | _EXITKILL)
    _ptrace(_SYSCALL, child)
    made: list[str] = []
    while True:
        thread, status = os.waitpid(-1, _WALL)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if thread == child:
                return status, made
            continue
        sent, signalled = os.WSTOPSIG(status), 0
        if sent == signal.SIGTRAP | 0x80:
            name = _change(thread, folder)
            if name:
                made.append(name)
                if len(made) == number:
                    os.kill(child, signal.SIGKILL)
                    continue
        elif sent not in (signal.SIGTRAP, signal.SIGSTOP):
            signalled = sent
        try:
            _ptrace(_SYSCALL, thread, 0, signalled)
        except OSError:
            if len(made) < number:
                raise
