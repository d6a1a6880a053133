"""Known mistakes in ex11."""

from keras_attention.course.bank import Mistake

DISTANCE = "ops.abs(position[:, None] - position[None, :]) <= window"
GLOBAL = "window_mask(length, window) | is_global[:, None] | is_global[None, :]"
IS_GLOBAL = "ops.isin(ops.arange(length), ops.array(global_tokens))"
BLOCKS = "longformer_mask(count, 1, [0, count - 1])"
DRAWN = "random_blocks[:, :, None], ops.arange(count)), axis=1)"
HIDE = "ops.where(visible, scores, -1e9)"
WEIGHTS = f"ops.where(visible, ops.softmax({HIDE}), 0.0)"
SEEN = "ops.arange(-window, window + 1)"

MISTAKES = [
    Mistake(
        "window-one-short",
        fails="test_window_mask",
        edits={DISTANCE: DISTANCE.replace("<=", "<")},
        en="Your window is one short on each side: the key at the distance window is visible, too.",
        zh="窗口每侧少了一个：距离等于 window 的键也能看到。",
    ),
    Mistake(
        "window-halved",
        fails="test_window_mask",
        edits={DISTANCE: f"{DISTANCE} // 2"},
        en="Your window is half as wide: window counts the neighbours on each side, not on both together.",
        zh="窗口只有一半宽：window 是每一侧的邻居数，不是两侧之和。",
    ),
    Mistake(
        "window-of-the-past",
        fails="test_window_mask",
        edits={
            DISTANCE: "(position[:, None] >= position[None, :]) & "
            "(position[:, None] - position[None, :] <= window)"
        },
        en="Your window has one side only, the past: take the absolute distance.",
        zh="窗口只有过去那一侧：应取距离的绝对值。",
    ),
    Mistake(
        "window-without-abs",
        fails="test_window_mask",
        edits={DISTANCE: "position[:, None] - position[None, :] <= window"},
        en="Your window ends on the left only, so the whole future is visible: take the absolute distance.",
        zh="窗口只在左侧有界，整个未来都能看到：应取距离的绝对值。",
    ),
    Mistake(
        "window-inverted",
        fails="test_window_mask",
        edits={DISTANCE: DISTANCE.replace("<=", ">")},
        en="Your window is inverted: True means that a key may be attended to.",
        zh="窗口掩码反了：True 表示可以看。",
    ),
    Mistake(
        "window-without-itself",
        fails="test_window_mask",
        edits={DISTANCE: f"({DISTANCE}) & (position[:, None] != position[None, :])"},
        en="Your window leaves out the word itself: its distance is 0, so it is visible.",
        zh="窗口漏掉了词自己：它的距离是 0，应能看到。",
    ),
    Mistake(
        "global-not-seen",
        fails="test_longformer_mask",
        edits={GLOBAL: "window_mask(length, window) | is_global[:, None]"},
        en="Your global tokens see all, but not all see them: fill their columns, too.",
        zh="全局词元能看所有词，但不是所有词都能看它们：列也要填满。",
    ),
    Mistake(
        "global-does-not-see",
        fails="test_longformer_mask",
        edits={GLOBAL: "window_mask(length, window) | is_global[None, :]"},
        en="All see your global tokens, but they do not see all: fill their rows, too.",
        zh="所有词都能看全局词元，但全局词元不能看所有词：行也要填满。",
    ),
    Mistake(
        "global-pairs",
        fails="test_longformer_mask",
        edits={GLOBAL: "window_mask(length, window) | (is_global[:, None] & is_global[None, :])"},
        en="Your global tokens see only one another: it takes one global side, so join by or.",
        zh="全局词元只能互相看到：只要有一方是全局词元就可以，应该用“或”。",
    ),
    Mistake(
        "global-without-window",
        fails="test_longformer_mask",
        edits={GLOBAL: "is_global[:, None] | is_global[None, :]"},
        en="The window is missing: the other words still see their neighbours.",
        zh="缺少窗口：其他词仍要看到自己的邻居。",
    ),
    Mistake(
        "global-first-ones",
        fails="test_longformer_mask",
        edits={IS_GLOBAL: "ops.arange(length) < len(global_tokens)"},
        en="The first tokens are global in your mask: global_tokens are positions.",
        zh="你把开头的几个词当作全局词元：global_tokens 是位置。",
    ),
    Mistake(
        "no-random-blocks",
        fails="test_big_bird_mask",
        edits={f"{BLOCKS} | drawn": BLOCKS},
        en="The random blocks are missing.",
        zh="缺少随机的块。",
    ),
    Mistake(
        "random-blocks-transposed",
        fails="test_big_bird_mask",
        edits={f"{BLOCKS} | drawn": f"{BLOCKS} | ops.transpose(drawn)"},
        en="Your random blocks are transposed: block i sees random_blocks[i], not the other way round.",
        zh="随机的块转置了：应是第 i 块看 random_blocks[i]，而不是反过来。",
    ),
    Mistake(
        "random-blocks-both-ways",
        fails="test_big_bird_mask",
        edits={f"{BLOCKS} | drawn": f"{BLOCKS} | drawn | ops.transpose(drawn)"},
        en="Your random blocks look back at those that see them: only global blocks do.",
        zh="随机的块也反过来看了：只有全局的块才这样。",
    ),
    Mistake(
        "first-random-block-only",
        fails="test_big_bird_mask",
        edits={DRAWN: DRAWN.replace("[:, :, None]", "[:, :1, None]")},
        en="Only the first of the random blocks is visible: each block sees all of its r.",
        zh="只看到了第一个随机块：每块都能看到自己的全部 r 块。",
    ),
    Mistake(
        "no-neighbour-blocks",
        fails="test_big_bird_mask",
        edits={BLOCKS: BLOCKS.replace("count, 1", "count, 0")},
        en="The neighbouring blocks are missing.",
        zh="缺少左右相邻的块。",
    ),
    Mistake(
        "last-block-not-global",
        fails="test_big_bird_mask",
        edits={BLOCKS: BLOCKS.replace("[0, count - 1]", "[0]")},
        en="The last block is not global: it sees all, and all see it, as with the first.",
        zh="最后一块不是全局的：它与第一块一样，看所有块，也被所有块看到。",
    ),
    Mistake(
        "no-global-blocks",
        fails="test_big_bird_mask",
        edits={BLOCKS: "window_mask(count, 1)"},
        en="The global blocks are missing: the first and the last see all, and all see them.",
        zh="缺少全局的块：第一块和最后一块看所有块，也被所有块看到。",
    ),
    Mistake(
        "blocks-interleaved",
        fails="test_big_bird_mask",
        edits={"ops.arange(length) // block_size": "ops.arange(length) % count"},
        en="Your pattern is tiled, not enlarged: the first block_size tokens are block 0, so repeat each.",
        zh="模式被重复了，而不是放大：前 block_size 个词是第 0 块（用 repeat，而不是 tile）。",
    ),
    Mistake(
        "no-scale",
        fails="test_window_attention",
        edits={" / math.sqrt(query.shape[-1])": ""},
        en="This equals attention in the window without the 1/√D: divide the scores by it.",
        zh="结果等于没有除以 √D 的窗口注意力：分数要除以 √D。",
    ),
    Mistake(
        "ends-wrap-round",
        fails="test_window_attention",
        edits={"inside & ops.take": "ops.take"},
        en="Your window goes round the ends: the first word sees the last ones. Hide what is outside.",
        zh="窗口绕过了两端：第一个词看到了最后的词。应遮住超出两端的部分。",
    ),
    Mistake(
        "ends-repeat",
        fails="test_window_attention",
        edits={
            "inside & ops.take": "ops.take",
            "seen = seen % length": "seen = ops.clip(seen, 0, length - 1)",
        },
        en="Your window counts the first and the last word several times: hide what is beyond the ends.",
        zh="第一个和最后一个词被算了几次：应遮住超出两端的部分。",
    ),
    Mistake(
        "ends-are-zeros",
        fails="test_window_attention",
        edits={
            HIDE: "ops.where(inside, ops.where(visible, scores, -1e9), 0.0)",
        },
        en="Beyond the ends your keys are zeros, and a score of 0 takes its share: use a very negative one.",
        zh="两端之外的键是 0，分数 0 也会分走权重：应设成绝对值很大的负数。",
    ),
    Mistake(
        "softmax-over-queries",
        fails="test_window_attention",
        edits={f"ops.softmax({HIDE})": f"ops.softmax({HIDE}, axis=1)"},
        en="Your softmax runs over the queries: it should run over the keys of the window, the last axis.",
        zh="softmax 沿查询轴做了：应沿窗口内的键，即最后一个轴。",
    ),
    Mistake(
        "band-reversed",
        fails="test_window_attention",
        edits={SEEN: "ops.arange(window, -window - 1, -1)"},
        en="Your band is reversed: weights[:, i, 0] belongs to the key i − window, the leftmost.",
        zh="权重带反了：weights[:, i, 0] 对应最左边的键，即第 i − window 个。",
    ),
    Mistake(
        "band-not-shifted",
        fails="test_window_attention",
        edits={SEEN: "ops.arange(2 * window + 1)"},
        en="Your window starts at the query: it should start window keys before it.",
        zh="窗口从查询自己开始：应从它之前第 window 个键开始。",
    ),
    Mistake(
        "values-are-of-the-query",
        fails="test_window_attention",
        edits={'"btk,btkd->btd", weights, values': '"btk,btd->btd", weights, value'},
        en="Your output is each query's own value: sum the values of the keys in its window.",
        zh="输出是查询自己的值：应该对窗口内各个键的值求和。",
    ),
    Mistake(
        "mask-ignored",
        fails="test_padding",
        edits={
            "inside & ops.take(mask, seen, axis=1)": "inside & ops.ones_like(ops.take(mask, seen, axis=1))"
        },
        en="The mask is ignored: queries attend to padding.",
        zh="没有使用掩码：查询看到了填充。",
    ),
    Mistake(
        "mask-along-queries",
        fails="test_padding",
        edits={"ops.take(mask, seen, axis=1)": "mask[:, :, None]"},
        en="The mask hides queries that are padding: it should hide keys.",
        zh="掩码遮住了填充处的查询：应遮住键。",
    ),
    Mistake(
        "mask-after-softmax",
        fails="test_padding",
        edits={HIDE: "ops.where(inside, scores, -1e9)"},
        en="Padding is hidden after the softmax: the weights no longer sum to 1.",
        zh="填充在 softmax 之后才遮住：权重之和不再是 1。",
    ),
    Mistake(
        "padding-as-zeros",
        fails="test_padding",
        edits={HIDE: "ops.where(inside, ops.where(visible, scores, 0.0), -1e9)"},
        en="The scores of padding are set to 0, but exp(0) = 1: use a very negative number.",
        zh="填充的分数设成了 0，但 exp(0) = 1：应设成绝对值很大的负数。",
    ),
    Mistake(
        "empty-window-uniform",
        fails="test_padding",
        edits={WEIGHTS: f"ops.softmax({HIDE})"},
        en="A query that sees no key gets equal weights for hidden ones: it should get zeros.",
        zh="看不到任何键的查询得到了均匀的权重：应为 0。",
    ),
]
