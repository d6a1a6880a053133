"""Text to ids and back, by word or by character; by subword in subword.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import regex

Span = tuple[int, int]


def fold(text: str) -> str:
    """Lower case that keeps every character in its place (``"İ".lower()`` alone would grow)."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


class Vocabulary:
    """Maps text to ids and back.

    Every kind has the ids ``PAD``, ``UNKNOWN``, ``START`` and ``END``. ``tokens``, ``spans`` and
    ``encode`` of a text have the same length. ``get_config`` holds everything, as plain JSON.
    """

    PAD, UNKNOWN, START, END = 0, 1, 2, 3
    SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
    kind: ClassVar[str]

    def __init__(self, tokens: Sequence[str], lowercase: bool = False):
        self.lowercase = lowercase
        self._tokens = [*self.SPECIAL, *tokens]
        self._ids = {token: i for i, token in enumerate(tokens, len(self.SPECIAL))}

    @classmethod
    def build(
        cls,
        texts: Iterable[str],
        kind: str = "word",
        size: int | None = None,
        lowercase: bool = False,
        min_count: int = 1,
        lexicon: Iterable[str] = (),
        model_type: str = "bpe",
    ) -> Vocabulary:
        """Build a vocabulary from texts.

        Args:
            texts: the training texts.
            kind: ``"word"``, ``"char"`` or ``"subword"`` (sentencepiece).
            size: the most ids, the four special ones included; None for all words or characters, or 8000
                subwords. A corpus too small for so many subwords gives as many as it can.
            lowercase: fold case.
            min_count: words or characters that occur less often are unknown.
            lexicon: words of a language written without spaces; the longest match wins.
            model_type: ``"bpe"`` or ``"unigram"``, for subwords.

        Raises:
            ValueError: if the kind is unknown, the size too small, or there is no text.
        """
        texts = list(texts)
        if kind not in ("word", "char", "subword"):
            raise ValueError(f"There is no kind of vocabulary {kind!r}; choose word, char or subword.")
        if not any(text.strip() for text in texts):
            raise ValueError("A vocabulary cannot be built from no text; give at least one sentence.")
        if size is not None and size <= len(cls.SPECIAL):
            raise ValueError(
                f"A vocabulary of size {size} has no room beside the four special ids; raise the size."
            )
        if lowercase:
            texts = [fold(text) for text in texts]
        if kind == "subword":
            from keras_attention.data.subword import SubwordVocabulary

            return SubwordVocabulary.train(texts, size or 8000, lowercase, model_type)
        splitter = WordVocabulary.fit(texts, lexicon) if kind == "word" else CharVocabulary([])
        counts = Counter(text[start:end] for text in texts for start, end in splitter._split(text))
        room = None if size is None else size - len(cls.SPECIAL)
        tokens = [token for token, count in counts.most_common(room) if count >= min_count]
        return cls.from_config({**splitter.get_config(), "tokens": tokens, "lowercase": lowercase})

    def __len__(self) -> int:
        return len(self._tokens)

    def _split(self, text: str) -> list[Span]:
        """Character ranges of the tokens of a text whose case is folded already."""
        raise NotImplementedError

    def _join(self, tokens: list[str]) -> str:
        raise NotImplementedError

    def _fold(self, text: str) -> str:
        return fold(text) if self.lowercase else text

    def spans(self, text: str) -> list[Span]:
        """The character range ``[start, end)`` of each token in the text."""
        return self._split(self._fold(text))

    def tokens(self, text: str) -> list[str]:
        """What a person reads on a plot's axis, one for each id; an unknown word as it is written."""
        text = self._fold(text)
        return [visible(text[start:end]) for start, end in self._split(text)]

    def encode(self, text: str) -> list[int]:
        """Ids, without START and END."""
        text = self._fold(text)
        return [self._ids.get(text[start:end], self.UNKNOWN) for start, end in self._split(text)]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """``encode`` for many texts."""
        return [self.encode(text) for text in texts]

    def sample_batch(self, texts: Iterable[str], rate: float, seed: int) -> list[list[int]]:
        """``encode_batch``, but of a BPE model each merge is left out with probability ``rate``.

        The words are cut in another way in each epoch, which keeps a model from learning them by heart. Other
        vocabularies have one way to cut a text.

        Provilkov et al., 2020, "BPE-Dropout: Simple and Effective Subword Regularization"
        """
        return self.encode_batch(texts)

    def decode(self, ids: Iterable[int]) -> str:
        """Text; stops at END, skips PAD and START, shows UNKNOWN as ``<unk>``."""
        return self._join([self._tokens[i] for i in self._payload(ids)])

    def decode_batch(self, batch: Iterable[Iterable[int]]) -> list[str]:
        """``decode`` for many sequences."""
        return [self.decode(ids) for ids in batch]

    def _payload(self, ids: Iterable[int]) -> Iterator[int]:
        for i in map(int, ids):
            if i == self.END:
                return
            if i not in (self.PAD, self.START):
                yield i

    def id_to_token(self, i: int) -> str:
        """What a person reads for an id."""
        return visible(self._tokens[i])

    def get_config(self) -> dict[str, Any]:
        """Everything ``from_config`` needs, JSON-able."""
        return {
            "kind": self.kind,
            "tokens": self._tokens[len(self.SPECIAL) :],
            "lowercase": self.lowercase,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Vocabulary:
        """The vocabulary that ``get_config`` described."""
        config = dict(config)
        kind = config.pop("kind")
        if kind == "subword":
            from keras_attention.data.subword import SubwordVocabulary

            return SubwordVocabulary(**config)
        return {"word": WordVocabulary, "char": CharVocabulary}[kind](**config)


def visible(token: str) -> str:
    """The token, its white space drawn."""
    return "␣" * len(token) if token.isspace() else token


class CharVocabulary(Vocabulary):
    """One token a character, spaces included."""

    kind = "char"

    def _split(self, text: str) -> list[Span]:
        return [(i, i + 1) for i in range(len(text))]

    def _join(self, tokens: list[str]) -> str:
        return "".join(tokens)


HAN = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--{HAN}]"
WORD = regex.compile(
    r"(?V1)"
    rf"(?P<han>{HAN}+)"
    r"|\d+(?:[.,]\d+)+"  # 3.5, 1,000
    rf"|(?P<word>{LETTER}+(?:['’-]{LETTER}+)*)"  # l'animal, didn't, peut-être
    r"|(?!\s)\X"  # a mark, an emoji
)
IS_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]")
IS_HAN = regex.compile(HAN)
HAN_GAP = regex.compile(rf"(?<={HAN})[^\S\n]+(?={HAN})")


