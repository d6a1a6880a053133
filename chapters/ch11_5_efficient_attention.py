"""
11.5 Efficient attention: beyond n² · 高效注意力：突破 n²
=========================================================

Attention compares every token with every other one: n² weights for n tokens. You measure what that costs,
look at five ways around it (Longformer, BigBird, Reformer, Performer, linear attention), and measure the two
things that their papers' titles do not say: from which length on each pays on your machine, and how far each
is from exact attention.

注意力让每个词元与所有词元比较：n 个词元要 n² 个权重。本节测量这要花多少时间和内存，看五种绕开它的办法
（Longformer、BigBird、Reformer、Performer、线性注意力），并测量论文标题里没有的两件事：
在你的机器上，每一种从多长开始才划算；每一种离精确的注意力有多远。
"""

# %%
# What n² costs · n² 的代价
# -------------------------
#
# .. math::
#    O(n^2 d) \text{ operations, } n^2 \text{ weights a head:}\qquad
#    \mathrm{softmax}(Q K^\top / \sqrt{d_k})\, V
#
# With twice the length, the projections take twice the time, the attention four times. We call
# ``MultiHeadAttention`` of Keras at growing lengths. The last columns are exponents: 1 is linear, 2 is
# quadratic.
#
# 长度加倍，投影的时间加倍，注意力的时间变成四倍。下面用 Keras 的 ``MultiHeadAttention`` 测量越来越长的
# 输入。最后两列是指数：1 表示线性，2 表示平方。

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

from keras_attention import (
    BigBirdAttention,
    LinearAttention,
    LongformerAttention,
    PerformerAttention,
    ReformerAttention,
    SelfAttention,
    exactness_report,
)
from keras_attention.cost import crossover, measure_costs
from keras_attention.data import Vocabulary, load_texts
from keras_attention.data.toy.documents import load_documents
from keras_attention.models.long_text import train_long_text
from keras_attention.plotting import plot_costs, plot_pattern, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.5 Efficient attention")
parser.add_argument(
    "--data", default="toy:documents-en", help="toy:documents-en, or a TSV or CSV file of texts"
)
parser.add_argument("--epochs", type=int, default=2, help="how often each encoder reads the data")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
arguments = parser.parse_args()
figures = arguments.figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(0)

heads, key_dim = 4, 32
lengths = [256, 512, 1024, 2048, 4096]
dense = keras.layers.MultiHeadAttention(heads, key_dim)
layers = {
    "dense": lambda x: dense(x, x),
    "longformer": LongformerAttention(heads, key_dim, window=64, global_tokens=1),
    "big bird": BigBirdAttention(heads, key_dim, block_size=32, num_random_blocks=3, seed=0),
    "reformer": ReformerAttention(heads, key_dim, chunk_size=32, num_hashes=1, seed=0),
    "performer": PerformerAttention(heads, key_dim, num_features=64, seed=0),
    "linear": LinearAttention(heads, key_dim),
}
costs = measure_costs(layers, lengths, width=heads * key_dim)

print(f"{'length':>8}{'ms':>9}{'MB':>9}{'exponent of time':>18}{'of memory':>11}")
for i, (length, cost) in enumerate(zip(lengths, costs["dense"], strict=True)):
    row = f"{length:8}{cost.milliseconds:9.1f}{cost.megabytes:9.1f}"
    if i:
        half = costs["dense"][i - 1]
        row += f"{math.log2(cost.milliseconds / half.milliseconds):18.1f}"
        row += f"{math.log2(cost.megabytes / half.megabytes):11.1f}"
    print(row)

# %%
# Five ways around it · 五种办法
# ------------------------------
#
# Three of them compute only some of the weights. Which ones is a mask:
#
# - **Longformer** (Beltagy et al., 2020): a window, :math:`|i - j| \le w`, and a few global tokens that
#   see all and are seen by all.
# - **BigBird** (Zaheer et al., 2020): the same in blocks, and a few random blocks, which shorten the way
#   between any two tokens.
# - **Reformer** (Kitaev et al., 2020): a random hash sorts similar tokens together; each sees its
#   neighbours in that order. The pattern depends on the input.
#
# ``pattern_mask(n)`` gives the exact mask, so anyone can check: dense attention under that mask is the
# same layer.
#
# 前三种只算一部分权重，算哪些可以画成掩码：**Longformer**（Beltagy 等人，2020）是滑动窗口
# :math:`|i - j| \le w` 加几个全局词元，它们看所有词元，也被所有词元看到；
# **BigBird**（Zaheer 等人，2020）把它们做成块，再加几个随机块，缩短任意两个词元之间的路；
# **Reformer**（Kitaev 等人，2020）用随机哈希把相似的词元排在一起，只看排序后的邻居，模式取决于输入。
# ``pattern_mask(n)`` 给出精确的掩码：在这个掩码下的稠密注意力与该层结果相同，任何人都可以验证。

