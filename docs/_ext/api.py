"""Docstrings are written to be read in a terminal; here their signs that reStructuredText would take for its
own are escaped."""

import re

MARKS = re.compile(r"([*|])")
PARTS = re.compile(r"(`[^`]*`)")


def escape(app, what, name, obj, options, lines):
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = PARTS.split(line)
            parts[::2] = [MARKS.sub(r"\\\1", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", escape, priority=100)  # before napoleon's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
