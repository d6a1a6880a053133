"""Tells a page's Chinese paragraphs from its English ones, so that a reader can hide either.

Only where a section has both is a paragraph marked: what exists in one language stays in sight, and so does
what is `in-both`. Chinese has no spaces: reStructuredText, which wants some at its marks, gets escaped ones;
a line break leaves none.
"""

import re

from docutils import nodes

HAN = re.compile("[\u4e00-\u9fff]")
LATIN = re.compile("[A-Za-z]{2,}")
CHINESE = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"
MARKED = re.compile(
    rf"([{CHINESE}])?((?<!\*)\*\*[^*\n]+\*\*|``[^`\n]+``|(?<!`):\w+:`[^`\n]+`)(?=([{CHINESE}])?)"
)
BREAK = re.compile(f"(?<=[{CHINESE}])\n(?=[{CHINESE}])")
BLOCKS = (nodes.paragraph, nodes.bullet_list, nodes.enumerated_list, nodes.block_quote)


def language(text):
    return "zh" if len(HAN.findall(text)) > len(LATIN.findall(text)) else "en"


def separate(app, docname, source):
    """是**词**的 → 是\\ **词**\\ 的"""

    def spaced(found):
        before, marked, after = (part or "" for part in found.groups())
        return before + ("\\ " if before else "") + marked + ("\\ " if after else "")

    source[0] = MARKED.sub(spaced, source[0])


def mark(app, doctree, docname):
    for text in list(doctree.findall(nodes.Text)):
        if BREAK.search(text):
            text.parent.replace(text, nodes.Text(BREAK.sub("", text)))
    for parent in doctree.findall(lambda node: isinstance(node, (nodes.section, nodes.container))):
        blocks = [child for child in parent.children if isinstance(child, BLOCKS) and child.astext().strip()]
        blocks = [block for block in blocks if "in-both" not in block["classes"]]
        spoken = [language(block.astext()) for block in blocks]
        if len(set(spoken)) == 2:
            for block, name in zip(blocks, spoken, strict=True):
                block["classes"].append(f"language-{name}")  # docutils writes lang="…"


def setup(app):
    app.connect("source-read", separate)
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
