import keras
import numpy as np
from keras import ops

from keras_attention.layers import CrossAttention, MultiHeadAttention

B, TQ, TK, D, DCONTEXT, H, DK = 2, 5, 7, 6, 9, 3, 4


def array(tensor):
    return ops.convert_to_numpy(tensor)


def test_is_multi_head_attention_with_the_context_as_key_and_value():
    rng = np.random.default_rng(0)
    query, context = rng.normal(size=(B, TQ, D)), rng.normal(size=(B, TK, DCONTEXT))
    query_mask, context_mask = rng.random((B, TQ)) < 0.6, rng.random((B, TK)) < 0.6
    layer, general = CrossAttention(H, DK), MultiHeadAttention(H, DK)
    layer(query, context)
    general(query, context)
    general.set_weights(layer.get_weights())
    results = layer(query, context, query_mask, context_mask, return_attention_scores=True)
    expected = general(
        query, context, query_mask=query_mask, value_mask=context_mask, return_attention_scores=True
    )
    for result, reference in zip(results, expected, strict=True):
        np.testing.assert_array_equal(array(result), array(reference))


def test_layers_in_a_row_all_see_the_mask_of_the_context():
    ids = np.array([[2, 7, 1, 8, 0, 0, 0], [9, 4, 0, 0, 0, 0, 0]])
    context = keras.layers.Embedding(11, DCONTEXT, mask_zero=True)(ops.convert_to_tensor(ids))
    query = ops.convert_to_tensor(np.random.default_rng(0).normal(size=(B, TQ, D)).astype("float32"))
    for _ in range(2):
        output, weights = CrossAttention(H, DK)(query, context, return_attention_scores=True)
        np.testing.assert_array_equal((array(weights) > 0).all((1, 2)), ids != 0)
        query = keras.layers.LayerNormalization()(output)


def test_a_decoder_that_asks_one_token_at_a_time_gets_the_same():
    rng = np.random.default_rng(0)
    query, context = rng.normal(size=(B, TQ, D)), rng.normal(size=(B, TK, DCONTEXT))
    layer = CrossAttention(H, DK)
    whole = array(layer(query, context))
    steps = [array(layer(query[:, t : t + 1], context)) for t in range(TQ)]
    np.testing.assert_allclose(np.concatenate(steps, 1), whole, atol=1e-6)
