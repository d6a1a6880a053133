"""
11.2.1 Self-attention: a sentence reads itself · 自注意力：句子读自己
=====================================================================

"He gave her the book." Who gave, and to whom? To understand a word you look at the other words of its own
sentence. In self-attention every word asks, and every word answers. You build it from three matrices, see
what it can do that a recurrent network cannot, what it cannot see at all, and how two layers find out what
"it" means.

“他把书给了她。”谁给的？给了谁？要理解一个词，就要看同一个句子里的其他词。在自注意力里，每个词都提问，
每个词也都回答。本节用三个矩阵把它搭出来，看它比循环网络强在哪里，有什么完全看不见，
以及两层自注意力怎样弄清 it 指的是什么。
"""

# %%
# Q, K and V from one sequence · Q、K、V 来自同一个序列
# -----------------------------------------------------
#
# In 11.1 the question came from outside. Now X holds a row for each word, and three matrices make of it the
# question of each word, its title, and its content. ``SelfAttention`` with one head is
#
# .. math::
#    Q = X W_Q \qquad K = X W_K \qquad V = X W_V \qquad
#    Z = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V
#
# 在 11.1 里问题来自外面。现在 X 的每一行是一个词，三个矩阵把它变成每个词的问题（查询）、
# 书名（键）和内容（值）。单头的 ``SelfAttention`` 就是上面的公式。

import argparse
import os
import time
from itertools import product
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from keras import ops

from keras_attention import SelfAttention
from keras_attention.functional import scaled_dot_product_attention
from keras_attention.inspection import attention_scores
from keras_attention.plotting import plot_attention, save_figure

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.2.1 Self-attention")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
figures = parser.parse_args().figures
figures.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(21)

# %%
words = ["he", "gave", "her", "the", "book"]
rng = np.random.default_rng(21)
x = rng.normal(size=(1, 5, 8)).astype("float32")  # (B, T, D): a random vector for each word
w_query, w_key, w_value = rng.normal(size=(3, 8, 6)).astype("float32") / 8**0.5  # 3 × (D, Dk)

query, key, value = x @ w_query, x @ w_key, x @ w_value  # 3 × (B, T, Dk)
z, weights = scaled_dot_product_attention(query, key, value)  # (B, T, Dk), (B, T, T)
print(f"X {x.shape}   Q, K, V {query.shape}   weights {tuple(weights.shape)}   Z {tuple(z.shape)}")

# %%
# The layer does the same: given our three matrices (and the identity for the last one, :math:`W_O` of the
# next section) it returns our Z.
#
# 这个层做的是同一件事：把三个矩阵交给它（最后一个矩阵 :math:`W_O` 下一节再讲，这里用单位矩阵），
# 它返回的就是我们的 Z。

layer = SelfAttention(num_heads=1, key_dim=6, output_shape=6, use_bias=False)
layer.build(x.shape)
layer.set_weights([w_query[:, None], w_key[:, None], w_value[:, None], np.eye(6)[None]])  # (D, H, Dk), …
difference = np.abs(ops.convert_to_numpy(layer(x) - z)).max()
print(f"difference between the layer and the formula: {difference:.1e}")

ax = plot_attention(weights[0], words, words, "Untrained: chance", cmap="Blues")
save_figure(ax, figures / "ch11_2_1_chance.png")

# %%
# Any distance in one step · 任意距离，一步到达
# ---------------------------------------------
#
# In a recurrent network the first word reaches the last one through all the states between. In
# self-attention it is one step away, and so are all others. We ask by how much the last output moves when
# the word d places before it moves: the norm of a gradient.
#
# 在循环网络里，第一个词要经过中间所有的状态才能到达最后一个词；在自注意力里只差一步，每个词都是如此。
# 我们问：把前面第 d 个词动一点，最后一个输出动多少？也就是梯度的模。

length = 200
sequence = tf.random.normal((1, length, 32), seed=1)
layers = {
    "GRU": keras.layers.GRU(32, return_sequences=True),
    "LSTM": keras.layers.LSTM(32, return_sequences=True),
    "self-attention": SelfAttention(1, 32),
}
influence = {}
for name, layer in layers.items():
    with tf.GradientTape() as tape:
        tape.watch(sequence)
        last = tf.reduce_sum(layer(sequence)[:, -1])
    gradient = tape.gradient(last, sequence)[0]  # (T, D)
    influence[name] = np.linalg.norm(gradient, axis=-1)[::-1]  # by distance from the end

for name, norms in influence.items():
    print(f"{name:15} " + "   ".join(f"distance {d}: {norms[d]:.0e}" for d in (1, 10, 50, 199)))

