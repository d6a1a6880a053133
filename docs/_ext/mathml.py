"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger


def mathml(node, **options):
    try:
        return tex2mathml(node.astext(), **options)
    except MathError as error:
        getLogger(__name__).warning("%s In: %s", error, node.astext(), location=node)
        return node.astext()


def visit_math(self, node):
    self.body.append(mathml(node))
    raise nodes.SkipNode


def visit_displaymath(self, node):
    self.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
