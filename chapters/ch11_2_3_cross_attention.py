"""
11.2.3 Cross-attention: one sequence asks another · 交叉注意力：一个序列问另一个序列
====================================================================================

A translator writes "Il lui a donné le livre" while it looks at "He gave her the book". The questions come
from what is being written, the titles and contents from what was read. You build this bridge between an
encoder and a decoder, train it in half a minute, and take it away to see what it carried.

翻译模型一边看着 He gave her the book，一边写出 Il lui a donné le livre。问题来自正在写的句子，
键和值来自读过的句子。本节搭起编码器与解码器之间的这座桥，用半分钟训练它，再把它拆掉，看它运送了什么。
"""

# %%
# Q from one side, K and V from the other · Q 来自一边，K 和 V 来自另一边
# -----------------------------------------------------------------------
#
# Let Y be the sequence that asks (the decoder's states) and X the one that answers (the encoder's output).
# ``CrossAttention`` is the formula that you know:
#
# .. math::
#    Q = Y W_Q \qquad K = X W_K \qquad V = X W_V \qquad
#    C = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V
#
# Self-attention is the special case Y = X. The shapes tell the two apart: the output has a row for each
# **question**, the weights a column for each **answer**, and the two widths may differ.
#
# 设 Y 是提问的序列（解码器的状态），X 是回答的序列（编码器的输出）。``CrossAttention`` 还是同一个公式；
# Y = X 时就是自注意力。看形状就能区分：输出每行对应一个**问题**，权重每列对应一个**回答**，
# 两边的宽度可以不同。

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import ops

from keras_attention import CrossAttention, SelfAttention
from keras_attention.data import Vocabulary, load
from keras_attention.inspection import attention_scores
from keras_attention.masks import causal_mask
from keras_attention.metrics import alignment_scores, link_cells
from keras_attention.plotting import plot_alignment, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.2.3 Cross-attention")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
figures = parser.parse_args().figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(23)

# %%
rng = np.random.default_rng(23)
x = rng.normal(size=(2, 7, 12)).astype("float32")  # (B, Tk, Dx): what was read
y = rng.normal(size=(2, 4, 10)).astype("float32")  # (B, Tq, Dy): what is being written
print(f"{'':16}{'query':>12}{'key, value':>12}{'weights':>15}{'output':>12}")
for name, layer, given in (
    ("self-attention", SelfAttention, (y,)),
    ("cross-attention", CrossAttention, (y, x)),
):
    output, weights = layer(num_heads=3, key_dim=5)(*given, return_attention_scores=True)
    shapes = (y.shape, given[-1].shape, tuple(weights.shape), tuple(output.shape))
    print(f"{name:16}{shapes[0]!s:>12}{shapes[1]!s:>12}{shapes[2]!s:>15}{shapes[3]!s:>12}")

# %%
# Every question stands alone: ask one of them, or all of them, or the same in another order, the answer to
# a question does not change. And the answers may come in any order: cross-attention, too, knows no order
# until positions are in X.
#
# 每个问题互不相干：只问一个、全部一起问、换个顺序问，同一个问题的答案不变。X 的顺序也无所谓：
# 交叉注意力同样不知道词序，除非 X 里已有位置。

layer = CrossAttention(num_heads=3, key_dim=5)
whole = ops.convert_to_numpy(layer(y, x))
one = ops.convert_to_numpy(layer(y[:, 2:3], x))
shuffled = ops.convert_to_numpy(layer(y, x[:, rng.permutation(7)]))
print(f"third question alone: differs by {np.abs(one - whole[:, 2:3]).max():.1e}")
print(f"X shuffled:           differs by {np.abs(shuffled - whole).max():.1e}")

# %%
# Encoder and decoder · 编码器与解码器
# ------------------------------------
#
# English to French, from the embedded corpus: short sentences only, so that half a minute is enough. The
# encoder reads the source; the decoder reads the French words before the one to be written (teacher
# forcing: the right ones). Its state asks, the encoder's states answer, and from state and context the next
# word is chosen.
#
# The loss is the mean of −ln p, with p the probability that the model gave the right word. Its unit is the
# *nat*, since the logarithm is natural. A model that gives each of the V words the same has ln V. The
# *perplexity* is e to the loss: as if the model had to choose among so many words, all equally likely.
#
# 英语到法语，用内嵌语料里的短句，半分钟就够。编码器读源句；解码器读要写的词之前的法语词（教师强制：
# 给的是正确的词）。解码器的状态提问，编码器的状态回答，再由状态和上下文向量选出下一个词。
#
# 损失是 −ln p 的平均，p 是模型给正确词的概率；用的是自然对数，所以单位叫奈特（nat）。
# 给 V 个词相同概率的模型，损失是 ln V。
# 困惑度（perplexity）是 e 的损失次方：好比在这么多个同样可能的词之间拿不定主意。

corpus = load("toy:en-fr")