# %%
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, norms in influence.items():
    ax.plot(norms, label=name)
ax.set(
    yscale="log",
    ylim=(1e-12, 10),
    xlabel="distance in words",
    ylabel="gradient",
    title="How far a word reaches",
)
ax.legend()
figure.savefig(figures / "ch11_2_1_distance.png", dpi=120)

# %%
# These networks are untrained; training can lengthen a recurrent memory, but it has to begin from here,
# with gradients that have vanished. Self-attention begins with every word equally near. Its numbers are
# small, because 200 words share a weight of 1, on average 1/200 = 5e-03 each, some by chance more, some
# less; what matters is that they do not fall with the distance. The price: a matrix of n × n weights. It is
# measured in 11.5.
#
# 这些网络都没有训练过；训练能延长循环网络的记忆，但它必须从这里、从已经消失的梯度开始。
# 自注意力一开始就离每个词同样近。它的数值小，是因为 200 个词分享总和为 1 的权重，平均每个 1/200 = 5e-03，
# 有的碰巧大些，有的小些；要紧的是它不随距离下降。代价是 n × n 的权重矩阵，11.5 会测量它。

# %%
# It does not know the order · 它不知道词序
# -----------------------------------------
#
# The formula has no word for "before" and "after". Shuffle the words, and each word's output is the same as
# before, only elsewhere: "he gave her" and "her gave he" are one to it. Add to each word a vector of its
# position, and the order counts. (Keras's ``Embedding`` of the position is the simplest; 11.6 shows others.
# The option ``rotary=True`` turns queries and keys instead.)
#
# "he" and "her" change places; how far does the output of "gave" move? The numbers are shares of its
# length: 0.03 is 3%, 0.5 half of its length. The position vectors are multiplied by 20 since Keras draws
# them with a standard deviation of 0.05; so they are as large as the word vectors. All matrices here are
# random, and how much the order counts before training is chance: of a hundred rotary layers, nine in ten
# moved it by 0.03 to 0.74. What matters is that it is not 0.
#
# 公式里没有“前”和“后”。打乱词序，每个词的输出不变，只是换了位置：
# he gave her 和 her gave he 对它是一回事。给每个词加上一个位置向量，词序就有用了。
# （最简单的是对位置用 Keras 的 ``Embedding``；11.6 有别的做法。选项 ``rotary=True`` 则是旋转查询和键。）
#
# he 和 her 对换，gave 的输出动了多少？打印的是与输出长度之比：0.03 是 3%，0.5 是长度的一半。
# 位置向量乘以 20，是因为 Keras 给它的标准差是 0.05，乘过之后才与词向量一样大。这里的矩阵都是随机的，
# 训练前词序影响多大全凭偶然：一百个用旋转位置编码的层里，有九成让它动了 0.03 到 0.74。
# 要紧的是它不是 0。

order = [2, 1, 0, 3, 4]  # her gave he the book
embed_position = keras.layers.Embedding(5, 8, "random_normal")
positions = 20 * ops.convert_to_numpy(embed_position(np.arange(5)))  # (T, D)
plain, rotary = SelfAttention(1, 6, seed=1), SelfAttention(1, 6, rotary=True)


def moved(layer, before, after):
    """How far the output of "gave" moves, relative to its size."""
    first, second = (ops.convert_to_numpy(layer(inputs))[0, 1] for inputs in (before, after))
    return np.linalg.norm(first - second) / np.linalg.norm(first)


print(f"words alone:           {moved(plain, x, x[:, order]):.1e}")
print(f"words and positions:   {moved(plain, x + positions, x[:, order] + positions):.2f}")
print(f"words, rotary:         {moved(rotary, x, x[:, order]):.2f}")

# %%
# What does "it" mean? · it 指什么？
# ----------------------------------
#
# "The animal did not cross the street because it was too *tired*": it, the animal. "… because it was too
# *wide*": it, the street. The meaning of "it" hangs on words that are far away. We make such sentences,
# hide a quarter of them, and train a network to name what "it" stands for.
#
# The animal did not cross the street because it was too tired，it 是 animal；换成 too wide，
# it 是 street。it 的意思取决于离得很远的词。我们造出这样的句子，藏起四分之一，
# 训练网络说出 it 指的是哪个词。

animals = ["animal", "dog", "cow", "bird", "cat", "horse", "rabbit", "sheep"]
ways = ["street", "river", "bridge", "park", "garden", "market", "forest", "field"]
first, second = (
    ["tired", "slow", "sad", "lazy"],
    ["wide", "fast", "long", "strong"],
)  # it = first, second noun


