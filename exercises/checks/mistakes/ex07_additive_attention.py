"""Known mistakes in ex07."""

from keras_attention.course.bank import Mistake

QUERY = "ops.matmul(query, w_query)[:, None, :]"
KEY = "ops.matmul(memory, w_key)"
TANH = f"ops.tanh({QUERY} + {KEY})"
SCORES = "scores = ops.matmul(hidden, v)"
HIDE = "ops.where(mask, scores, -1e9)"
WEIGHTS = "weights = ops.softmax(scores)"
OUTPUT = "return ops.sum(weights[:, :, None] * memory, axis=1), weights"
LOOK = "context, weights = additive_attention(state, memory, self.w_query, self.w_key, self.v, mask)"
FRESH = "ops.matmul(embedded, self.w_input) + ops.matmul(context, self.w_context)"
STATE = "ops.tanh(fresh + ops.matmul(state, self.w_state)), weights"
STEP = "state, looked = self.step(embedded[:, t], state, memory, mask)"
STACK = "return ops.stack(states, axis=1), ops.stack(weights, axis=1)"

MISTAKES = [
    Mistake(
        "no-tanh",
        fails="test_weights",
        edits={TANH: f"({QUERY} + {KEY})"},
        en="There is no tanh: without it the query adds the same to all scores, and changes nothing.",
        zh="少了 tanh：没有它，查询给所有分数加上同一个数，不起作用。",
    ),
    Mistake(
        "query-ignored",
        fails="test_weights",
        edits={TANH: f"ops.tanh({KEY})"},
        en="The weights do not depend on the query: take tanh of its projection and the key's together.",
        zh="权重与查询无关：应该对查询与键的投影之和取 tanh。",
    ),
    Mistake(
        "memory-ignored",
        fails="test_weights",
        edits={TANH: f"ops.tanh({QUERY} + 0 * {KEY})"},
        en="The weights do not depend on the memory, so all are equal: add the projection of each h_i.",
        zh="权重与 memory 无关，全都相等：要加上每个 h_i 的投影。",
    ),
    Mistake(
        "multiplied",
        fails="test_weights",
        edits={TANH: f"ops.tanh({QUERY} * {KEY})"},
        en="Query and key are multiplied inside of tanh: additive attention adds them.",
        zh="tanh 里把查询和键相乘了：加性注意力应相加。",
    ),
    Mistake(
        "dot-product",
        fails="test_weights",
        edits={SCORES: f"scores = ops.sum({QUERY} * ({KEY}), axis=-1)"},
        en="The scores are dot products of projected query and keys: that is not additive attention.",
        zh="分数是投影后的查询与键的点积：这不是加性注意力。",
    ),
    Mistake(
        "tanh-after-v",
        fails="test_weights",
        edits={TANH: f"({QUERY} + {KEY})", SCORES: "scores = ops.tanh(ops.matmul(hidden, v))"},
        en="tanh comes after the product with v: it belongs before.",
        zh="tanh 在乘 v 之后：应在之前。",
    ),
    Mistake(
        "no-v",
        fails="test_weights",
        edits={SCORES: "scores = ops.sum(hidden, axis=-1)"},
        en="The hidden layer is summed without v: multiply it by v.",
        zh="隐藏层直接求和，没有用 v：应乘以 v。",
    ),
    Mistake(
        "scaled",
        fails="test_weights",
        edits={SCORES: "scores = ops.matmul(hidden, v) / v.shape[0] ** 0.5"},
        en="The scores are divided by a root, as in dot-product attention: the additive score is not scaled.",
        zh="分数像点积注意力那样除以了根号：加性注意力的分数不缩放。",
    ),
    Mistake(
        "softmax-over-one",
        fails="test_weights",
        edits={WEIGHTS: "weights = ops.softmax(scores[:, :, None], axis=-1)[:, :, 0]"},
        en="Your softmax runs over an axis of size 1, so every weight is 1: it should run over the words.",
        zh="softmax 沿大小为 1 的轴做了，所有权重都是 1：应该沿源句的词做。",
    ),
    Mistake(
        "softmax-over-batch",
        fails="test_weights",
        edits={WEIGHTS: "weights = ops.softmax(scores, axis=0)"},
        en="Your softmax runs over the batch: it should run over the source words, the last axis.",
        zh="softmax 沿批次轴做了：应沿最后一个轴（源句的词）。",
    ),
    Mistake(
        "scores-as-weights",
        fails="test_weights",
        edits={OUTPUT: OUTPUT.replace(", weights", ", scores")},
        en="You return the scores in place of the weights: the weights are their softmax.",
        zh="返回的是分数而不是权重：权重是分数的 softmax。",
    ),
    Mistake(
        "context-of-keys",
        fails="test_context",
        edits={OUTPUT: OUTPUT.replace("memory", f"{KEY}")},
        en="The context is a sum of the projected keys: sum the memory itself.",
        zh="上下文是投影后的键的加权和：应该对 memory 本身求和。",
    ),
    Mistake(
        "context-of-scores",
        fails="test_context",
        edits={OUTPUT: OUTPUT.replace("weights[:, :, None]", "scores[:, :, None]")},
        en="The context sums the memory with the scores: take the weights.",
        zh="上下文用分数加权：应使用权重。",
    ),
    Mistake(
        "plain-mean",
        fails="test_context",
        edits={OUTPUT: "return ops.mean(memory, axis=1), weights"},
        en="The context is the plain mean of the memory: the weights are not used.",
        zh="上下文是 memory 的简单平均：没有用到权重。",
    ),
    Mistake(
        "mean-of-weighted",
        fails="test_context",
        edits={OUTPUT: OUTPUT.replace("ops.sum", "ops.mean")},
        en="The weighted memory is averaged, so it is divided once too often: sum it.",
        zh="对加权后的 memory 取了平均，多除了一次：应求和。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_mask",
        edits={HIDE: "scores"},
        en="The mask is ignored: the query looks at padding.",
        zh="没有使用掩码：查询看到了填充。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_mask",
        edits={HIDE: "ops.where(mask, -1e9, scores)"},
        en="The mask is inverted: True means a real word.",
        zh="掩码反了：True 表示真实的词。",
    ),
    Mistake(
        "scores-times-mask",
        fails="test_mask",
        edits={HIDE: "scores * ops.cast(mask, scores.dtype)"},
        en="Scores of padding are set to 0, but exp(0) = 1: use a very negative number.",
        zh="填充的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_mask",
        edits={
            HIDE: "scores",
            OUTPUT: "if mask is not None:\n        weights = weights * ops.cast(mask, weights.dtype)\n"
            f"    {OUTPUT}",
        },
        en="The mask is applied after the softmax: the weights no longer sum to 1.",
        zh="掩码用在了 softmax 之后：权重之和不再是 1。",
    ),
    Mistake(
        "memory-zeroed",
        fails="test_mask",
        edits={
            HIDE: "scores",
            "    hidden = ": "    if mask is not None:\n"
            "        memory = memory * ops.cast(mask[:, :, None], memory.dtype)\n    hidden = ",
        },
        en="The memory of padding is set to 0, but it still gets a score: hide its score.",
        zh="填充的 memory 设成了 0，但它仍有分数：应遮住分数。",
    ),
    Mistake(
        "looks-with-new-state",
        fails="test_one_step",
        edits={
            LOOK: "context = additive_attention(state, memory, self.w_query, self.w_key, self.v, mask)[0]",
            STATE: "ops.tanh(fresh + ops.matmul(state, self.w_state)), additive_attention(\n"
            "            ops.tanh(fresh + ops.matmul(state, self.w_state)),\n"
            "            memory, self.w_query, self.w_key, self.v, mask)[1]",
        },
        en="The weights that you return are those of the new state: return those that gave the context.",
        zh="返回的权重来自新的状态：应返回算出上下文的那些权重。",
    ),
    Mistake(
        "looks-after-the-step",
        fails="test_one_step",
        edits={
            LOOK: "half = ops.matmul(embedded, self.w_input) + ops.matmul(state, self.w_state)\n"
            "        context, weights = additive_attention(\n"
            "            ops.tanh(half), memory, self.w_query, self.w_key, self.v, mask)",
        },
        en="The query is a state that has already read the word: it should be the previous state, s_{t−1}.",
        zh="查询用了已经读入该词的状态：应为上一个状态 s_{t−1}。",
    ),
    Mistake(
        "context-unused",
        fails="test_one_step",
        edits={FRESH: "ops.matmul(embedded, self.w_input)"},
        en="The context does not enter the new state: add its product with w_context.",
        zh="上下文没有进入新的状态：要加上它与 w_context 的乘积。",
    ),
    Mistake(
        "word-unused",
        fails="test_one_step",
        edits={FRESH: "ops.matmul(context, self.w_context)"},
        en="The previous word does not enter the new state: add its product with w_input.",
        zh="前一个词没有进入新的状态：要加上它与 w_input 的乘积。",
    ),
    Mistake(
        "state-unused",
        fails="test_one_step",
        edits={STATE: "ops.tanh(fresh), weights"},
        en="The previous state does not enter the new one: add its product with w_state.",
        zh="上一个状态没有进入新的状态：要加上它与 w_state 的乘积。",
    ),
    Mistake(
        "step-without-tanh",
        fails="test_one_step",
        edits={STATE: "fresh + ops.matmul(state, self.w_state), weights"},
        en="The new state lacks its tanh.",
        zh="新的状态少了 tanh。",
    ),
    Mistake(
        "layer-ignores-mask",
        fails="test_one_step",
        edits={LOOK: LOOK.replace(", mask)", ")")},
        en="The layer does not pass the mask on to the attention.",
        zh="层没有把掩码传给注意力。",
    ),
    Mistake(
        "state-not-carried",
        fails="test_all_steps",
        edits={STEP: "new, looked = self.step(embedded[:, t], state, memory, mask)", "(state)\n": "(new)\n"},
        en="Every step starts from s_0: pass the new state on to the next step.",
        zh="每一步都从 s_0 开始：要把新的状态传给下一步。",
    ),
    Mistake(
        "context-not-renewed",
        fails="test_all_steps",
        edits={
            "states, weights = [], []": "states, weights, first = [], [], state",
            STEP: "state, looked = self.step(embedded[:, t], state, memory, mask, first)",
            "def step(self, embedded, state, memory, mask=None)": "def step("
            "self, embedded, state, memory, mask, first)",
            LOOK: LOOK.replace("(state", "(first"),
        },
        en="Every step looks where s_0 looked: attend anew at each step, with the state of the step before.",
        zh="每一步都看 s_0 看的地方：每一步都要用上一步的状态重新计算注意力。",
    ),
    Mistake(
        "first-word-only",
        fails="test_all_steps",
        edits={STEP: STEP.replace("[:, t]", "[:, 0]")},
        en="Every step reads the first word: step t reads embedded[:, t].",
        zh="每一步读的都是第一个词：第 t 步应读 embedded[:, t]。",
    ),
    Mistake(
        "words-shifted",
        fails="test_all_steps",
        edits={STEP: STEP.replace("[:, t]", "[:, t - 1]")},
        en="The words are shifted by one: they come shifted already, step t reads embedded[:, t].",
        zh="词又移了一位：输入已经移过位，第 t 步应读 embedded[:, t]。",
    ),
    Mistake(
        "states-late",
        fails="test_all_steps",
        edits={STEP: f"before = state\n            {STEP}", "(state)\n": "(before)\n"},
        en="The states are those before each step, s_0 … s_{T−1}: give s_1 … s_T.",
        zh="返回的是每一步之前的状态 s_0 … s_{T−1}：应返回 s_1 … s_T。",
    ),
    Mistake(
        "time-first",
        fails="test_all_steps",
        edits={STACK: STACK.replace("axis=1", "axis=0")},
        en="The steps are stacked on the first axis: the batch comes first, so stack along axis 1.",
        zh="各步堆叠在第一个轴上：批次轴在前，应沿轴 1 堆叠。",
    ),
    Mistake(
        "last-state-only",
        fails="test_all_steps",
        edits={STACK: "return state, ops.stack(weights, axis=1)"},
        en="Only the last state is returned: return the states of all steps.",
        zh="只返回了最后的状态：应返回每一步的状态。",
    ),
]
