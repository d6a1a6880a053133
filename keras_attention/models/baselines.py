"""What a classifier has to beat: the commonest class, and logistic regression on a bag of words."""

from __future__ import annotations

from collections import Counter

from keras_attention.data import Texts, Vocabulary


def majority_accuracy(train: Texts, test: Texts) -> float:
    """Accuracy of the commonest class of training, whatever the text."""
    ((commonest, _),) = Counter(train.labels).most_common(1)
    return test.labels.count(commonest) / len(test)


def bag_of_words_accuracy(train: Texts, test: Texts, vocabulary: Vocabulary, longest: int = 1) -> float:
    """Accuracy of logistic regression on tf-idf of the tokens, which knows nothing of their order.

    Args:
        train, test: labelled texts.
        vocabulary: cuts the texts into tokens.
        longest: also counts sequences of up to so many tokens.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(analyzer=lambda text: ngrams(vocabulary.tokens(text), longest), sublinear_tf=True)
    model = LogisticRegression(C=10, max_iter=1000)
    model.fit(words.fit_transform(train.texts), train.labels)
    return float(model.score(words.transform(test.texts), test.labels))


def ngrams(tokens: list[str], longest: int) -> list[str]:
    """All sequences of up to `longest` tokens.

    >>> ngrams(["not", "very", "good"], 2)
    ['not', 'very', 'good', 'not very', 'very good']
    """
    return [" ".join(tokens[i : i + n]) for n in range(1, longest + 1) for i in range(len(tokens) - n + 1)]
