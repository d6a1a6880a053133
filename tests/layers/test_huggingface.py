"""Beside the Longformer, BigBird and Reformer of Hugging Face transformers, with the same weights.

Where both mean the same, they agree. What theirs does otherwise is shown, one test each:

- Longformer: nothing, but that its window is two-sided and even, and n a multiple of it.
- BigBird: in evaluation the random blocks are all block 0, which then counts 1 + r times.
- Reformer: the first chunk also sees the last one, and a key that several rounds find counts several times,
  so that more rounds do not lead to full attention.
"""

import numpy as np
import pytest
from keras import ops

from keras_attention.functional import scaled_dot_product_attention
from keras_attention.layers import BigBirdAttention, LongformerAttention, ReformerAttention
from keras_attention.masks import window_from

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
big_bird = pytest.importorskip("transformers.models.big_bird.modeling_big_bird")
longformer = pytest.importorskip("transformers.models.longformer.modeling_longformer")
reformer = pytest.importorskip("transformers.models.reformer.modeling_reformer")

B, N, H, DK = 2, 24, 3, 4
WIDTH = H * DK


def array(tensor):
    return ops.convert_to_numpy(tensor)


def inputs():
    return np.random.default_rng(0).normal(size=(B, N, WIDTH)).astype("float32")


def randomise(module):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module.eval()


def weights_of(*linears):
    """Those of torch.nn.Linear as our projections have them, kernel (D, H, Dk) and bias (H, Dk)."""
    weights = []
    for linear in linears:
        weights.append(linear.weight.detach().numpy().T.reshape(WIDTH, H, DK))
        if linear.bias is not None:
            weights.append(linear.bias.detach().numpy().reshape(H, DK))
    return weights


def set_weights(layer, local, others=(), bias=True):
    """Without a projection of the output: theirs has none."""
    layer(inputs())
    output = [np.eye(WIDTH).reshape(H, DK, WIDTH), *([np.zeros(WIDTH)] if bias else [])]
    layer.set_weights([*weights_of(*local), *output, *weights_of(*others)])


def heads_of(layer, x):
    """The queries, keys and values: (B, H, n, Dk) each."""
    return [ops.transpose(dense(x), (0, 2, 1, 3)) for dense in layer.projections[:3]]


def merged(heads):
    """(B, H, n, Dk) → (B, n, H · Dk)."""
    return array(heads).transpose(0, 2, 1, 3).reshape(B, -1, WIDTH)


@pytest.mark.parametrize("tokens", [[], [0], [0, 9, 10]])
@pytest.mark.parametrize("lengths", [(N, N), (N, 17)])
def test_longformer(tokens, lengths):
    config = transformers.LongformerConfig(
        hidden_size=WIDTH, num_attention_heads=H, attention_window=[6], attention_probs_dropout_prob=0.0
    )
    theirs = randomise(longformer.LongformerSelfAttention(config, layer_id=0))
    window = window_from(6, "huggingface")
    ours = LongformerAttention(H, DK, window, global_tokens=tokens, global_projections=True)
    set_weights(
        ours,
        (theirs.query, theirs.key, theirs.value),
        (theirs.query_global, theirs.key_global, theirs.value_global),
    )
    mask = np.arange(N) < np.array(lengths)[:, None]
    is_global = np.isin(np.arange(N), tokens) & mask
    code = np.where(mask, np.where(is_global, 1e4, 0), -1e4)
    with torch.no_grad():
        (expected,) = theirs(
            torch.tensor(inputs()),
            attention_mask=torch.tensor(code),
            is_index_masked=torch.tensor(code < 0),
            is_index_global_attn=torch.tensor(is_global),
            is_global_attn=bool(tokens),
        )
    output = array(ours(inputs(), mask=mask))
    np.testing.assert_allclose(output[mask], expected.numpy()[mask], atol=1e-4)


def big_bird_pair(random_blocks, size=2):
    config = transformers.BigBirdConfig(
        hidden_size=WIDTH,
        num_attention_heads=H,
        block_size=size,
        num_random_blocks=random_blocks,
        max_position_embeddings=N,
        attention_probs_dropout_prob=0.0,
    )
    theirs = randomise(big_bird.BigBirdBlockSparseAttention(config, seed=5))
    ours = BigBirdAttention(H, DK, size, random_blocks, seed=1)
    set_weights(ours, (theirs.query, theirs.key, theirs.value))
    return theirs, ours


def run_big_bird(theirs, mask, size=2):
    mask = torch.tensor(mask.astype("float32"))
    blocked, band, rows, columns = big_bird.BigBirdModel.create_masks_for_block_sparse_attn(mask, size)
    with torch.no_grad():
        output, _ = theirs(torch.tensor(inputs()), band, rows, columns, blocked, blocked)
    return output.numpy()