class WordVocabulary(Vocabulary):
    """One token a word or mark.

    An inner apostrophe or hyphen belongs to its word: ``l'animal`` is one token. Chinese is split by the
    longest match over the lexicon, else by character; by its spaces where the texts have them. How a mark
    sticks to its neighbours is learnt from the texts, so that ``decode`` can restore it.
    """

    kind = "word"

    def __init__(
        self,
        tokens: Sequence[str],
        lowercase: bool = False,
        lexicon: Iterable[str] = (),
        spaced: bool = False,
        marks: Mapping[str, Sequence[str]] | None = None,
    ):
        super().__init__(tokens, lowercase)
        self.lexicon = sorted(set(lexicon))
        self.spaced = spaced
        self.marks = {mark: tuple(around) for mark, around in (marks or {}).items()}
        self._words = frozenset(self.lexicon)
        self._longest = max(map(len, self.lexicon), default=1)

    @classmethod
    def fit(cls, texts: list[str], lexicon: Iterable[str]) -> WordVocabulary:
        """An empty vocabulary that knows how the texts are spaced."""
        text = "\n".join(texts)
        characters, gaps = len(IS_HAN.findall(text)), len(HAN_GAP.findall(text))
        empty = cls([], lexicon=lexicon, spaced=5 * gaps > characters)
        return cls(
            [],
            lexicon=lexicon,
            spaced=empty.spaced,
            marks=empty._learn_marks(texts[:: 1 + len(texts) // 10000]),
        )

    def _learn_marks(self, texts: list[str]) -> dict[str, tuple[str, str]]:
        """For each mark, the commonest space before and after it."""
        before: dict[str, Counter[str]] = {}
        after: dict[str, Counter[str]] = {}
        for text in texts:
            spans = self._split(text)
            for (left, gap_start), (gap_end, right) in pairwise(spans):
                gap = text[gap_start:gap_end]
                for side, token in ((after, text[left:gap_start]), (before, text[gap_end:right])):
                    if not IS_WORD.match(token):
                        side.setdefault(token, Counter())[gap] += 1
        return {
            mark: tuple(  # type: ignore[misc]
                side[mark].most_common(1)[0][0] if mark in side else " " for side in (before, after)
            )
            for mark in sorted({*before, *after})
        }

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "lexicon": self.lexicon,
            "spaced": self.spaced,
            "marks": {mark: list(around) for mark, around in self.marks.items()},
        }

    def _split(self, text: str) -> list[Span]:
        spans: list[Span] = []
        for match in WORD.finditer(text):
            if match["han"] and not self.spaced:
                spans.extend(self._longest_matches(text, *match.span()))
            else:
                spans.append(match.span())
        return spans

    def _longest_matches(self, text: str, start: int, stop: int) -> Iterator[Span]:
        while start < stop:
            end = min(start + self._longest, stop)
            while end > start + 1 and text[start:end] not in self._words:
                end -= 1
            yield start, end
            start = end

    def _join(self, tokens: list[str]) -> str:
        text, quoted = "", False
        for left, right in zip(["", *tokens], tokens, strict=False):
            gap = self._gap(left, right) if left else ""
            if right == '"':
                gap = "" if quoted or not left else " "
                quoted = not quoted
            elif left == '"' and quoted:
                gap = ""
            text += gap + right
        return text

    def _gap(self, left: str, right: str) -> str:
        """The space between two neighbours."""
        gaps = [self.marks[left][1]] if left in self.marks and left != '"' else []
        gaps += [self.marks[right][0]] if right in self.marks else []
        if gaps:
            return min(gaps, key=lambda gap: (len(gap), gap == " "))
        if not self.spaced and (IS_HAN.match(left) or IS_HAN.match(right)):
            return ""
        return " "