def short(pairs, words=9):
    return pairs.select([i for i, source in enumerate(pairs.source) if len(source.split()) <= words])


training, test = short(corpus.train), short(corpus.test)
source_words = Vocabulary.build(corpus.train.source, "word")
target_words = Vocabulary.build(corpus.train.target, "word")


def batch(pairs):
    """Source (N, Tk), START y₁ … (N, Tq), y₁ … END (N, Tq); 0 is padding."""
    source = source_words.encode_batch(pairs.source)
    target = target_words.encode_batch(pairs.target)
    pad = keras.utils.pad_sequences
    before = [[Vocabulary.START, *ids] for ids in target]
    after = [[*ids, Vocabulary.END] for ids in target]
    return tuple(pad(rows, padding="post") for rows in (source, before, after))


print(f"{len(training)} short pairs to learn from, {len(test)} to be tested on")
HE_GAVE = test.source.index("He gave the book to her.")
print(f"  {test.source[HE_GAVE]}  →  {test.target[HE_GAVE]}")

# %%


def translator(causal=False, width=64):
    """(source, START y₁ …) → a score for each French word at each place; `causal` is a mistake, see below."""
    source, before = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embed = keras.layers.Embedding(len(source_words), width, mask_zero=True)
    words = embed(source)  # (B, Tk, D)
    states = keras.layers.Bidirectional(keras.layers.GRU(width // 2, return_sequences=True))(words)
    x = keras.layers.add([words, states])  # (B, Tk, D); with `words + states` the mask would be lost
    y = keras.layers.Embedding(len(target_words), width, mask_zero=True)(before)  # (B, Tq, D)
    y = keras.layers.GRU(width, return_sequences=True)(y)
    context = CrossAttention(1, width, name="cross")(y, x, use_causal_mask=causal)  # (B, Tq, D)
    output = keras.layers.Dense(len(target_words))(keras.layers.concatenate([y, context]))
    return keras.Model([source, before], output)


loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=Vocabulary.PAD)
model = translator()
source, before, after = batch(test)
first = float(loss(after, model([source, before])))
print(f"before training: loss {first:.2f}, ln V = {math.log(len(target_words)):.2f}")

# %%
model.compile(keras.optimizers.Adam(5e-3), loss, jit_compile=False)
*given, wanted = batch(training)
history = model.fit(given, wanted, batch_size=50, epochs=6, verbose=2)
trained = float(loss(after, model([source, before])))
print(f"after training: loss {trained:.2f} on the test sentences, perplexity {math.exp(trained):.1f}")

# %%
# What the bridge carries · 桥上运的是什么
# ----------------------------------------
#
# Give the decoder the right French words so far, but let it look at **another** English sentence. If the
# loss stayed as it was, the model would write French without reading. It does not.
#
# 解码器照样得到正确的法语前文，但让它看**另一个**英语句子。如果损失不变，说明模型没读源句就在写法语。
# 结果并非如此。

others = np.roll(source, 1, axis=0)
lost = float(loss(after, model([others, before])))
print(f"nats a word: its own source {trained:.2f}, another source {lost:.2f}, untrained {first:.2f}")

# %%
# Where does each French word look? The gold alignment of the corpus is outlined. "donné" finds "gave" and
# "livre" finds "book". Where a row misses its outline, ask why: "lui" stands for "her", but French says
# "lui" for him and for her, so it may be the verb that tells the model to write it. The *alignment error
# rate*, printed below and in the figure's title, is the share of links, the model's and the gold ones, that
# have no partner on the other side: 0 is perfect. A link of the model is the largest weight of a row; 11.3
# has the formula.
#
# 每个法语词看哪里？描边的是语料里的标准词对齐。donné 找到 gave，livre 找到 book。
# 哪一行没落在描边的格子里，就问为什么：lui 对应 her，但法语里“他”和“她”都是 lui，
# 所以让模型写出 lui 的可能是动词。对齐错误率（alignment error rate）打印在下面，也写在图的标题里：
# 模型的连线和标准连线放在一起，有多大比例在另一边找不到对应；0 表示全对。
# 模型的连线取每行权重最大的格子；公式见 11.3。

weights = attention_scores(model, [source, before])["cross"][:, 0]  # (N, Tq, Tk)
source_spans = [source_words.spans(text) for text in test.source]
target_spans = [target_words.spans(text) for text in test.target]
maps = [w[: len(t), : len(s)] for w, s, t in zip(weights, source_spans, target_spans, strict=True)]
found = alignment_scores(maps, source_spans, target_spans, test.links)
print(f"alignment accuracy {found.accuracy:.2f}, error rate {found.error_rate:.2f}, {found.links} gold links")

i = HE_GAVE
gold = link_cells(source_spans[i], target_spans[i], test.links[i])
ax = plot_alignment(maps[i], source_words.tokens(test.source[i]), target_words.tokens(test.target[i]), gold)
save_figure(ax, figures / "ch11_2_3_heat_map.png")

# %%
# What can go wrong · 可能出的错
# ------------------------------
#
# **The decoder's mask on the encoder's words.** A causal mask belongs to the decoder's self-attention; the
# source is known as a whole. Given to cross-attention by mistake, it hides the end of the source from the
# first words. No error, no NaN: only a worse model. The same weights with and without:
#
# **把解码器的掩码用在编码器的词上。** 因果掩码属于解码器的自注意力；源句从一开始就全部已知。
# 误传给交叉注意力，前几个词就看不到源句的后半。不报错，没有 NaN，只是模型变差。同样的权重，两种掩码：

spoiled = translator(causal=True)
spoiled.set_weights(model.get_weights())
worse = float(loss(after, spoiled([source, before])))
print(f"the source as a whole: {trained:.2f}   causal by mistake: {worse:.2f}")
print(
    "what the first of four words could then see of seven:",
    ops.convert_to_numpy(causal_mask(4, 7))[0].astype(int),
)
places = ops.convert_to_numpy(causal_mask(before.shape[1], source.shape[1])).sum(axis=1)
print("how many places of the source each place of the French rows could see:", places)

# %%
# With the mask the loss may even exceed that of the untrained model. That one gives every word the same;
# this one was trained to be sure, and is sure of wrong words, which costs more.
#
# If there are not as many queries as keys, our causal mask is aligned at the **end**: the last query stands
# at the last key. That is of use when a decoder writes with a cache (11.6): the one new query sees all keys
# so far. Here it is senseless, and where the French rows are longer, the first see nothing at all.
#
# 加了掩码，损失甚至可能高于没训练过的模型：没训练过的给每个词相同的概率；训练过的很有把握，
# 却对错词有把握，代价更大。
#
# 查询与键的个数不同时，这里的因果掩码按**末尾**对齐：最后一个查询对着最后一个键。
# 解码器用缓存逐词生成时（11.6）正需要这样：唯一的新查询可以看到目前所有的键。用在这里就没有道理；
# 法语那边更长时，最前面几个位置什么也看不到。

# %%
# **Padding read as words.** Without the source's mask a part of the weight falls on padding, and a
# translation depends on the sentences beside it in the batch. Keras hands the mask from layer to layer, but
# ``words + states`` loses it, ``keras.layers.add([words, states])`` keeps it: the row sums of a map tell.
# Here three of seven words are padding, and their vectors are far from zero:
#
# **把填充当成词来读。** 没有源句的掩码，一部分权重落在填充上，译文就会取决于批次里旁边的句子。
# Keras 把掩码从一层传到下一层，但 ``words + states`` 会丢掉它，
# ``keras.layers.add([words, states])`` 不会；看图里每行之和就知道。
# 这里七个词中有三个是填充，它们的向量远不是零：

real = np.array([[True] * 4 + [False] * 3] * 2)  # (B, Tk)
for name, mask in (("with the mask", real), ("without it", None)):
    output, w = layer(y, x, context_mask=mask, return_attention_scores=True)
    alone = layer(y, x[:, :4])  # the four words without any padding
    changed = np.abs(ops.convert_to_numpy(output - alone)).max()
    share = ops.convert_to_numpy(w)[..., 4:].sum(axis=-1).mean()
    print(
        f"{name:14} weight on padding {share:.2f}, the output differs from the unpadded one by {changed:.0e}"
    )

# %%
# Projected once · 只投影一次
# ---------------------------
#
# While a decoder writes word by word, its questions change and the encoder's answers stay.
# ``cache_context`` keeps the keys and values, so that each step projects one query and nothing else.
#
# 解码器逐词写的时候，问题在变，编码器的回答不变。``cache_context`` 把键和值存起来，
# 每一步只需投影一个查询。

cache = layer.cache_context(x)
stepwise = [ops.convert_to_numpy(layer(y[:, t : t + 1], cache=cache)[0]) for t in range(y.shape[1])]
print(f"step by step against all at once: {np.abs(np.concatenate(stepwise, axis=1) - whole).max():.1e}")

# %%
# Try next · 接下来试一试
# -----------------------
#
# - Train with ``causal=True`` from the start. How much of the loss does training win back?
# - Four heads in place of one: which of them follows the gold alignment?
# - Give ``CrossAttention`` the ``states`` alone, without ``words``. What becomes of map and loss?
#
# Then write it yourself: exercise **ex05** (cross-attention), ``keras-attention exercise check ex05``.
# Next: 11.3 looks at such maps with care, and 11.4.1 makes a translator of them.
#
# 试一试：从一开始就用 ``causal=True`` 训练，损失能追回多少？用四个头代替一个，哪个头与标准词对齐最一致？
# 只把 ``states`` 交给 ``CrossAttention``，不加 ``words``，热力图怎么变，损失怎么变？
#
# 然后自己写一遍：练习 **ex05**（交叉注意力），用 ``keras-attention exercise check ex05`` 检查。
# 接下来 11.3 仔细看这样的图，11.4.1 用它做翻译模型。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
