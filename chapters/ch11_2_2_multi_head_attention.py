"""
11.2.2 Multi-head attention: several looks at once · 多头注意力：同时看几处
===========================================================================

One softmax can focus on one thing. A word has several relations at once: who did it, to whom, what stands
before it. So the layer looks several times at the same time, each time in a small subspace of its own, and
puts the results together. You take it apart, see the mistake that nearly everybody makes with the axes, and
measure when a second head is worth having.

一个 softmax 只能聚焦一件事，而一个词同时有几种关系：谁做的，对谁做的，前面是什么词。
所以这一层同时看几次，每次在自己的小子空间里看，再把结果拼起来。本节把它拆开，看几乎人人都会在轴上犯的错误，
并测量什么时候值得多一个头。
"""

# %%
# Heads · 头
# ----------
#
# With h heads, d_model features are divided into h subspaces of :math:`d_k = d_{model} / h`. Each head
# attends in its own subspace, the h results are joined, and :math:`W^O` mixes them. That is
# ``MultiHeadAttention``:
#
# .. math::
#    \mathrm{head}_i = \mathrm{attention}(Q W_i^Q,\, K W_i^K,\, V W_i^V) \qquad
#    \mathrm{MultiHead}(Q, K, V) = [\mathrm{head}_1; \ldots; \mathrm{head}_h]\, W^O
#
# 有 h 个头时，d_model 个特征分成 h 个子空间，每个 :math:`d_k = d_{model} / h` 维。
# 每个头在自己的子空间里做注意力，h 个结果拼接起来，再由 :math:`W^O` 混合。这就是 ``MultiHeadAttention``。

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import matplotlib.pyplot as plt
import numpy as np
from keras import ops

from keras_attention import MultiHeadAttention, SelfAttention
from keras_attention.functional import scaled_dot_product_attention
from keras_attention.inspection import attention_scores
from keras_attention.plotting import plot_heads, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.2.2 Multi-head attention")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
figures = parser.parse_args().figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(22)
rng = np.random.default_rng(22)

# %%
# The usual size is d_model = 512 with 8 heads of 64. More heads do not make the layer larger: it is the
# same number of weights, differently divided. But give each head the whole width, as Keras's ``key_dim``
# lets you, and it is eight times as large.
#
# 常见的大小是 d_model = 512、8 个头、每头 64 维。头多了层并不变大：权重一样多，只是分法不同。
# 但如果每个头都给满宽度（Keras 的 ``key_dim`` 是每个头的宽度，很容易写错），层就是原来的八倍大。

d_model = 512
x = rng.normal(size=(2, 5, d_model)).astype("float32")  # (B, T, d_model)
for heads, key_dim in ((1, 512), (8, 64), (16, 32), (8, 512)):
    layer = MultiHeadAttention(heads, key_dim, use_bias=False)
    output, weights = layer(x, x, return_attention_scores=True)
    print(
        f"{heads:2} {'head' if heads == 1 else 'heads':5} of {key_dim:3}: "
        f"{layer.count_params():9,} weights   output {tuple(output.shape)}   attention {tuple(weights.shape)}"
    )

# %%
# d_model must be divisible by the number of heads, if the heads are to fill it: 512 / 7 leaves a rest.
#
# 要让各个头正好填满，d_model 必须能被头数整除：512 / 7 除不尽。

print("heads that divide 512:", [heads for heads in range(1, 17) if d_model % heads == 0])

# %%
# Splitting the heads · 拆分成头
# ------------------------------
#
# The projections give (B, T, h · d_k). A head needs the words along its second last axis: (B, h, T, d_k).
# So it is a reshape **and** a transpose. Look at three words of four features, numbered 0 … 11, for two
# heads:
#
# 投影得到 (B, T, h · d_k)，而每个头需要 (B, h, T, d_k)，词要在倒数第二个轴上。
# 所以是 reshape **加** transpose。看三个词、四个特征（编号 0 … 11）、两个头：

features = np.arange(12).reshape(3, 4)  # (T, h · Dk)
print("words:\n", features)
right = features.reshape(3, 2, 2).transpose(1, 0, 2)  # (T, h · Dk) → (T, h, Dk) → (h, T, Dk)
wrong = features.reshape(2, 3, 2)  # (T, h · Dk) → (h, T, Dk), the shape is right and nothing else
print("head 1, with the transpose:\n", right[0])
print("head 1, without it:\n", wrong[0])

# %%
# Without the transpose the second "word" of head 1 is the second half of the first word. No error is
# raised, shapes are right, a small network even trains. What finds it is a test: change one word, "he", and
# see which words of each head have changed.
#
# 没有 transpose 时，第 1 个头的第二个“词”其实是第一个词的后半段。没有报错，形状正确，小网络甚至能训练。
# 能发现它的是测试：改动一个词（he），看每个头里哪些词变了。

