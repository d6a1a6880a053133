"""Known mistakes in ex01."""

from keras_attention.course.bank import Mistake

MAX = "ops.max(scores, axis=-1, keepdims=True)"
SUM = "ops.sum(powers, axis=-1, keepdims=True)"
SCALE = " / math.sqrt(query.shape[-1])"
OUTPUT = "ops.matmul(weights, value), weights"

MISTAKES = [
    Mistake(
        "overflow",
        fails="test_softmax",
        edits={f" - {MAX}": ""},
        en="Your softmax overflows: subtract the largest score of each row before exp.",
        zh="softmax 溢出了：取 exp 之前先减去每行的最大值。",
    ),
    Mistake(
        "softmax-over-queries",
        fails="test_softmax",
        edits={MAX: MAX.replace("-1", "-2"), SUM: SUM.replace("-1", "-2")},
        en="Your softmax runs over the queries: each column sums to 1, but each row should (axis=-1).",
        zh="softmax 沿查询轴做了：每列之和为 1，而应是每行之和为 1（axis=-1）。",
    ),
    Mistake(
        "softmax-over-batch",
        fails="test_softmax",
        edits={MAX: MAX.replace("-1", "0"), SUM: SUM.replace("-1", "0")},
        en="Your softmax runs over the first axis, the batch: it should run over the last, the keys.",
        zh="softmax 沿第一个轴（批次）做了：应沿最后一个轴（键）。",
    ),
    Mistake(
        "softmax-over-all",
        fails="test_softmax",
        edits={MAX: "ops.max(scores)", SUM: "ops.sum(powers)"},
        en="Your softmax is over all scores together: each row should sum to 1 by itself.",
        zh="softmax 把所有分数放在一起归一化了：应每行各自之和为 1。",
    ),
    Mistake(
        "sum-over-queries",
        fails="test_softmax",
        edits={SUM: SUM.replace("-1", "-2")},
        en="The sum that divides runs over the queries: it should run over the last axis, as the maximum.",
        zh="分母是沿查询轴求的和：应沿最后一个轴，与取最大值时相同。",
    ),
    Mistake(
        "no-scale",
        fails="test_weights",
        edits={SCALE: ""},
        en="This equals attention without the 1/√d_k: divide the scores by the root of the keys' width.",
        zh="结果等于没有除以 √d_k 的注意力：分数要除以键宽度的平方根。",
    ),
    Mistake(
        "scale-without-root",
        fails="test_weights",
        edits={SCALE: " / query.shape[-1]"},
        en="This equals attention with scores divided by d_k: divide by its square root.",
        zh="分数除以了 d_k：应除以 √d_k。",
    ),
    Mistake(
        "scale-by-length",
        fails="test_weights",
        edits={SCALE: " / math.sqrt(key.shape[1])"},
        en="The scores are divided by the root of the number of keys: d_k is the width, the last axis.",
        zh="分数除以了键的个数的平方根：d_k 是宽度，即最后一个轴。",
    ),
    Mistake(
        "scale-by-value-width",
        fails="test_weights",
        edits={SCALE: " / math.sqrt(value.shape[-1])"},
        en="The scores are divided by the root of the values' width: d_k is the width of queries and keys.",
        zh="分数除以了值宽度的平方根：d_k 是查询和键的宽度。",
    ),
    Mistake(
        "scale-multiplied",
        fails="test_weights",
        edits={SCALE: " * math.sqrt(query.shape[-1])"},
        en="The scores are multiplied by √d_k: divide.",
        zh="分数乘以了 √d_k：应该除以它。",
    ),
    Mistake(
        "scores-as-weights",
        fails="test_weights",
        edits={OUTPUT: "ops.matmul(weights, value), scores"},
        en="You return the scores in place of the weights: the weights are their softmax.",
        zh="返回的是分数而不是权重：权重是分数的 softmax。",
    ),
    Mistake(
        "attention-overflows",
        fails="test_large_scores",
        edits={"weights = softmax(scores)": "weights = ops.exp(scores) / ops.sum(ops.exp(scores), -1, True)"},
        en="exp overflows inside of attention: use your softmax, which subtracts the largest score first.",
        zh="attention 里的 exp 溢出了：用你写的 softmax，它会先减去最大值。",
    ),
    Mistake(
        "sum-of-keys",
        fails="test_output",
        edits={OUTPUT: "ops.matmul(weights, key), weights"},
        en="The output is a weighted sum of the keys: it should be one of the values.",
        zh="输出是键的加权和：应是值的加权和。",
    ),
    Mistake(
        "scores-times-values",
        fails="test_output",
        edits={OUTPUT: "ops.matmul(scores, value), weights"},
        en="The output multiplies the values by the scores: it should multiply them by the weights.",
        zh="输出是分数与值的乘积：应该用权重去乘。",
    ),
    Mistake(
        "constant-weights",
        fails="test_output",
        edits={OUTPUT: "ops.repeat(ops.mean(value, axis=1, keepdims=True), query.shape[1], axis=1), weights"},
        en="The output is the plain mean of the values: the weights are not used.",
        zh="输出是值的简单平均：没有用到权重。",
    ),
]
