"""
11.1 The core idea: a weighted sum that focuses · 核心思想：会聚焦的加权和
==========================================================================

"Einstein proposed relativity; he is a great physicist." Who proposed relativity? You answered without
weighing all words alike. Attention does the same with numbers. In seconds you do it by hand, step by step,
see why the formula has a square root in it, and what a mask does.

“爱因斯坦提出了相对论，他是一位伟大的物理学家。”谁提出了相对论？你回答时并没有平等地看每个词。
注意力用数字做同样的事。本节用几秒钟一步一步手算一遍，看公式里为什么有根号，掩码又做了什么。
"""

# %%
# The library · 图书馆
# --------------------
#
# You go to a library with a question: the **query**. The titles on the shelf say what each book is about:
# the **keys**. What the books hold are the **values**. You compare your question with every title, and read
# most in the books whose titles fit best.
#
# Here each word of the sentence is a book. Its key has four features that we choose by hand, so that you
# can follow every number; in a network they are learned. The queries are
# multiplied by 5 so that the focus is easy to see: *who?* gives Einstein a weight of 0.79, and without the
# factor it would be 0.23. In a network the length of a query is learned, too.
#
# 你带着一个问题去图书馆，问题就是**查询（query）**；书架上的书名说明每本书讲什么，是**键（key）**；
# 书的内容是**值（value）**。你把问题与每个书名比较，书名越合适，那本书就读得越多。
#
# 在这里，句子的每个词是一本书。键有四个特征，由我们手工选定，好让你跟得上每个数字；
# 在网络里它们是学出来的。查询乘以 5：不乘的话，who? 给 Einstein 的权重只有 0.23，乘以 5 是 0.79，
# 聚焦就看得清楚了。在网络里，查询的长短也是学出来的。

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import matplotlib.pyplot as plt
import numpy as np
from keras import ops

from keras_attention.functional import scaled_dot_product_attention, trace
from keras_attention.masks import causal_mask, combine_masks, padding_mask
from keras_attention.plotting import plot_attention, plot_heads, plot_steps, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.1 The core idea")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
figures = parser.parse_args().figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(11)
np.set_printoptions(precision=2, suppress=True)

# %%
words = ["Einstein", "proposed", "relativity", "he", "is", "a", "great", "physicist"]
#   person, name, action, idea
keys = np.array(
    [
        [1, 1, 0, 0],  # Einstein
        [0, 0, 1, 0],  # proposed
        [0, 1, 0, 1],  # relativity
        [1, 0, 0, 0],  # he
        [0, 0, 0, 0],  # is
        [0, 0, 0, 0],  # a
        [0, 0, 0, 0],  # great
        [1, 0, 0, 1],  # physicist
    ],
    "float32",
)  # (8, 4)
questions = ["who?", "did-what?", "which-idea?"]
queries = 5 * np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]], "float32")  # (3, 4)

# %%
# Four steps · 四个步骤
# ---------------------
#
# Compare, scale, turn into shares, mix. That is all of ``scaled_dot_product_attention``:
#
# .. math::
#    \mathrm{attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V
#
# n words of d features give Q, K and V of n × d, and a matrix of weights of n × n. Here three questions
# meet eight words: 3 × 8.
#
# 比较、缩放、变成份额、混合，这就是 ``scaled_dot_product_attention`` 的全部。n 个词、每个 d 维，Q、K、
# V 都是 n × d，注意力矩阵是 n × n。这里是三个问题对八个词，所以是 3 × 8。

scores = queries @ keys.T  # (3, 8): similarity · 相似度
scaled = scores / math.sqrt(keys.shape[-1])  # (3, 8)
weights = np.exp(scaled) / np.exp(scaled).sum(axis=-1, keepdims=True)  # (3, 8): softmax
values = np.eye(8, dtype="float32")  # (8, 8): each word holds itself · 每个词的值就是它自己
context = weights @ values  # (3, 8)

for name, array in {"scores": scores, "scaled": scaled, "weights": weights}.items():
    print(f"{name:8} {array.shape}  who? {array[0]}")

# %%
# What the query *who?* gets back is a mixture, mostly of one word. Each row of weights sums to 1: they are
# shares. The package computes the same.
#
# 查询 who? 得到的是各个词的混合，其中一个词占了大部分。权重的每一行之和为 1：它们是份额。
# 用本包的函数算，结果相同。