n = 64
rng = np.random.default_rng(0)
x = rng.normal(size=(1, n, heads * key_dim)).astype("float32")
longformer = LongformerAttention(heads, key_dim, window=6, global_tokens=2)
big_bird = BigBirdAttention(heads, key_dim, block_size=4, num_random_blocks=2, seed=0)
reformer = ReformerAttention(heads, key_dim, chunk_size=8, num_hashes=2, seed=0)
_, weights = reformer(x, return_attention_scores=True)  # (1, H, n, n)
patterns = {
    "dense": np.ones((n, n), bool),
    "Longformer": longformer.pattern_mask(n),
    "BigBird, head 1": big_bird.pattern_mask(n)[0],
    "Reformer, head 1": ops.convert_to_numpy(weights)[0, 0] > 0,
}
figure, axes = plt.subplots(1, 4, figsize=(13, 4), layout="constrained")
for ax, (name, pattern) in zip(axes, patterns.items(), strict=True):
    plot_pattern(pattern, name, ax=ax)
save_figure(figure, figures / "ch11_5_patterns.png", dpi=110)

dense_again = SelfAttention(heads, key_dim)
longformer(x)
dense_again(x)
dense_again.set_weights(longformer.get_weights())
masked = dense_again(x, attention_mask=longformer.pattern_mask(n)[None])
print(f"Longformer and dense attention under its mask differ by {np.max(abs(longformer(x) - masked)):.1e}")

# %%
# The other two see everything, but never form the weights. Softmax's :math:`\exp(q \cdot k)` becomes a
# product of features, and then the brackets may be moved:
#
# .. math::
#    \phi(q_i) \cdot \phi(k_j) \quad\Rightarrow\quad
#    \mathrm{output}_i = \frac{\phi(q_i) \sum_j \phi(k_j) v_j^\top}{\phi(q_i) \cdot \sum_j \phi(k_j)}
#
# - ``PerformerAttention`` (Choromanski et al., 2021): random features :math:`\phi` that *estimate*
#   :math:`\exp(q \cdot k)`.
# - ``LinearAttention`` (Katharopoulos et al., 2020): :math:`\phi(x) = \mathrm{elu}(x) + 1`. It estimates
#   nothing; it is another layer. The sums are a state, as in a recurrent network: a new token costs the
#   same, however much was read before.
#
# 后两种什么都看，却从不写出权重：把 :math:`\exp(q \cdot k)` 换成特征的点积，再移动括号。
# ``PerformerAttention``（Choromanski 等人，2021）用随机特征**估计** :math:`\exp(q \cdot k)`；
# ``LinearAttention``（Katharopoulos 等人，2020）用 :math:`\phi(x) = \mathrm{elu}(x) + 1`，
# 它不是估计，而是另一种层。那两个和相当于循环网络的状态：不论已经读了多少，多读一个词元的代价都一样。

linear = LinearAttention(heads, key_dim)
at_once = linear(x, use_causal_mask=True)
_, state = linear.prefill(x[:, :1])
for i in range(1, n):
    step, state = linear.step(x[:, i], state)
print(f"linear attention, all at once and step by step, differ by {np.max(abs(step - at_once[:, -1])):.1e}")
print(f"its state: {state[0].shape}, for 64 tokens as for a million")

# %%
# Where it pays · 从多长开始划算
# ------------------------------
#
# All of them have their price: blocks that are copied, a sort, features. So on short inputs dense
# attention is faster. On the log–log figure n² is a line twice as steep as n; where they cross, it begins
# to pay. The place depends on the machine, so measure.
#
# 每一种都有额外的代价：复制块、排序、算特征。所以输入短时，稠密注意力更快。在双对数图上，n² 的线比 n 的
# 陡一倍；两线相交处开始划算。这个位置与机器有关，所以要测量。

(time_axes, _) = plot_costs(lengths, costs, "What attention costs", dense="dense")
save_figure(time_axes, figures / "ch11_5_costs.png", dpi=110)
print(f"\n{'':12}{'ms at ' + str(lengths[-1]):>12}{'times faster':>14}{'MB':>8}{'pays from':>12}")
for name, row in costs.items():
    faster = costs["dense"][-1].milliseconds / row[-1].milliseconds
    pays = crossover(lengths, costs["dense"], row) if name != "dense" else None
    print(
        f"{name:12}{row[-1].milliseconds:12.1f}{faster:14.1f}{row[-1].megabytes:8.1f}"
        f"{'–' if pays is None else f'{pays:.0f}':>12}"
    )

