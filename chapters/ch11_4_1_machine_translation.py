"""
11.4.1 Machine translation with attention · 用注意力做机器翻译
==============================================================

A translator reads a sentence and writes it in another language. Here you train three of them in two to
three minutes, see what attention adds, and look at what it looked at.

翻译模型读一个句子，再用另一种语言写出来。本节用两三分钟训练三个翻译模型，看注意力带来了什么，
也看它看了哪里。
"""

# %%
# The information bottleneck · 信息瓶颈
# -------------------------------------
#
# A Seq2Seq model without attention squeezes the whole source sentence into **one vector of fixed size**. A
# sentence of 5 words fits; one of 25 does not. Bahdanau et al. (2015) let the decoder look back instead: at
# every step t the previous state :math:`s_{t-1}` is compared with each encoder state :math:`h_i`
# (``BahdanauAttention``),
#
# .. math::
#    \alpha_{ti} = \mathrm{softmax}_i\, v^\top \tanh(W_q s_{t-1} + W_k h_i)
#    \qquad c_t = \sum_i \alpha_{ti} h_i
#
# and the context :math:`c_t` enters the step that writes :math:`y_t`.
#
# 没有注意力的 Seq2Seq 把整个源句压进**一个固定大小的向量**，这就是信息瓶颈：5 个词装得下，25 个词装不下。
# Bahdanau 等人（2015）让解码器回头看：每一步 t，用上一个状态 :math:`s_{t-1}` 与编码器的每个状态
# :math:`h_i` 比较，得到权重 :math:`\alpha_{ti}` 和上下文向量 :math:`c_t`，再用它写出 :math:`y_t`。

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import matplotlib.pyplot as plt

from keras_attention.data import load
from keras_attention.metrics import link_cells
from keras_attention.models import PRESETS, Seq2SeqTranslator, evaluate, train
from keras_attention.models.training import build_vocabularies
from keras_attention.plotting import plot_attention

began = time.perf_counter()
parser = argparse.ArgumentParser(description="11.4.1 Machine translation with attention")
parser.add_argument("--data", default="toy:en-fr", help="toy:en-fr, a TSV file, a folder of LANG.SPLIT.txt")
parser.add_argument("--epochs", type=int, help="how often each model reads the data")
parser.add_argument("--figures", type=Path, default=Path("figures"), help="where the figures go")
arguments = parser.parse_args()
arguments.figures.mkdir(parents=True, exist_ok=True)

# %%
# The data · 数据
# ---------------
#
# The pairs come from a small grammar of ours, so they need no network, and the grammar knows which word
# was translated by which: the gold alignment.
#
# 句对由我们自己的小语法生成，不需要网络；语法还知道哪个词对应哪个词，也就是标准词对齐。

corpus = load(arguments.data)
toy = arguments.data.startswith("toy:")
preset = PRESETS["toy" if toy else "quick"]
settings = preset["training"] | ({"epochs": 8} if toy else {})
if arguments.epochs:
    settings["epochs"] = arguments.epochs
source_vocabulary, target_vocabulary = build_vocabularies(corpus, **preset["vocabulary"])
print(f"{len(corpus.train)} pairs to train on, {len(corpus.test)} to test on, for example")
for source, target in zip(corpus.test.source[:3], corpus.test.target[:3], strict=True):
    print(f"  {source}  →  {target}")

# %%
# Before training · 训练之前
# --------------------------
#
# A model that knows nothing gives each of the V words the probability 1/V, so its loss must be ln V. This
# one line finds many mistakes before they cost an hour.
#
# 什么都没学过的模型给 V 个词相同的概率 1/V，损失应当等于 ln V。训练前查这一行，能省下许多时间。


def translator(attention):
    options = preset["model"] | {"attention": attention}
    return Seq2SeqTranslator(source_vocabulary, target_vocabulary, **options)


