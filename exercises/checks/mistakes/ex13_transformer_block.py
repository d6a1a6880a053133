"""Known mistakes in ex13."""

from keras_attention.course.bank import Mistake

ROWS = "np.arange(length)[:, None]"
ANGLE = "angle = position / 10000 ** (even / width)"
TURNS = "np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, width)"
GAIN = 'self.gain = self.add_weight(shape=(inputs_shape[-1],), initializer="ones")'
SHIFT = 'self.shift = self.add_weight(shape=(inputs_shape[-1],), initializer="zeros")'
MEAN = "ops.mean(inputs, axis=-1, keepdims=True)"
VARIANCE = "ops.mean(ops.square(inputs - mean), axis=-1, keepdims=True)"
NORMED = "self.gain * (inputs - mean) / ops.sqrt(variance + 1e-6) + self.shift"
FIRST = "x = self.norm_1(inputs)"
ATTEND = "_attention(self.query(x), self.key(x), self.value(x), self.num_heads, mask)"
Y = "y = inputs + self.merge(attended)"
Z = "y + self.contract(self.expand(self.norm_2(y))), weights"

MISTAKES = [
    Mistake(
        "halves",
        fails="test_positional_encoding",
        edits={TURNS: "np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)"},
        en="The sines stand in the first half and the cosines in the second: they should take turns.",
        zh="正弦在前一半，余弦在后一半：应交替排列。",
    ),
    Mistake(
        "cosine-first",
        fails="test_positional_encoding",
        edits={TURNS: TURNS.replace("np.sin(angle), np.cos(angle)", "np.cos(angle), np.sin(angle)")},
        en="Sine and cosine are swapped: even columns have the sine.",
        zh="正弦和余弦反了：偶数列是正弦。",
    ),
    Mistake(
        "sines-only",
        fails="test_positional_encoding",
        edits={TURNS: TURNS.replace("cos", "sin")},
        en="All columns are sines: odd ones should be cosines.",
        zh="所有列都是正弦：奇数列应是余弦。",
    ),
    Mistake(
        "wave-for-each-column",
        fails="test_positional_encoding",
        edits={
            "np.arange(0, width, 2)": "np.arange(width)",
            TURNS: "np.where(even % 2 == 0, np.sin(angle), np.cos(angle))",
        },
        en="Each column has a wave of its own: a sine and the cosine after it share one, of exponent 2i / D.",
        zh="每一列各用一个波：一个正弦和它后面的余弦应共用一个波，指数为 2i / D。",
    ),
    Mistake(
        "exponent-halved",
        fails="test_positional_encoding",
        edits={ANGLE: "angle = position / 10000 ** (even / 2 / width)"},
        en="The exponent is i / D: it should be 2i / D.",
        zh="指数用了 i / D：应为 2i / D。",
    ),
    Mistake(
        "exponent-doubled",
        fails="test_positional_encoding",
        edits={ANGLE: "angle = position / 10000 ** (2 * even / width)"},
        en="The exponent is 4i / D: the even numbers 0, 2, … are the 2i already.",
        zh="指数用了 4i / D：偶数 0、2、… 本身就是 2i。",
    ),
    Mistake(
        "faster-and-faster",
        fails="test_positional_encoding",
        edits={ANGLE: "angle = position * 10 ** (even / width)"},
        en="The waves get faster from column to column: divide by the power, of base 10000.",
        zh="波一列比一列快：应除以幂，底为 10000。",
    ),
    Mistake(
        "counts-from-one",
        fails="test_positional_encoding",
        edits={ROWS: "np.arange(1, length + 1)[:, None]"},
        en="The positions start at 1: the first is 0.",
        zh="位置从 1 开始：第一个应是 0。",
    ),
    Mistake(
        "norm-over-words",
        fails="test_layer_norm",
        edits={MEAN: MEAN.replace("-1", "1"), VARIANCE: VARIANCE.replace("-1", "1")},
        en="You norm along the words, so each word learns of those after it: norm along its features.",
        zh="沿词的轴归一化了，每个词会知道后面的词：应沿特征的轴。",
    ),
    Mistake(
        "norm-over-batch",
        fails="test_layer_norm",
        edits={MEAN: MEAN.replace("-1", "0"), VARIANCE: VARIANCE.replace("-1", "0")},
        en="You norm along the batch, which is batch normalisation: norm along the features of a word.",
        zh="沿批次轴归一化了，那是批归一化：应沿一个词的特征。",
    ),
    Mistake(
        "norm-over-all",
        fails="test_layer_norm",
        edits={MEAN: MEAN.replace("-1", "(1, 2)"), VARIANCE: VARIANCE.replace("-1", "(1, 2)")},
        en="You norm the words of a sentence together: each word has its own mean and variance.",
        zh="把整句的词一起归一化了：每个词有自己的均值和方差。",
    ),
    Mistake(
        "no-root",
        fails="test_layer_norm",
        edits={NORMED: NORMED.replace("ops.sqrt(variance + 1e-6)", "(variance + 1e-6)")},
        en="You divide by the variance: divide by its square root.",
        zh="除以了方差：应除以方差的平方根。",
    ),
    Mistake(
        "no-epsilon",
        fails="test_layer_norm",
        edits={NORMED: NORMED.replace(" + 1e-6", "")},
        en="A word of equal features gives 0 / 0: add 10⁻⁶ to the variance.",
        zh="特征都相同的词得到 0 / 0：方差要加上 10⁻⁶。",
    ),
    Mistake(
        "epsilon-outside-the-root",
        fails="test_layer_norm",
        edits={NORMED: NORMED.replace("ops.sqrt(variance + 1e-6)", "(ops.sqrt(variance) + 1e-6)")},
        en="The 10⁻⁶ is added to the root: add it to the variance, below the root.",
        zh="10⁻⁶ 加在了根号外面：应加在方差上，即根号里面。",
    ),
    Mistake(
        "variance-of-samples",
        fails="test_layer_norm",
        edits={VARIANCE: f"{VARIANCE} * inputs.shape[-1] / (inputs.shape[-1] - 1)"},
        en="The variance is divided by D − 1: here it is the plain mean of the squares.",
        zh="方差除以了 D − 1：这里应是平方的平均。",
    ),
    Mistake(
        "mean-kept",
        fails="test_layer_norm",
        edits={NORMED: NORMED.replace("(inputs - mean)", "inputs")},
        en="The mean is not subtracted.",
        zh="没有减去均值。",
    ),
    Mistake(
        "shift-scaled",
        fails="test_layer_norm",
        edits={NORMED: "self.gain * ((inputs - mean) / ops.sqrt(variance + 1e-6) + self.shift)"},
        en="The shift is multiplied by the gain: add it at the end.",
        zh="shift 也乘了 gain：应最后再加。",
    ),
    Mistake(
        "gain-and-shift-swapped",
        fails="test_layer_norm",
        edits={NORMED: "self.shift * (inputs - mean) / ops.sqrt(variance + 1e-6) + self.gain"},
        en="gain and shift are swapped: the gain multiplies, the shift is added.",
        zh="gain 和 shift 反了：gain 用来乘，shift 用来加。",
    ),
    Mistake(
        "not-learned",
        fails="test_layer_norm",
        edits={NORMED: "(inputs - mean) / ops.sqrt(variance + 1e-6)"},
        en="gain and shift are not used.",
        zh="没有用到 gain 和 shift。",
    ),
    Mistake(
        "gain-starts-at-zero",
        fails="test_new_layer_norm",
        edits={GAIN: GAIN.replace("ones", "zeros")},
        en="The gain starts at 0, which wipes every word out: start it at 1.",
        zh="gain 从 0 开始，会抹掉所有词：应从 1 开始。",
    ),
    Mistake(
        "shift-starts-at-one",
        fails="test_new_layer_norm",
        edits={SHIFT: SHIFT.replace("zeros", "ones")},
        en="The shift starts at 1: start it at 0.",
        zh="shift 从 1 开始：应从 0 开始。",
    ),
    Mistake(
        "attention-not-added",
        fails="test_block",
        edits={Y: "y = self.merge(attended)"},
        en="The input is not added to the result of the attention.",
        zh="注意力的结果没有加上输入。",
    ),
    Mistake(
        "feed-forward-not-added",
        fails="test_block",
        edits={Z: "self.contract(self.expand(self.norm_2(y))), weights"},
        en="y is not added to the result of the feed-forward step.",
        zh="前馈的结果没有加上 y。",
    ),
    Mistake(
        "normed-input-added",
        fails="test_block",
        edits={Y: "y = x + self.merge(attended)"},
        en="The normed input is added to the attention: add the input as it came in.",
        zh="加到注意力上的是归一化后的输入：应加原来的输入。",
    ),
    Mistake(
        "input-added-again",
        fails="test_block",
        edits={Z: f"inputs + {Z.removeprefix('y + ')}"},
        en="The block's input is added to the feed-forward step: add y, which went into it.",
        zh="加到前馈结果上的是块的输入：应加前馈的输入 y。",
    ),
    Mistake(
        "post-norm",
        fails="test_block",
        edits={
            FIRST: "x = inputs",
            Y: "y = self.norm_1(inputs + self.merge(attended))",
            Z: "self.norm_2(y + self.contract(self.expand(y))), weights",
        },
        en="You norm after each step (post-norm, as in the paper of 2017): here norm comes before it.",
        zh="在每一步之后归一化了（post-norm，2017 年论文的做法）：这里应在之前。",
    ),
    Mistake(
        "no-first-norm",
        fails="test_block",
        edits={FIRST: "x = inputs"},
        en="The input of the attention is not normed.",
        zh="注意力的输入没有归一化。",
    ),
    Mistake(
        "no-second-norm",
        fails="test_block",
        edits={Z: Z.replace("self.norm_2(y)", "y")},
        en="The input of the feed-forward step is not normed.",
        zh="前馈的输入没有归一化。",
    ),
    Mistake(
        "values-not-normed",
        fails="test_block",
        edits={ATTEND: ATTEND.replace("self.value(x)", "self.value(inputs)")},
        en="The values come from the input as it is: they come from the normed one, like queries and keys.",
        zh="值来自原来的输入：应与查询、键一样来自归一化后的输入。",
    ),
    Mistake(
        "keys-and-values-swapped",
        fails="test_block",
        edits={ATTEND: ATTEND.replace("self.key(x), self.value(x)", "self.value(x), self.key(x)")},
        en="Keys and values are swapped.",
        zh="键和值弄反了。",
    ),
    Mistake(
        "one-head",
        fails="test_block",
        edits={ATTEND: ATTEND.replace("self.num_heads", "1")},
        en="The attention has a single head: pass self.num_heads.",
        zh="注意力只有一个头：应传入 self.num_heads。",
    ),
    Mistake(
        "no-merge",
        fails="test_block",
        edits={Y: "y = inputs + attended"},
        en="merge, the matrix after the attention, is not used.",
        zh="没有用到注意力之后的矩阵 merge。",
    ),
    Mistake(
        "no-feed-forward",
        fails="test_block",
        edits={Z: "y, weights"},
        en="The feed-forward step is missing.",
        zh="缺少前馈这一步。",
    ),
    Mistake(
        "side-by-side",
        fails="test_block",
        edits={Z: Z.replace("self.norm_2(y)", "self.norm_2(inputs)")},
        en="Both steps work on the block's input: the second works on y, the result of the first.",
        zh="两步都作用在块的输入上：第二步应作用在第一步的结果 y 上。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_mask",
        edits={ATTEND: ATTEND.replace(", mask)", ", None)")},
        en="The mask is not passed on to the attention.",
        zh="没有把掩码传给注意力。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_mask",
        edits={ATTEND: ATTEND.replace(", mask)", ", None if mask is None else ops.logical_not(mask))")},
        en="The mask is inverted: True means that a word may be attended to.",
        zh="掩码反了：True 表示可以看。",
    ),
    Mistake(
        "mask-transposed",
        fails="test_mask",
        edits={ATTEND: ATTEND.replace(", mask)", ", None if mask is None else ops.swapaxes(mask, 1, 2))")},
        en="The mask is transposed: its rows are the queries, its columns the keys.",
        zh="掩码转置了：行是查询，列是键。",
    ),
]
