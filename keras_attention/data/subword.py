"""A vocabulary of subwords by sentencepiece."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable
from typing import Any

import sentencepiece

from keras_attention.data.vocabulary import Span, Vocabulary, visible


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
        """Train a BPE or unigram model; the rarest characters beyond 3/4 of its size are unknown."""
        if model_type not in ("bpe", "unigram"):
            raise ValueError(f"There is no subword model {model_type!r}; choose bpe or unigram.")
        room = 3 * (size - len(cls.SPECIAL)) // 4
        characters = Counter("".join(texts).replace(" ", "")).most_common()
        if len(characters) > room:
            rare = dict.fromkeys((ord(character) for character, _ in characters[room:]), " ")
            texts = [text.translate(rare) for text in texts]
        buffer = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=buffer,
            model_type=model_type,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
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
        spans, end = [], 0
        for piece in self._pieces(text):  # their surfaces, one after another, are the text
            start, end = end, end + len(piece.surface)
            space = len(piece.surface) - len(piece.surface.lstrip())
            spans.append((start + space, end))
        return spans

    def tokens(self, text: str) -> list[str]:
        return [visible(piece.piece) for piece in self._pieces(text)]

    def encode(self, text: str) -> list[int]:
        return self._processor.encode(self._fold(text))

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        return self._processor.encode([self._fold(text) for text in texts], num_threads=1)

    def sample_batch(self, texts: Iterable[str], rate: float, seed: int) -> list[list[int]]:
        sentencepiece.set_random_generator_seed(seed)
        return self._processor.encode(
            [self._fold(text) for text in texts],
            enable_sampling=True,
            alpha=rate,
            nbest_size=-1,
            num_threads=1,
        )

    def decode(self, ids: Iterable[int]) -> str:
        return self._processor.decode(list(self._payload(ids)))

    def decode_batch(self, batch: Iterable[Iterable[int]]) -> list[str]:
        return self._processor.decode([list(self._payload(ids)) for ids in batch], num_threads=1)
