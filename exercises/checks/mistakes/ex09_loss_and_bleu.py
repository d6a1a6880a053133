"""Known mistakes in ex09."""

from keras_attention.course.bank import Mistake

LOG_P = "log_p = ops.log_softmax(logits)"
PICK = "ops.take_along_axis(log_p, labels[:, :, None], axis=-1)[:, :, 0]"
LOSSES = "losses = ops.where(labels == 0, 0.0, -of_labels)"
MEAN = "return ops.sum(losses) / ops.sum(ops.cast(labels != 0, losses.dtype)), losses"
CUT = "return row[: row.index(end)] if end in row else row"
NGRAMS = "return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))"
MATCHED = "sum((mine & theirs).values())"
TOTAL = "sum(mine.values())"
PAIR = "(words(a, end), words(b, end))"
FOUND = "found, total = sum(m for m, _ in counts), sum(t for _, t in counts)"
NONE = "if found == 0:\n            return 0.0"
PRECISION = "precisions.append(found / total)"
BREVITY = "min(1, math.exp(1 - r / h))"
MEAN_OF_FOUR = "math.prod(precisions) ** (1 / 4)"
BLEU = f"return 100 * {BREVITY} * {MEAN_OF_FOUR}"

MISTAKES = [
    Mistake(
        "overflow",
        fails="test_losses",
        edits={LOG_P: "log_p = logits - ops.log(ops.sum(ops.exp(logits), axis=-1, keepdims=True))"},
        en="exp overflows for large logits: subtract the largest logit of each token first.",
        zh="logits 很大时 exp 溢出：先减去每个位置的最大值。",
    ),
    Mistake(
        "log-of-softmax",
        fails="test_losses",
        edits={LOG_P: "log_p = ops.log(ops.softmax(logits, axis=-1))"},
        en="The log is taken of a softmax that can be 0, so losses are infinite: take log softmax in one.",
        zh="先 softmax 再取 log，softmax 可能是 0，损失变成无穷大：应一步算 log softmax。",
    ),
    Mistake(
        "softmax-over-time",
        fails="test_losses",
        edits={LOG_P: "log_p = ops.log_softmax(logits, axis=1)"},
        en="Your softmax runs over time: it should run over the vocabulary, the last axis.",
        zh="softmax 沿时间轴做了：应沿词表（最后一个轴）。",
    ),
    Mistake(
        "softmax-over-batch",
        fails="test_losses",
        edits={LOG_P: "log_p = ops.log_softmax(logits, axis=0)"},
        en="Your softmax runs over the batch: it should run over the vocabulary, the last axis.",
        zh="softmax 沿批次轴做了：应沿词表（最后一个轴）。",
    ),
    Mistake(
        "no-softmax",
        fails="test_losses",
        edits={LOG_P: "log_p = logits"},
        en="The logits are taken for log-probabilities: log softmax is missing.",
        zh="把 logits 当成了对数概率：少了 log softmax。",
    ),
    Mistake(
        "no-logarithm",
        fails="test_losses",
        edits={LOG_P: "log_p = ops.softmax(logits, axis=-1)"},
        en="The loss is −p of the label: it should be −log p.",
        zh="损失是 −p：应为 −log p。",
    ),
    Mistake(
        "no-minus",
        fails="test_losses",
        edits={LOSSES: LOSSES.replace("-of", "of")},
        en="The minus is missing: a loss is positive, since log p is negative.",
        zh="少了负号：log p 是负数，损失应为正。",
    ),
    Mistake(
        "bits",
        fails="test_losses",
        edits={LOSSES: LOSSES.replace("-of_labels", "-of_labels / math.log(2.0)")},
        en="The logarithm is that of base 2: take the natural one.",
        zh="用了以 2 为底的对数：应该用自然对数。",
    ),
    Mistake(
        "labels-shifted",
        fails="test_losses",
        edits={PICK: PICK.replace("labels[", "ops.roll(labels, -1, axis=1)[")},
        en="The labels are shifted by one: logits[:, t] already belong to labels[:, t].",
        zh="标签又移了一位：logits[:, t] 已经对应 labels[:, t]。",
    ),
    Mistake(
        "losses-of-padding",
        fails="test_losses",
        edits={
            LOSSES: "losses = -of_labels",
            MEAN: "return ops.sum(ops.where(labels == 0, 0.0, losses)) / ops.sum("
            "ops.cast(labels != 0, losses.dtype)), losses",
        },
        en="The mean is right, but the losses that you return are not 0 at padding.",
        zh="平均值对了，但返回的 losses 在填充处不是 0。",
    ),
    Mistake(
        "mask-inverted",
        fails="test_losses",
        edits={LOSSES: "losses = ops.where(labels == 0, -of_labels, 0.0)", "labels != 0": "labels == 0"},
        en="The mask is inverted: only padding counts.",
        zh="掩码反了：只算了填充。",
    ),
    Mistake(
        "no-mask",
        fails="test_loss",
        edits={LOSSES: "losses = -of_labels", MEAN: "return ops.mean(losses), losses"},
        en="Padding counts like a token: leave it out of the sum and of the number of tokens.",
        zh="填充也算成了词：求和与计数都应排除填充。",
    ),
    Mistake(
        "divided-by-all",
        fails="test_loss",
        edits={MEAN: "return ops.mean(losses), losses"},
        en="The sum is divided by B·T, padding included: divide by the number of tokens.",
        zh="总和除以了 B·T（含填充）：应除以词数。",
    ),
    Mistake(
        "divided-by-sentences",
        fails="test_loss",
        edits={MEAN: "return ops.sum(losses) / labels.shape[0], losses"},
        en="The sum is divided by the number of sentences: divide by the number of tokens.",
        zh="总和除以了句子数：应除以词数。",
    ),
    Mistake(
        "not-divided",
        fails="test_loss",
        edits={MEAN: "return ops.sum(losses), losses"},
        en="The loss is the sum: divide it by the number of tokens.",
        zh="损失是总和：应除以词数。",
    ),
    Mistake(
        "mean-of-sentences",
        fails="test_loss",
        edits={
            MEAN: "means = ops.sum(losses, axis=1) / ops.sum(ops.cast(labels != 0, losses.dtype), axis=1)\n"
            "    return ops.mean(means), losses"
        },
        en="The mean is taken in each sentence first, so tokens of short sentences count more: "
        "divide once, by the tokens of the whole batch.",
        zh="先在每个句子里取了平均，短句里的词分量更大：应该对整个批次求和，最后只除一次，除以总词数。",
    ),
    Mistake(
        "end-kept",
        fails="test_words",
        edits={CUT: CUT.replace("row.index(end)]", "row.index(end) + 1]")},
        en="END is kept: it is no word of the sentence.",
        zh="END 留下了：它不是句子里的词。",
    ),
    Mistake(
        "nothing-cut",
        fails="test_words",
        edits={CUT: "return row"},
        en="Nothing is cut off: the sentence stops before its first END.",
        zh="什么都没有截掉：句子到第一个 END 之前为止。",
    ),
    Mistake(
        "padding-cut-only",
        fails="test_words",
        edits={CUT: "return [token for token in row if token != 0]"},
        en="Only padding is left out: the sentence stops before its first END.",
        zh="只去掉了填充：句子到第一个 END 之前为止。",
    ),
    Mistake(
        "goes-on-after-end",
        fails="test_words",
        edits={CUT: "return [token for token in row if token not in (0, end)]"},
        en="What follows END is kept: the sentence stops there, whatever comes.",
        zh="END 后面的词留下了：句子到 END 就结束，后面是什么都不算。",
    ),
    Mistake(
        "last-end",
        fails="test_words",
        edits={CUT: "return row[: len(row) - 1 - row[::-1].index(end)] if end in row else row"},
        en="The sentence is cut at its last END: the first one ends it.",
        zh="在最后一个 END 处截断了：第一个 END 就是结尾。",
    ),
    Mistake(
        "last-word-lost",
        fails="test_words",
        edits={CUT: CUT.replace("else row", "else row[:-1]")},
        en="A sentence without END loses its last word.",
        zh="没有 END 的句子丢了最后一个词。",
    ),
    Mistake(
        "not-clipped",
        fails="test_matches",
        edits={MATCHED: "sum(count for ngram, count in mine.items() if ngram in theirs)"},
        en="An n-gram that is written often counts each time: at most as often as the reference has it.",
        zh="重复写出的 n 元组每次都算了：最多算参考译文中出现的次数。",
    ),
    Mistake(
        "each-once",
        fails="test_matches",
        edits={MATCHED: "len(mine & theirs)"},
        en="Each n-gram counts once: it counts as often as both sides have it.",
        zh="每个 n 元组只算了一次：应算两边都有的次数。",
    ),
    Mistake(
        "total-of-kinds",
        fails="test_matches",
        edits={TOTAL: "len(mine)"},
        en="The total is the number of different n-grams: count repeated ones, too.",
        zh="总数是不同 n 元组的个数：重复的也要算。",
    ),
    Mistake(
        "recall",
        fails="test_matches",
        edits={TOTAL: "sum(theirs.values())"},
        en="The total is that of the reference, which is recall: BLEU takes the n-grams that were written.",
        zh="总数取了参考译文的 n 元组数（召回率）：BLEU 用写出的 n 元组数。",
    ),
    Mistake(
        "total-of-words",
        fails="test_matches",
        edits={TOTAL: "len(written)"},
        en="The total is the number of words: there are n − 1 fewer n-grams.",
        zh="总数取了词数：n 元组比词少 n − 1 个。",
    ),
    Mistake(
        "last-ngram-lost",
        fails="test_matches",
        edits={NGRAMS: NGRAMS.replace("- n + 1", "- n")},
        en="The last n-gram is missing: T tokens have T − n + 1 n-grams.",
        zh="少了最后一个 n 元组：T 个词有 T − n + 1 个 n 元组。",
    ),
    Mistake(
        "side-by-side",
        fails="test_matches",
        edits={NGRAMS: NGRAMS.replace("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)")},
        en="Your n-grams do not overlap: one begins at every token.",
        zh="n 元组没有重叠：每个词都是一个 n 元组的开头。",
    ),
    Mistake(
        "without-order",
        fails="test_matches",
        edits={NGRAMS: NGRAMS.replace("tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))")},
        en="The order of the tokens in an n-gram is lost.",
        zh="n 元组里词的顺序丢了。",
    ),
    Mistake(
        "end-and-padding-in-bleu",
        fails="test_bleu",
        edits={PAIR: "(a.tolist(), b.tolist())"},
        en="END and padding are taken for words: cut the sentences with `words` first.",
        zh="END 和填充算成了词：先用 words 截出句子。",
    ),
    Mistake(
        "end-in-bleu",
        fails="test_bleu",
        edits={PAIR: "(words(a, end) + [end], words(b, end) + [end])"},
        en="END is counted as a word: leave it out on both sides.",
        zh="END 算成了词：两边都应去掉。",
    ),
    Mistake(
        "sides-swapped",
        fails="test_bleu",
        edits={PAIR: "(words(b, end), words(a, end))"},
        en="Written sentences and references are swapped.",
        zh="译文与参考译文互换了。",
    ),
    Mistake(
        "mean-of-precisions-of-sentences",
        fails="test_bleu",
        edits={PRECISION: "precisions.append(sum(m / max(t, 1) for m, t in counts) / len(counts))"},
        en="The precisions of the sentences are averaged: add up the counts of all sentences, divide once.",
        zh="对每句的精确率取了平均：应先把所有句子的计数相加，再只除一次。",
    ),
    Mistake(
        "mean-of-sentences-bleu",
        fails="test_bleu",
        edits={
            "    precisions = []": "    if len(pairs) > 1:\n"
            "        return sum(bleu([mine], [theirs], end) for mine, theirs in pairs) / len(pairs)\n"
            "    precisions = []"
        },
        en="This is the mean of each sentence's BLEU: the sums run over the whole corpus first.",
        zh="这是每句 BLEU 的平均：应先在整个语料上求和。",
    ),
    Mistake(
        "arithmetic-mean",
        fails="test_bleu",
        edits={MEAN_OF_FOUR: "(sum(precisions) / 4)"},
        en="The precisions are averaged by a sum: take the geometric mean, the fourth root of the product.",
        zh="对精确率取了算术平均：应取几何平均，即乘积的四次方根。",
    ),
    Mistake(
        "no-root",
        fails="test_bleu",
        edits={MEAN_OF_FOUR: "math.prod(precisions)"},
        en="The product lacks its fourth root.",
        zh="乘积没有开四次方。",
    ),
    Mistake(
        "three-precisions",
        fails="test_bleu",
        edits={"range(1, 5)": "range(1, 4)", "(1 / 4)": "(1 / 3)"},
        en="The 4-grams are missing: range(1, 5) gives 1, 2, 3, 4.",
        zh="少了 4 元组：range(1, 5) 才是 1、2、3、4。",
    ),
    Mistake(
        "no-brevity-penalty",
        fails="test_bleu",
        edits={f"{BREVITY} * ": ""},
        en="The penalty for short translations is missing: min(1, exp(1 − r/h)).",
        zh="少了对过短译文的惩罚：min(1, exp(1 − r/h))。",
    ),
    Mistake(
        "brevity-inverted",
        fails="test_bleu",
        edits={"1 - r / h": "1 - h / r"},
        en="The brevity penalty is turned round, so that it punishes long translations: exp(1 − r/h).",
        zh="长度惩罚反了，罚的是过长的译文：应为 exp(1 − r/h)。",
    ),
    Mistake(
        "length-rewarded",
        fails="test_bleu",
        edits={BREVITY: "math.exp(1 - r / h)"},
        en="Long translations are rewarded: the factor is at most 1.",
        zh="过长的译文得到了奖励：这个因子最多是 1。",
    ),
    Mistake(
        "from-0-to-1",
        fails="test_bleu",
        edits={"return 100 * ": "return "},
        en="Your BLEU runs from 0 to 1: here it runs from 0 to 100.",
        zh="你的 BLEU 是 0 到 1：这里应为 0 到 100。",
    ),
    Mistake(
        "smoothed",
        fails="test_few_matches",
        edits={NONE: "if found == 0:\n            found, total = 1, 2 * max(1, total)"},
        en="An n-gram length without a match is smoothed: BLEU is 0 there.",
        zh="某个 n 完全没有匹配时做了平滑：此时 BLEU 应为 0。",
    ),
    Mistake(
        "empty-lengths-left-out",
        fails="test_few_matches",
        edits={NONE: "if found == 0:\n            continue", "(1 / 4)": "(1 / len(precisions))"},
        en="An n-gram length without a match is left out of the mean: BLEU is 0 there.",
        zh="某个 n 完全没有匹配，求平均时跳过了它：此时 BLEU 应为 0。",
    ),
]
