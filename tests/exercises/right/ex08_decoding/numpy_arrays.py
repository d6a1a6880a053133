import numpy as np


def greedy(next_scores, start, end, limit):
    tokens, total = np.array([start]), np.float32(0)
    for _ in range(limit):
        scores = next_scores(tokens)
        tokens, total = np.append(tokens, scores.argmax()), total + scores.max()
        if tokens[-1] == end:
            break
    return tokens[1:], total


def grow(beams, next_scores, end, width):
    log_probs = np.stack([next_scores(tokens) for tokens, _ in beams]).astype("float64")  # (K, V)
    stays = np.array([tokens[-1] == end for tokens, _ in beams])
    log_probs[stays] = -np.inf
    log_probs[stays, end] = 0  # the only way on, and it costs nothing
    totals = np.array([score for _, score in beams])[:, None] + log_probs
    best = np.argsort(-totals, axis=None)[:width]
    parents, tokens = np.unravel_index(best, totals.shape)
    return [
        (beams[k][0] if stays[k] else [*beams[k][0], token], totals[k, token])
        for k, token in zip(parents, tokens, strict=True)
        if totals[k, token] > -np.inf
    ]


def beam_search(next_scores, start, end, limit, width, alpha):
    beams = [([start], 0.0)]
    for _ in range(limit):
        beams = grow(beams, next_scores, end, width)
        if all(tokens[-1] == end for tokens, _ in beams):
            break
    scores = np.array([score for _, score in beams])
    lengths = np.array([len(tokens) - 1 for tokens, _ in beams])
    best = np.argmax(scores / lengths**alpha)
    return np.array(beams[best][0][1:]), (scores / lengths**alpha)[best]
