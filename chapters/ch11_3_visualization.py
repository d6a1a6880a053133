"""
11.3 Visualization: what the model looked at · 可视化：模型看了哪里
===================================================================

Attention weights can be drawn, and that is half of their charm: "animal" and "l'animal" meet in a bright
cell. Here you draw them, watch them form, and then ask the questions that a beautiful picture does not
answer by itself. How often is it right? Where does the rest of the weight go? Does it explain what the
model does?

注意力权重可以画出来，这是它一半的魅力：animal 与 l'animal 在一个亮格里相遇。本节先画图，看它怎样形成，
再问漂亮的图自己答不了的问题：它有多少次是对的？其余的权重去了哪里？它能解释模型的行为吗？
"""

# %%
# A translator to look at · 一个可以看的翻译模型
# ----------------------------------------------
#
# Four rounds over the embedded English–French sentences; 11.4.1 explains the model. While it trains, a
# recorder keeps what it looks at in one sentence.
#
# 在内嵌的英法句对上训练四轮，模型本身在 11.4.1 讲。训练时有个记录器，记下它在一个句子里看了哪里。

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import matplotlib.pyplot as plt
import numpy as np

from keras_attention.data import Pairs, load
from keras_attention.inspection import AttentionRecorder
from keras_attention.metrics import alignment_scores, corpus_bleu, link_cells
from keras_attention.models import PRESETS, Seq2SeqTranslator, train
from keras_attention.models.training import build_vocabularies
from keras_attention.plotting import (
    animate_attention,
    plot_alignment,
    plot_attention,
    plot_difference,
    save_figure,
)

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.3 Visualization")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
figures = parser.parse_args().figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

# %%
corpus, preset = load("toy:en-fr"), PRESETS["toy"]
english, french = build_vocabularies(corpus, **preset["vocabulary"])
SOURCE = "The animal didn't cross the street because it was too tired."
TARGET = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."

model = Seq2SeqTranslator(english, french, **preset["model"])
recorder = AttentionRecorder(
    None, look=lambda model, _: {"weights": model.force([SOURCE], [TARGET])[0].attention[None]}
)
settings = preset["training"] | {"epochs": 4, "validation_size": 100, "verbose": 2}
history = train(model, corpus, callbacks=[recorder], **settings)
print(f"BLEU on 100 validation sentences: {max(history['val_bleu']):.1f}")

# %%
# The heat map · 热力图
# ---------------------
#
# ``plot_attention`` takes the weights, the source words, the target words and a title. Each **row** is a
# target word and sums to 1; each **column** is a source word. Read a row: "at this word, it
# looked there". A column need not sum to anything: a word may be looked at often or never.
#
# ``plot_attention`` 的参数是权重、源词、目标词和标题。每一**行**是一个目标词，和为 1；
# 每一**列**是一个源词。按行读：“到这个词时，它看了那里”。列的和没有意义：一个词可能常被看，
# 也可能从不被看。

forced = model.force([SOURCE], [TARGET])[0]
print(f"weights {forced.attention.shape}: {len(forced.tokens)} rows, {len(forced.source_tokens)} columns")
print("row sums:", forced.attention.sum(axis=1).round(3))
ax = plot_attention(forced.attention, forced.source_tokens, forced.tokens, "English to French", cmap="Blues")
ax.set(xlabel="Source Tokens", ylabel="Target Tokens")
save_figure(ax, figures / "ch11_3_heat_map.png")

# %%
# How it forms · 它怎样形成
# -------------------------
#
# Before training the weights are nearly equal: the model knows nothing about where to look, and nobody
# tells it. It only learns to write the right word, and looking at the right place helps. The animation, a
# file among the figures, has a frame for each round; the figure below compares the first with the last.
#
# 训练之前权重几乎相等：模型不知道该看哪里，也没有人告诉它。它只学写出正确的词，而看对地方有帮助。
# 动画（图片文件夹里的 GIF 文件）每轮一帧；下面的图比较第一帧和最后一帧。