words = ["he", "gave", "her"]
changed = features.copy()
changed[0] += 100  # the first word only · 只改第一个词
for name, split in (
    ("with the transpose", lambda a: a.reshape(3, 2, 2).transpose(1, 0, 2)),
    ("without it", lambda a: a.reshape(2, 3, 2)),
):
    moved = (split(changed) != split(features)).any(axis=-1)  # (h, T)
    told = [" and ".join(word for word, m in zip(words, row, strict=True) if m) or "no word" for row in moved]
    print(f"{name:20} in head 1 changed: {told[0]}; in head 2: {told[1]}")

# %%
# By hand · 手算
# --------------
#
# Head by head, then joined: the layer's own matrices give the layer's output, and Keras's layer, which has
# the same layout of weights, gives it too.
#
# 一个头一个头地算，再拼起来：用这个层自己的矩阵，得到它的输出；Keras 的层权重布局相同，结果也相同。

layer = MultiHeadAttention(num_heads=4, key_dim=6, use_bias=False)
a, b = rng.normal(size=(2, 5, 24)).astype("float32"), rng.normal(size=(2, 7, 24)).astype("float32")
output = layer(a, b)  # (B, Tq, D)
w_query, w_key, w_value, w_output = layer.get_weights()  # 3 × (D, h, Dk), (h, Dk, D)

heads = [
    scaled_dot_product_attention(a @ w_query[:, i], b @ w_key[:, i], b @ w_value[:, i])[0] for i in range(4)
]  # 4 × (B, Tq, Dk)
joined = ops.concatenate(heads, axis=-1)  # (B, Tq, h · Dk)
by_hand = ops.matmul(joined, w_output.reshape(24, 24))  # (B, Tq, D)

theirs = keras.layers.MultiHeadAttention(4, 6, use_bias=False)
theirs.build(a.shape, b.shape)
theirs.set_weights(layer.get_weights())
for name, other in (("by hand", by_hand), ("Keras", theirs(a, b))):
    print(f"difference from {name}: {np.abs(ops.convert_to_numpy(output - other)).max():.1e}")

# %%
# Two relations need two heads · 两种关系需要两个头
# -------------------------------------------------
#
# A task that shows it: for each word, name the word **before** it and the word **after** it. One head must
# look at both at once, and its softmax mixes them: it knows which two words, but not which was which. All
# layers here have the same number of weights. (The word before the first is the last one, as in a circle.)
#
# 一个能说明问题的任务：对每个词，说出它**前面**的词和**后面**的词。一个头只好把两个邻居一起看，
# softmax 把它们混在一起：知道是哪两个词，却分不清谁前谁后。这里所有的层权重数相同。
# （第一个词前面的是最后一个词，像围成一圈。）

vocabulary = ["he", "gave", "her", "the", "book", "a", "student", "to", "Einstein", "animal", "street", "it"]
LENGTH, WIDTH, V = 8, 32, len(vocabulary)
inputs = rng.integers(0, V, size=(2500, LENGTH))  # (N, T): words in any order
labels = np.stack([np.roll(inputs, 1, axis=1), np.roll(inputs, -1, axis=1)], axis=-1)  # (N, T, 2)


def embedding(size):
    return keras.layers.Embedding(size, WIDTH, keras.initializers.RandomNormal(stddev=1.0))


def network(heads):
    tokens = keras.Input((LENGTH,), dtype="int32")  # (B, T)
    h = embedding(V)(tokens) + embedding(LENGTH)(ops.arange(LENGTH)[None])  # (B, T, D)
    h = SelfAttention(heads, WIDTH // heads, name="attention")(h)
    h = keras.layers.Dense(2 * V)(h)  # (B, T, 2 · V)
    return keras.Model(tokens, keras.layers.Reshape((LENGTH, 2, V))(h))


# %%
models, accuracy = {}, {}
for heads in (1, 2, 4, 8):
    keras.utils.set_random_seed(22)
    models[heads] = model = network(heads)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-2), loss, metrics=["accuracy"], jit_compile=False)
    model.fit(inputs[:2000], labels[:2000], batch_size=100, epochs=20, verbose=0)
    accuracy[heads] = model.evaluate(inputs[2000:], labels[2000:], verbose=0)[1]
    size, right = f"{heads} × {WIDTH // heads:2}", f"{accuracy[heads]:.0%} right"
    print(f"heads {size}: {model.count_params()} weights, {right}")

# %%
# What did they learn? · 它们学到了什么？
# ---------------------------------------
#
# One head smears its weight over both neighbours. Two heads divide the work; nobody told them how.
#
# 一个头把权重抹在两个邻居上；两个头分了工，没有人告诉它们怎么分。

