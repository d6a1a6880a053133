"""Known mistakes in ex12."""

from keras_attention.course.bank import Mistake

PHI = "query, key = features(query), features(key)"
HIDE = "key = ops.where(mask[:, :, None], key, 0.0)"
READ = "ops.matmul(query, s) / ops.matmul(query, z[:, :, None])"
SUMS = "ops.cumsum(key[:, :, :, None] * value[:, :, None, :], axis=1)"
NORMALISERS = "ops.cumsum(key, axis=1)"
CAUSAL = "output / ops.sum(query * z, axis=-1, keepdims=True), s[:, -1], z[:, -1]"
STEP = "output / ops.sum(query * z, axis=-1, keepdims=True), s, z"
ADD_S = "s = s + key[:, :, None] * value[:, None, :]"
IN_ALL, IN_CAUSAL, IN_STEP = (
    f"{PHI}\n    if mask is not None",
    f"{PHI}\n    s = ops.cumsum",
    f"{PHI}\n    s = s +",
)


def total(of):
    """Instead of prefix sums, the whole sum for every word."""
    return f"ops.repeat(ops.sum({of}, axis=1, keepdims=True), key.shape[1], axis=1)"


def suffix(of):
    return f"ops.flip(ops.cumsum(ops.flip({of}, axis=1), axis=1), axis=1)"


PAIRS = "key[:, :, :, None] * value[:, :, None, :]"

