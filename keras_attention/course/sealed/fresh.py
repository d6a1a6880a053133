"""A child that is a new process: for systems without fork, slower by the import of what it uses."""

import importlib
import json
import sys

from . import forbidden, hooks, sandbox
from .child import serve_pipes
from .sandbox import Limits


def main() -> None:
    wanted = json.loads(sys.argv[1])
    forbidden.take_away()
    for name in wanted["preload"]:
        importlib.import_module(name)
    if sys.platform != "win32" and "limits" in wanted["layers"]:
        sandbox.set_limits(Limits(**wanted["limits"]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    serve_pipes(hooks.install)
