"""
11.6 Where it leads: a Transformer · 通向 Transformer
=====================================================

The translator of 11.4.1 attends, but it still reads one word after the other. Leave the recurrence out, keep
the attention, and a Transformer is what remains. Four things are new: positions, blocks with a way around
every step, a decoder that must not see the future, and keys and values that are kept while it writes. Here
you look at each, then train a whole one in about a minute.

11.4.1 的翻译模型有注意力，但仍然一个词一个词地读。去掉循环、留下注意力，就得到 Transformer。
新东西有四样：位置、每一步都有旁路的块、不能看未来的解码器，以及生成时保留的键和值。
本节逐一来看，然后用大约一分钟训练一个完整的 Transformer。
"""

# %%
# Positions · 位置
# ----------------
#
# Attention is a sum over a set: it does not see the order of words (11.2.1). So a vector is added to each
# word that tells where it stands. ``PositionalEncoding`` uses waves, from fast ones to slow ones:
#
# .. math::
#    p_{t,2i} = \sin(t / 10000^{2i/D}) \qquad p_{t,2i+1} = \cos(t / 10000^{2i/D})
#
# 注意力是对一个集合求和，看不到词序（11.2.1）。所以给每个词加上一个表示位置的向量。
# ``PositionalEncoding`` 用一组由快到慢的波。

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
    PositionalEncoding,
    SelfAttention,
    TransformerDecoderBlock,
    TransformerEncoderBlock,
)
from keras_attention.data import load
from keras_attention.models import TRANSFORMER_PRESETS, TransformerTranslator, evaluate, train
from keras_attention.models.training import build_vocabularies
from keras_attention.plotting import plot_attention, plot_heads, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.6 A Transformer")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
figures = parser.parse_args().figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(26)
rng = np.random.default_rng(26)

# %%
# A wave alone tells nothing, all together tell the place. And the product of two positions depends on their
# distance alone: bright along the diagonals, whatever the place.
#
# 单独一个波说明不了什么，合在一起就说明了位置。两个位置的内积只取决于它们的距离：
# 沿对角线一样亮，与具体位置无关。

length, width = 60, 64
positions = ops.convert_to_numpy(PositionalEncoding()(ops.zeros((1, length, width))))[0]  # (T, D)
products = positions @ positions.T  # (T, T)
print("products of positions 0 and 7, 20 and 27, 50 and 57:", products[[0, 20, 50], [7, 27, 57]].round(4))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].imshow(positions.T, aspect="auto", cmap="PuOr", vmin=-1, vmax=1)
axes[0].set(xlabel="position", ylabel="feature", title="the encodings")
picture = axes[1].imshow(products, cmap="cividis")
axes[1].set(xlabel="position", ylabel="position", title="their products")
figure.colorbar(picture, ax=axes[1])
save_figure(figure, figures / "ch11_6_positions.png")

# %%
# A block · 一个块
# ----------------
#
# ``TransformerEncoderBlock`` has two steps. In the first, words look at each other; in the second, each word
# is transformed by itself. Both add to what came in, so there is always a way around them:
#
# .. math::
#    y = x + \mathrm{attention}(\mathrm{norm}(x)) \qquad
#    z = y + W_2\,\mathrm{relu}(W_1\,\mathrm{norm}(y) + b_1) + b_2
#
# ``TransformerEncoderBlock`` 有两步：先是词与词互相看，然后每个词单独变换。
# 两步的结果都加到输入上，所以总有一条旁路。

block = TransformerEncoderBlock(num_heads=4, hidden_dim=256)
x = rng.normal(size=(2, 7, width)).astype("float32")  # (B, T, D)
z = block(x)
print(f"in {x.shape}, out {tuple(z.shape)}: blocks can be stacked")
print(
    f"weights of the attention {block.self_attention.count_params():,}, of the block {block.count_params():,}"
)

# %%
# Why the way around? Attention alone takes averages, and averages of averages are all alike: after a few
# layers no word can be told from another (Dong et al., 2021). What is added keeps them apart.
#
# 为什么要旁路？注意力只是取平均，平均的平均彼此都一样：几层之后，词与词就分不出来了（Dong 等人，2021）。
# 把结果加到输入上，才能让它们保持不同。

layers = [SelfAttention(num_heads=4, key_dim=16) for _ in range(8)]
alone = around = ops.convert_to_tensor(x)
print("cosine of two words, in the mean:")
for i, layer in enumerate(layers, 1):
    alone, around = layer(alone), around + layer(around)
    directions = [ops.convert_to_numpy(ops.normalize(states[0])) for states in (alone, around)]  # (T, D)
    cosines = [(u @ u.T)[np.triu_indices(7, 1)].mean() for u in directions]
    print(f"  after {i} layers: alone {cosines[0]:.3f}, with the way around {cosines[1]:.3f}")

# %%
# The decoder · 解码器
# --------------------
#
# A ``TransformerDecoderBlock`` looks twice: at what is written so far, and at the source. While it trains,
# the whole target stands there, so a causal mask must hide the future. Change the last word, and no earlier
# output may move.
#
# ``TransformerDecoderBlock`` 看两次：看已经写出的部分，再看源句。训练时整个目标句都在，
# 所以要用因果掩码遮住未来。改变最后一个词，前面的输出一点也不能变。

decoder = TransformerDecoderBlock(num_heads=4, hidden_dim=256)
source = rng.normal(size=(2, 5, width)).astype("float32")  # (B, Tk, D)
written, (own, cross) = decoder(x, source, return_attention_scores=True)
print(f"weights on what is written {tuple(own.shape)}, on the source {tuple(cross.shape)}")
changed = x.copy()
changed[:, -1] = rng.normal(size=(2, width))
difference = np.abs(ops.convert_to_numpy(decoder(changed, source) - written)).max(axis=(0, 2))
print("change of the output at each place:", difference.round(3))

