"""Docstrings are written to be read in a terminal; here what reStructuredText would misread is put right."""

import re

MARKS = re.compile(r"([*|])")
QUOTED = re.compile(r"(`[^`]*`)")
NAMES = re.compile(r"\s+(?:\w+, )*\w+,$")  # a list of arguments that goes on in the next line


def adapt(app, what, name, obj, options, lines):
    adapted = []
    for line in lines:
        if not line.lstrip().startswith((">>>", "...")):
            parts = QUOTED.split(line)
            parts[::2] = [MARKS.sub(r"\\\1", part) for part in parts[::2]]
            line = "".join(parts)
        if adapted and NAMES.fullmatch(adapted[-1]):
            adapted[-1] += f" {line.strip()}"
        else:
            adapted.append(line)
    lines[:] = adapted


def setup(app):
    app.connect("autodoc-process-docstring", adapt, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
