"""
11.4.2 Text classification with attention · 用注意力做文本分类
==============================================================

Is a review good or bad? A BiLSTM reads it, attention picks the words that decide, and you see which. You
train the network and what it has to beat, and then ask the question that is often left out: do the weights
explain anything?

一条评论是好评还是差评？BiLSTM 读评论，注意力挑出起决定作用的词，并且能看到是哪些词。本节训练这个网络和它
要胜过的基线，再问一个常被略过的问题：权重真的能解释分类吗？
"""

# %%
# One vector for a whole text · 用一个向量表示整段文本
# --------------------------------------------------------
#
# A classifier needs one vector :math:`s` of the whole text, whatever its length. The states of a BiLSTM are
# :math:`h_1 \ldots h_n`. The last state has read everything, but what was read first has faded; the mean
# :math:`\frac1n\sum_i h_i` gives "the" as much say as "terrible". ``AttentionPooling`` gives every word a
# share of its own:
#
# .. math::
#    \alpha_i = \mathrm{softmax}_i\, v^\top \tanh(W h_i + b) \qquad s = \sum_i \alpha_i h_i
#    \qquad p = \mathrm{softmax}(W_o s + b_o)
#
# 不管文本多长，分类器都要用一个向量 :math:`s` 来表示它。BiLSTM 的状态是 :math:`h_1 \ldots h_n`。
# 只取最后的状态，开头读的内容已经淡忘；取平均，“这”和“糟糕”的分量一样。``AttentionPooling``
# 让每个词得到自己的权重 :math:`\alpha_i`，再做加权和。

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import matplotlib.pyplot as plt
import numpy as np
from keras import ops

from keras_attention import AttentionPooling
from keras_attention.data import Vocabulary, load_texts
from keras_attention.metrics import erasure, rationale_precision
from keras_attention.models import (
    CLASSIFIER_PRESETS,
    AttentionClassifier,
    evaluate_classifier,
    train_classifier,
)
from keras_attention.models.baselines import bag_of_words_accuracy, majority_accuracy
from keras_attention.models.classifier_training import class_names
from keras_attention.plotting import plot_highlight, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.4.2 Text classification with attention")
parser.add_argument("--data", default="toy:reviews-en", help="toy:reviews-en, -zh, a TSV or CSV file")
parser.add_argument("--epochs", type=int, help="how often each network reads the data")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
arguments = parser.parse_args()
arguments.figures.mkdir(parents=True, exist_ok=True)

# %%
# Five states of width 6, two of them padding. The weights of the three words sum to 1, and whatever stands in
# the padding changes nothing.
#
# 五个状态，宽度为 6，其中两个是填充。三个词的权重之和为 1；填充里放什么都不影响结果。

rng = np.random.default_rng(0)
h = rng.normal(size=(1, 5, 6)).astype("float32")  # (B, T, D)
mask = np.array([[True, True, True, False, False]])  # (B, T)
pooling = AttentionPooling(units=4)
s, weights = pooling(h, mask=mask, return_attention_scores=True)  # (B, D), (B, T)
print("weights", ops.convert_to_numpy(weights)[0].round(3), "sum", float(ops.sum(weights)))

h[:, 3:] = 1e6
other = pooling(h, mask=mask)
print("s, its shape and what the padding changes:", s.shape, float(ops.max(ops.abs(s - other))))

# %%
# Reviews · 评论
# --------------
#
# The reviews come from a small grammar of ours. It knows which words decide (the gold rationale), and it sets
# traps: negation ("not bad"), contrast ("good …, but …"), other people's opinions, and the weather.
#
# 评论由我们自己的小语法生成，语法知道是哪些词起决定作用（标准的判断依据，下称标准依据）。它还设了陷阱：
# 否定（“不差”）、转折（“……好，但是……”）、别人的看法，还有天气。

corpus = load_texts(arguments.data)
labels = class_names(corpus.train.labels)
toy = arguments.data.startswith("toy:")
preset = CLASSIFIER_PRESETS["toy" if toy else "sentences"]
vocabulary = Vocabulary.build(
    corpus.train.texts, lexicon=corpus.lexicon, lowercase=True, **preset["vocabulary"]
)
print(f"\n{len(corpus.train)} texts to train on, {len(corpus.test)} to test on, for example")
for text, label in list(zip(corpus.test.texts, corpus.test.labels, strict=True))[:4]:
    print(f"  {label:10} {text}")

# %%
# The network · 网络
# ------------------
#
# Shapes first: 32 texts of 50 tokens go in, one score for each class comes out.
#
# 先看形状：输入 32 段文本，每段 50 个词；输出每个类别一个分数。

