"""Toy sentences in French: gender and number agree, clitics stand before the verb, ne … pas around it."""

from __future__ import annotations

import unicodedata

from keras_attention.data.toy.lexicon import PREPOSITIONS, Adjective
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

JOIN = {"because": "parce que", "but": "mais", "and": "et", "then": "et", "when": "quand", "if": "si"}
ELIDED = {"le", "la", "de", "ne", "que"}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def sentence(s: Sentence) -> list[Word]:
    return contract(elide(draft(s)))


def draft(s: Sentence) -> list[Word]:
    """Every word in full, before elision and contraction."""
    first, last = s.clauses[0], s.clauses[-1]
    stop = word("?" if s.question else ".", (s, "stop"))
    if s.question:
        asked = [word(text, (s, "question")) for text in ("est-ce", "que")]
        return [*asked, *clause(first), stop]
    if len(s.clauses) == 1:
        return [*clause(first), stop]
    joined = [word(text, (s, "join")) for text in JOIN[s.join].split()]
    if s.join in ("when", "if"):
        return [*joined, *clause(first), word(",", (s, "comma")), *clause(last), stop]
    comma = [word(",", (s, "comma"))] if s.join == "but" else []
    return [*clause(first), *comma, *joined, *clause(last), stop]


def vowel(text: str) -> bool:
    """Whether a word begins with a vowel sound; every h here is mute."""
    return unicodedata.normalize("NFD", text[0].lower())[0] in "aeiouhœ"


def elide(words: list[Word]) -> list[Word]:
    """le + animal → l'animal, ne + a → n'a, que + il → qu'il, si + il → s'il."""
    result: list[Word] = []
    for right in reversed(words):
        following = result[-1] if result else word(".")
        if (right.text in ELIDED and vowel(following.text)) or (
            right.text == "si" and following.text in ("il", "ils")
        ):
            parts = following.parts if right.article else right.parts + following.parts
            result[-1] = Word(f"{right.text[:-1]}'{following.text}", parts)
        else:
            result.append(right)
    return result[::-1]


def contract(words: list[Word]) -> list[Word]:
    """de + le → du, à + les → aux; an article only, not the pronoun le."""
    result: list[Word] = []
    for right in words:
        left = result[-1] if result else word("")
        if right.article and (left.text, right.text) in CONTRACTED:
            result[-1] = Word(CONTRACTED[left.text, right.text], left.parts + right.parts)
        else:
            result.append(right)
    return result


def agree(participle: str, gender: str, plural: bool) -> str:
    feminine = participle + "e" * (gender == "f")
    return feminine + "s" * (plural and not feminine.endswith("s"))


def inflect(adjective: Adjective, gender: str, plural: bool, before: str = ".") -> str:
    masculine, feminine, masculine_plural, before_vowel = adjective.french
    if gender == "f":
        return feminine + "s" * plural
    if plural:
        return masculine_plural
    return before_vowel if vowel(before) else masculine


def clause(c: Clause) -> list[Word]:
    before = [*time(c), word(",", (c, "comma"))] if c.time_first else []
    subject = [word("il", (c, "tense"))] if c.subject is None else phrase(c.subject)
    words = [*before, *subject, *verb_group(c)]
    if c.quality is not None and c.subject is not None:
        form = inflect(c.quality, c.subject.noun.gender, c.subject.plural)
        degree = {"very": "très", "too": "trop"}[c.degree]
        words += [word(degree, (c, "degree")), word(form, (c, "quality"))]
    if isinstance(c.object, NounPhrase):
        words += phrase(c.object, negative=c.negative)
    if isinstance(c.recipient, NounPhrase):
        words += [word("à", (c, "to")), *phrase(c.recipient)]
    if c.companion is not None:
        words += [word("avec", (c, "with")), *phrase(c.companion)]
    if c.place is not None:
        words += place(c.place)
    if c.that is not None:
        words += [word("que", (c, "that")), *clause(c.that)]
    return words if c.time_first else words + time(c)


