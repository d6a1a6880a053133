"""Docstrings are written to be read in a terminal; here what reStructuredText would misread is put right."""

import re

MARKS = re.compile(r"([*|])")
QUOTED = re.compile(r"(`[^`]*`)")
NAMES = re.compile(r"\s+(?:\w+, )*\w+,$")  # a list of arguments that goes on in the next line
SECTION = re.compile(r"[A-Z]\w*( \w+)?:$")  # Args:, Call arguments:, …


def escaped(line):
    parts = QUOTED.split(line)
    parts[::2] = [MARKS.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def adapt(app, what, name, obj, options, lines):
    adapted, introduction = [], True
    for line in lines:
        introduction = introduction and not SECTION.fullmatch(line)
        if not line.lstrip().startswith((">>>", "...")):
            line = escaped(line)
        if introduction and line.startswith("    "):
            line = f"    | {line.strip()}"  # a formula of several lines keeps them
        if adapted and NAMES.fullmatch(adapted[-1]):
            adapted[-1] += f" {line.strip()}"
        else:
            adapted.append(line)
    lines[:] = adapted


def setup(app):
    app.connect("autodoc-process-docstring", adapt, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
