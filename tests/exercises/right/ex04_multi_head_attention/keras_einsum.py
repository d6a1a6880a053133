import keras
from keras import ops


def split_heads(x, num_heads):
    heads = ops.reshape(x, (*x.shape[:2], num_heads, -1))
    return ops.einsum("bthd->bhtd", heads)


def merge_heads(heads):
    batch, _, length, _ = heads.shape
    return ops.reshape(ops.swapaxes(heads, 1, 2), (batch, length, -1))


def weigh(query, key, mask):
    """query and key (B, T, H, Dk)."""
    scores = ops.einsum("bqhd,bkhd->bhqk", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + ops.where(mask, 0.0, float("-inf"))[:, None]
    return ops.softmax(scores)


def multi_head_attention(query, key, value, num_heads, mask=None):
    query, key, value = (ops.reshape(x, (*x.shape[:2], num_heads, -1)) for x in (query, key, value))
    weights = weigh(query, key, mask)
    output = ops.einsum("bhqk,bkhd->bqhd", weights, value)
    return ops.reshape(output, (*output.shape[:2], -1)), weights


class MultiHeadAttention(keras.layers.Layer):
    """Each head's part of w_output is applied to that head alone, and the results are added."""

    def __init__(self, num_heads, key_dim, value_dim):
        super().__init__()
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim

    def build(self, shape):
        for name, width in {"query": self.key_dim, "key": self.key_dim, "value": self.value_dim}.items():
            setattr(self, f"w_{name}", self.add_weight(shape=(shape[-1], self.num_heads * width)))
        self.w_output = self.add_weight(shape=(self.num_heads * self.value_dim, shape[-1]))

    def call(self, query, key, value, mask=None):
        def project(x, w):
            return ops.einsum("btd,dhe->bthe", x, ops.reshape(w, (w.shape[0], self.num_heads, -1)))

        weights = weigh(project(query, self.w_query), project(key, self.w_key), mask)
        heads = ops.einsum("bhqk,bkhe->bqhe", weights, project(value, self.w_value))
        w_output = ops.reshape(self.w_output, (self.num_heads, self.value_dim, -1))
        return ops.einsum("bqhe,hed->bqd", heads, w_output), weights
