import heapq
import math


def greedy(next_scores, start, end, limit):
    if limit == 0:
        return [], 0.0
    scores = [float(s) for s in next_scores([start])]
    token = scores.index(max(scores))
    if token == end:
        return [token], scores[token]
    # the rest is the same task, with what was written before it
    rest, score = greedy(lambda tokens: next_scores([start, *tokens]), token, end, limit - 1)
    return [token, *rest], scores[token] + score


def grow(beams, next_scores, end, width):
    def ways_on(tokens, score):
        if tokens[-1] == end:
            yield tokens, score
            return
        for token, more in enumerate(next_scores(tokens).tolist()):
            yield [*tokens, token], math.log(math.exp(score) * math.exp(more))

    return heapq.nlargest(width, (way for beam in beams for way in ways_on(*beam)), key=lambda way: way[1])


def beam_search(next_scores, start, end, limit, width, alpha):
    running, done = [([start], 0.0)], []
    while limit:
        kept = grow(running + done, next_scores, end, width)
        running = [beam for beam in kept if beam[0][-1] != end]
        done = [beam for beam in kept if beam[0][-1] == end]
        limit -= 1 if running else limit
    best = max(running + done, key=lambda beam: beam[1] / math.pow(len(beam[0]) - 1, alpha))
    return best[0][1:], best[1] * math.pow(len(best[0]) - 1, -alpha)
