"""How good a translator is, and where it looked."""

from __future__ import annotations

import math
from typing import Any

from keras_attention.data import Pairs
from keras_attention.metrics import (
    alignment_scores,
    bleu_by_length,
    corpus_bleu,
    corpus_chrf,
    split_words,
)
from keras_attention.models.heads import head_table
from keras_attention.models.translation import Translation, Translator


def evaluate(
    translator: Translator, pairs: Pairs, *, language: str | None = None, beam_width: int = 1
) -> tuple[dict[str, Any], list[Translation]]:
    """Translate the source sentences and compare with the target sentences.

    Args:
        translator: a trained translator.
        pairs: sentences with their reference translations, and gold links where they are known.
        language: the target language; "zh" is split into characters before it is scored.
        beam_width: as in `translate`.

    Returns:
        a dictionary and the translations. The dictionary holds bleu of the texts as they are, with its
        sacreBLEU signature; bleu_lowercased of lower-cased words and punctuation set apart (as published
        figures on tokenised text are); chrf; loss (nats a token) and perplexity of the references;
        alignment_accuracy and alignment_error_rate of the attention when it reads the references, None
        without gold links or attention; bleu_by_length, by words of the source; heads, a `head_table` where
        there are several; parameters, and what the translator's `training_record` holds.
    """
    translations = translator.translate(pairs.source, beam_width=beam_width)
    texts = [translation.text for translation in translations]
    tokenize = "zh" if language == "zh" else "13a"
    bleu = corpus_bleu(texts, pairs.target, tokenize)
    forced = translator.force(pairs.source, pairs.target, all_heads=True)
    tokens = sum(len(row.attention) + 1 for row in forced)  # and END
    loss = -sum(row.score for row in forced) / tokens
    results = {
        "bleu": bleu.score,
        "bleu_signature": bleu.signature,
        "bleu_lowercased": corpus_bleu(
            [split_words(text) for text in texts], [split_words(text) for text in pairs.target], "none"
        ).score,
        "chrf": corpus_chrf(texts, pairs.target).score,
        "loss": loss,
        "perplexity": math.exp(min(loss, 700)),
        "alignment_accuracy": None,
        "alignment_error_rate": None,
        "bleu_by_length": bleu_by_length(
            texts,
            pairs.target,
            [len(split_words(text).split()) for text in pairs.source],
            (5, 10, 15, 20),
            tokenize,
        ),
        "heads": head_table(translator, pairs, forced),
    }
    results["parameters"] = translator.count_params()
    results = results | translator.training_record | results  # a file's record replaces nothing measured
    if pairs.links is not None and translator.options.get("attention") != "none":
        alignment = alignment_scores(
            [row.attention for row in forced],
            [translator.source_vocabulary.spans(text) for text in pairs.source],
            [translator.target_vocabulary.spans(text) for text in pairs.target],
            pairs.links,
        )
        if alignment.links:
            results["alignment_accuracy"] = alignment.accuracy
            results["alignment_error_rate"] = alignment.error_rate
    return results, translations
