"""The system calls of Linux that Python's library lacks."""

import ctypes
import os
import platform
import struct
from collections.abc import Iterable
from functools import cache
from typing import Any

NAMESPACES = {"user": 0x10000000, "processes": 0x20000000, "network": 0x40000000, "ipc": 0x08000000}

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all processors
_READ_FILE, _READ_DIR, _WRITE_FILE = 1 << 2, 1 << 3, 1 << 1


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _check(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, *values: Any) -> None:
    padded = (*values, 0, 0, 0, 0)[:4]
    _check(_libc().prctl(option, *map(ctypes.c_ulong, padded)))


def _syscall(number: int, *values: Any) -> int:
    return _check(_libc().syscall(ctypes.c_long(number), *values))


def unshare(flags: int) -> None:
    """The process's children live in new namespaces."""
    _check(_libc().unshare(flags))


def hide_memory() -> None:
    """No other process of this user may read this one's memory."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Descendants whose parent ends become children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def no_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    header = struct.pack("Ii", 0x20080522, 0)
    _check(_libc().capset(header, bytes(24)))


# Landlock: which files may be read; no file may be written but the devices given


def landlock_version() -> int:
    """Raises `OSError` where the kernel has no Landlock."""
    return _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def landlock(files: Iterable[str], folders: Iterable[str], devices: Iterable[str]) -> None:
    """From now on `files` (with all below them) may be read, `folders` listed, `devices` written: no more."""
    version = landlock_version()
    rights = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    network = 0b11 if version >= 4 else 0
    scopes = 0b11 if version >= 6 else 0  # abstract sockets and signals
    attributes = struct.pack("QQQ", (1 << rights) - 1, network, scopes)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path in files:
        _allow(rules, path, _READ_FILE | _READ_DIR)
    for path in folders:
        _allow(rules, path, _READ_DIR)
    for path in devices:
        _allow(rules, path, _READ_FILE | _WRITE_FILE)
    _syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not os.path.isdir(path):
            rights &= ~_READ_DIR
        rule = struct.pack("=Qi", rights, descriptor)
        _syscall(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint32(0))
    finally:
        os.close(descriptor)


# seccomp: which system calls fail

_ALLOW, _REFUSE, _ABSENT = 0x7FFF0000, 0x00050001, 0x00050026  # EPERM, ENOSYS
_CLONE_THREAD = 0x00010000

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_TO = {  # the process that these are about, which may be this one only
    "x86_64": {"tgkill": 234, "prlimit64": 302},
    "aarch64": {"tgkill": 131, "prlimit64": 261},
}
_CLONE3 = 435  # its flags lie in memory, where the filter cannot look: the C library then uses clone
_NEWER = {"fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
# no new process or program, no network, no look at others and no signal to them; of a file neither mode nor
# owner, time or attribute, nor (where Landlock is old) length
_NUMBERS = {
    "x86_64": {
        "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "socket": 41, "ptrace": 101, "mount": 165,
        "umount2": 166, "unshare": 272, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248,
        "request_key": 249, "pivot_root": 155, "chroot": 161, "io_uring_setup": 425, "pidfd_getfd": 438,
        "shmget": 29, "memfd_create": 319, "kill": 62, "rt_sigqueueinfo": 129, "pidfd_send_signal": 424,
        "tkill": 200, "rt_tgsigqueueinfo": 297, "truncate": 76, "chmod": 90, "fchmod": 91, "chown": 92,
        "fchown": 93, "lchown": 94, "utime": 132, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "utimes": 235, "fchownat": 260,
        "futimesat": 261, "fchmodat": 268, "utimensat": 280, **_NEWER,
    },
    "aarch64": {
        "execve": 221, "execveat": 281, "socket": 198, "ptrace": 117, "mount": 40, "umount2": 39,
        "unshare": 97, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217, "request_key": 218,
        "pivot_root": 41, "chroot": 51, "io_uring_setup": 425, "pidfd_getfd": 438, "shmget": 194,
        "memfd_create": 279, "kill": 129, "rt_sigqueueinfo": 138, "pidfd_send_signal": 424,
        "tkill": 130, "rt_tgsigqueueinfo": 240, "truncate": 45, "fchmod": 52, "fchmodat": 53, "fchownat": 54,
        "fchown": 55, "utimensat": 88, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14,
        "lremovexattr": 15, "fremovexattr": 16, **_NEWER,
    },
}  # fmt: skip


def refuse_system_calls() -> None:
    """From now on this process can start threads, but no process. Raises `OSError` on unknown processors."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise OSError(f"There is no filter of system calls for {machine}.")
    refused = _NUMBERS[machine].values()
    load, equal, any_bit, at_least, end = 0x20, 0x15, 0x45, 0x35, 0x06
    program = [
        (load, 0, 0, 4),  # the processor
        (equal, 1, 0, _ARCHITECTURES[machine]),
        (end, 0, 0, _REFUSE),
        (load, 0, 0, 0),  # the number of the call
        (at_least, 0, 1, 0x40000000),  # another numbering of the same calls
        (end, 0, 0, _REFUSE),
        (equal, 0, 1, _CLONE3),
        (end, 0, 0, _ABSENT),
    ]
    for number in refused:
        program += [(equal, 0, 1, number), (end, 0, 0, _REFUSE)]
    for number in _TO[machine].values():
        program += [
            (equal, 0, 5, number),
            (load, 0, 0, 16),  # the process
            (equal, 2, 0, 0),
            (equal, 1, 0, os.getpid()),
            (end, 0, 0, _REFUSE),
            (end, 0, 0, _ALLOW),
        ]
    program += [
        (equal, 0, 3, _CLONE[machine]),
        (load, 0, 0, 16),  # its flags
        (any_bit, 1, 0, _CLONE_THREAD),
        (end, 0, 0, _REFUSE),
        (end, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(filter_))