def verb_group(c: Clause) -> list[Word]:
    """ne, clitics, finite verb, pas, participle: ne l'a pas vue."""
    verb, tense, negation = (c, "verb"), (c, "tense"), (c, "negation")
    plural = c.subject is not None and c.subject.plural
    singular_form, plural_form, participle, *others = c.verb.french
    rest: list[Word] = []
    if c.tense == "past":
        auxiliary = ("est", "sont") if "être" in c.verb.style else ("a", "ont")
        finite = word(auxiliary[plural], tense)
        rest = [word(agree(participle, *participle_agreement(c)), verb)]
    elif c.tense == "future":
        finite = word(others[plural], verb, tense)
    elif c.tense == "imperfect":
        finite = word(others[2 + plural], verb, tense)
    else:
        finite = word((singular_form, plural_form)[plural], verb, tense)
    before = [word("ne", negation)] if c.negative else []
    after = [word("pas", negation)] if c.negative else []
    return [*before, *clitics(c), finite, *after, *rest]


def participle_agreement(c: Clause) -> tuple[str, bool]:
    """With être the subject decides; with avoir an object that stands before: la lettre qu'il a écrite."""
    if "être" in c.verb.style and c.subject is not None:
        return c.subject.noun.gender, c.subject.plural
    if isinstance(c.object, Pronoun | Gap):
        return c.object.noun.gender, c.object.plural
    return "m", False


def clitics(c: Clause) -> list[Word]:
    words = []
    if isinstance(c.object, Pronoun):
        form = "les" if c.object.plural else {"m": "le", "f": "la"}[c.object.noun.gender]
        words.append(word(form, (c.object, "noun")))
    if isinstance(c.recipient, Pronoun):
        words.append(word("leur" if c.recipient.plural else "lui", (c.recipient, "noun")))
    return words


def time(c: Clause) -> list[Word]:
    return [word(text, (c, "time")) for text in c.time[1].split()] if c.time else []


def place(p: Place) -> list[Word]:
    preposition = PREPOSITIONS[p.preposition][1].split()
    return [*(word(text, (p, "preposition")) for text in preposition), *phrase(p.noun)]


def phrase(p: Phrase, negative: bool = False) -> list[Word]:
    if isinstance(p, Gap):
        return []
    gender = p.noun.gender
    if isinstance(p, Pronoun):
        return [word({"m": "il", "f": "elle"}[gender] + "s" * p.plural, (p, "noun"))]
    noun = p.noun.french_plural if p.plural else p.noun.french

    def adjectives(before_noun: bool) -> list[Word]:
        return [
            word(inflect(adjective, gender, p.plural, noun if before_noun else "."), (p, adjective.english))
            for adjective in p.adjectives
            if adjective.before_noun == before_noun
        ]

    words = [*adjectives(True), word(noun, (p, "noun")), *adjectives(False)]
    words = [*determiner(p, words[0].text, negative), *words]
    if p.genitive and p.owner is not None:
        words += [word("de", (p, "of")), *phrase(p.owner)]
    if p.relative is not None:
        who = "qui" if isinstance(p.relative.subject, Gap) else "que"
        words += [word(who, (p, "relative")), *clause(p.relative)]
    return words


def determiner(p: NounPhrase, following: str, negative: bool) -> list[Word]:
    """The article, with de after a negation; son for sa before a vowel."""
    masculine = p.noun.gender == "m"
    part = (p, "determiner")
    definite = "les" if p.plural else "le" if masculine else "la"
    if p.determiner in ("the", "all"):
        forms = [definite]
    elif p.determiner in ("a", "some") and negative:
        forms = ["de"]
    elif p.determiner == "a":
        forms = ["un" if masculine else "une"]
    elif p.determiner == "some":
        forms = ["de", definite]
    elif p.determiner == "this":
        forms = ["cette" if not masculine else "cet" if vowel(following) else "ce"]
    elif p.determiner in ("my", "own"):
        owner = "m" if p.determiner == "my" else "s"
        if p.owner is not None and p.owner.plural:
            forms = ["leurs" if p.plural else "leur"]
        elif p.plural:
            forms = [owner + "es"]
        else:
            forms = [owner + ("on" if masculine or vowel(following) else "a")]
    else:
        forms = [{"two": "deux", "three": "trois"}[p.determiner]]
    return [word(form, part, article=True) for form in forms]
