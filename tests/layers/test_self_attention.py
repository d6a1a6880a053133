import keras
import numpy as np
from keras import ops

from keras_attention.layers import MultiHeadAttention, SelfAttention

B, T, D, H, DK = 2, 5, 6, 3, 4


def array(tensor):
    return ops.convert_to_numpy(tensor)


def embedded():
    ids = np.array([[3, 1, 4, 0, 0], [1, 5, 0, 0, 0]])
    return ids, keras.layers.Embedding(7, D, mask_zero=True)(ops.convert_to_tensor(ids))


def test_is_multi_head_attention_of_the_inputs_with_themselves():
    _, x = embedded()
    layer, general = SelfAttention(H, DK), MultiHeadAttention(H, DK)
    layer(x)
    general(x, x)
    general.set_weights(layer.get_weights())
    for options in ({}, {"use_causal_mask": True}):
        results = layer(x, return_attention_scores=True, **options)
        expected = general(x, x, return_attention_scores=True, **options)
        for result, reference in zip(results, expected, strict=True):
            np.testing.assert_array_equal(array(result), array(reference))


def test_the_keras_mask_counts_beside_an_attention_mask():
    ids, x = embedded()
    mask = ops.convert_to_tensor(np.tri(T, dtype=bool)[None])
    _, weights = SelfAttention(H, DK)(x, attention_mask=mask, return_attention_scores=True)
    real = ids != 0
    visible = np.tri(T, dtype=bool) & real[:, :, None] & real[:, None, :]
    np.testing.assert_array_equal(array(weights) > 0, np.broadcast_to(visible[:, None], weights.shape))


def test_permuting_the_tokens_permutes_the_output():
    x = np.random.default_rng(0).normal(size=(B, T, D)).astype("float32")
    order = [3, 0, 4, 1, 2]
    layer = SelfAttention(H, DK)
    np.testing.assert_allclose(array(layer(x[:, order])), array(layer(x))[:, order], atol=1e-6)


def test_padding_is_hidden_from_real_tokens_and_gets_no_weights_itself():
    ids, x = embedded()
    _, weights = SelfAttention(H, DK)(x, return_attention_scores=True)
    real = ids != 0
    pairs = np.broadcast_to((real[:, :, None] & real[:, None, :])[:, None], weights.shape)
    np.testing.assert_array_equal(array(weights) > 0, pairs)
