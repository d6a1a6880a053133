import math

import numpy as np


def masked_loss(logits, labels):
    losses = np.zeros(labels.shape)
    for place, label in np.ndenumerate(labels):
        if label:
            row = logits[place].astype("float64")
            losses[place] = math.log(np.sum(np.exp(row - row.max()))) + row.max() - row[label]
    return losses.sum() / np.count_nonzero(labels), losses


def words(row, end):
    kept = []
    for token in row:
        if token == end:
            break
        kept.append(token)
    return kept


def matches(written, reference, n):
    left = [list(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    found = total = 0
    for i in range(n, len(written) + 1):
        total += 1
        if list(written[i - n : i]) in left:
            left.remove(list(written[i - n : i]))
            found += 1
    return found, total


def bleu(written, references, end):
    sums = np.zeros((4, 2), int)
    h = r = 0
    for a, b in zip(written, references, strict=True):
        mine, theirs = words(list(a), end), words(list(b), end)
        h, r = h + len(mine), r + len(theirs)
        for n in range(4):
            sums[n] += matches(mine, theirs, n + 1)
    if 0 in sums:
        return 0
    brevity = 1 if h >= r else math.exp(1 - r / h)
    return 100 * brevity * np.exp(np.log(sums[:, 0] / sums[:, 1]).mean())