frames = recorder.frames()
animate_attention(
    frames, forced.source_tokens, forced.tokens, figures / "ch11_3_training.gif", recorder.titles
)
entropy = -(frames * np.log(frames + 1e-12)).sum(axis=-1).mean(axis=-1)
for title, value in zip(recorder.titles, entropy, strict=True):
    print(f"{title}: entropy of a row {value:.2f} nats, {np.exp(value):4.1f} words looked at")

ax = plot_difference(
    frames[0], frames[-1], forced.source_tokens, forced.tokens, "What training changed", annotate=False
)
save_figure(ax, figures / "ch11_3_difference.png")

# %%
# Is it right? · 它对吗？
# -----------------------
#
# A bright cell proves nothing; a person who says which words belong together does. Our corpus knows: the
# gold alignment is outlined. For all test sentences ``alignment_scores`` counts how often the word that is
# looked at most is a gold one: with A the predicted links and G the gold ones,
#
# .. math::
#    \mathrm{AER} = 1 - \frac{2\,|A \cap G|}{|A| + |G|}
#
# 亮格什么也证明不了，要有人说出哪些词互相对应。我们的语料知道：描边的就是标准词对齐。对全部测试句，
# ``alignment_scores`` 数一数看得最多的词有多少次正是标准的词；A 是预测的连线，G 是标准的连线。

test = corpus.test
read = model.force(test.source, test.target)
source_spans = [english.spans(text) for text in test.source]
target_spans = [french.spans(text) for text in test.target]
gold = [link_cells(s, t, k) for s, t, k in zip(source_spans, target_spans, test.links, strict=True)]


def aligned(maps):
    found = alignment_scores(maps, source_spans, target_spans, test.links)
    return f"accuracy {found.accuracy:.2f}, error rate {found.error_rate:.2f}"


print("trained model:     ", aligned([t.attention for t in read]))
print("weights at random: ", aligned([rng.dirichlet(np.ones(g.shape[1]), g.shape[0]) for g in gold]))
print("the diagonal:      ", aligned([np.eye(*g.shape) + 1e-9 for g in gold]))

i = test.source.index(SOURCE)
ax = plot_alignment(read[i].attention, read[i].source_tokens, read[i].tokens, gold[i], cmap="Blues")
save_figure(ax, figures / "ch11_3_alignment.png")

# %%
# Compare with the simple answers, always: on sentences whose order is nearly the same, the diagonal is no
# bad guess, and a model must beat it.
#
# 永远要和简单的答案比较：两种语言词序接近时，直接猜对角线就不差，模型必须胜过它。

# %%
# The noise · 噪声
# ----------------
#
# Some weight goes to words that have nothing to do with the one being written, says the gold alignment. How
# much? Which words write with it, and which words receive it?
#
# 按标准词对齐，有些权重落在毫不相关的词上。有多少？写哪些词时最多？落在哪些词上最多？

by_target, by_source = {}, {}
for translation, cells in zip(read, gold, strict=True):
    linked = cells.any(axis=1)  # (Tq,)
    stray = np.where(cells, 0, translation.attention)  # (Tq, Tk)
    for word, weight in zip(np.array(translation.tokens)[linked], stray[linked].sum(axis=1), strict=True):
        by_target.setdefault(str(word), []).append(weight)
    for word, weight in zip(translation.source_tokens, stray[linked].sum(axis=0), strict=True):
        by_source.setdefault(word, []).append(weight)

total = sum(map(sum, by_target.values()))
print(f"{total / sum(map(len, by_target.values())):.0%} of all weight lies outside the gold alignment.")
often = {word: np.mean(weights) for word, weights in by_target.items() if len(weights) >= 40}
ranked = sorted(often, key=often.get)
print("most of it when writing: ", ", ".join(f"{word} {often[word]:.0%}" for word in ranked[:-9:-1]))
print("least of it when writing:", ", ".join(f"{word} {often[word]:.0%}" for word in ranked[:8]))
received = sorted(by_source, key=lambda word: -sum(by_source[word]))[:8]
print("received by:             ", ", ".join(f"{w} {sum(by_source[w]) / total:.0%}" for w in received))