MISTAKES = [
    Mistake(
        "features-without-one",
        fails="test_features",
        edits={"ops.elu(x) + 1": "ops.elu(x)"},
        en="Your features are elu(x), which can be negative: add 1.",
        zh="特征是 elu(x)，可能为负：要加 1。",
    ),
    Mistake(
        "features-relu",
        fails="test_features",
        edits={"ops.elu(x) + 1": "ops.relu(x)"},
        en="Your features are relu(x), which is 0 for all negative numbers: use elu(x) + 1.",
        zh="特征是 relu(x)，负数全变成 0：应使用 elu(x) + 1。",
    ),
    Mistake(
        "features-relu-and-one",
        fails="test_features",
        edits={"ops.elu(x) + 1": "ops.relu(x) + 1"},
        en="Your features are relu(x) + 1, the same for all negative numbers: use elu(x) + 1.",
        zh="特征是 relu(x) + 1，负数全都一样：应使用 elu(x) + 1。",
    ),
    Mistake(
        "features-exp",
        fails="test_features",
        edits={"ops.elu(x) + 1": "ops.exp(x)"},
        en="Your features are exp(x) on both sides, which overflows: where x > 0 they are x + 1.",
        zh="特征在两边都是 exp(x)，会溢出：x > 0 处应为 x + 1。",
    ),
    Mistake(
        "no-normaliser",
        fails="test_linear_attention",
        edits={READ: "ops.matmul(query, s)"},
        en="Your output is not divided by φ(q) · z, so that the weights do not sum to 1.",
        zh="输出没有除以 φ(q) · z，权重之和不是 1。",
    ),
    Mistake(
        "normalised-over-queries",
        fails="test_linear_attention",
        edits={READ: READ.replace("/ ops.matmul(", "/ ops.sum(ops.matmul(") + ", axis=1, keepdims=True)"},
        en="Your normaliser sums over the queries, too: each query has its own, φ(q_i) · z.",
        zh="归一化时也对查询求了和：每个查询有自己的分母 φ(q_i) · z。",
    ),
    Mistake(
        "divided-by-count",
        fails="test_linear_attention",
        edits={READ: "ops.matmul(query, s) / key.shape[1]"},
        en="Your output is divided by the number of keys: divide by φ(q) · z.",
        zh="输出除以了键的个数：应除以 φ(q) · z。",
    ),
    Mistake(
        "queries-without-features",
        fails="test_linear_attention",
        edits={IN_ALL: IN_ALL.replace("features(query)", "query")},
        en="The queries go in without φ: use features(query).",
        zh="查询没有经过 φ：应使用 features(query)。",
    ),
    Mistake(
        "keys-without-features",
        fails="test_linear_attention",
        edits={IN_ALL: IN_ALL.replace("features(key)", "key")},
        en="The keys go in without φ: use features(key).",
        zh="键没有经过 φ：应使用 features(key)。",
    ),
    Mistake(
        "values-with-features",
        fails="test_linear_attention",
        edits={'"bkd,bkv->bdv", key, value': '"bkd,bkv->bdv", key, features(value)'},
        en="The values went through φ, too: only queries and keys do.",
        zh="值也经过了 φ：只有查询和键需要。",
    ),
    Mistake(
        "scaled",
        fails="test_linear_attention",
        edits={IN_ALL: IN_ALL.replace("features(query)", "features(query / query.shape[-1] ** 0.5)")},
        en="The queries are divided by √D: here they are not.",
        zh="查询除以了 √D：这里不需要。",
    ),
    Mistake(
        "softmax",
        fails="test_linear_attention",
        edits={
            IN_ALL: "scores = ops.einsum('bqd,bkd->bqk', query, key)\n    " + IN_ALL,
            READ: "ops.matmul(ops.softmax(scores), value)",
        },
        en="This is softmax attention: its output is not φ(q) S / φ(q) · z.",
        zh="这是 softmax 注意力：输出不是 φ(q) S / φ(q) · z。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_mask",
        edits={HIDE: "pass"},
        en="The mask is ignored: padding is part of the sums.",
        zh="没有使用掩码：填充也算进了和里。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_mask",
        edits={HIDE: "key = ops.where(mask[:, :, None], 0.0, key)"},
        en="The mask is inverted: True means a real word.",
        zh="掩码反了：True 表示真实的词。",
    ),
    Mistake(
        "mask-before-features",
        fails="test_mask",
        edits={
            IN_ALL: "if mask is not None:\n        key = key * ops.cast(mask[:, :, None], key.dtype)\n    "
            + IN_ALL,
            HIDE: "pass",
        },
        en="Padding is set to 0 before φ, but φ(0) = 1, so it still counts: hide after φ.",
        zh="填充在 φ 之前设成了 0，但 φ(0) = 1，仍会算进去：应在 φ 之后遮。",
    ),
    Mistake(
        "padding-in-normaliser",
        fails="test_mask",
        edits={HIDE: "value = ops.where(mask[:, :, None], value, 0.0)"},
        en="Padding is hidden in S but counts in z: hide its features, not its values.",
        zh="填充在 S 中遮住了，但仍算进 z：应遮住它的特征，而不是它的值。",
    ),
    Mistake(
        "padding-in-sums",
        fails="test_mask",
        edits={HIDE: "pass", "z = ops.sum(key, axis=1)": "z = ops.sum(_hide(key, mask), axis=1)"}
        | {
            "def linear_attention": "def _hide(key, mask):\n"
            "    return key if mask is None else ops.where(mask[:, :, None], key, 0.0)\n\n\n"
            "def linear_attention"
        },
        en="Padding is hidden in z but counts in S: hide it before both sums.",
        zh="填充在 z 中遮住了，但仍算进 S：应在两个求和之前遮住。",
    ),
    Mistake(
        "not-causal",
        fails="test_causal_linear_attention",
        edits={SUMS: total(PAIRS), NORMALISERS: total("key")},
        en="Every word sees all words, the future, too: take prefix sums (cumsum).",
        zh="每个词都看到了所有词，包括未来：应取前缀和（cumsum）。",
    ),
    Mistake(
        "normaliser-sees-the-future",
        fails="test_causal_linear_attention",
        edits={NORMALISERS: total("key")},
        en="Your z is the sum over all words: it, too, is a prefix sum.",
        zh="z 对所有词求了和：它也应是前缀和。",
    ),
    Mistake(
        "sums-see-the-future",
        fails="test_causal_linear_attention",
        edits={SUMS: total(PAIRS)},
        en="Your S is the sum over all words: it, too, is a prefix sum.",
        zh="S 对所有词求了和：它也应是前缀和。",
    ),
    Mistake(
        "without-itself",
        fails="test_causal_linear_attention",
        edits={SUMS: f"{SUMS} - {PAIRS}", NORMALISERS: f"{NORMALISERS} - key"},
        en="Your sums end before the word itself, so that the first has none: they run over j ≤ i.",
        zh="求和没有包括词自己，第一个词什么也没有：应该对 j ≤ i 求和。",
    ),
    Mistake(
        "future-instead-of-past",
        fails="test_causal_linear_attention",
        edits={SUMS: suffix(PAIRS), NORMALISERS: suffix("key")},
        en="Your sums run over the future, j ≥ i: they should run over the past, j ≤ i.",
        zh="求和是对未来（j ≥ i）做的：应该对过去（j ≤ i）求和。",
    ),
    Mistake(
        "only-itself",
        fails="test_causal_linear_attention",
        edits={SUMS: PAIRS, NORMALISERS: "key"},
        en="Every word sees itself only: add up what came before (cumsum).",
        zh="每个词只看到自己：应把之前的累加起来（cumsum）。",
    ),
    Mistake(
        "sums-along-the-width",
        fails="test_causal_linear_attention",
        edits={SUMS: SUMS.replace("axis=1", "axis=2"), NORMALISERS: NORMALISERS.replace("axis=1", "axis=2")},
        en="Your cumsum runs along the features: it should run along the words, axis=1.",
        zh="cumsum 沿特征的轴做了：应沿词的方向，axis=1。",
    ),
    Mistake(
        "causal-without-normaliser",
        fails="test_causal_linear_attention",
        edits={CAUSAL: "output, s[:, -1], z[:, -1]"},
        en="Your causal output is not divided by φ(q_i) · z_i.",
        zh="因果形式的输出没有除以 φ(q_i) · z_i。",
    ),
    Mistake(
        "causal-without-features",
        fails="test_causal_linear_attention",
        edits={IN_CAUSAL: "s = ops.cumsum"},
        en="In the causal form, queries and keys go in without φ.",
        zh="因果形式里，查询和键没有经过 φ。",
    ),
    Mistake(
        "all-sums-returned",
        fails="test_causal_linear_attention",
        edits={CAUSAL: CAUSAL.replace("[:, -1]", "")},
        en="You return the sums of every word: return those of the last, (B, D, Dv) and (B, D).",
        zh="返回了每个词的和：应返回最后一个词的，即 (B, D, Dv) 和 (B, D)。",
    ),
    Mistake(
        "reads-before-adding",
        fails="test_step",
        edits={
            IN_STEP: f"{PHI}\n    output = ops.einsum('bd,bdv->bv', query, s)\n"
            "    output = output / ops.sum(query * z, axis=-1, keepdims=True)\n    s = s +",
            STEP: "output, s, z",
            '    output = ops.einsum("bd,bdv->bv", query, s)\n': "",
        },
        en="Your step reads the sums before the new word is in them: add first, since it sees itself.",
        zh="在加入新词之前就读出了结果：应先加，因为新词能看到自己。",
    ),
    Mistake(
        "state-not-carried",
        fails="test_step",
        edits={ADD_S: ADD_S.replace("s + ", ""), "z = z + key": "z = key"},
        en="Your step forgets the words before: add its terms to the sums that it gets.",
        zh="忘记了之前的词：应把新词的项加到传入的和上。",
    ),
    Mistake(
        "normaliser-not-carried",
        fails="test_step",
        edits={"z = z + key": "pass"},
        en="Your step does not add the new word to z.",
        zh="没有把新词加进 z。",
    ),
    Mistake(
        "step-without-normaliser",
        fails="test_step",
        edits={STEP: "output, s, z"},
        en="The output of your step is not divided by φ(q) · z.",
        zh="step 的输出没有除以 φ(q) · z。",
    ),
    Mistake(
        "step-key-without-features",
        fails="test_step",
        edits={IN_STEP: IN_STEP.replace("features(key)", "key")},
        en="In your step the key goes in without φ.",
        zh="step 里的键没有经过 φ。",
    ),
    Mistake(
        "step-query-without-features",
        fails="test_step",
        edits={IN_STEP: IN_STEP.replace("features(query)", "query")},
        en="In your step the query goes in without φ.",
        zh="step 里的查询没有经过 φ。",
    ),
    Mistake(
        "old-state-returned",
        fails="test_step",
        edits={
            IN_STEP: f"old = s, z\n    {IN_STEP}",
            STEP: STEP.replace(", s, z", ", *old"),
        },
        en="Your step returns the sums as they were: return those with the new word.",
        zh="返回的是旧的和：应返回加入新词之后的。",
    ),
]