for question, row in zip(questions, context, strict=True):
    mixture = " + ".join(f"{row[i]:.2f} {words[i]}" for i in np.argsort(-row, kind="stable")[:3])
    print(f"{question:16} {mixture} + …   sum of the weights {row.sum():.6f}")

with trace() as steps:
    output, same = scaled_dot_product_attention(queries, keys, values)
print(f"difference from the package: {np.abs(ops.convert_to_numpy(same) - weights).max():.1e}")

# %%
# The figure shows the steps from left to right. The scores of a word that has nothing to do with the
# question are 0, but its weight is not: softmax gives everybody a little. Attention focuses, it does not
# cut. (The figures of this course use a translator's words on their axes: *source* is the side of the keys,
# *target* that of the queries.)
#
# 图从左到右就是这些步骤。与问题无关的词分数是 0，权重却不是 0：softmax 给每个词都留一点。注意力是聚焦，
# 不是剪掉。（本课程的图沿用翻译的说法标注坐标轴：source 是键这一边，target 是查询这一边。）

axes = plot_steps({name: steps[name] for name in ("scores", "scaled", "weights")}, words, questions)
save_figure(axes[0], figures / "ch11_1_steps.png")

# %%
# Titles decide where, contents decide what · 键决定看哪里，值决定拿到什么
# ------------------------------------------------------------------------
#
# Rewrite what is in the books and leave the titles alone: the weights stay as they are, the result changes.
# Let each value be a year or nothing: Einstein's birth 1879, relativity 1905.
#
# 改写书的内容而不动书名：权重不变，结果变了。现在让值是一个年份或者 0：爱因斯坦生于 1879 年，
# 相对论发表于 1905 年。

years = np.array([1879, 0, 1905, 0, 0, 0, 0, 0], "float32")[:, None]  # (8, 1)
answer, again = scaled_dot_product_attention(queries, keys, years)
moved = np.abs(ops.convert_to_numpy(again) - weights).max()
print(f"the weights moved by {moved:.1e}; the answers are now {ops.convert_to_numpy(answer)[:, 0].round()}")

sharper, _ = scaled_dot_product_attention(4 * queries, keys, years)
print(f"with questions four times as sharp: {ops.convert_to_numpy(sharper)[:, 0].round()}")

# %%
# The answer is an average, pulled towards 0 by words that hold no year; a longer query makes larger scores
# and so a sharper softmax. Since everything is smooth, a network can learn queries and keys by gradients.
# Taking the best word alone (argmax) would have no gradient to learn from.
#
# 结果是平均数，会被没有年份的词拉向 0。查询向量越长，分数越大，softmax 越尖锐。因为处处光滑，
# 网络可以用梯度学出查询和键；只取最大的那个词（argmax）则没有梯度可学。

# %%
# Why the square root? · 为什么除以根号 d_k？
# -------------------------------------------
#
# Take queries and keys whose features are independent, of mean 0 and variance 1, as they are in a fresh
# network. The score is a sum of :math:`d_k` products, each of variance 1, so ``dot_scores`` without its
# scale has
#
# .. math::
#    \mathrm{Var}(q \cdot k) = \sum_{i=1}^{d_k} \mathrm{Var}(q_i k_i) = d_k
#
# Large scores make the softmax one-sided, and a one-sided softmax has hardly any gradient: the sum of
# :math:`\partial w_j / \partial s_j = w_j (1 - w_j)` over a row is :math:`1 - \sum_j w_j^2`, which is 0
# when one weight is 1. Division by :math:`\sqrt{d_k}` brings the variance back to 1, whatever :math:`d_k`.
#
# The table also has the entropy of the weights, :math:`-\sum_j w_j \ln w_j`: 0 if one key has all, ln 32 if
# 32 keys share alike. Its unit is the *nat*: what one measures with natural logarithms.
#
# 设查询和键的各个特征独立，均值 0、方差 1（刚初始化的网络就是这样）。分数是 :math:`d_k` 个乘积之和，
# 每个方差为 1，所以不缩放的 ``dot_scores`` 方差等于 :math:`d_k`。分数太大，softmax 就偏向一个键，
# 几乎没有梯度：一行里 :math:`\partial w_j / \partial s_j = w_j (1 - w_j)` 之和是
# :math:`1 - \sum_j w_j^2`，某个权重为 1 时它等于 0。除以 :math:`\sqrt{d_k}` 把方差变回 1，
# 与 :math:`d_k` 无关。
#
# 表里还有权重的熵 :math:`-\sum_j w_j \ln w_j`：一个键独占时是 0，32 个键平分时是 ln 32。
# 它的单位叫奈特（nat），就是用自然对数来量。

