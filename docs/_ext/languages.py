"""Tells a page's Chinese paragraphs from its English ones, so that a reader can hide either.

Only where a section has both is a paragraph marked: what exists in one language stays in sight.
"""

import re

from docutils import nodes

HAN = re.compile("[\u4e00-\u9fff]")
LATIN = re.compile("[A-Za-z]{2,}")
BLOCKS = (nodes.paragraph, nodes.bullet_list, nodes.enumerated_list, nodes.block_quote)


def language(text):
    return "zh" if len(HAN.findall(text)) > len(LATIN.findall(text)) else "en"


def mark(app, doctree, docname):
    for parent in doctree.findall(lambda node: isinstance(node, (nodes.section, nodes.container))):
        blocks = [child for child in parent.children if isinstance(child, BLOCKS) and child.astext().strip()]
        spoken = [language(block.astext()) for block in blocks]
        if len(set(spoken)) == 2:
            for block, name in zip(blocks, spoken, strict=True):
                block["classes"].append(f"language-{name}")  # docutils writes lang="…"


def setup(app):
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