models = {"with attention": translator("bahdanau"), "without attention": translator("none")}
for name, model in models.items():
    read = model.force(corpus.test.source, corpus.test.target)
    loss = -sum(pair.score for pair in read) / sum(len(pair.tokens) + 1 for pair in read)  # and END
    print(f"{name}: loss {loss:.3f}, ln V = {math.log(len(target_vocabulary)):.3f}")

# %%
# Training · 训练
# ---------------
#
# Teacher forcing: at each step the decoder is given the right previous word. After each epoch the
# validation sentences are translated, and the weights with the best BLEU are kept.
#
# 训练用教师强制：每一步都把正确的前一个词交给解码器。每轮之后翻译验证集，保留 BLEU 最高的权重。

histories, results, translations = {}, {}, {}
for name, model in models.items():
    print(f"\n{name}")
    histories[name] = train(model, corpus, verbose=2, **settings)
    results[name], translations[name] = evaluate(model, corpus.test, language=corpus.target_language)

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, history in histories.items():
    ax.plot(range(1, len(history["val_loss"]) + 1), history["val_loss"], marker="o", label=name)
ax.set(xlabel="epoch", ylabel="validation loss (nats per token)", title="The loss falls")
ax.legend()
figure.savefig(arguments.figures / "ch11_4_1_loss.png", dpi=120)

# %%
# The same network with and without attention · 同一个网络，有注意力和没有注意力
# ------------------------------------------------------------------------------
#
# Both have an encoder and a decoder of the same size, the same data and the same number of epochs. BLEU by
# the length of the source shows the bottleneck.
#
# 两个模型的编码器、解码器大小相同，数据和训练轮数也相同。按源句长度看 BLEU，就能看到信息瓶颈。

print(f"\n{'':22}" + "".join(f"{name:>20}" for name in results))
print(f"{'test BLEU':22}" + "".join(f"{result['bleu']:20.1f}" for result in results.values()))
bins = [result["bleu_by_length"] for result in results.values()]
for row in zip(*bins, strict=True):
    label = f"{row[0].label} words ({row[0].sentences})"
    print(f"{label:22}" + "".join(f"{cell.bleu:20.1f}" for cell in row))

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, result in results.items():
    filled = [cell for cell in result["bleu_by_length"] if cell.sentences]
    ax.plot([cell.label for cell in filled], [cell.bleu for cell in filled], marker="o", label=name)
ax.set(xlabel="source words", ylabel="BLEU", ylim=(0, 102), title="The information bottleneck")
ax.legend()
figure.savefig(arguments.figures / "ch11_4_1_bleu_by_length.png", dpi=120)

# %%
# Where did it look? · 它看了哪里？
# ---------------------------------
#
# Each row of the heat map belongs to a French word, each column to a source word. Outlined cells are the
# gold alignment. The French words are the reference's, which the model reads word by word (``force``), so
# that they fit the gold alignment; what it writes itself stands below. "animal" and "l'animal" meet, and
# "n'a" and "pas" both look at "didn't".
#
# 热力图的每一行是一个法语词，每一列是源句的词，描边的格子是标准词对齐。这些法语词来自参考译文，
# 由模型逐词读过去（``force``），这样才能与标准词对齐比较；模型自己写的译文在下面。animal 对应 l'animal，
# n'a 和 pas 都看着 didn't。

attending = models["with attention"]
accuracy = results["with attention"]["alignment_accuracy"]
if accuracy is not None:
    print(f"\nalignment accuracy against gold: {accuracy:.3f}")


def heat_map(model, pairs, index, name):
    source, target = pairs.source[index], pairs.target[index]
    forced = model.force([source], [target])[0]
    gold = pairs.links and link_cells(
        model.source_vocabulary.spans(source), model.target_vocabulary.spans(target), pairs.links[index]
    )
    width, height = len(forced.source_tokens), len(forced.tokens)
    figure, ax = plt.subplots(figsize=(2.5 + 0.45 * width, 1.8 + 0.38 * height), layout="constrained")
    plot_attention(forced.attention, forced.source_tokens, forced.tokens, target, ax=ax, gold=gold)
    figure.savefig(arguments.figures / f"ch11_4_1_{name}.png", dpi=120)