# %%
# Not all of it is error. To write a French article or pronoun the model needs the gender of a noun
# elsewhere, so it looks there ("la" at "street" in the map above), and gold says that this is wrong. And
# weights must sum to 1 also where there is nothing to look for. A prior (a window, a penalty for entropy,
# gold links in the loss) can tighten the map; whether the translation gains by it is another question.
#
# 噪声不全是错误。要写法语的冠词或代词，模型需要别处某个名词的性，所以看那里（上图里 la 看着 street），
# 而按标准词对齐，这是错的。而且即使没什么可看，权重之和也必须是 1。先验约束（窗口、熵的惩罚、
# 把标准词对齐加进损失）可以让图更清楚，但译文是否因此更好，是另一个问题。

# %%
# Little data · 数据很少的时候
# ----------------------------
#
# The same network and the same number of steps, but 300 sentences read twenty times in the place of 6000,
# as for a language that few have written down. The training loss falls nearly as low; new sentences it
# translates badly, and it looks at worse places.
#
# 同样的网络，同样多的训练步数，但不是 6000 句，而是 300 句读二十遍，就像一种很少有人写下来的语言。
# 训练损失降得差不多低，新句子却译得差，看的地方也更不准。

some = corpus.train[:300]
scarce = replace(corpus, train=Pairs(20 * some.source, 20 * some.target))
few = Seq2SeqTranslator(english, french, **preset["model"])
few_history = train(few, scarce, **settings | {"verbose": 0})

for name, net, log in (("6000 pairs", model, history), ("300 pairs", few, few_history)):
    texts = [translation.text for translation in net.translate(test.source)]
    maps = [translation.attention for translation in net.force(test.source, test.target)]
    bleu = corpus_bleu(texts, test.target).score
    print(f"{name:10} training loss {log['loss'][-1]:.2f}   test BLEU {bleu:4.1f}   {aligned(maps)}")

# %%
# Do the weights explain? · 权重是解释吗？
# ----------------------------------------
#
# If they do, then the word looked at most must matter most. So we replace it by another English word and
# see how far the probability of the French word falls; and do the same with a word chosen at random.
#
# 如果是，那么看得最多的词应当最要紧。把它换成另一个英语词，看那个法语词的概率掉多少；再随机换一个词，
# 比一比。

source = keras.utils.pad_sequences(english.encode_batch(test.source), padding="post")
target = french.encode_batch(test.target)
before = keras.utils.pad_sequences([[french.START, *ids] for ids in target], padding="post")
place = np.array([rng.integers(len(ids)) for ids in target])  # one target word of each sentence
everyone = np.arange(len(target))
wanted = np.array([ids[t] for ids, t in zip(target, place, strict=True)])


def log_probability(source):
    logits = model((source, before))  # (N, Tq, V)
    return keras.ops.convert_to_numpy(keras.ops.log_softmax(logits, axis=-1))[everyone, place, wanted]


# %%
attended = np.array([t.attention[i].argmax() for t, i in zip(read, place, strict=True)])
at_random = np.array([rng.integers(len(t.source_tokens)) for t in read])
whole = log_probability(source)
drops = {}
for name, position in (("attended most", attended), ("at random", at_random)):
    changed = source.copy()
    changed[everyone, position] = rng.integers(4, len(english), len(target))
    drops[name] = whole - log_probability(changed)
    print(f"{name:14} log-probability falls by {drops[name].mean():.2f} nats on average")
differ = attended != at_random
worse = (drops["at random"] > drops["attended most"])[differ].mean()
print(f"In {worse:.0%} of the sentences the word at random mattered more than the one attended most.")

# %%
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, values in drops.items():
    ax.plot(np.sort(values)[::-1], label=name)
ax.set(xlabel="test sentences, sorted", ylabel="fall of log p (nats)", title="Replace one source word")
ax.set_yscale("symlog", linthresh=0.1)
ax.legend()
figure.savefig(figures / "ch11_3_erasure.png", dpi=120)