# %%
# When it writes, each step adds one word. The keys and values of the earlier words stay the same, so they are
# kept, in a cache: a step projects one word, not all of them again. The result is the same.
#
# 生成时每步增加一个词。前面各词的键和值不变，于是存在缓存里：每步只投影一个词，不必全部重算，结果一样。

cache, memory = decoder.init_cache(2, 7), decoder.cache_context(source)
steps = []
for t in range(7):
    step, cache = decoder(x[:, t : t + 1], cache=cache, context_cache=memory)  # (B, 1, D)
    steps.append(ops.convert_to_numpy(step))
difference = np.abs(np.concatenate(steps, axis=1) - ops.convert_to_numpy(written)).max()
print(f"step by step against all at once: difference {difference:.1e}")

# %%
# A whole one · 完整的模型
# ------------------------
#
# Embeddings and positions, blocks, and the output layer: ``TransformerTranslator``. The data are those of
# 11.4.1. Before training, the loss is a little above ln V: the last norm gives outputs of length √D, so the
# logits already have a variance of about 1, which costs about ½.
#
# 词向量加位置、若干个块、输出层，就是 ``TransformerTranslator``。
# 数据与 11.4.1 相同。训练前的损失略高于 ln V：最后的归一化使输出长度为 √D，
# 所以 logits 的方差已约为 1，损失因此多出约 ½。

corpus = load("toy:en-fr")
preset = TRANSFORMER_PRESETS["toy"]
vocabularies = build_vocabularies(corpus, **preset["vocabulary"])
translator = TransformerTranslator(*vocabularies, **preset["model"])
read = translator.force(corpus.test.source, corpus.test.target)
loss = -sum(pair.score for pair in read) / sum(len(pair.tokens) + 1 for pair in read)  # and END
print(f"{translator.count_params():,} weights; loss {loss:.3f}, ln V = {math.log(len(vocabularies[1])):.3f}")

# %%
# It trains like the recurrent one, with a short warm-up: at first, all outputs are wrong in the same way, and
# large steps would ruin the norms.
#
# 训练和循环网络一样，只是开头要预热：一开始所有输出都以同样的方式出错，步子太大会破坏归一化。

train(translator, corpus, verbose=2, **preset["training"] | {"epochs": 7})
results, translations = evaluate(translator, corpus.test, language=corpus.target_language)
print(f"test BLEU {results['bleu']:.1f}, alignment accuracy {results['alignment_accuracy']:.3f}")
for pair in list(zip(corpus.test.source, translations, corpus.test.target, strict=True))[:3]:
    print(f"  {pair[0]}\n    → {pair[1].text}\n    = {pair[2]}")

# %%
# Which head does what · 哪个头做什么
# -----------------------------------
#
# Nobody told the heads what to look at. Measured afterwards: the entropy of the weights, the weight on the
# diagonal and on the word before, and how often the head's largest weight is on the gold word.
#
# 没有人告诉各个头该看什么。训练之后测量：权重的熵、对角线上的权重、前一个词上的权重，
# 以及最大权重落在标准词对齐上的比例。

print("attention  layer head  entropy  diagonal  previous  alignment")
for row in results["heads"]:
    measures = [row[name] for name in ("entropy", "diagonal", "previous", "alignment_accuracy")]
    numbers = "".join(f"{x:9.2f}" for x in measures if x is not None)
    print(f"{row['attention']:9}  {row['layer']:5} {row['head']:4}{numbers}")

# %%
# The cross-attention of the layer whose head aligns best, for one sentence. Heads that look elsewhere are not
# wrong: what they add is not an alignment. (11.3 told what a heat map does not show.)
#
# 对齐最好的头所在层的交叉注意力，以一句话为例。看别处的头并没有错：它们贡献的不是对齐。
# （热力图不能说明什么，见 11.3。）

(translation,) = translator.translate([corpus.test.source[0]], all_heads=True)
best = max((r for r in results["heads"] if r["attention"] == "cross"), key=lambda r: r["alignment_accuracy"])
weights = translation.heads["cross"][best["layer"] - 1]  # (H, T, Tk)
axes = plot_heads(weights, translation.source_tokens, translation.tokens)
axes[0].figure.suptitle(f"cross-attention of layer {best['layer']}")
save_figure(axes[0].figure, figures / "ch11_6_heads.png")

ax = plot_attention(translation.attention, translation.source_tokens, translation.tokens)
save_figure(ax.figure, figures / "ch11_6_alignment.png")

# %%
# Try next · 接下来试一试
# -----------------------
#
# - ``positions="rotary"`` or ``"learned"``: does it change BLEU? And on sentences longer than those it read?
# - One layer, or one head: what is lost?
# - The same on your own sentences: ``keras-attention translate train --model transformer --data FILE``, and
#   ``keras-attention explore`` shows all heads of a sentence.
#
# Then write it yourself: exercise **ex13** (positions and a block), ``keras-attention exercise check ex13``.
#
# 试一试：``positions="rotary"`` 或 ``"learned"`` 会改变 BLEU 吗？换成比训练时读过的更长的句子呢？
# 只用一层或一个头，会失去什么？换成你自己的句子：
# 用 ``keras-attention translate train --model transformer --data FILE`` 训练，
# 再用 ``keras-attention explore`` 看一句话的所有头。
#
# 然后自己写一遍：练习 **ex13**（位置编码和一个块），用 ``keras-attention exercise check ex13`` 检查。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