def find(pairs, words):
    """The shortest pair with this beginning, else the first."""
    found = [i for i, source in enumerate(pairs.source) if source.startswith(words)]
    return min(found, key=lambda i: len(pairs.source[i]), default=0)


pairs = corpus.test
heat_map(attending, pairs, find(pairs, "The animal didn't"), "heat_map")

# %%
# Five translations · 五个译例
# ----------------------------
#
# What it writes, beside what it should have written. Compare them word by word, and look for what is wrong:
# is the tired one "il" (the animal) or "elle" (the street)? The model has seen only a small corpus of made
# sentences, and one wrong word in a sentence hardly lowers the BLEU of the whole test, even if it turns the
# meaning round.
#
# 模型写的，以及应当写的。请逐词比较，找出错在哪里：累的是 il（动物）还是 elle（街道）？
# 模型只读过一个小语料，句子都是造出来的；一句里错一个词，即使意思变了，整个测试集的 BLEU 也几乎不变。

for source, reference, translation in list(
    zip(pairs.source, pairs.target, translations["with attention"], strict=True)
)[:5]:
    print(f"  source      {source}\n  translation {translation.text}\n  reference   {reference}\n")

# %%
# Chinese · 中文
# --------------
#
# The same program on another pair of languages. In Chinese the relative clause stands before the noun, so
# the attention jumps. (Labels need a font with Chinese glyphs; without one a hint says which to install.)
# At the end stand one translation and its reference: is each word right, the verb above all?
#
# 同一个程序换成中文。中文的定语从句在名词之前，注意力要跳着看。（显示汉字需要中文字体；
# 没有时会提示安装哪一个。）最后是一个译文和它的参考译文：每个词都对吗？特别看动词。

if arguments.data == "toy:en-fr":
    chinese = load("toy:en-zh")
    model = Seq2SeqTranslator(*build_vocabularies(chinese, **preset["vocabulary"]), **preset["model"])
    train(model, chinese, verbose=2, **settings | {"epochs": 5})
    result, written = evaluate(model, chinese.test, language="zh")
    print(f"English to Chinese: BLEU {result['bleu']:.1f}, alignment {result['alignment_accuracy']:.3f}")
    example = find(chinese.test, "He gave the book to her.")
    print(f"  source      {chinese.test.source[example]}\n  translation {written[example].text}")
    print(f"  reference   {chinese.test.target[example]}")
    heat_map(model, chinese.test, find(chinese.test, "The student who"), "heat_map_zh")

# %%
# Try next · 接下来试一试
# -----------------------
#
# - ``attention="luong-dot"`` or ``"luong-general"``: what changes in the heat map?
# - ``model.translate([...], beam_width=5)``: when does beam search differ from greedy search?
# - ``--data FOLDER`` trains on sentences of your own.
#
# Then write it yourself: exercises **ex07** (additive attention and a decoder step), **ex08** (greedy and
# beam search) and **ex09** (masked loss and BLEU), ``keras-attention exercise check ex07``.
#
# 接下来试一试：换成 ``luong-dot`` 或 ``luong-general``，热力图有什么变化？
# ``beam_width=5`` 的束搜索什么时候与贪心解码不同？用 ``--data`` 换成你自己的句对。
#
# 然后自己写一遍：练习 **ex07**（加性注意力与解码一步）、**ex08**（贪心解码与束搜索）、
# **ex09**（掩码损失与 BLEU），用 ``keras-attention exercise check ex07`` 检查。

print(f"Figures are in {arguments.figures.resolve()}; this took {time.perf_counter() - began:.0f} s.")