rng = np.random.default_rng(11)
widths = [4, 16, 64, 256, 1024]
measured = {"without √d": [], "with √d": []}
for width in widths:
    query, key = rng.normal(size=(500, width)), rng.normal(size=(32, width))  # 500 queries, 32 keys
    for name, scale in (("without √d", 1.0), ("with √d", None)):
        with trace() as steps:
            _, w = scaled_dot_product_attention(query, key, key, scale=scale)
        w = ops.convert_to_numpy(w)
        entropy = -(w * np.log(w + 1e-30)).sum(axis=-1).mean()
        variance = ops.convert_to_numpy(steps["scaled"]).var()
        measured[name].append((variance, entropy, (1 - (w**2).sum(axis=-1)).mean()))

print(f"32 keys: the entropy is at most ln 32 = {math.log(32):.2f}")
print(f"{'d_k':>5}   " + "".join(f"{name:>36}" for name in measured))
print(f"{'':5}   " + 2 * f"{'variance':>18}{'entropy':>9}{'gradient':>9}")
for i, width in enumerate(widths):
    cells = (rows[i] for rows in measured.values())
    print(f"{width:5}   " + "".join(f"{v:18.2f}{h:9.2f}{g:9.3f}" for v, h, g in cells))

# %%
# At :math:`d_k = 1024` without the root, nearly all weight lies on one key, chosen by chance before
# anything is learned, and nine tenths of the gradient are gone. With the root all three stay where they
# were.
#
# :math:`d_k = 1024` 而不除以根号时，还什么都没学，几乎全部权重就偶然落在一个键上，梯度也少了九成。
# 除以根号后三个数都不变。

figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
labels = ["variance of the scores", "entropy of the weights (nats)", "gradient 1 − Σ w²"]
for column, (ax, label) in enumerate(zip(axes, labels, strict=True)):
    for name, rows in measured.items():
        ax.plot(widths, [row[column] for row in rows], marker="o", label=name)
    ax.set(xscale="log", xlabel="d_k", title=label, xticks=widths, xticklabels=map(str, widths))
    ax.minorticks_off()
axes[0].set_yscale("log")
axes[0].legend()
figure.savefig(figures / "ch11_1_square_root.png", dpi=120)

# %%
# Masks: what may be looked at · 掩码：什么可以看
# -----------------------------------------------
#
# Sentences of a batch differ in length, so short ones are filled with padding that nobody should read: a
# ``padding_mask``. A model that writes word by word must not read words yet to come: a ``causal_mask``.
# True means "may be attended to". ``masked_softmax`` gives hidden keys exactly 0, as if their scores were
# −∞, and lets the others share 1:
#
# .. math::
#    w_{ij} = \frac{m_{ij}\, e^{s_{ij}}}{\sum_k m_{ik}\, e^{s_{ik}}}
#
# (The vectors here are random and serve as query, key and value at once, so each word looks at itself
# most.)
#
# The padding mask hides **columns**: nobody looks at ∅. The **rows** of ∅ still hold weights, since a padded
# place asks, too. Its answer means nothing; ignore these rows. Whoever uses the result leaves them
# out: the loss does, and so does the next layer, with the same mask.
#
# 一个批次里的句子长短不一，短句要用填充补齐，填充不该被读：``padding_mask``。
# 逐词写出句子的模型不能读还没写的词：``causal_mask``。True 表示“可以看”。
# ``masked_softmax`` 让被遮住的键权重恰好为 0，就像它们的分数是 −∞ 一样；其余的键权重之和为 1。
# （这里的向量是随机的，同时用作查询、键和值，所以每个词最像它自己。）
#
# 填充掩码遮住的是**列**：没有词看 ∅。∅ 的那几**行**仍有权重，因为填充的位置也在提问，但得到的结果没有意义，
# 不必看。使用结果的一方会跳过它们：损失函数跳过，下一层也用同样的掩码跳过。

