"""How good a classifier is, and whether its weights explain what it says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from keras_attention.data import Texts
from keras_attention.metrics import (
    agreement,
    erasure,
    leave_one_out,
    rationale_precision,
    shuffled_weights,
)
from keras_attention.models.classifier import AttentionClassifier, Prediction


def evaluate_classifier(
    classifier: AttentionClassifier, texts: Texts, *, explain_tokens: int = 4000, seed: int = 0
) -> tuple[dict[str, Any], list[Prediction]]:
    """Classify the texts and compare with their labels.

    Args:
        classifier: a trained classifier.
        texts: labelled texts, with rationales where they are known.
        explain_tokens: the explanations are tested on texts drawn at random with at most so many tokens in
            all, since each token is left out in turn; 0 skips the tests.
        seed: of the draws.

    Returns:
        a dictionary and the predictions. The dictionary holds accuracy; macro_f1, the mean over the classes,
        and f1 of each; loss (nats a text); rationale_precision and rationale_precision_uniform (equal
        weights), None without gold; faithfulness, see below; parameters, and what the classifier's
        `training_record` holds.

        faithfulness: texts tested; erasure_attended and erasure_random, the fall of the probability without
        the 3 most attended tokens and without 3 others; agreement_leave_one_out and agreement_gradient,
        Kendall's τ of the weights with what each token's absence changes and with |gradient × input|;
        shuffled_changed and shuffled_distance, what shuffled weights change. See `metrics`.

    Raises:
        ValueError: a label that the classifier does not have.
    """
    from sklearn.metrics import f1_score

    gold = np.array(classifier.label_ids(texts.labels))
    predictions = classifier.predict_text(texts.texts)
    p = np.array([list(prediction.probabilities.values()) for prediction in predictions])
    classes = np.arange(len(classifier.labels))
    f1 = f1_score(gold, p.argmax(axis=-1), labels=classes, average=None, zero_division=math.nan).tolist()
    results: dict[str, Any] = {
        "accuracy": float(np.mean(gold == p.argmax(axis=-1))),
        "macro_f1": float(np.nanmean(f1)),
        "f1": {label: None if math.isnan(x) else x for label, x in zip(classifier.labels, f1, strict=True)},
        "loss": float(-np.log(np.maximum(p[np.arange(len(gold)), gold], 1e-12)).mean()),
        "rationale_precision": None,
        "rationale_precision_uniform": None,
        "faithfulness": explain(classifier, texts, predictions, explain_tokens, seed),
        "parameters": classifier.count_params(),
    }
    results = results | classifier.training_record | results  # a file's record replaces nothing measured
    if texts.rationales is not None:
        spans = [classifier.vocabulary.spans(text) for text in texts.texts]
        found = rationale_precision([row.weights for row in predictions], spans, texts.rationales)
        if found.texts:
            results["rationale_precision"] = found.precision
            results["rationale_precision_uniform"] = found.uniform
    return results, predictions


def explain(
    classifier: AttentionClassifier, texts: Texts, predictions: list[Prediction], tokens: int, seed: int
) -> dict[str, Any] | None:
    """The tests of `evaluate_classifier` under faithfulness; None of a pooling without weights of its own."""
    rows: list[int] = []
    for i in np.random.default_rng(seed).permutation(len(texts)).tolist():
        tokens -= len(predictions[i].tokens)
        if tokens < 0:
            break
        rows.append(i)
    if not rows or classifier.options["pooling"] != "attention":
        return None
    ids = classifier.encode([texts.texts[i] for i in rows])
    weights = [predictions[i].weights for i in rows]

    def predict(sequences):
        return classifier.predict_ids(sequences)[0]

    gone = erasure(predict, ids, weights, seed=seed)
    shuffled = shuffled_weights(
        lambda other: classifier.predict_ids(ids, other)[0],
        [predictions[i].head_weights for i in rows],
        seed=seed,
    )
    return {
        "texts": len(rows),
        "erasure_attended": gone.attended,
        "erasure_random": gone.random,
        "agreement_leave_one_out": agreement(weights, leave_one_out(predict, ids)),
        "agreement_gradient": agreement(
            weights, [np.abs(row) for row in classifier.gradient_times_input(ids)]
        ),
        "shuffled_changed": shuffled.changed,
        "shuffled_distance": shuffled.distance,
    }