def all_sentences(verb, others):
    """Words of each sentence, and the word that "it" means."""
    found = []
    for one, other, quality in product(animals, others, first + second):
        if one != other:
            sentence = f"the {one} did not {verb} the {other} because it was too {quality}".split()
            found.append((sentence, one if quality in first else other))
    return found


easy = all_sentences("cross", ways)  # the animal … the street
hard = all_sentences("follow", animals)  # the animal … the dog

# %%
# The network: words and positions, one or two layers of self-attention, each added to what came in, and a
# choice of word at "it".
#
# 网络：词加位置，一层或两层自注意力，每层的结果加回输入，最后在 it 的位置选一个词。

vocabulary = sorted({word for sentence, _ in easy + hard for word in sentence})
number = {word: i for i, word in enumerate(vocabulary)}
LENGTH, WIDTH, IT = 12, 32, easy[0][0].index("it")


def network(layers):
    tokens = keras.Input((LENGTH,), dtype="int32")  # (B, T)
    h = keras.layers.Embedding(len(vocabulary), WIDTH)(tokens)  # (B, T, D)
    h = h + keras.layers.Embedding(LENGTH, WIDTH)(ops.arange(LENGTH)[None])
    for i in range(layers):
        attention = SelfAttention(1, WIDTH, name=f"layer_{i + 1}")
        h = keras.layers.LayerNormalization()(h + attention(h))
    return keras.Model(tokens, keras.layers.Dense(len(vocabulary))(h[:, IT]))  # (B, V)