# %%
# How far from exact? · 离精确有多远
# ----------------------------------
#
# ``exactness_report`` compares a layer with dense attention of the same weights. The error of a sparse
# layer is what its pattern does not cover, and that depends on the data. Two kinds of them: **random**
# vectors, where every key matters a little, and a **smooth** sequence, in which neighbours are alike and
# each looks at little else. The weights are the identity, so that queries and keys are the tokens
# themselves.
#
# ``exactness_report`` 把一层与权重相同的稠密注意力比较。稀疏层的误差来自模式没有覆盖的部分，这取决于数据。
# 下面用两种数据：**随机**向量，每个键都起一点作用；**平滑**序列，相邻的词元相似，每个词元几乎只看
# 邻近的词元。权重取单位矩阵，查询和键就是词元本身。


def with_identity(layer, x):
    """The layer, of one head, with queries, keys and values that are its inputs."""
    layer(x)
    identity = np.eye(x.shape[-1])
    layer.set_weights([*3 * [identity[:, None]], identity[None]])
    return layer


n, d = 256, 16
random_tokens = rng.normal(size=(1, n, d)).astype("float32")
smooth_tokens = 1.5 * random_tokens
for i in range(1, n):  # each is much like the one before
    smooth_tokens[:, i] = 0.9 * smooth_tokens[:, i - 1] + math.sqrt(1 - 0.9**2) * smooth_tokens[:, i]
candidates = {
    "Longformer, window 16": LongformerAttention(1, d, 16, use_bias=False),
    "BigBird, blocks of 16": BigBirdAttention(1, d, 16, 2, use_bias=False, seed=0),
    "Reformer, 1 round": ReformerAttention(1, d, 16, 1, use_bias=False, seed=0),
    "Reformer, 8 rounds": ReformerAttention(1, d, 16, 8, use_bias=False, seed=0),
    "Performer, 256 features": PerformerAttention(1, d, 256, use_bias=False, seed=0),
    "linear": LinearAttention(1, d, use_bias=False),
}
print(f"\n{'':26}{'random tokens':>24}{'smooth sequence':>24}")
print(f"{'':26}" + 2 * f"{'error':>12}{'covered':>12}")
for name, layer in candidates.items():
    reports = [exactness_report(with_identity(layer, x), x) for x in (random_tokens, smooth_tokens)]
    print(f"{name:26}" + "".join(f"{r.relative_error:12.2f}{r.covered_mass:12.0%}" for r in reports))

# %%
# An error of 1 is as bad as an output of zeros. "Covered" is the share of the exact attention that falls
# on keys the layer sees. The sparse ones are good where few keys matter and their pattern finds them: a
# window if they are near, Reformer if they are alike. Performer is good where everything matters a little,
# and bad where attention is sharp. (Reformer is compared with dense attention that shares queries and keys,
# as it does.)
#
# 误差为 1 就与全零输出一样差。covered 是精确的注意力落在该层看得见的键上的份额。重要的键很少、又在
# 模式之内时，稀疏的层很好：键在近处用窗口，键与查询相似用 Reformer。Performer 适合每个键都起一点作用的情形，
# 注意力集中时很差。（Reformer 与同样共享查询和键的稠密注意力比较。）

# %%
# When Performer is useless · Performer 何时没有用
# -------------------------------------------------
#
# The squared error of one weight that ``PerformerAttention`` estimates, relative to it, is known in
# advance:
#
# .. math::
#    \left(e^{|x + y|^2} - 1\right) / M, \qquad x = q / d^{1/4},\quad y = k / d^{1/4}
#
# With four times the features M it falls to a quarter, and the error itself to a half; with longer queries
# both explode. From it follows the error of the output, which the report predicts. Queries and keys of 64
# features with unit variance, as a fresh layer may well have, are already beyond rescue.
#
# 单个权重的相对平方误差可以事先算出（上面的公式）：特征数 M 变为四倍，平方误差变为四分之一，误差减半；
# 查询向量变长，误差爆炸。由此可以推出输出的误差，报告里有这个预测值。64 维、方差为 1 的查询和键
# （新建的层就可能是这样）已经无法挽救。

n, d = 128, 64
tokens = rng.normal(size=(1, n, d)).astype("float32")
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
numbers = [16, 64, 256, 1024]
for scale, colour in ((0.25, "C0"), (0.5, "C1"), (1.0, "C3")):
    reports = []
    for m in numbers:
        layer = with_identity(PerformerAttention(1, d, m, use_bias=False, seed=1), scale * tokens)
        reports.append(exactness_report(layer, scale * tokens))
    measured, predicted = zip(*((r.relative_error, r.predicted_error) for r in reports), strict=True)
    ax.plot(numbers, measured, marker="o", color=colour, label=f"standard deviation {scale}")
    ax.plot(numbers, predicted, linestyle="--", color=colour)
    found = ", ".join(f"{a:.2f} ({b:.2g})" for a, b in zip(measured, predicted, strict=True))
    print(f"deviation {scale}: error with {numbers} features, in brackets the predicted: {found}")