network = AttentionClassifier(vocabulary, labels, embedding_dim=128, units=256, residual=False)
ids = rng.integers(Vocabulary.END + 1, len(vocabulary), (32, 50))  # (B, T)
print(f"\nids {ids.shape} → scores {tuple(network(ids).shape)}")

# %%
# A model that knows nothing gives each of the C classes the probability 1/C: its loss must be about ln C.
#
# 什么都没学过的模型给每个类别的概率都是 1/C，所以最初的损失应当约等于 ln C。

p, _ = network.predict_ids(network.encode(corpus.test.texts[:200]))
gold = network.label_ids(corpus.test.labels[:200])
loss = -np.log(p[np.arange(len(gold)), gold]).mean()
print(f"before training: loss {loss:.3f}, ln C = {math.log(len(labels)):.3f}")

# %%
# Four networks · 四个网络
# ------------------------
#
# The same data, size and epochs; only the pooling differs. The fourth one is attention again, with two
# changes that let a state speak of its own word first. A BiLSTM's state knows its neighbours so well that the
# one beside "terrible" tells as much as "terrible" itself. So (1) the word's embedding is added to its state,
# and (2) in training some words are hidden from the BiLSTM, but not from that sum.
#
# 数据、大小、训练轮数都相同，只有池化方式不同。第四个网络也用注意力，但有两处改动，让状态先说自己的词。
# BiLSTM 的状态很了解邻居，“糟糕”旁边的状态和“糟糕”本身知道的一样多。所以（1）把词向量加到状态上，
# （2）训练时对 BiLSTM 隐去一些词，但相加时不隐去。

plain = {"residual": False, "context_dropout": 0.0}
networks = {
    "last state": {"pooling": "last", **plain},
    "mean": {"pooling": "mean", **plain},
    "attention": plain,
    "attention, own word first": {},
}
settings = preset["training"] | ({"epochs": 6} if toy else {})
if arguments.epochs:
    settings["epochs"] = arguments.epochs
models, histories, results, predictions = {}, {}, {}, {}
for name, options in networks.items():
    print(f"\n{name}")
    models[name] = AttentionClassifier(vocabulary, labels, **{**preset["model"], **options})
    histories[name] = train_classifier(models[name], corpus, verbose=2, **settings)
    results[name], predictions[name] = evaluate_classifier(models[name], corpus.test)

# %%
# Is it better? · 更好吗？
# ------------------------
#
# Never report an accuracy alone. Beside it belong the commonest class, and logistic regression on a bag of
# words, which knows nothing of word order, and takes a second. On long reviews it often wins.
#
# 不要只报告一个准确率。旁边要放最常见类别的准确率，和词袋上的逻辑回归：它不懂词序，只要一秒钟。
# 在长评论上，它常常赢。

accuracy = {
    "commonest class": majority_accuracy(corpus.train, corpus.test),
    "bag of words": bag_of_words_accuracy(corpus.train, corpus.test, vocabulary),
    "words and pairs of words": bag_of_words_accuracy(corpus.train, corpus.test, vocabulary, longest=2),
} | {name: result["accuracy"] for name, result in results.items()}
error = 1.96 * math.sqrt(0.25 / len(corpus.test))
print(f"\naccuracy on the test texts (by chance up to ± {error:.3f})")
for name, value in accuracy.items():
    print(f"  {name:26} {value:.3f}")

figure, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
for (name, history), marker in zip(histories.items(), "v^os", strict=True):
    ax.plot(range(1, len(history["val_accuracy"]) + 1), history["val_accuracy"], marker=marker, label=name)
for name, style in (("bag of words", ":"), ("words and pairs of words", "--")):
    ax.axhline(accuracy[name], color="0.35", linestyle=style, label=name)
ax.set(xlabel="epoch", ylabel="accuracy", title="Accuracy on the validation texts")
ax.legend(fontsize="small")
figure.savefig(arguments.figures / "ch11_4_2_accuracy.png", dpi=120)

# %%
# On the toy reviews all four networks beat the bags of words, which cannot read "not bad" or "good …, but …".
# Among themselves they differ by little: 15 words are too few for a last state to forget. Attention learns
# sooner; and it can show what it looked at.
#
# 在自带的评论上，四个网络都胜过词袋，词袋读不懂“不差”和“好……但是……”。网络之间差别很小：
# 15 个词太少，最后的状态来不及忘。注意力学得快一些，而且能展示看了哪里。

# %%
# Highlighted words · 高亮的词
# ----------------------------
#
# The darker, the more weight; underlined is what decides according to the grammar. The number below a word is
# its weight. A negation, a contrast and the weather: is the weight where a person would put it?
#
# 颜色越深权重越大，数字就是权重；下划线是语法认定的依据。看否定、转折和天气三个例子：
# 权重落在人会选的词上吗？