# %%
def learn(layers, sentences):
    """A trained network, and its exam: the share of hidden sentences that it gets right."""
    keras.utils.set_random_seed(21)
    inputs = np.array([[number[word] for word in sentence] for sentence, _ in sentences])  # (N, T)
    labels = np.array([number[answer] for _, answer in sentences])  # (N,)
    shuffled = rng.permutation(len(inputs))
    training, hidden = shuffled[len(inputs) // 4 :], shuffled[: len(inputs) // 4]
    model = network(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(5e-3), loss, metrics=["accuracy"], jit_compile=False)
    model.fit(inputs[training], labels[training], batch_size=48, epochs=40, verbose=0)
    return model, lambda: model.evaluate(inputs[hidden], labels[hidden], verbose=0)[1]


_, exam = learn(1, easy)
print(f"the animal … the street, one layer:  {exam():.0%} of the hidden sentences right")

# %%
# One layer is enough, and we have been fooled: no street is ever tired. It adds up "an animal is here" and
# "tired goes with animals" and need not know which word "it" points at. So let both be animals: "the dog
# did not follow the cat because it was too *tired*" (the dog) or "too *fast*" (the cat).
#
# 一层就够了，但我们被骗了：街道从来不会累。它只要把“这里有动物”和“累的是动物”加起来，
# 不必知道 it 指着哪个词。所以让两个都是动物：the dog did not follow the cat because it was too tired（是
# dog），或 too fast（是 cat）。

models, exams = {}, {}
for layers in (1, 2):
    models[layers], exams[layers] = learn(layers, hard)
    print(f"the dog … the cat, layers {layers}: {exams[layers]():.0%} of the hidden sentences right")

# %%
# One layer fails; a coin thrown between the two animals would be right in half. "It" would have to look at
# the first or at the second noun **because** of a third word, and in one layer its question is fixed before
# it has looked at anything. In two layers the first can fetch the adjective and the second can ask with it.
#
# Why is one layer even worse than a coin? It learns what it can, mostly which answer is more frequent for
# a pair of animals. Each pair has four answers of each kind. If those that we hid are mostly "dog", then
# those that were left for training are mostly "cat", and who goes by them is wrong more often than right.
# (Counting the answers of each pair, without any network, gets 28% here.)
#
# Here is where "it" looks in both layers:
#
# 一层失败了；在两个动物之间抛硬币也有一半对。it 必须**根据**第三个词决定看第一个还是第二个名词，
# 而在一层里，它的问题在看任何词之前就定了。有两层时，第一层可以取来形容词，第二层带着它提问。
#
# 一层为什么连硬币都不如？它学到的主要是：对某一对动物，训练句里哪个答案多。
# 每一对动物的两种答案各有四句。藏起来的多是 dog，留下来训练的就多是 cat；照训练句去猜，错的就比对的多。
# （不用网络，只数每一对的答案来猜，这里只对 28%。）
#
# 下面是 it 在两层里看的地方：

pair = [
    f"the dog did not follow the cat because it was too {quality}".split() for quality in ("tired", "fast")
]
found = attention_scores(models[2], np.array([[number[word] for word in s] for s in pair]))
rows = np.stack([found[f"layer_{i}"][j, 0, IT] for j in (0, 1) for i in (1, 2)])  # (4, T)
asked = [f"{sentence[-1]}, layer {i}" for sentence in pair for i in (1, 2)]
for name, row in zip(asked, rows, strict=True):
    best = ", ".join(f"{pair[0][j]} {row[j]:.2f}" for j in np.argsort(-row[:-1])[:2])  # of the first 11
    print(f"{name}: it looks at {best}, the adjective {row[-1]:.2f}")

# %%
# In the figure *tired/1* is the sentence that ends in "tired", layer 1; *fast/2* the one that ends in "fast",
# layer 2. In each row "it" asks. The last column, tired/fast, is the adjective of the row's sentence.
#
# 图中 tired/1 指以 tired 结尾的句子、第 1 层；fast/2 指以 fast 结尾的句子、第 2 层。每一行都是 it 在提问。
# 最后一列 tired/fast 是该行那个句子的形容词。

labels = [*pair[0][:-1], "tired/fast"]
asked = [name.replace(", layer ", "/") for name in asked]
ax = plot_attention(rows, labels, asked, 'Where "it" looks, by adjective and layer', annotate=True)
ax.set(ylabel="adjective/layer")
save_figure(ax, figures / "ch11_2_1_it.png")

# %%
# The second layer answers as a person would. The first is pale, nearly an average over all words. Is it
# idle? Take its attention away:
#
# 第二层的回答和人一样。第一层很淡，几乎是所有词的平均。它是不是没用？拿掉它的注意力试试：

kernel = models[2].get_layer("layer_1").output_dense.kernel  # (h, Dk, D)
whole = kernel.numpy()
kernel.assign(np.zeros_like(whole))
print(f"two layers, the first without its attention: {exams[2]():.0%} of the hidden sentences right")
kernel.assign(whole)

# %%
# The average holds the adjective, and that is what the second layer asks with. A pale map may carry what
# decides: more of this in 11.3.
#
# 平均里就有那个形容词，第二层正是带着它提问的。颜色很淡的图也可能带着决定性的东西，11.3 会再讲。

# %%
# Two more masks · 再说两种掩码
# -----------------------------
#
# Beside a sentence of twelve words one of five is padded; with the mask its Z does not change. And a model
# that writes must not read ahead: with ``use_causal_mask=True`` the last word may change, the words before
# it do not notice.
#
# 和十二个词的句子放在一起，五个词的句子要填充；有掩码时它的 Z 不变。逐词生成的模型不能偷看后面：
# 用 ``use_causal_mask=True``，最后一个词变了，前面的词毫无察觉。

layer = SelfAttention(2, 6, seed=1)
padded = np.concatenate([x, np.ones((1, 7, 8), "float32")], axis=1)  # (1, 12, D)
mask = np.arange(12)[None] < 5  # (1, 12)
z = ops.convert_to_numpy(layer(x))
for name, options in (("with the mask", {"mask": mask}), ("without it", {})):
    difference = np.abs(ops.convert_to_numpy(layer(padded, **options))[:, :5] - z).max()
    print(f"padding, {name:14} Z differs by {difference:.0e}")

other = x.copy()
other[:, -1] += 1
for causal in (True, False):
    pair = [ops.convert_to_numpy(layer(inputs, use_causal_mask=causal))[:, :-1] for inputs in (x, other)]
    difference = np.abs(pair[0] - pair[1]).max()
    print(f"last word changed, causal={causal!s:5}  the words before it differ by {difference:.0e}")

# %%
# Try next · 接下来试一试
# -----------------------
#
# - Take the positions out of ``network``. What can two layers still do?
# - Exchange "dog" and "cat" in the sentence. Do the maps follow the place or the word?
# - Measure the distance figure again for ``GRU`` after multiplying its recurrent weights by 1.5.
#
# Then write it yourself: exercise **ex03** (self-attention), ``keras-attention exercise check ex03``. Next:
# 11.2.2, several looks at once.
#
# 试一试：从 ``network`` 里去掉位置，两层还能做什么？把句子里的 dog 和 cat 对换，
# 图跟着位置走还是跟着词走？把 ``GRU`` 的循环权重乘以 1.5，再量一次距离图。
#
# 然后自己写一遍：练习 **ex03**（自注意力），用 ``keras-attention exercise check ex03`` 检查。
# 下一节 11.2.2：同时看几处。

print(f"Figures are in {figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
