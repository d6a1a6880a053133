"""Proof that the checks see everything: each small change of a solution fails some check.

The changes: another operator, another comparison, another number, one argument less, two arguments swapped, a
condition turned round.
"""

import ast
import copy

import pytest

from keras_attention.course import catalog

EXERCISES = catalog.exercises()
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.MatMult: ast.Mult}
COMPARISONS = {
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
SYMMETRIC = {"add", "equal", "logical_and", "logical_or", "maximum", "minimum", "not_equal", "swapaxes"}
LARGE = 1e6  # numbers that only need to be large, as those that hide scores
DEFAULTS = {("softmax", "axis")}
# lines of changed solutions that are right all the same
EQUAL: dict[str, set[str]] = {
    "ex04_multi_head_attention": {  # of four axes, −2 is 2
        "return ops.transpose(heads, (0, -2, 1, 3))",
        "x = ops.transpose(heads, (0, -2, 1, 3))",
        "scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, -2))) / math.sqrt(key.shape[-1])",
    },
    "ex10_attention_pooling": {  # of an axis of size 1, −1 is 0
        "return ops.take_along_axis(states, length - 1, axis=1)[:, -1]",
    },
    "ex06_plotting_weights": {  # these look less well, and say the same
        "_, ax = plt.subplots()",
        "_, axes = plt.subplots(ncols=len(weights), layout='compressed')",
        "_, axes = plt.subplots(ncols=len(weights), figsize=(width * len(weights), height))",
        "_, axes = plt.subplots(ncols=len(weights), figsize=(width / len(weights), height), "
        "layout='compressed')",
        "ax.set_xticks(range(len(source_tokens)), labels=source_tokens)",
    },
    "ex11_sparse_patterns": {  # the last axis of a matrix is its axis 1
        "return ops.take(ops.take(blocks, block, axis=0), block, axis=-1)",
        "visible = inside & ops.take(mask, seen, axis=-1)",
    },
    "ex12_linear_attention": {  # the same
        "return (output / ops.sum(query * z, axis=+1, keepdims=True), s, z)",
        "return (output / ops.sum(query * z, axis=--1, keepdims=True), s, z)",
    },
    "ex08_decoding": {
        # a beam has two parts
        "return sorted(grown, key=lambda beam: beam[-1], reverse=True)[:width]",
    },
    "ex09_loss_and_bleu": {
        # an axis of size 1 has one place; there is a reference for each sentence; min knows no order
        "of_labels = ops.take_along_axis(log_p, labels[:, :, None], axis=-1)[:, :, -1]",
        "pairs = [(words(a, end), words(b, end)) for a, b in zip(written, references)]",
        "pairs = [(words(a, end), words(b, end)) for a, b in zip(written, references, strict=False)]",
        "return 100 * min(math.exp(1 - r / h), 1) * math.prod(precisions) ** (1 / 4)",
    },
}


def variants(node):
    """The changes of one node."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield "op", OPERATORS[type(node.op)]()
    if isinstance(node, ast.Compare):
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield "ops", [other()]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if abs(node.value) < LARGE:
            yield "value", node.value + 1
            yield "value", node.value - 1
        if node.value:
            yield "value", -node.value
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "value", not node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "op", ast.UAdd()
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        for i in range(len(node.args) - 1) if name not in SYMMETRIC else ():
            yield "args", [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        for i in [i for i, k in enumerate(node.keywords) if (name, k.arg) not in DEFAULTS]:
            yield "keywords", node.keywords[:i] + node.keywords[i + 1 :]
        for i in range(len(node.args)):
            yield "args", node.args[:i] + node.args[i + 1 :]
    if isinstance(node, ast.If):
        yield "test", ast.UnaryOp(ast.Not(), node.test)


def mutants(source):
    """The solution with one change each, and the line that was changed."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module))
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    original = ast.unparse(tree)
    for node in list(ast.walk(tree)):
        for name, value in variants(node):
            before = getattr(node, name)
            setattr(node, name, value)
            mutant = ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree)))
            setattr(node, name, before)
            if mutant != original:
                changed = set(mutant.splitlines()) - set(original.splitlines())
                yield mutant, next((line.strip() for line in changed), "")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_every_change_of_the_solution_fails_a_check(exercise, judge, solution):
    survivors, count = [], 0
    for mutant, changed in mutants(solution(exercise.name)):
        count += 1
        for seed in (0, 1):
            verdicts = judge(exercise.name, mutant, seed=seed, diagnose=False)
            if {verdict.state for verdict in verdicts} != {"passed"}:
                break
        else:
            survivors.append(changed)
    assert count >= 10
    left = [line for line in survivors if line not in EQUAL.get(exercise.name, set())]
    assert not left, "\n".join(["These changes pass all checks:", *left])
