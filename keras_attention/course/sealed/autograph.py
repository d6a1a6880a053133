"""AutoGraph without files: TensorFlow writes the code that it makes of a `tf.function` to the disk, and a
child may not. Without this, a loop over a tensor is an error there, and only there."""

import itertools
import linecache
import sys
import types

_numbers = itertools.count()


def keep_in_memory() -> None:
    """Change the TensorFlow that is loaded, if there is one."""
    loader = sys.modules.get("tensorflow.python.autograph.pyct.loader")
    if loader:
        loader.load_source = load_source  # type: ignore[attr-defined]


def load_source(source: str, delete_on_exit: bool = True) -> tuple[types.ModuleType, str]:
    """The module of this text, and its name in place of a file's."""
    name = f"autograph_{next(_numbers)}"
    module = types.ModuleType(name)
    module.__file__ = filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    sys.modules[name] = module
    return module, filename
