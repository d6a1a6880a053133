"""The vocabularies once more, as TensorFlow graphs from strings to ids and back."""

import re

import numpy as np
import tensorflow as tf

from keras_attention.data.vocabulary import IS_HAN, CharVocabulary, Vocabulary, WordVocabulary

# RE2 knows white space of ASCII alone, no difference of classes, and no grapheme clusters
SPACES = r"\s\v\x{1c}-\x{1f}\x{85}\p{Z}"
HAN = r"\p{Han}\p{Hiragana}\p{Katakana}"
LETTER = rf"(?:[^\pC\pP\pS\pZ{HAN}]|_)"
NUMBER = r"\p{Nd}+(?:[.,]\p{Nd}+)+"
WORD = rf"{LETTER}+(?:['’-]{LETTER}+)*"
MARK = (
    r"[\x{1F1E6}-\x{1F1FF}]{2}"  # a flag
    rf"|[^{SPACES}](?:[\p{{M}}\x{{200C}}\x{{1F3FB}}-\x{{1F3FF}}]|\x{{200D}}\p{{So}}?)*"
)
CUT = "\x1f"


def text_in_graph(vocabulary):
    """The graph of a vocabulary.

    Raises:
        ValueError: it holds subwords of a unigram model, whose best cut no graph of ours finds.
    """
    kinds = {"word": WordsInGraph, "char": CharactersInGraph, "subword": SubwordsInGraph}
    return kinds[vocabulary.kind](vocabulary)