def highlight(prediction, gold, name):
    """One text as a figure; gold are character ranges."""
    marked = [any(a < end and start < b for a, b in gold) for start, end in prediction.spans]
    title = f"{prediction.label} ({prediction.probability:.2f})"
    ax = plot_highlight(prediction.tokens, prediction.weights, title, gold=marked)
    save_figure(ax, arguments.figures / f"ch11_4_2_{name}.png")
    plt.close(ax.figure)


def find(texts, words, default=0):
    """The number of the shortest text with one of these words."""
    found = [i for i, text in enumerate(texts) if any(word in text for word in words)]
    return min(found, key=lambda i: len(texts[i]), default=default)


best = "attention, own word first"
gold = corpus.test.rationales or [[] for _ in corpus.test.texts]
wanted = {"negation": (" not ", "不"), "contrast": (", but ", "但"), "weather": ("weather", "天气")}
for number, (name, words) in enumerate(wanted.items()):
    i = find(corpus.test.texts, words, number)
    highlight(predictions[best][i], gold[i], name)

# %%
# Do the weights explain? · 权重能解释吗？
# ----------------------------------------
#
# A weight says how much of :math:`s` comes from a state, not why the class was chosen. Whether it explains
# can be measured, in four ways:
#
# - ``rationale_precision``: the share of the weights that lies on the gold words; equal weights are the
#   control.
# - ``erasure``: take away the k most attended words. How far does the probability fall? Random words are the
#   control.
# - ``agreement``: Kendall's τ of the weights with what each word's absence changes (leave one out), and with
#   gradient × input. 0 is chance, 1 the same order.
# - ``shuffled_weights``: deal the weights out anew. If the class stays, they did not matter (Jain and Wallace
#   2019; Wiegreffe and Pinter 2019 call this a control, not a proof).
#
# 权重说的是 :math:`s` 有多少来自某个状态，没有说为什么选这个类别。能不能解释，可以用四种方法测量：
# ``rationale_precision`` 是落在标准依据上的权重所占的比例，与各词权重相等时比较；
# ``erasure`` 删去权重最大的 k 个词，看概率降多少，与随机删词比较；
# ``agreement`` 是权重与“删一个词的影响”、“梯度 × 输入”的 Kendall τ，0 是碰巧，1 是次序相同；
# ``shuffled_weights`` 把权重打乱，如果类别不变，权重就不重要
# （Jain 和 Wallace，2019；Wiegreffe 和 Pinter 2019 年指出，这是对照，不是证明）。


def row(text, values, form="{:.2f}"):
    print(f"  {text:44}" + "".join(f"{form.format(value):>12}" for value in values))


attending = {"attention": results["attention"], "own word": results[best]}
print(f"\n{'':46}" + "".join(f"{name:>12}" for name in attending))
if corpus.test.rationales:
    row("weight on the gold words", [r["rationale_precision"] for r in attending.values()])
    row("  with equal weights", [r["rationale_precision_uniform"] for r in attending.values()])
for text, key in {
    "fall without the 3 most attended words": "erasure_attended",
    "  without 3 words at random": "erasure_random",
    "Kendall's τ with leave one out": "agreement_leave_one_out",
    "Kendall's τ with |gradient × input|": "agreement_gradient",
    "texts that shuffled weights give another class": "shuffled_changed",
}.items():
    row(text, [r["faithfulness"][key] for r in attending.values()])

# %%
# The same as a figure. In the middle, words go one by one, the most attended first: attention that explains
# makes the probability fall early, and faster than chance.
#
# 同样的结果画成图。中间一幅逐个删词，从权重最大的开始：能解释的注意力会让概率早早下降，比随机删词快。

sample = corpus.test[:200]
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
steps = range(1, 6)
for name, style in (("attention", "o--"), (best, "s-")):
    ids = models[name].encode(sample.texts)
    given = [prediction.weights for prediction in predictions[name][:200]]
    falls = [erasure(lambda x, m=models[name]: m.predict_ids(x)[0], ids, given, k) for k in steps]
    middle.plot(steps, [fall.attended for fall in falls], style, label=name)
middle.plot(steps, [fall.random for fall in falls], "^:", color="0.35", label="random words")
middle.set(xlabel="words taken away", ylabel="fall of the probability", ylim=(0, None), title="Erasure")
middle.legend(fontsize="small")

share = {}
if sample.rationales:
    importance = [np.abs(x) / np.abs(x).sum() for x in models[best].gradient_times_input(ids)]
    spans = [prediction.spans for prediction in predictions[best][:200]]
    share["gradient × input"] = rationale_precision(importance, spans, sample.rationales).precision
    for name in (best, "attention"):
        share[name] = results[name]["rationale_precision"]
    share["equal weights"] = results[best]["rationale_precision_uniform"]