def their_random_blocks(theirs, random_blocks, size=2):
    """What they draw in training: (H, N − 2, r), for all blocks but the first and the last."""
    lengths, numbers = theirs._get_rand_attn_plan(N, size, random_blocks)
    np.random.seed(5)
    drawn = theirs._bigbird_block_rand_mask_with_head(N, N, size, size, H, lengths, numbers)
    return np.stack(drawn)


@pytest.mark.parametrize("lengths", [(N, N), (N, 17)])
def test_big_bird_with_the_same_random_blocks(lengths, monkeypatch):
    theirs, ours = big_bird_pair(2)
    theirs.train()
    drawn = np.pad(their_random_blocks(theirs, 2), ((0, 0), (1, 1), (0, 0)))  # (H, N, r)
    index, visible = map(array, ours.pattern(N // 2))
    index = np.concatenate([index[..., :5], drawn], axis=2)
    repeated = (index[..., 5:, None] == index[..., None, :5]) & visible[..., None, :5]
    assert not repeated[:, 1:-1].any()  # in these draws none is counted twice
    monkeypatch.setattr(ours, "pattern", lambda *_: (ops.convert_to_tensor(index), visible))
    mask = np.arange(N) < np.array(lengths)[:, None]
    output, expected = array(ours(inputs(), mask=mask)), run_big_bird(theirs, mask)
    np.testing.assert_allclose(output[mask], expected[mask], atol=1e-4)


def test_big_bird_of_theirs_counts_its_first_block_again_in_evaluation():
    theirs, ours = big_bird_pair(2)
    index, visible = map(array, ours.pattern(N // 2))
    counts = np.zeros((H, N // 2, N // 2))
    for h, i, k in zip(*np.nonzero(visible[..., :5]), strict=True):
        counts[h, i, index[h, i, k]] += 1
    counts[:, :, 0] += 2
    counts[:, [0, -1]] = 1  # those see all, once
    counts = np.repeat(np.repeat(counts, 2, axis=1), 2, axis=2)  # (H, n, n)
    with np.errstate(divide="ignore"):
        bias = np.log(counts).astype("float32")
    heads, _ = scaled_dot_product_attention(
        *heads_of(ours, inputs()), mask=(counts > 0)[None], bias=np.where(counts > 0, bias, 0)[None]
    )
    expected = run_big_bird(theirs, np.ones((B, N), bool))
    np.testing.assert_allclose(merged(heads), expected, atol=1e-4)
    assert abs(array(ours(inputs())) - expected).max() > 0.1


def reformer_pair(chunk_size, num_hashes, decoder=False, **options):
    config = transformers.ReformerConfig(
        hidden_size=WIDTH,
        num_attention_heads=H,
        attention_head_size=DK,
        lsh_attn_chunk_length=chunk_size,
        num_hashes=num_hashes,
        num_buckets=8,
        hash_seed=0,
        is_decoder=decoder,
        lsh_attention_probs_dropout_prob=0.0,
    )
    theirs = randomise(reformer.LSHSelfAttention(config, layer_idx=0))
    ours = ReformerAttention(H, DK, chunk_size, num_hashes, use_bias=False, seed=1, **options)
    set_weights(ours, (theirs.query_key, theirs.query_key, theirs.value), bias=False)
    return theirs, ours


def run_reformer(theirs, buckets=None):
    with torch.no_grad():
        heads = theirs(torch.tensor(inputs()), buckets=buckets).hidden_states
    return heads.numpy()


@pytest.mark.parametrize("decoder", [False, True])
def test_reformer_of_one_chunk(decoder):
    theirs, ours = reformer_pair(N, 1, decoder, num_buckets=1)
    output = array(ours(inputs(), use_causal_mask=decoder))
    np.testing.assert_allclose(output, run_reformer(theirs), atol=1e-4)


def test_reformer_with_the_same_buckets_but_for_the_first_chunk():
    theirs, ours = reformer_pair(4, 1)
    query, *_ = heads_of(ours, inputs())
    (buckets,) = map(array, ours._buckets(query, np.ones((1, 1, N, 1), "int32")))  # (B, H, n)
    order = np.argsort(buckets, axis=-1, kind="stable")
    first = np.argsort(order, axis=-1) < 4  # (B, H, n), in the first chunk
    output, expected = (
        x.reshape(B, N, H, DK).transpose(0, 2, 1, 3)
        for x in (array(ours(inputs())), run_reformer(theirs, torch.tensor(buckets.astype("int64"))))
    )  # (B, H, n, Dk)
    np.testing.assert_allclose(output[~first], expected[~first], atol=1e-4)
    assert abs(output - expected)[first].max() > 1e-2  # theirs goes round in a circle


def test_reformer_of_theirs_does_not_become_full_attention_by_more_rounds():
    full = array(reformer_pair(N, 1)[1](inputs()))
    theirs, ours = reformer_pair(4, 60)
    np.testing.assert_allclose(array(ours(inputs())), full, atol=1e-4)
    assert np.linalg.norm(run_reformer(theirs) - full) > 0.05 * np.linalg.norm(full)
