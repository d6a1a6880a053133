"""Toy sentences in Chinese: classifiers, 把, time and place before the verb, relatives before their noun."""

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

PRONOUN = {"he": "他", "she": "她", "it": "它"}
DETERMINER = {"a": "一", "this": "这", "two": "两", "three": "三"}


def sentence(s: Sentence) -> list[Word]:
    first, last = s.clauses[0], s.clauses[-1]
    stop = word("？" if s.question else "。", (s, "stop"))
    if s.question:
        return [*clause(first), word("吗", (s, "question")), stop]
    if len(s.clauses) == 1:
        return [*clause(first), stop]
    comma, join = word("，", (s, "comma")), (s, "join")
    if s.join == "when":
        return [*clause(first, inside=True), word("的时候", join), comma, *clause(last), stop]
    if s.join == "if":
        return [word("如果", join), *clause(first), comma, *clause(last), stop]
    if s.join in ("and", "then"):
        return [*clause(first), word("，", join), *clause(last), stop]
    joined = word({"because": "因为", "but": "但是"}[s.join], join)
    return [*clause(first), comma, joined, *clause(last), stop]


def clause(c: Clause, inside: bool = False) -> list[Word]:
    """A clause; ``inside`` a noun phrase it is plainer."""
    time = [word(c.time[2], (c, "time"))] if c.time else []
    if c.time_first:
        time.append(word("，", (c, "comma")))
    if c.subject is None:
        raining = [word("在", (c, "tense"))] if c.tense != "habit" else []
        return [*time, *raining, word(c.verb.chinese, (c, "verb"))]
    subject = phrase(c.subject)
    start = [*time, *subject] if c.time_first else [*subject, *time]
    if c.quality is not None:
        too = [word("了", (c, "degree"))] if c.degree == "too" else []
        degree = word("太" if too else "很", (c, "degree"))
        return [*start, degree, word(c.quality.chinese, (c, "quality")), *too]
    return [*start, *adverbials(c, inside), *predicate(c, inside)]


def adverbials(c: Clause, inside: bool) -> list[Word]:
    """Negation or tense, company and place, in this order."""
    tense = (c, "tense")
    going_on = c.tense in ("present", "imperfect")
    where = [] if c.place is None or c.verb.style & {"living", "placing", "going"} else place(c.place)
    with_whom = []
    if c.companion is not None:
        with_whom = [word("和", (c, "with")), *phrase(c.companion), word("一起", (c, "with"))]
    words = []
    if c.negative:
        text = "不会" if c.tense == "future" else "不" if c.tense == "state" else "没有"
        words.append(word(text, (c, "negation"), tense))
        if going_on and not where and not with_whom:
            words.append(word("在", tense))
    elif c.tense == "future":
        words.append(word("会", tense))
    elif going_on and where and not inside:
        where[0] = Word("正在", (*where[0].parts, tense))
    elif going_on and not where:
        words.append(word("正在", tense))
    return [*words, *with_whom, *where]


def predicate(c: Clause, inside: bool) -> list[Word]:
    verb = word(c.verb.chinese, (c, "verb"))
    done = c.tense == "past" and not c.negative and not (inside and not isinstance(c.subject, Gap))
    aspect = [word("了", (c, "tense"))] if done else []
    style = c.verb.style
    if c.that is not None:
        return [verb, *clause(c.that)]
    if c.place is not None and "going" in style:
        return [verb, *aspect, *phrase(c.place.noun)]
    if c.place is not None and "living" in style:
        return [verb, *place(c.place)]
    if c.object is None:
        return [verb, *aspect]
    if c.place is not None and "placing" in style:
        at, *where = place(c.place)
        return [word("把"), *phrase(c.object), verb, at, *aspect, *where]
    moved = [word("把"), *phrase(c.object)]
    if c.recipient is not None:
        recipient = phrase(c.recipient)
        if definite(c.object):
            return [*moved, verb, *aspect, *recipient]
        return [verb, *aspect, *recipient, *phrase(c.object)]
    if "dispose" in style and done and definite(c.object) and not inside:
        return [*moved, verb, *aspect]
    bare = c.verb is VERBS["cross"]
    return [verb, *aspect, *phrase(c.object, after_verb=not bare, negative=c.negative)]


def definite(p: Phrase) -> bool:
    return not isinstance(p, NounPhrase) or p.determiner in ("the", "this", "my", "own")


def place(p: Place) -> list[Word]:
    preposition = (p, "preposition")
    after = PREPOSITIONS[p.preposition][2]
    return [word("在", preposition), *phrase(p.noun), *([word(after, preposition)] if after else [])]


def pronoun(p: Phrase) -> str:
    feminine = p.noun.pronoun == "she"
    return (PRONOUN["she"] if feminine else PRONOUN[p.noun.pronoun]) + "们" * p.plural


def phrase(p: Phrase, after_verb: bool = False, negative: bool = False) -> list[Word]:
    if isinstance(p, Gap):
        return []
    noun = (p, "noun")
    if isinstance(p, Pronoun):
        return [word(pronoun(p), noun)]
    relative = []
    if p.relative is not None:
        relative = [*clause(p.relative, inside=True), word("的", (p, "relative"))]
    counted = determiner(p, after_verb, negative)
    # those apples that she bought: 她买的那些苹果, but one that she bought: 一个她买的苹果
    words = [*relative, *counted] if p.determiner == "the" else [*counted, *relative]
    adjectives = sorted(p.adjectives, key=lambda adjective: not adjective.chinese.endswith("的"))
    words += [word(adjective.chinese, (p, adjective.english)) for adjective in adjectives]
    people = "们" * (p.plural and p.noun.person and p.determiner == "the")
    return [*words, word(p.noun.chinese + people, noun)]


def determiner(p: NounPhrase, after_verb: bool, negative: bool) -> list[Word]:
    part, noun = (p, "determiner"), (p, "noun")
    if p.genitive and p.owner is not None:
        return [*phrase(p.owner), word("的", (p, "of"))]
    if p.determiner == "my":
        return [word("我的", part)]
    if p.determiner == "own" and p.owner is not None:
        return [word(pronoun(p.owner) + "的", part)]
    if p.determiner in ("some", "all") or (p.determiner == "a" and negative):
        return []
    if p.determiner != "the":
        return [word(DETERMINER[p.determiner], part), word(p.noun.classifier, noun)]
    if p.plural:
        return [] if p.noun.person else [word("那些", part)]
    if after_verb and not p.noun.person and p.relative is None:
        return [word("那", part), word(p.noun.classifier, noun)]
    return []