# %%
# So the weights point to what matters, on average and not always. The encoder's states have read their
# neighbours, so that the state of one word may carry another. A heat map is a good question, not a proof.
#
# 所以平均来说，权重指向要紧的词，但并不总是。编码器的状态读过左右的词，一个词的状态里可能带着另一个词。
# 热力图是一个好问题，不是证明。

# %%
# What colours hide · 颜色会骗人
# ------------------------------
#
# The same weights twice, before training. On the left the colours span 0 to 1, on the right each map's own
# range, as many programs do by default: now noise looks like knowledge. When you compare maps, share one
# scale.
#
# 同样是训练前的权重，画两次。左边颜色从 0 到 1；右边用图自己的范围，许多程序默认如此，
# 于是噪声看起来像知识。比较几张图时，要用同一个色标。

figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="compressed")
for ax, vmax in zip(axes, (1.0, float(frames[0].max())), strict=True):
    plot_attention(
        frames[0],
        forced.source_tokens,
        forced.tokens,
        f"white to blue: 0 to {vmax:.2f}",
        ax,
        cmap="Blues",
        vmax=vmax,
        annotate=False,
    )
save_figure(figure, figures / "ch11_3_colours.png")

# %%
# Chinese on the axes · 坐标轴上的中文
# ------------------------------------
#
# ``plot_attention`` finds a font with Chinese characters by itself. These are no weights but the gold
# alignment of the two sentences, each row shared equally: what a perfect aligner
# would look at. No English word belongs to 把, so its row is empty.
#
# ``plot_attention`` 会自己找到有汉字的字体。这里画的不是模型的权重，而是两个句子的标准词对齐，每行平分：
# 完美的对齐模型就该这样看。没有英语词对应“把”，所以那一行是空的。

chinese = load("toy:en-zh")
i = chinese.test.source.index("He gave the book to her.")
words, characters = build_vocabularies(chinese, "word")
cells = link_cells(
    words.spans(chinese.test.source[i]), characters.spans(chinese.test.target[i]), chinese.test.links[i]
)
ideal = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
ax = plot_attention(
    ideal, words.tokens(chinese.test.source[i]), characters.tokens(chinese.test.target[i]), "他把书给了她。"
)
save_figure(ax, figures / "ch11_3_chinese.png")

# %%
# What can go wrong · 可能出的错
# ------------------------------
#
# Rows and columns exchanged, one label too many (START, END), dropout left on, a mask drawn like a zero.
# ``plot_attention`` refuses what does not fit and warns of rows that do not sum to 1, which alone betrays a
# transposed square.
#
# 行列颠倒、多一个标签（START、END）、忘了关 dropout、把掩码画得像零。
# ``plot_attention`` 拒绝对不上的输入，行和不为 1 时给出警告；方阵颠倒了行列，只有行和能看出来。

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    plt.close(plot_attention(forced.attention.T, forced.source_tokens, forced.tokens).figure)
print("transposed:", said[0].message)
try:
    plot_attention(forced.attention, forced.source_tokens, ["START", *forced.tokens])
except ValueError as error:
    print("START too many:", error)

# %%
# Try next · 接下来试一试
# -----------------------
#
# - Draw a sentence of your own: ``model.translate(["The boy lost his key."])[0].attention``.
# - Where does the noise go for the target word "." or "est-ce"?
# - ``keras-attention explore MODEL.keras SENTENCE --out page.html`` makes a page to click through.
#
# Then write it yourself: exercise **ex06** (plotting weights), ``keras-attention exercise check ex06``.
# Next: 11.4.1, the translator.
#
# 试一试：画一个你自己的句子：``model.translate(["The boy lost his key."])[0].attention``。
# 目标词是句号或 est-ce 时，噪声去了哪里？
# ``keras-attention explore MODEL.keras SENTENCE --out page.html`` 生成可以点击的网页。
#
# 然后自己写一遍：练习 **ex06**（画注意力权重），用 ``keras-attention exercise check ex06`` 检查。
# 下一节 11.4.1：翻译模型。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
