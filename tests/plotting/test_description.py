import gc

import numpy as np
import pytest

from keras_attention.plotting import describe_attention, description, plot_attention, plot_heads

SOURCE, TARGET = ["the", "cat", "the"], ["le", ""]
WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.0, 0.0, 0.0]])


def test_english():
    assert describe_attention(WEIGHTS, SOURCE, TARGET, title="a\ntitle") == (
        "Heat map of attention weights, “a title”, 2 target tokens (rows) by 3 source tokens (columns). "
        "The largest weight of each row: le – the[3] (0.70), ∅ – nothing."
    )


def test_chinese():
    assert describe_attention(WEIGHTS, SOURCE, TARGET, title="标题", language="zh") == (
        "注意力权重热力图“标题”，2 个目标词元（行）× 3 个源词元（列）。"
        "每行权重最大处：le – the[3] (0.70)，∅ – 无。"
    )


def test_mask_gold_and_nan_are_told():
    weights = np.array([[0.1, np.nan, 0.7], [0.2, 0.8, 0.0]])
    text = describe_attention(
        weights, SOURCE, TARGET, mask=[True, True, False], gold=[[True, False, False], [True, False, False]]
    )
    assert "le – the[1] (0.10), ∅ – cat (0.80)." in text  # what the mask hides is no largest weight
    assert "2 of 6 cells are masked." in text
    assert "1 weights are not a number." in text
    assert "0 of 2 rows with a gold pair have their largest weight on one." in text


def test_long_sequences_are_cut():
    tokens = [f"t{i}" for i in range(300)]
    text = describe_attention(np.eye(300), tokens, tokens)
    assert "t11 – t11 (1.00), and 288 more rows." in text
    assert "t12" not in text
    assert "另有 288 行" in describe_attention(np.eye(300), tokens, tokens, language="zh")


def test_an_unknown_language_and_a_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="language is 'fr', but alt text is in"):
        describe_attention(WEIGHTS, SOURCE, TARGET, language="fr")
    with pytest.raises(ValueError, match="2 rows but there are 1 target tokens"):
        describe_attention(WEIGHTS, SOURCE, TARGET[:1])


def test_a_figure_tells_of_all_its_axes(softmax):
    axes = plot_heads(softmax(3, 2, 3), SOURCE, TARGET)
    text = description.description_of(axes[0].figure)
    assert [text.count(f"“head {i}”") for i in range(1, 4)] == [1, 1, 1]
    assert text.count("Heat map") == 3


def test_descriptions_die_with_their_figures():
    gc.collect()
    before = len(description._descriptions)
    ax = plot_attention(WEIGHTS, SOURCE, TARGET)
    assert len(description._descriptions) == before + 1
    ax.figure.clear()
    del ax
    gc.collect()
    assert len(description._descriptions) == before
