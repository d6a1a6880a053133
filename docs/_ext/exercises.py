"""The directive `.. exercises::`: all exercises with their tasks, checks, and hints folded away."""

import ast
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from languages import BREAK

from keras_attention.course import catalog
from keras_attention.course.chapters import chapters


def checks(exercise):
    """(points, title in English, title in Chinese, hints) of each check, read and not run."""
    for node in ast.parse(exercise.checks.read_text(encoding="utf-8")).body:
        for decorator in getattr(node, "decorator_list", []):
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.check":
                options = {word.arg: ast.literal_eval(word.value) for word in decorator.keywords}
                english, _, chinese = ast.get_docstring(node).partition("\n\n")
                yield options["points"], " ".join(english.split()), chinese.strip(), options["hints"]


def paragraph(*children):
    return nodes.paragraph("", "", *(c if isinstance(c, nodes.Node) else nodes.Text(c) for c in children))


def block(text):
    """A part of a task: a formula, or a line in both languages, or a paragraph in one."""
    if text.startswith("    "):
        return nodes.literal_block("", text.strip(), language="text")
    parts = " ".join(BREAK.sub("", text).split("\n")).split("`")
    children = [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts)]
    if " · " in text:
        return nodes.line_block("", nodes.line("", "", *children))
    return paragraph(*children)


def raw(html):
    return nodes.raw("", html, format="html")


class Exercises(Directive):
    def run(self):
        by_file = {chapter.path.name: chapter for chapter in chapters()}
        return [self.section(exercise, by_file) for exercise in catalog.exercises()]

    def section(self, exercise, by_file):
        title = f"{exercise.name[:4]} {exercise.title}"
        section = nodes.section(ids=[exercise.name.replace("_", "-")], names=[title])
        chapter = by_file.get(exercise.fact("Chapter"))
        told = f"Difficulty · 难度 {exercise.fact('Difficulty').replace(' of ', ' / ')}, "
        told += f"{exercise.fact('Minutes')} min · 分钟"
        if chapter:
            told += f", chapter · 章节 {chapter.section}"
        task = exercise.docstring.partition("\n\n")[2]
        task = task[task.index("\n\n") :].strip() if task.startswith("Chapter:") else task
        section += [
            nodes.title("", title),
            block(told),
            *(block(part) for part in re.split(r"\n{2,}", task)),
            nodes.literal_block("", f"keras-attention exercise check {exercise.name[:4]}", language="text"),
        ]
        for points, english, chinese, hints in checks(exercise):
            section += [raw("<details><summary>"), nodes.inline("", f"{english} · {chinese} ({points:g})")]
            section += raw("</summary>")
            items = [
                nodes.list_item(
                    "",
                    nodes.paragraph("", english, classes=["language-en"]),
                    nodes.paragraph("", chinese, classes=["language-zh"]),
                )
                for english, chinese in hints
            ]
            options = {"enumtype": "arabic", "prefix": "", "suffix": ".", "classes": ["in-both"]}
            section += [nodes.enumerated_list("", *items, **options)]
            section += raw("</details>")
        return section


def setup(app):
    app.add_directive("exercises", Exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