sentence = ["he", "gave", "her", "the", "book", "to", "a", "student"]
ids = np.array([[vocabulary.index(word) for word in sentence]])
one = attention_scores(models[1], ids)["attention"][0]  # (1, T, T)
two = attention_scores(models[2], ids)["attention"][0]  # (2, T, T)
titles = ["one head, alone", "head 1 of two", "head 2 of two"]
axes = plot_heads(np.concatenate([one, two]), sentence, sentence, titles=titles, annotate=False)
save_figure(axes[0], figures / "ch11_2_2_heads.png")

before, after = np.roll(np.eye(LENGTH), -1, axis=1), np.roll(np.eye(LENGTH), 1, axis=1)  # (T, T)
for title, head in zip(titles, [*one, *two], strict=True):
    share = [(head * where).sum() / LENGTH for where in (before, after)]
    print(f"{title:16} weight on the word before {share[0]:.2f}, after {share[1]:.2f}")

# %%
# Does every head count? · 每个头都重要吗？
# -----------------------------------------
#
# Take one head away by setting its rows of :math:`W^O` to 0, and ask again. Where four or eight heads share
# the work of two, some can go at little cost; others cannot. A head has no meaning that somebody gave it,
# and its map alone does not tell what would be missing without it.
#
# 把某个头在 :math:`W^O` 里的那几行设为 0，就拿掉了这个头，再测一次。四个或八个头分担两个头的活时，
# 有的拿掉损失很小，有的不行。没有人给头规定意义；只看它的图，也看不出少了它会怎样。

for heads in (2, 4, 8):
    kernel = models[heads].get_layer("attention").output_dense.kernel  # (h, Dk, D)
    whole = kernel.numpy()
    left = []
    for head in range(heads):
        kernel.assign(np.where(np.arange(heads)[:, None, None] == head, 0, whole))
        left.append(models[heads].evaluate(inputs[2000:], labels[2000:], verbose=0)[1])
    kernel.assign(whole)
    print(
        f"{heads} heads, {accuracy[heads]:.0%} right; without one of them: "
        + " ".join(f"{a:.0%}" for a in left)
    )

# %%
figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.bar([str(heads) for heads in accuracy], list(accuracy.values()))
ax.axhline(1 / V, color="0.4", linestyle="--", label="chance")
ax.set(
    xlabel="heads (same number of weights)",
    ylabel="right",
    ylim=(0, 1.05),
    title="The word before and the word after",
)
ax.legend()
figure.savefig(figures / "ch11_2_2_accuracy.png", dpi=120)

# %%
# Masks and heads · 掩码与头
# --------------------------
#
# A mask (B, Tq, Tk) counts for all heads, one of (B, h, Tq, Tk) for each head its own. In other programs
# the mask is a number and ``mask == 0`` is hidden; here it is boolean, and a float is refused, since 0 and
# 1 might also be meant to be added to the scores.
#
# 形状 (B, Tq, Tk) 的掩码对所有头有效，(B, h, Tq, Tk) 则每个头有自己的。别的程序里掩码是数字，
# ``mask == 0`` 的位置被遮住；这里是布尔值，浮点数会被拒绝，因为 0 和 1 也可能是要加到分数上的数。

layer = SelfAttention(num_heads=3, key_dim=4)
x = rng.normal(size=(2, 5, 12)).astype("float32")
everyone = rng.random((2, 5, 5)) < 0.7  # (B, Tq, Tk)
everyone[..., 0] = True
own = rng.random((2, 3, 5, 5)) < 0.7  # (B, h, Tq, Tk)
own[..., 0] = True
for mask in (everyone, own):
    _, weights = layer(x, attention_mask=mask, return_attention_scores=True)
    hidden = ~np.broadcast_to(mask if mask.ndim == 4 else mask[:, None], weights.shape)
    weights = ops.convert_to_numpy(weights)
    sums = weights.sum(axis=-1)
    print(f"mask {mask.shape}: hidden {weights[hidden].max()}, row sums {sums.min():.3f} … {sums.max():.3f}")
try:
    scaled_dot_product_attention(x, x, x, mask=everyone.astype("float32"))
except ValueError as error:
    print(error)

# %%
# Try next · 接下来试一试
# -----------------------
#
# - Ask for three relations (two places before, one before, one after). How many heads are enough now?
# - One head with ``key_dim=64``: does a wider head help? Why not?
# - ``num_key_value_heads=2`` with 8 heads: how many weights are saved?
#
# Then write it yourself: exercise **ex04** (multi-head attention), ``keras-attention exercise check ex04``.
# Next: 11.2.3, where two sequences meet.
#
# 试一试：要求三种关系（前面第二个、前面一个、后面一个），需要几个头？一个头但 ``key_dim=64``，
# 更宽有用吗？为什么？8 个头配 ``num_key_value_heads=2``，省了多少权重？
#
# 然后自己写一遍：练习 **ex04**（多头注意力），用 ``keras-attention exercise check ex04`` 检查。
# 下一节 11.2.3：两个序列相遇。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
