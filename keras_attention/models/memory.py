"""Memory that TensorFlow on a CPU gives back only to ask for it again."""

import ctypes
import platform


def keep_freed_memory():
    """Tell glibc to keep the memory that the process frees, instead of returning it to the system.

    A training step allocates and frees hundreds of megabytes. Returned, every page of them is zeroed
    and mapped again in the next step, a fifth of a translator's training time. It counts for the whole
    process, so call it where a program starts to train. Without glibc it does nothing.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        trim_threshold, top_pad, mmap_max = -1, -2, -4  # malloc.h
        libc.mallopt(mmap_max, 0)  # large blocks come from the heap too
        libc.mallopt(trim_threshold, 2**31 - 1)
        libc.mallopt(top_pad, 64 << 20)