class TextInGraph(tf.Module):
    """What `Vocabulary` does, on a batch of strings; behind the end of a text its tokens are ""."""

    def __init__(self, vocabulary):
        super().__init__()
        names = vocabulary.id_to_token
        self.lowercase = vocabulary.lowercase
        self.shown = tf.constant(["", *(names(i) for i in range(1, len(vocabulary)))])
        self.known = table(vocabulary._ids, tf.int32, Vocabulary.UNKNOWN)

    def split(self, texts):
        """The tokens (B, n) of texts (B,)."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8")
        texts = tf.strings.lower(texts, "utf-8") if self.lowercase else texts
        return self.cut(texts).to_tensor("")

    def cut(self, texts):
        """Texts (B,) whose case is folded → their tokens, ragged."""
        raise NotImplementedError

    def ids(self, tokens):
        """Tokens (B, n) → their ids, PAD behind the end."""
        return tf.where(tokens == "", Vocabulary.PAD, self.known.lookup(tokens))

    def tokens(self, ids):
        """Ids (B, T) → what a person reads, "" for PAD."""
        return tf.gather(self.shown, ids)

    def join(self, ids):
        """Ids (B, T), PAD behind the end → texts (B,)."""
        raise NotImplementedError


class CharactersInGraph(TextInGraph):
    """One token a character."""

    def __init__(self, vocabulary: CharVocabulary):
        super().__init__(vocabulary)
        self.characters = tf.constant(["", *vocabulary._tokens[1:]])

    def cut(self, texts):
        return tf.strings.unicode_split(texts, "UTF-8")

    def join(self, ids):
        return tf.strings.reduce_join(tf.gather(self.characters, ids), axis=1)


class WordsInGraph(TextInGraph):
    """One token a word or mark, cut by one regular expression and joined by the gaps of the marks."""

    def __init__(self, vocabulary: WordVocabulary):
        super().__init__(vocabulary)
        # the first alternative that fits wins, so the longest word of the lexicon comes first
        lexicon = sorted((w for w in vocabulary.lexicon if all(map(IS_HAN.match, w))), key=len, reverse=True)
        han = f"[{HAN}]+" if vocabulary.spaced else "|".join([*map(re.escape, lexicon), f"[{HAN}]"])
        self.pattern = f"({han}|{NUMBER}|{WORD}|{MARK})"

        # the space between two words, the tightest of those that they ask for
        gaps = {gap for around in vocabulary.marks.values() for gap in around} | {"", " "}
        order = sorted(gaps, key=lambda gap: (len(gap), gap == " ", gap))
        self.gaps, nothing = tf.constant(order), len(order)
        names = vocabulary._tokens

        def asked(side):
            wishes = [
                order.index(vocabulary.marks[t][side]) if t in vocabulary.marks else nothing for t in names
            ]
            return np.array(wishes, np.int32)

        quote = np.array([token == '"' for token in names])
        self.before = tf.constant(asked(0))
        self.after = tf.constant(np.where(quote, nothing, asked(1)).astype(np.int32))
        self.quote = tf.constant(quote)
        self.han = tf.constant([bool(IS_HAN.match(token)) and not vocabulary.spaced for token in names])
        self.tight, self.wide, self.nothing = order.index(""), order.index(" "), nothing

    def cut(self, texts):
        texts = tf.strings.regex_replace(texts, CUT, " ")
        pieces = tf.strings.split(tf.strings.regex_replace(texts, self.pattern, rf"\1{CUT}"), CUT)
        words = pieces.with_values(tf.strings.regex_replace(pieces.values, f"[{SPACES}]+", ""))
        return tf.ragged.boolean_mask(words, words != "")

    def join(self, ids):
        left, right = tf.pad(ids, [[0, 0], [1, 0]])[:, :-1], ids  # PAD before the first
        gap = tf.minimum(tf.gather(self.after, left), tf.gather(self.before, right))
        joined = tf.gather(self.han, left) | tf.gather(self.han, right)
        gap = tf.where(gap < self.nothing, gap, tf.where(joined, self.tight, self.wide))
        quote = tf.gather(self.quote, ids)
        inside = tf.cumsum(tf.cast(quote, tf.int32), axis=1, exclusive=True) % 2 == 1  # a quotation is open
        opens = tf.where(inside, self.tight, self.wide)
        after_quote = tf.gather(self.quote, left)
        gap = tf.where(quote, opens, tf.where(after_quote & inside, self.tight, gap))
        gap = tf.where((left == Vocabulary.PAD) | (right == Vocabulary.PAD), "", tf.gather(self.gaps, gap))
        return tf.strings.reduce_join(tf.strings.join([gap, self.tokens(ids)]), axis=1)


class SubwordsInGraph(TextInGraph):
    """Subwords by BPE: of all neighbours those are merged whose merge was learned first, again and again."""

    SPACE = "▁"

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        processor = vocabulary._processor
        scores = [processor.get_score(i) for i in range(len(Vocabulary.SPECIAL), len(vocabulary))]
        if scores != [-float(rank) for rank in range(len(scores))]:
            raise ValueError(
                "A SavedModel cuts subwords by BPE, but these are of a unigram model: build the vocabulary "
                'with model_type="bpe", or of words or characters.'
            )
        self.pieces = tf.constant(["", *vocabulary._tokens[1:]])
        self.never = np.iinfo(np.int32).max
        ranks = {piece: i - len(Vocabulary.SPECIAL) for piece, i in vocabulary._ids.items()}
        self.ranks = table(ranks, tf.int64, self.never)

    def cut(self, texts):
        marked = tf.strings.regex_replace(tf.strings.join([" ", texts]), " ", self.SPACE)
        marked = tf.where(texts == "", "", marked)
        symbols = tf.strings.unicode_split(marked, "UTF-8").to_tensor("")  # (B, N)
        N = tf.shape(symbols, tf.int64)[1]
        place = tf.range(N)

        def merge(symbols, _):
            right = tf.pad(symbols, [[0, 0], [0, 1]], constant_values="")[:, 1:]
            pairs = tf.where(right == "", "", tf.strings.join([symbols, right]))
            order = self.ranks.lookup(pairs) * N + place  # by rank, then from the left
            first = tf.reduce_min(order, axis=1, keepdims=True)  # (B, 1)
            at = tf.where(first < self.never * N, first % tf.maximum(N, 1), N)
            symbols = tf.where(place < at, symbols, tf.where(place == at, pairs, right))
            return symbols, tf.reduce_any(at < N)

        shapes = (tf.TensorShape([None, None]), tf.TensorShape([]))
        symbols, _ = tf.while_loop(lambda _, more: more, merge, (symbols, N > 0), shapes)
        return self._with_unknown_runs(tf.ragged.boolean_mask(symbols, symbols != ""))

    def _with_unknown_runs(self, tokens):
        """Unknown characters in a row are one token."""
        unknown = tokens.with_values(self.known.lookup(tokens.values) == Vocabulary.UNKNOWN)
        behind = tf.concat([tf.fill([unknown.nrows(), 1], False), unknown], axis=1)[:, :-1]
        starts = tokens.with_values(~(unknown.values & behind.values))
        which = tf.cumsum(tf.cast(starts.values, tf.int32)) - 1
        count = tf.reduce_sum(tf.cast(starts.values, tf.int32))
        joined = tf.strings.unsorted_segment_join(tokens.values, which, count)
        lengths = tf.reduce_sum(tf.cast(starts, tf.int64), axis=1)
        return tf.RaggedTensor.from_row_lengths(joined, lengths)

    def join(self, ids):
        text = tf.strings.reduce_join(tf.gather(self.pieces, ids), axis=1)
        return tf.strings.regex_replace(tf.strings.regex_replace(text, f"^{self.SPACE}", ""), self.SPACE, " ")


def table(values, dtype, default):
    """A hash table from strings to numbers."""
    keys = tf.constant(list(values), tf.string)
    numbers = tf.constant(list(values.values()), dtype)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, numbers), default)
