"""Checks of ex07, with a reference in NumPy."""

import numpy as np
import pytest

from keras_attention.course.checks import equal, floats, softmax

B, T, TK, U, M, E, A = 2, 3, 5, 4, 6, 7, 8
PARTS = ("context", "weights")
LAYER_PARTS = ("states", "weights")


def additive_attention(query, memory, w_query, w_key, v, mask=None):
    hidden = np.tanh((query.astype("float64") @ w_query)[:, None] + memory.astype("float64") @ w_key)
    scores = hidden @ v
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return np.einsum("bk,bkm->bm", weights, memory), weights


def decode(embedded, state, memory, weights, mask):
    attention = [weights[name] for name in ("w_query", "w_key", "v")]
    states, looked = [], []
    for word in embedded.astype("float64").transpose(1, 0, 2):
        context, alpha = additive_attention(state, memory, *attention, mask)
        state = np.tanh(
            word @ weights["w_input"] + context @ weights["w_context"] + state @ weights["w_state"]
        )
        states.append(state)
        looked.append(alpha)
    return np.stack(states, axis=1), np.stack(looked, axis=1)


@pytest.fixture
def inputs(rng):
    """A query, the memory, and the weights of the score, none of which is too small to be seen."""
    weights = floats(rng, U, A), floats(rng, M, A) / 2, 2 * floats(rng, A)
    return floats(rng, B, U), floats(rng, B, TK, M), *weights


@pytest.fixture
def mask(rng):
    """Each sentence has another length, from 2 to Tk − 1."""
    lengths = 2 + rng.permutation(TK - 2)[:B]
    return np.arange(TK) < lengths[:, None]


@pytest.fixture
def decode_with_layer(student, rng, mask):
    """What the submission's layer gives for so many steps, and what it should give."""

    def run(steps):
        shapes = {"w_query": (U, A), "w_key": (M, A), "v": (A,)}
        shapes |= {"w_input": (E, U), "w_context": (M, U), "w_state": (U, U)}
        weights = {name: floats(rng, *shape) / 2 for name, shape in shapes.items()}
        weights["v"] *= 4
        given = floats(rng, B, steps, E), floats(rng, B, U), floats(rng, B, TK, M)
        options = {"units": U, "attention_units": A}
        got = student.layer(
            "AttentionDecoder", *given, mask=mask, options=options, weights=weights, returns=LAYER_PARTS
        )
        return got, decode(*given, weights, mask)

    return run


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Project the query and every h_i to the width A, add them, take tanh, and multiply by v.",
            "把查询和每个 h_i 都投影到宽度 A，相加，取 tanh，再乘 v。",
        ),
        (
            "(B, 1, A) + (B, Tk, A) gives (B, Tk, A); times v (A,) gives scores (B, Tk).",
            "(B, 1, A) + (B, Tk, A) 得 (B, Tk, A)；乘 v (A,) 得分数 (B, Tk)。",
        ),
        (
            "scores = tanh((query @ w_query)[:, None] + memory @ w_key) @ v, then softmax over axis -1.",
            "scores = tanh((query @ w_query)[:, None] + memory @ w_key) @ v，再沿轴 -1 做 softmax。",
        ),
    ],
)
def test_weights(student, inputs):
    """The weights are softmax(vᵀ tanh(query W_q + h_i W_k)), over the source words.

    权重是 softmax(vᵀ tanh(query W_q + h_i W_k))，对源句的词做 softmax。
    """
    _, weights = student.call("additive_attention", *inputs, returns=PARTS)
    equal(weights, additive_attention(*inputs)[1], "weights")


@pytest.mark.check(
    points=1,
    hints=[
        (
            "The context is an average of the h_i, and as wide as they are.",
            "上下文是各个 h_i 的加权平均，宽度与它们相同。",
        ),
        (
            "Sum the memory itself, not its projection by w_key.",
            "加权求和的是 memory 本身，而不是 w_key 投影后的结果。",
        ),
        (
            "sum(weights[:, :, None] * memory, axis=1)",
            "sum(weights[:, :, None] * memory, axis=1)",
        ),
    ],
)
def test_context(student, inputs):
    """The context is the sum of the h_i, each with its weight.

    上下文是 h_i 的加权和。
    """
    context, _ = student.call("additive_attention", *inputs, returns=PARTS)
    equal(context, additive_attention(*inputs)[0], "context")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "Padding must get the weight 0, and the real words share 1.",
            "填充的权重应为 0，真实的词的权重之和为 1。",
        ),
        (
            "Hide scores, before the softmax. A memory of zeros still gets a score.",
            "在 softmax 之前遮住分数。全零的 memory 仍有分数。",
        ),
        (
            "scores = where(mask, scores, -1e9), before the softmax.",
            "在 softmax 之前：scores = where(mask, scores, -1e9)。",
        ),
    ],
)
def test_mask(student, rng, inputs, mask):
    """Padding gets no weight, and what stands in it changes nothing.

    填充没有权重，填充处的内容不影响结果。
    """
    query, memory, *weights = inputs
    changed = np.where(mask[..., None], memory, 50 * floats(rng, B, TK, M)).astype("float32")
    context, looked = student.call("additive_attention", query, changed, *weights, mask, returns=PARTS)
    expected = additive_attention(query, memory, *weights, mask)
    equal(looked, expected[1], "weights")
    equal(context, expected[0], "context")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "First look back with the state that you have, then make the new one.",
            "先用现有的状态回头看，再算新的状态。",
        ),
        (
            "Three products enter tanh: of the word, of the context, of the previous state.",
            "tanh 里有三个乘积：词、上下文、上一个状态。",
        ),
        (
            "context, weights = additive_attention(state, memory, …, mask); "
            "tanh(embedded @ w_input + context @ w_context + state @ w_state)",
            "context, weights = additive_attention(state, memory, …, mask); "
            "tanh(embedded @ w_input + context @ w_context + state @ w_state)",
        ),
    ],
)
def test_one_step(decode_with_layer):
    """One step: s_0 looks back, and s_1 is made of the word, the context and s_0.

    一步：s_0 回头看，再由词、上下文和 s_0 算出 s_1。
    """
    (states, weights), expected = decode_with_layer(1)
    equal(weights, expected[1], "weights")
    equal(states, expected[0], "states")


@pytest.mark.check(
    points=2,
    hints=[
        (
            "What does the second step start from? From the state that the first one made.",
            "第二步从哪里开始？从第一步算出的状态开始。",
        ),
        (
            "A loop over t: step(embedded[:, t], state, memory, mask) gives the state for the next turn.",
            "对 t 循环：step(embedded[:, t], state, memory, mask) 给出下一轮要用的状态。",
        ),
        (
            "Collect what each step gives in lists, and stack them along axis 1.",
            "把每一步的结果收进列表，最后沿轴 1 堆叠。",
        ),
    ],
)
def test_all_steps(decode_with_layer):
    """The state goes from step to step, and each step looks anew.

    状态一步步传下去，每一步都重新看。
    """
    (states, weights), expected = decode_with_layer(T)
    equal(weights, expected[1], "weights")
    equal(states, expected[0], "states")