left.barh(list(share), list(share.values()), color=["0.6", "tab:orange", "tab:blue", "0.6"][: len(share)])
left.set(xlim=(0, 1), title="Weight on the gold words")

measures = {
    "τ with\nleave one out": "agreement_leave_one_out",
    "τ with\ngradient": "agreement_gradient",
    "shuffled:\nother class": "shuffled_changed",
}
for offset, name in ((-0.2, "attention"), (0.2, best)):
    values = [results[name]["faithfulness"][key] for key in measures.values()]
    right.bar(np.arange(3) + offset, values, 0.36, label=name)
right.set_xticks(range(3), list(measures), fontsize="small")
right.axhline(0, color="0.35", linewidth=0.8)
right.set(title="Agreement, shuffling")
figure.savefig(arguments.figures / "ch11_4_2_do_weights_explain.png", dpi=120)

# %%
# So: on these reviews nearly all weight of the fourth network lies on the words that decide, and without them
# the probability falls several times as far as without words at random. The plain network classifies as well,
# but more of its weight lies beside those words. And in both, the order of *all* words agrees little with
# what their absence changes, since most words change next to nothing. A highlighted word is a hint; measure
# before you call it an explanation. On reviews that people wrote, measure again: ``--data FILE``.
#
# 结论：在这些评论上，第四个网络的权重几乎都在起决定作用的词上；删掉它们，概率下降的幅度是随机删词的好几倍。
# 普通网络分类同样好，却有更多权重落在旁边的词上。两个网络里，**所有**词的次序与“删掉它会怎样”都关系不大，
# 因为多数词几乎没有影响。高亮的词是线索，称为解释之前，先测量；换成真实评论（``--data``），要重新测量。

# %%
# What can go wrong · 可能出的错
# ------------------------------
#
# **Padding that gets a weight.** Without a mask, the shorter the text, the more weight goes to nothing, and a
# text's class depends on what else is in its batch:
#
# **填充也得到权重。** 没有掩码时，文本越短，流失的权重越多，结果还取决于同一批里的其他文本：

short = models[best].embedding(np.array(models[best].encode([min(corpus.test.texts, key=len)])))  # (1, T, E)
hidden = models[best].annotate(short, np.ones(short.shape[:2], bool))  # (1, T, D)
padded = np.pad(hidden, ((0, 0), (0, 40), (0, 0)))
mask = np.arange(padded.shape[1])[None] < hidden.shape[1]
for name, given in (("with the mask", mask), ("without", None)):
    _, weights = models[best].attend(padded, mask=given, return_attention_scores=True)
    print(f"weight on 40 tokens of padding, {name}: {float(ops.sum(weights[:, hidden.shape[1] :])):.3f}")

# %%
# Chinese · 中文
# --------------
#
# The same program; only the words are cut by a lexicon, since Chinese writes no spaces.
#
# 同一个程序，只是按词典切词，因为中文词与词之间没有空格。

if arguments.data == "toy:reviews-en":
    chinese = load_texts("toy:reviews-zh")
    words = Vocabulary.build(chinese.train.texts, lexicon=chinese.lexicon)
    model = AttentionClassifier(words, class_names(chinese.train.labels), **preset["model"])
    train_classifier(model, chinese, verbose=2, **settings)
    result, found = evaluate_classifier(model, chinese.test, explain_tokens=0)
    print(f"accuracy {result['accuracy']:.3f}, weight on the gold words {result['rationale_precision']:.2f}")
    i = find(chinese.test.texts, wanted["contrast"])
    highlight(found[i], chinese.test.rationales[i], "chinese")

# %%
# Try next · 接下来试一试
# -----------------------
#
# - ``heads=4``: what does each head look at (``prediction.head_weights``)?
# - ``context_dropout=0`` with ``residual=True``: which of the two changes moves the weights to the word?
# - ``pooling="max"``, and ``--data FILE`` with reviews of your own. Is it better than the bag of words?
# - **Exercise**: write the pooling yourself, mask included: ``keras-attention exercise check ex10``.
#
# ``heads=4`` 时每个头各看什么（``prediction.head_weights``）？设 ``context_dropout=0``、``residual=True``：
# 两处改动中，是哪一处把权重移到了词上？换成 ``pooling="max"``，再用 ``--data`` 换成你自己的评论：
# 比词袋好吗？**练习** ex10：自己写注意力池化，包括掩码，用 ``keras-attention exercise check ex10`` 检查。

print(f"Figures are in {arguments.figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
