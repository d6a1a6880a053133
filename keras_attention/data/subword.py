"""A vocabulary of subwords by sentencepiece."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable
from typing import Any

import sentencepiece

from keras_attention.data.vocabulary import Span, Vocabulary


class SubwordVocabulary(Vocabulary):
    """Pieces of words; ``▁`` marks a space. The text is not normalised, so that a round trip is exact."""

    kind = "subword"

    def __init__(self, model: str, lowercase: bool = False):
        self.model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=base64.b64decode(model))
        size = self._processor.get_piece_size()
        super().__init__(self._processor.id_to_piece(list(range(len(self.SPECIAL), size))), lowercase)

    @classmethod
    def train(cls, texts: list[str], size: int, lowercase: bool, model_type: str) -> SubwordVocabulary:
        """Train a BPE or unigram model; the rarest characters are unknown if they would fill half of it."""
        if model_type not in ("bpe", "unigram"):
            raise ValueError(f"There is no subword model {model_type!r}; choose bpe or unigram.")
        counts = Counter("".join(texts).replace(" ", ""))
        kept = sum(count for _, count in counts.most_common(max(size // 2, size - 100)))
        buffer = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=buffer,
            model_type=model_type,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=kept / counts.total(),
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            split_digits=True,
            max_sentence_length=1 << 20,
            pad_id=cls.PAD,
            unk_id=cls.UNKNOWN,
            bos_id=cls.START,
            eos_id=cls.END,
            pad_piece=cls.SPECIAL[0],
            unk_piece=cls.SPECIAL[1],
            unk_surface=cls.SPECIAL[1],
            bos_piece=cls.SPECIAL[2],
            eos_piece=cls.SPECIAL[3],
            num_threads=1,
            minloglevel=2,
        )
        return cls(base64.b64encode(buffer.getvalue()).decode("ascii"), lowercase)

    def get_config(self) -> dict[str, Any]:
        return {"kind": self.kind, "model": self.model, "lowercase": self.lowercase}

    def _pieces(self, text: str) -> Any:
        return self._processor.encode(self._fold(text), return_type="proto").pieces

    def spans(self, text: str) -> list[Span]:
        spans = []
        for piece in self._pieces(text):
            start, end = piece.begin, piece.end
            while start < end and text[start].isspace():
                start += 1
            spans.append((start, end))
        return spans

    def tokens(self, text: str) -> list[str]:
        return [piece.piece for piece in self._pieces(text)]

    def encode(self, text: str) -> list[int]:
        return self._processor.encode(self._fold(text))

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        return self._processor.encode([self._fold(text) for text in texts], num_threads=1)

    def decode(self, ids: Iterable[int]) -> str:
        return self._processor.decode(list(self._payload(ids)))

    def decode_batch(self, batch: Iterable[Iterable[int]]) -> list[str]:
        return self._processor.decode([list(self._payload(ids)) for ids in batch], num_threads=1)
