"""Known mistakes in ex08."""

from keras_attention.course.bank import Mistake

WHILE = "while tokens[-1] != end and len(tokens) <= limit:"
ASK = "scores = next_scores(tokens)"
ADD = "score += float(scores[tokens[-1]])"
GREEDY = "return tokens[1:], score"
FINISHED = "grown.append((tokens, score))"
GROWN = "grown += [([*tokens, v], score + float(s)) for v, s in enumerate(next_scores(tokens))]"
KEEP = "return sorted(grown, key=lambda beam: beam[1], reverse=True)[:width]"
LOOP = "for _ in range(limit):"
STEP = "beams = grow(beams, next_scores, end, width)"
SCORED = "scored = [(score / (len(tokens) - 1) ** alpha, tokens[1:]) for tokens, score in beams]"
BEST = "score, tokens = max(scored)"

MISTAKES = [
    Mistake(
        "greedy-goes-on-after-end",
        fails="test_greedy",
        edits={WHILE: "while len(tokens) <= limit:"},
        en="Your greedy search goes on after END: stop once END has been taken.",
        zh="贪心搜索在 END 之后还继续：取到 END 就应停下。",
    ),
    Mistake(
        "greedy-without-limit",
        fails="test_greedy",
        edits={WHILE: "while tokens[-1] != end:"},
        en="Your greedy search does not stop at the limit.",
        zh="贪心搜索到了上限没有停下。",
    ),
    Mistake(
        "greedy-limit-counts-start",
        fails="test_greedy",
        edits={WHILE: WHILE.replace("<=", "<")},
        en="Your greedy search stops one token too early: START does not count towards the limit.",
        zh="贪心搜索早停了一个词：START 不计入上限。",
    ),
    Mistake(
        "greedy-with-start",
        fails="test_greedy",
        edits={GREEDY: "return tokens, score"},
        en="START is among the tokens that greedy returns: leave it out.",
        zh="greedy 返回的词里有 START：应去掉。",
    ),
    Mistake(
        "greedy-without-end",
        fails="test_greedy",
        edits={GREEDY: "return [token for token in tokens[1:] if token != end], score"},
        en="END is missing from the tokens that greedy returns: keep it where it was taken.",
        zh="greedy 返回的词里少了 END：取到了就应保留。",
    ),
    Mistake(
        "greedy-end-not-scored",
        fails="test_greedy",
        edits={ADD: "score += float(scores[tokens[-1]]) if tokens[-1] != end else 0.0"},
        en="The score of END is missing from log p: END is a token like the others.",
        zh="log p 里少了 END 的分数：END 也是一个词。",
    ),
    Mistake(
        "greedy-last-score",
        fails="test_greedy",
        edits={ADD: ADD.replace("+=", "=")},
        en="greedy returns the score of the last token: add up those of all tokens.",
        zh="greedy 返回的是最后一个词的分数：应把所有词的分数加起来。",
    ),
    Mistake(
        "greedy-sum-of-probabilities",
        fails="test_greedy",
        edits={ADD: "score += float(np.exp(scores[tokens[-1]]))"},
        en="greedy adds probabilities: it is their logarithms that add up.",
        zh="greedy 把概率相加了：能相加的是对数概率。",
    ),
    Mistake(
        "greedy-per-token",
        fails="test_greedy",
        edits={GREEDY: "return tokens[1:], score / (len(tokens) - 1)"},
        en="greedy divides log p by the length: it should give log p itself.",
        zh="greedy 把 log p 除以了长度：应直接返回 log p。",
    ),
    Mistake(
        "greedy-asks-with-last-token",
        fails="test_greedy",
        edits={ASK: "scores = next_scores(tokens[-1:])"},
        en="greedy gives the model the last token only: give it the whole beginning.",
        zh="greedy 只把最后一个词交给模型：应交给它整个开头。",
    ),
    Mistake(
        "greedy-asks-once",
        fails="test_greedy",
        edits={ASK: "scores = next_scores([start])"},
        en="greedy asks the model about START at every step: what has been written must go in.",
        zh="greedy 每一步都只问 START 之后是什么：应把已写出的词交给模型。",
    ),
    Mistake(
        "greedy-least-probable",
        fails="test_greedy",
        edits={"np.argmax(scores)": "np.argmin(scores)"},
        en="greedy takes the least probable token: the greatest log-probability is the best.",
        zh="greedy 取了概率最小的词：对数概率最大的才最好。",
    ),
    Mistake(
        "each-beam-for-itself",
        fails="test_grow",
        edits={
            GROWN: GROWN.replace("+= [", "+= [max(")
            .replace("(tokens))]", "(tokens))), key=lambda b: b[1])]")
            .replace("max(([*", "max([([*")
            .replace("next_scores(tokens))),", "next_scores(tokens))],")
        },
        en="Each beam takes its own best token: choose among the continuations of all beams together.",
        zh="每个 beam 只取自己最好的词：应在所有 beam 的扩展中一起选。",
    ),
    Mistake(
        "scores-not-added",
        fails="test_grow",
        edits={GROWN: GROWN.replace("score + float(s)", "float(s)")},
        en="A beam has the score of its last token: add it to the log p of the beam.",
        zh="beam 只有最后一个词的分数：应加上 beam 原来的 log p。",
    ),
    Mistake(
        "scores-multiplied",
        fails="test_grow",
        edits={GROWN: GROWN.replace("score + float(s)", "score * float(s)")},
        en="log-probabilities are multiplied: probabilities multiply, their logarithms add up.",
        zh="把对数概率相乘了：概率相乘，对数概率应相加。",
    ),
    Mistake(
        "probabilities-added",
        fails="test_grow",
        edits={GROWN: GROWN.replace("score + float(s)", "score + float(np.exp(s))")},
        en="grow adds probabilities: it is their logarithms that add up.",
        zh="grow 把概率相加了：能相加的是对数概率。",
    ),
    Mistake(
        "wrong-parents",
        fails="test_grow",
        edits={
            KEEP: "grown = sorted(grown, key=lambda beam: beam[1], reverse=True)[:width]\n"
            "    return [([*beams[i % len(beams)][0], t[-1]], s) for i, (t, s) in enumerate(grown)]"
        },
        en="The tokens continue the wrong beams: each belongs to its parent, the beam it was scored with.",
        zh="词选对了，却接到了别的 beam 后面：每个词应接在算出它分数的那个 beam 后面。",
    ),
    Mistake(
        "grow-asks-with-last-token",
        fails="test_grow",
        edits={GROWN: GROWN.replace("next_scores(tokens)", "next_scores(tokens[-1:])")},
        en="grow gives the model the last token only: give it the whole beginning.",
        zh="grow 只把最后一个词交给模型：应交给它整个开头。",
    ),
    Mistake(
        "worst-kept",
        fails="test_grow",
        edits={KEEP: KEEP.replace("True", "False")},
        en="The beams of the lowest log p are kept: sort from high to low.",
        zh="留下的是 log p 最低的：应从高到低排序。",
    ),
    Mistake(
        "not-sorted",
        fails="test_grow",
        edits={KEEP: "return grown[:width]"},
        en="The first beams are kept, not the best: sort them by log p.",
        zh="留下的是最前面的，而不是最好的：应按 log p 排序。",
    ),
    Mistake(
        "not-cut",
        fails="test_grow",
        edits={KEEP: KEEP.replace("[:width]", "")},
        en="All continuations are kept: keep `width` of them.",
        zh="所有扩展都留下了：只应留下 width 个。",
    ),
    Mistake(
        "width-of-each",
        fails="test_grow",
        edits={
            GROWN: GROWN.replace("+= [", "+= sorted([").replace(
                "(tokens))]", "(tokens))], key=lambda b: b[1], reverse=True)[:width]"
            ),
            KEEP: KEEP.replace("[:width]", ""),
        },
        en="`width` continuations of each beam are kept: keep as many of all together.",
        zh="每个 beam 各留下了 width 个：应一共留下 width 个。",
    ),
    Mistake(
        "finished-grow",
        fails="test_finished_beams",
        edits={"if tokens[-1] == end:": "if False:"},
        en="Finished beams go on growing: after END nothing follows.",
        zh="已结束的 beam 还在变长：END 之后不应再接词。",
    ),
    Mistake(
        "finished-dropped",
        fails="test_finished_beams",
        edits={FINISHED: "pass"},
        en="Finished beams are dropped: they stay among the others.",
        zh="已结束的 beam 被丢掉了：应留在其中一起比较。",
    ),
    Mistake(
        "finished-pay-for-end",
        fails="test_finished_beams",
        edits={FINISHED: "grown.append(([*tokens, end], score + float(next_scores(tokens)[end])))"},
        en="Finished beams take END again, and pay for it: their tokens and score stay as they are.",
        zh="已结束的 beam 反复接 END，还扣分：它的词和分数都应不变。",
    ),
    Mistake(
        "finished-score-falls",
        fails="test_finished_beams",
        edits={FINISHED: "grown.append((tokens, score + float(next_scores(tokens)[end])))"},
        en="The score of finished beams falls on: it must not change after END.",
        zh="已结束的 beam 分数还在下降：END 之后分数不应再变。",
    ),
    Mistake(
        "finished-repeat-end",
        fails="test_finished_beams",
        edits={FINISHED: "grown.append(([*tokens, end], score))"},
        en="Finished beams get one END more at each step: their tokens stay as they are.",
        zh="已结束的 beam 每一步又多一个 END：它的词应不变。",
    ),
    Mistake(
        "finished-lose-score",
        fails="test_finished_beams",
        edits={FINISHED: "grown.append((tokens, 0.0))"},
        en="Finished beams lose their score: it stays what it was when END was taken.",
        zh="已结束的 beam 丢了分数：应保持取到 END 时的分数。",
    ),
    Mistake(
        "finished-set-apart",
        fails="test_finished_beams",
        edits={
            "grown = []": "grown, done = [], []",
            FINISHED: "done.append((tokens, score))",
            KEEP: KEEP.replace("return ", "return done + "),
        },
        en="Finished beams are kept whatever their score: they compete with the others for a place.",
        zh="已结束的 beam 无论分数高低都留下了：应与其他 beam 一起竞争 width 个位置。",
    ),
    Mistake(
        "kept-by-score-per-token",
        fails="test_finished_beams",
        edits={KEEP: KEEP.replace("beam[1],", "beam[1] / (len(beam[0]) - 1),")},
        en="The beams that are kept have the best log p per token: while growing, compare log p itself.",
        zh="留下的是平均每词 log p 最高的：在生长过程中应比较 log p 本身。",
    ),
    Mistake(
        "equals-greedy",
        fails="test_beam_search",
        edits={STEP: STEP.replace("width", "1")},
        en="This equals greedy search: keep `width` beams, and begin with one, since copies stay alike.",
        zh="结果等于贪心搜索：应保留 width 个 beam；并且只从一个 START 开始，多个相同的开头会一直相同。",
    ),
    Mistake(
        "stops-at-the-first-end",
        fails="test_beam_search",
        edits={STEP: f"{STEP}\n        if any(tokens[-1] == end for tokens, _ in beams):\n            break"},
        en="The search stops as soon as one beam has finished: another may still be better.",
        zh="有一个 beam 结束就停止了：别的 beam 可能更好。",
    ),
    Mistake(
        "one-step-less",
        fails="test_beam_search",
        edits={LOOP: "for _ in range(limit - 1):"},
        en="The search does one step less than `limit`: START does not count.",
        zh="搜索比 limit 少一步：START 不计入。",
    ),
    Mistake(
        "one-step-more",
        fails="test_beam_search",
        edits={LOOP: "for _ in range(limit + 1):"},
        en="The search does one step more than `limit`.",
        zh="搜索比 limit 多一步。",
    ),
    Mistake(
        "finished-only",
        fails="test_beam_search",
        edits={
            SCORED: "ended = [beam for beam in beams if beam[0][-1] == end]\n"
            f"    {SCORED.replace('in beams', 'in ended or beams')}"
        },
        en="Only finished beams may win: one that reached the limit may, too.",
        zh="只有已结束的 beam 能胜出：到了上限还没结束的也可以。",
    ),
    Mistake(
        "beam-with-start",
        fails="test_beam_search",
        edits={SCORED: SCORED.replace("tokens[1:]", "tokens")},
        en="START is among the tokens that beam_search returns: leave it out.",
        zh="beam_search 返回的词里有 START：应去掉。",
    ),
    Mistake(
        "beam-without-end",
        fails="test_beam_search",
        edits={BEST: f"{BEST}\n    tokens = [token for token in tokens if token != end]"},
        en="END is missing from the tokens that beam_search returns: keep it where it was taken.",
        zh="beam_search 返回的词里少了 END：取到了就应保留。",
    ),
    Mistake(
        "not-normalised",
        fails="test_length_normalisation",
        edits={SCORED: SCORED.replace("score / (len(tokens) - 1) ** alpha", "score")},
        en="log p is not divided by |y|^α, so short sentences win.",
        zh="log p 没有除以 |y|^α，短句占了便宜。",
    ),
    Mistake(
        "start-counted",
        fails="test_length_normalisation",
        edits={SCORED: SCORED.replace("(len(tokens) - 1)", "len(tokens)")},
        en="|y| counts START: it should not.",
        zh="|y| 把 START 算进去了：不应算。",
    ),
    Mistake(
        "end-not-counted",
        fails="test_length_normalisation",
        edits={SCORED: SCORED.replace("(len(tokens) - 1)", "max(1, len(tokens) - 1 - (tokens[-1] == end))")},
        en="|y| leaves END out: END counts, since it has been paid for.",
        zh="|y| 没有算 END：END 也有分数，应算进去。",
    ),
    Mistake(
        "multiplied-by-length",
        fails="test_length_normalisation",
        edits={SCORED: SCORED.replace("score / ", "score * ")},
        en="log p is multiplied by |y|^α: divide.",
        zh="log p 乘以了 |y|^α：应该除以它。",
    ),
    Mistake(
        "alpha-as-a-factor",
        fails="test_length_normalisation",
        edits={
            SCORED: SCORED.replace(
                "score / (len(tokens) - 1) ** alpha", "score / max(1e-9, (len(tokens) - 1) * alpha)"
            )
        },
        en="|y| is multiplied by α: α is its power.",
        zh="|y| 乘以了 α：α 应是指数。",
    ),
    Mistake(
        "alpha-unused",
        fails="test_length_normalisation",
        edits={SCORED: SCORED.replace(" ** alpha", "")},
        en="log p is divided by |y|, whatever α is: the power is missing.",
        zh="log p 除以了 |y|，没有用 α：少了指数。",
    ),
    Mistake(
        "best-log-p-wins",
        fails="test_length_normalisation",
        edits={BEST: "score, tokens = scored[0]"},
        en="The beam of the best log p wins: compare log p / |y|^α.",
        zh="log p 最高的 beam 胜出了：应比较 log p / |y|^α。",
    ),
    Mistake(
        "score-of-the-winner-not-normalised",
        fails="test_length_normalisation",
        edits={BEST: f"{BEST}\n    score *= len(tokens) ** alpha"},
        en="The right sentence wins, but you return its log p: return log p / |y|^α.",
        zh="胜出的句子对了，但返回的是 log p：应返回 log p / |y|^α。",
    ),
    Mistake(
        "stops-when-the-best-is-finished",
        fails="test_length_normalisation",
        edits={STEP: f"{STEP}\n        if beams[0][0][-1] == end:\n            break"},
        en="The search stops once the best beam is finished: a longer one may still win by log p / |y|^α.",
        zh="最好的 beam 一结束就停止了：更长的 beam 按 log p / |y|^α 仍可能胜出。",
    ),
]