ax.axhline(1, color="0.5", linewidth=1)
ax.text(numbers[0], 1.05, "as bad as zeros", color="0.4", va="bottom")
ax.set(xscale="log", yscale="log", xlabel="features", ylabel="relative error", ylim=(1e-2, 100))
ax.set(title="Performer: measured, and predicted (dashed)")
ax.set_xticks(numbers, labels=[str(m) for m in numbers])
ax.minorticks_off()
ax.legend(fontsize="small")
figure.savefig(figures / "ch11_5_performer.png", dpi=110)

# %%
# A long document · 一篇长文档
# ----------------------------
#
# Does it matter? The first word of a document is a name, Anna: where is she? One of the words behind it
# answers, Anna_Rome, and seven others tell where somebody else is. The same small encoder, with one argument
# changed, must bring question and answer together. A window that is narrower than the document cannot, and
# guesses among the four cities; with one global token, the first, it can. Linear attention sees all, but
# its weights are flat: in the same time it does not learn to pick one word out of 128. (A bag of words does
# not know whose city is whose.)
#
# 这重要吗？文档的第一个词是一个名字 Anna：她在哪里？后面某处有一个词是答案 Anna_Rome，另有七个词说别人在
# 哪里。同一个小编码器，只换一个参数，要把问题和答案联系起来。比文档窄的窗口做不到，只能在四个城市里猜；
# 加一个全局词元（第一个词）就可以。线性注意力什么都看得见，但它的权重很平，同样的时间里学不会从 128 个词中
# 挑出一个。（词袋模型不知道哪个城市是谁的。）

is_toy = arguments.data.startswith("toy:documents")
corpus = load_documents(length=128) if is_toy else load_texts(arguments.data)
vocabulary = Vocabulary.build(corpus.train.texts, size=20_000, lexicon=corpus.lexicon)
print(f"\n{len(corpus.train)} texts, for example: {corpus.train.texts[0][:120]} …")
for attention in ("dense", "window", "longformer", "linear"):
    result = train_long_text(
        attention, vocabulary, corpus, epochs=arguments.epochs, learning_rate=4e-3, heads=4
    )
    print(f"  {attention:12} accuracy {result.accuracy:.3f}   {result.seconds:5.1f} s")

# %%
# When to use which · 什么时候用哪一种
# ------------------------------------
#
# - Below the crossover: none. Dense attention is exact, and fused kernels make it cheaper than its n²
#   suggests.
# - Longformer or BigBird: long texts with local structure, and a token that must see all. Weights of a
#   trained dense model drop in.
# - Reformer: where few keys matter, and like looks at like. More rounds cost more, and find more.
# - Performer: short queries and keys, a model trained with it. Look at the predicted error first.
# - Linear: a model trained with it; generation with a state of fixed size.
#
# 长度低于交点时哪种都不用：稠密注意力是精确的，融合算子又使它没有 n² 看上去那么贵。
# Longformer 或 BigBird：有局部结构的长文本，并有一个要看全文的词元，训练好的稠密权重可以直接装入。
# Reformer：重要的键很少，而且相似的词元互相看；轮数越多越慢，找到的也越多。
# Performer：查询和键较短，并用它来训练，先看预测的误差。线性注意力：用它来训练的模型，生成时状态大小固定。

# %%
# Try next · 接下来试一试
# -----------------------
#
# - ``BigBirdAttention(num_random_blocks=0)``: how much did the random blocks cover? And with
#   ``use_causal_mask=True``?
# - Make the documents longer, ``load_documents(length=1000)``: which accuracy falls first, which time
#   grows most?
# - ``--data FILE.tsv`` (label, text) trains on texts of your own at their full length.
#
# Then write it yourself: exercises **ex11** (sparse patterns) and **ex12** (linear attention),
# ``keras-attention exercise check ex11``.
#
# 试一试：改成 ``BigBirdAttention(num_random_blocks=0)``，看随机块原来覆盖了多少；再加上
# ``use_causal_mask=True`` 呢？把文档变长（``load_documents(length=1000)``），哪个准确率先下降，
# 哪个时间增长最多？用 ``--data`` 换成你自己的长文本。
#
# 然后自己写一遍：练习 **ex11**（稀疏注意力的模式）和 **ex12**（线性注意力），
# 用 ``keras-attention exercise check ex11`` 检查。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
