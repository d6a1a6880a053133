"""Toy sentences in English: do-support, the progressive, the possessive 's."""

from __future__ import annotations

from keras_attention.data.toy.lexicon import PREPOSITIONS, VERBS
from keras_attention.data.toy.meaning import (
    Clause,
    Gap,
    NounPhrase,
    Phrase,
    Place,
    Pronoun,
    Sentence,
    Word,
    word,
)

OBJECT = {"he": "him", "she": "her", "it": "it", "they": "them"}
POSSESSIVE = {"he": "his", "she": "her", "it": "its", "they": "their"}


def sentence(s: Sentence) -> list[Word]:
    first, last = s.clauses[0], s.clauses[-1]
    stop = word("?" if s.question else ".", (s, "stop"))
    if s.question:
        return [*question(first, s), stop]
    if len(s.clauses) == 1:
        return [*clause(first), stop]
    if s.join in ("when", "if"):
        return [word(s.join, (s, "join")), *clause(first), word(",", (s, "comma")), *clause(last), stop]
    comma = [word(",", (s, "comma"))] if s.join == "but" else []
    joined = word("and" if s.join == "then" else s.join, (s, "join"))
    return [*clause(first), *comma, joined, *clause(last), stop]


def clause(c: Clause) -> list[Word]:
    before = [*time(c), word(",", (c, "comma"))] if c.time_first else []
    subject = [word("it", (c, "tense"))] if c.subject is None else phrase(c.subject)
    return [
        *before,
        *subject,
        *auxiliary(c),
        *predicate(c, bare=c.negative),
        *([] if c.time_first else time(c)),
    ]


def question(c: Clause, s: Sentence) -> list[Word]:
    """The auxiliary goes first: Did the girl buy a book?"""
    assert c.subject is not None
    asked = auxiliary(c) or [word(do(c), (c, "tense"))]
    asked = [Word(w.text, (*w.parts, (s, "question"))) for w in asked]
    return [*asked, *phrase(c.subject), *predicate(c, bare=True), *time(c)]


def plural(c: Clause) -> bool:
    return c.subject is not None and c.subject.plural


def do(c: Clause) -> str:
    return "did" if c.tense == "past" else "do" if plural(c) else "does"


def auxiliary(c: Clause) -> list[Word]:
    """Whatever stands before the verb itself; the copula too."""
    negation = [(c, "negation")] if c.negative else []
    if c.tense == "future":
        form = "won't" if c.negative else "will"
    elif c.tense in ("present", "imperfect") or "copula" in c.verb.style:
        form = ("were" if plural(c) else "was") if c.tense == "imperfect" else "are" if plural(c) else "is"
        form += "n't" * c.negative
    elif c.negative:
        form = do(c) + "n't"
    else:
        return []
    return [word(form, (c, "tense"), *negation)]


def predicate(c: Clause, bare: bool) -> list[Word]:
    """The verb, bare after an auxiliary, and what follows it."""
    words = verb(c, bare)
    direct = [] if c.object is None else phrase(c.object, OBJECT)
    if c.verb is VERBS["hear"]:
        direct = [word("to", (c, "verb")), *direct]
    if c.recipient is not None and c.recipient_first:
        words += [*phrase(c.recipient, OBJECT), *direct]
    elif c.recipient is not None:
        words += [*direct, word("to", (c, "to")), *phrase(c.recipient, OBJECT)]
    else:
        words += direct
    if c.companion is not None:
        words += [word("with", (c, "with")), *phrase(c.companion)]
    if c.place is not None:
        words += place(c.place, going="going" in c.verb.style)
    if c.that is not None:
        words += [word("that", (c, "that")), *clause(c.that)]
    return words


def verb(c: Clause, bare: bool) -> list[Word]:
    base, singular, past, going_on = c.verb.english
    if "copula" in c.verb.style:
        assert c.quality is not None
        return [word(c.degree, (c, "degree")), word(c.quality.english, (c, "quality"))]
    if c.tense in ("present", "imperfect"):
        return [word(going_on, (c, "verb"))]
    if bare or c.tense == "future":
        return [word(base, (c, "verb"))]
    return [word(past if c.tense == "past" else base if plural(c) else singular, (c, "verb"), (c, "tense"))]


def time(c: Clause) -> list[Word]:
    return [word(text, (c, "time")) for text in c.time[0].split()] if c.time else []


def place(p: Place, going: bool = False) -> list[Word]:
    preposition = "to" if going else PREPOSITIONS[p.preposition][0]
    words = [word(text, (p, "preposition")) for text in preposition.split()]
    noun = phrase(p.noun)
    return words + (noun[1:] if p.preposition == "at" and p.noun.noun.english == "school" else noun)


def person(p: Phrase) -> str:
    return "they" if p.plural else p.noun.pronoun


def phrase(p: Phrase, case: dict[str, str] | None = None) -> list[Word]:
    if isinstance(p, Gap):
        return []
    if isinstance(p, Pronoun):
        return [word((case or {}).get(person(p), person(p)), (p, "noun"))]
    words = [word(adjective.english, (p, adjective.english)) for adjective in p.adjectives]
    words.append(word(p.noun.english_plural if p.plural else p.noun.english, (p, "noun")))
    words = [*determiner(p, words[0].text), *words]
    if p.relative is not None:
        who = "who" if p.noun.person and isinstance(p.relative.subject, Gap) else "that"
        words += [word(who, (p, "relative")), *clause(p.relative)]
    return words


def determiner(p: NounPhrase, following: str) -> list[Word]:
    if p.genitive:
        assert p.owner is not None
        *rest, owner = phrase(p.owner)
        return [*rest, Word(owner.text + "'s", (*owner.parts, (p, "of")))]
    if p.determiner in ("some", "all"):
        return []
    form = p.determiner
    if form == "a" and following[0] in "aeiou":
        form = "an"
    if form == "own":
        assert p.owner is not None
        form = POSSESSIVE[person(p.owner)]
    return [word(form, (p, "determiner"))]
