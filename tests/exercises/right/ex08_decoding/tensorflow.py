import tensorflow as tf


def greedy(next_scores, start, end, limit):
    tokens, score = tf.constant([start]), tf.constant(0.0)
    for _ in range(limit):
        scores = tf.constant(next_scores(tokens))
        tokens = tf.concat([tokens, tf.argmax(scores, output_type=tf.int32)[None]], axis=0)
        score += tf.reduce_max(scores)
        if tokens[-1] == end:
            break
    return tokens[1:], score


def best(tokens, scores, lengths, next_scores, end, width):
    """One step on rows of one length: what has finished is filled up with END."""
    log_probs = tf.constant(next_scores(tokens))  # (K, V)
    V = log_probs.shape[-1]
    stay = tf.where(tf.range(V) == end, 0.0, -float("inf"))
    finished = tokens[:, -1] == end
    log_probs = tf.where(finished[:, None], stay, log_probs)
    totals = tf.reshape(scores[:, None] + log_probs, [-1])
    scores, picked = tf.math.top_k(totals, min(width, len(totals)))
    parents = picked // V
    tokens = tf.concat([tf.gather(tokens, parents), (picked % V)[:, None]], axis=1)
    lengths = tf.gather(lengths, parents) + tf.where(tf.gather(finished, parents), 0, 1)
    real = scores > -float("inf")
    return tokens[real], scores[real], lengths[real]


def grow(beams, next_scores, end, width):
    longest = max(len(tokens) for tokens, _ in beams)
    rows = tf.constant([tokens + [end] * (longest - len(tokens)) for tokens, _ in beams])
    scores = tf.constant([score for _, score in beams], tf.float32)
    lengths = tf.constant([len(tokens) for tokens, _ in beams])
    rows, scores, lengths = best(rows, scores, lengths, next_scores, end, width)
    return [(row[:n], score) for row, score, n in zip(rows, scores, lengths, strict=True)]


def beam_search(next_scores, start, end, limit, width, alpha):
    state = tf.constant([[start]]), tf.constant([0.0]), tf.constant([1])
    for _ in range(limit):
        state = best(*state, next_scores, end, width)
    tokens, scores, lengths = state
    scores /= tf.cast(lengths - 1, tf.float32) ** alpha
    first = tf.argmax(scores, output_type=tf.int32)
    return tokens[first, 1 : lengths[first]], scores[first]