tokens = ["he", "gave", "her", "the", "book", "∅", "∅"]
ids = np.array([[4, 5, 6, 7, 8, 0, 0]])  # 0 is padding · 0 是填充
x = rng.normal(size=(1, 7, 16))
masks = {
    "no mask": None,
    "padding": padding_mask(ids),  # (1, 1, 7)
    "padding and causal": combine_masks(padding_mask(ids), causal_mask(7)),  # (1, 7, 7)
}
maps = [ops.convert_to_numpy(scaled_dot_product_attention(x, x, x, mask=m)[1])[0] for m in masks.values()]
allowed = [np.ones((7, 7), bool) if m is None else np.broadcast_to(m[0], (7, 7)) for m in masks.values()]
axes = plot_heads(maps, tokens, tokens, mask=np.stack(allowed), titles=list(masks))
save_figure(axes[0], figures / "ch11_1_masks.png")

# %%
# What can go wrong · 可能出的错
# ------------------------------
#
# Four mistakes that run without any error. One number finds each: the sum of a row, or the weight on
# padding.
#
# 有四种错误运行时不报错，但一个数就能发现：每行之和，或者落在填充上的权重。

scores = ops.convert_to_numpy(ops.matmul(x, ops.swapaxes(x, -1, -2)))[0] / 4  # √16 = 4
real = ids[0] > 0  # (7,)


def softmax(scores, axis=-1):
    return ops.convert_to_numpy(ops.softmax(scores, axis=axis))


attempts = {
    "right": softmax(np.where(real, scores, -np.inf)),
    "softmax along the queries": softmax(np.where(real, scores, -np.inf)[:, real], axis=0),
    "scores multiplied by the mask": softmax(scores * real),
    "mask after the softmax": softmax(scores) * real,
    "mask turned round": softmax(np.where(real, -np.inf, scores)),
}
for name, w in attempts.items():
    sums = w.sum(axis=-1)
    padding = f", on padding up to {w[:, ~real].sum(axis=-1).max():.2f}" if w.shape[1] == 7 else ""
    print(f"{name:30} row sums from {sums.min():.2f} to {sums.max():.2f}{padding}")

# %%
# And two that need care in a program of your own: :math:`e^{1000}` is infinite, so subtract the largest
# score of a row first; and a query that may see nothing at all divides 0 by 0.
# ``scaled_dot_product_attention`` gives it zeros.
#
# 自己写程序时还有两点要小心：:math:`e^{1000}` 会溢出，所以先减去每行的最大分数；
# 什么都看不到的查询会变成 0 除以 0，``scaled_dot_product_attention`` 给它零。

with np.errstate(over="ignore", invalid="ignore"):
    print("naive softmax of (1000, 0):", np.exp([1000.0, 0.0]) / np.exp([1000.0, 0.0]).sum())
print("the package's:             ", softmax(np.array([1000.0, 0.0])))
nothing = scaled_dot_product_attention(x, x, x, mask=np.zeros((7, 7), bool))[1]
print("weights of a query that may see nothing:", ops.convert_to_numpy(nothing)[0, 0])

# %%
# The heat map to remember · 记住这张热力图
# -----------------------------------------
#
# Rows are queries, columns are keys, each row sums to 1. You will see this picture in every section.
#
# 行是查询，列是键，每行之和为 1。以后每一节都会见到这样的图。

ax = plot_attention(weights, words, questions, "Each question finds its word", cmap="Blues")
save_figure(ax, figures / "ch11_1_heat_map.png")

# %%
# Try next · 接下来试一试
# -----------------------
#
# - Add a fourth question, "who is great?". Which features must the keys gain?
# - Multiply ``queries`` by 0 and by 100. What are the weights in these two limits, and why?
# - Draw the features from a uniform distribution on (−1, 1). What is the right scale now?
#
# Then write it yourself: exercises **ex01** (scaled dot-product attention) and **ex02** (masks),
# ``keras-attention exercise check ex01``. Next section: 11.2.1, where the questions come from the sentence
# itself.
#
# 试一试：加第四个问题“谁伟大？”，键还需要哪些特征？把 ``queries`` 乘以 0 和 100，权重的两个极限是什么？
# 为什么？特征改为 (−1, 1) 上的均匀分布，应当除以多少？
#
# 然后自己写一遍：练习 **ex01**（缩放点积注意力）和 **ex02**（掩码），
# 用 ``keras-attention exercise check ex01`` 检查。下一节 11.2.1：问题来自句子本身。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
