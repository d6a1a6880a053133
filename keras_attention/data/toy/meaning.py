"""What a toy sentence says, before it is put into words, and how to draw it at random.

A sentence is a small tree. ``english``, ``french`` and ``chinese`` each put the tree into words, and every
word remembers the part of the tree that it expresses: words of two languages that share a part are aligned.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from keras_attention.data.toy.lexicon import (
    ADJECTIVES,
    DESTINATIONS,
    HOMES,
    NOUNS,
    PERSONS,
    PLACES,
    QUALITIES,
    SURFACES,
    TIMES,
    VERBS,
    Adjective,
    Noun,
    Verb,
)


class Word(NamedTuple):
    """A word and the parts of the tree that it expresses. An article may melt into its noun."""

    text: str
    parts: tuple[object, ...] = ()
    article: bool = False


def word(text: str, *parts: object, article: bool = False) -> Word:
    return Word(text, parts, article)


@dataclass(eq=False)
class NounPhrase:
    """``determiner``: the, a, this, my, own (of ``owner``), two, three, some (of it), all (in general)."""

    noun: Noun
    determiner: str = "the"
    plural: bool = False
    adjectives: tuple[Adjective, ...] = ()
    relative: Clause | None = None  # one of its subject and object is a Gap
    owner: Phrase | None = None  # whose; for "own" the subject
    genitive: bool = False  # owner's, spelled out


@dataclass(eq=False)
class Pronoun:
    """he, she, it, they, for a noun."""

    noun: Noun
    plural: bool = False


@dataclass(eq=False)
class Gap:
    """The place in a relative clause where its noun belongs."""

    head: NounPhrase

    @property
    def noun(self) -> Noun:
        return self.head.noun

    @property
    def plural(self) -> bool:
        return self.head.plural


Phrase = NounPhrase | Pronoun | Gap


@dataclass(eq=False)
class Place:
    preposition: str
    noun: NounPhrase


@dataclass(eq=False)
class Clause:
    """``tense``: present (going on), habit, state, past, future, imperfect."""

    verb: Verb
    tense: str
    subject: Phrase | None = None
    negative: bool = False
    object: Phrase | None = None
    recipient: Phrase | None = None
    recipient_first: bool = False  # gave her the book; English only
    place: Place | None = None
    companion: NounPhrase | None = None
    time: tuple[str, str, str, str] | None = None
    time_first: bool = False
    degree: str = ""  # very, too
    quality: Adjective | None = None
    that: Clause | None = None


@dataclass(eq=False)
class Sentence:
    """Clauses joined by because, but, and, then (one subject), when or if; or one, perhaps a question."""

    clauses: list[Clause] = field(default_factory=list)
    join: str = ""
    question: bool = False


MAN, WOMAN = NOUNS["man"], NOUNS["woman"]
OBJECT_DETERMINERS = ["the"] * 4 + ["a"] * 4 + ["this", "own", "two", "three"]
SUBJECT_DETERMINERS = ["the"] * 6 + ["a", "this", "my"]
EVENTS = [verb for verb in VERBS.values() if not verb.style & {"report", "copula", "weather"}]
GOING_ON = [verb for verb in EVENTS if {"action", "intransitive"} <= verb.style]
ANIMATE = (*PERSONS, "animal")

# why somebody did not, or did, do something with an object: verb, negative, the object's qualities
OBJECT_REASONS = [
    ("cross", True, ("wide", "dangerous")),
    ("buy", True, ("expensive", "heavy")),
    ("sell", False, ("heavy",)),
    ("read", True, ("long",)),
    ("drink", True, ("hot", "cold")),
]


@cache
def nouns(kinds: tuple[str, ...]) -> list[Noun]:
    return [noun for noun in NOUNS.values() if noun.kind in kinds]


@cache
def adjectives(noun: Noun) -> list[Adjective]:
    return [adjective for adjective in ADJECTIVES if noun.kind in adjective.kinds]


@cache
def verbs(tense: str, kind: str | None) -> list[Verb]:
    """What can happen in a tense, to a kind of subject."""

    def fits(verb: Verb) -> bool:
        if tense == "habit":
            fit = "action" in verb.style and not set(verb.objects) - {"-", "drink", "meal", "sound"}
        elif tense in ("present", "state"):
            fit = {"present": "action", "state": "state"}[tense] in verb.style
        else:
            fit = "state" not in verb.style and not (tense == "future" and "accident" in verb.style)
        return fit and (kind is None or kind in verb.subjects)

    return [verb for verb in EVENTS if fits(verb)]


class Draw:
    """Draws sentences; the seed decides which."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.choice = self.random.choice

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # phrases; ``rich`` is how much they are decorated

    def subject(self, kinds: tuple[str, ...], rich: float) -> Phrase:
        """A noun phrase, or now and then he, she or they."""
        if kinds[0] in PERSONS and self.chance(0.2):
            return self.person()
        noun = self.choice(nouns(kinds))
        if noun.kind == "kin":
            determiner = "my"
        else:
            determiner = self.choice(SUBJECT_DETERMINERS)
            if determiner == "my" and noun.person and noun.english not in ("teacher", "doctor", "student"):
                determiner = "the"
        plural = determiner == "the" and self.chance(0.25)
        return self.decorate(NounPhrase(noun, determiner, plural), rich)

    def person(self) -> Pronoun:
        return Pronoun(MAN, True) if self.chance(0.2) else Pronoun(self.choice([MAN, WOMAN]))

    def object(self, verb: Verb, subject: Phrase, rich: float) -> Phrase:
        if verb.name in ("see", "help", "know", "like") and self.chance(0.3):
            return self.person()
        noun = self.choice(nouns(verb.objects))
        if noun.english_plural == "-":
            return NounPhrase(noun, "all" if verb.name == "like" else "some")
        determiner = self.choice(OBJECT_DETERMINERS)
        if determiner == "own" and (noun.person or noun.kind == "opening"):
            determiner = "the"
        if verb.name == "cross":
            return NounPhrase(noun)
        if verb.name == "want":
            return self.decorate(NounPhrase(noun, "a"), rich)
        if verb.name == "like" and determiner in ("a", "two", "three"):
            general = noun.kind in ("animal", "flower")
            return NounPhrase(noun, "all" if general else "the", general)
        if verb.name == "know" and determiner != "this":
            determiner = "the"
        plural = determiner in ("two", "three") or (determiner == "the" and self.chance(0.2))
        owner = subject if determiner == "own" else None
        phrase = self.decorate(NounPhrase(noun, determiner, plural, owner=owner), rich)
        if phrase.relative is not None and verb in (phrase.relative.verb, VERBS["write"]):
            phrase.relative = None
        return phrase

    def decorate(self, phrase: NounPhrase, rich: float) -> NounPhrase:
        """Perhaps a relative clause, an owner, an adjective or two."""
        kind, plain = phrase.noun.kind, phrase.determiner == "the"
        if (plain or phrase.determiner == "a") and self.chance(rich / 2):
            phrase.relative = self.relative(phrase)
        elif plain and kind in ("goods", "book", "key", "animal") and self.chance(rich / 2):
            phrase.owner, phrase.genitive = NounPhrase(self.choice(nouns(PERSONS))), True
        elif self.chance(2 * rich):
            self.describe(phrase, rich)
        return phrase

    def describe(self, phrase: NounPhrase, rich: float = 0.0) -> NounPhrase:
        fitting = adjectives(phrase.noun)
        if fitting:
            phrase.adjectives = (self.choice(fitting),)
            colours = [a for a in fitting if a.chinese.endswith("色的")]
            if (
                colours
                and phrase.adjectives[0].english in ("small", "big", "old", "new")
                and self.chance(rich)
            ):
                phrase.adjectives += (self.choice(colours),)
        return phrase

    def relative(self, head: NounPhrase) -> Clause | None:
        """Who did something, that somebody bought."""
        kind, gap = head.noun.kind, Gap(head)
        if kind in PERSONS and self.chance(0.6):
            verb = VERBS["work" if kind == "adult" and self.chance(0.4) else "live"]
            return Clause(
                verb, "state", gap, place=self.place(PLACES["work"] if verb.name == "work" else HOMES)
            )
        if kind in PERSONS:
            verb = VERBS[self.choice(["buy", "read", "find", "lose", "eat", "write"])]
            return Clause(verb, "past", gap, object=self.simple(verb.objects))
        if kind == "animal" and self.chance(0.5):
            return Clause(VERBS["sleep"], "present", gap, place=self.place(PLACES["sleep"]))
        if kind == "animal":
            return Clause(VERBS["eat"], "past", gap, object=self.simple(("food",)))
        fitting = [
            verb for verb in EVENTS if verb.name in ("buy", "find", "like", "lose") and kind in verb.objects
        ]
        if not fitting:
            return None
        verb = self.choice(fitting)
        who = NounPhrase(self.choice(nouns(PERSONS))) if self.chance(0.7) else self.person()
        return Clause(verb, "state" if "state" in verb.style else "past", who, object=gap)

    def simple(self, kinds: tuple[str, ...]) -> NounPhrase:
        phrase = NounPhrase(self.choice(nouns(kinds)), self.choice(["the", "a"]))
        return self.describe(phrase) if self.chance(0.4) else phrase

    def place(self, places: Sequence[tuple[str, str]]) -> Place:
        preposition, name = self.choice(places)
        return Place(preposition, NounPhrase(NOUNS[name]))

    def kin(self, subject: Phrase) -> NounPhrase:
        return NounPhrase(self.choice(nouns(("kin",))), "own", owner=subject)

    # clauses

    def clause(
        self,
        tense: str,
        rich: float,
        subject: Phrase | None = None,
        verb: Verb | None = None,
        negative: bool | None = None,
    ) -> Clause:
        """Who does what, to whom, where and when."""
        verb = verb or self.choice(verbs(tense, subject.noun.kind if subject else None))
        subject = subject or self.subject(verb.subjects, rich)
        if negative is None:
            negative = tense != "habit" and self.chance(0.2)
        clause = Clause(verb, tense, subject, negative)
        if "transfer" in verb.style:
            self.transfer(clause)
        elif "placing" in verb.style:
            clause.object = NounPhrase(self.choice(nouns(verb.objects)), self.choice(["the", "the", "this"]))
            clause.place = self.place(SURFACES)
        elif "going" in verb.style:
            clause.place = Place("at", NounPhrase(NOUNS[self.choice(DESTINATIONS)]))
        elif "living" in verb.style:
            clause.place = self.place(HOMES)
            if clause.place.preposition == "in" and self.chance(0.5):
                clause.place.noun = self.describe(NounPhrase(clause.place.noun.noun, "a"))
        elif "intransitive" not in verb.style:
            clause.object = self.object(verb, subject, rich)
            if (
                negative
                and isinstance(clause.object, NounPhrase)
                and clause.object.determiner in ("two", "three")
            ):
                clause.object = NounPhrase(clause.object.noun)
        self.adjuncts(clause)
        return clause

    def transfer(self, clause: Clause) -> None:
        """Something to somebody."""
        assert clause.subject is not None
        determiner = "the" if clause.negative else self.choice(["the", "the", "a", "this"])
        thing = NounPhrase(self.choice(nouns(clause.verb.objects)), determiner)
        clause.object = self.describe(thing) if self.chance(0.4) else thing
        draw = self.random.random()
        if draw < 0.35:
            clause.recipient = self.person()
        else:
            clause.recipient = (
                self.kin(clause.subject) if draw < 0.7 else NounPhrase(self.choice(nouns(PERSONS)))
            )
        clause.recipient_first = self.chance(0.5)

    def adjuncts(self, clause: Clause) -> None:
        """Where, with whom, when; but what follows a relative clause would be read into it."""
        verb, thing = clause.verb, clause.object
        relative = isinstance(thing, NounPhrase) and thing.relative is not None
        if not relative and clause.place is None and verb.name in PLACES:
            if self.chance(0.4):
                clause.place = self.place(PLACES[verb.name])
            elif (
                "together" in verb.style
                and clause.subject
                and clause.subject.noun.person
                and self.chance(0.3)
            ):
                clause.companion = self.kin(clause.subject)
        times = [time for time in TIMES if time[3] == clause.tense]
        if times and (clause.tense == "habit" or self.chance(0.3)):
            clause.time = self.choice(times)
            clause.time_first = relative or self.chance(0.3)

    def last(self, clause: Clause) -> Clause:
        """The clause with no time in front, so that it can follow another."""
        if clause.time_first:
            clause.time, clause.time_first = None, False
        return clause

    def quality(self, subject: Phrase, tense: str, names: Sequence[str] = (), degree: str = "") -> Clause:
        """Is very happy, was too tired."""
        fitting = [q for q in QUALITIES if subject.noun.kind in q.kinds and (not names or q.english in names)]
        degree = degree or self.choice(["very", "too"])
        return Clause(VERBS["be"], tense, subject, degree=degree, quality=self.choice(fitting))

    # sentences

    def sentence(self) -> Sentence:
        """A sentence; the long ones join clauses, and put clauses into clauses."""
        rich = self.choice([0.0, 0.15, 0.3, 0.5, 0.8])
        shape = self.random.random()
        if shape < 0.05:
            return Sentence([self.state_of_things(rich)])
        if shape < 0.34:
            tense = self.choice(["present", "past", "past", "past", "future", "state", "habit"])
            return Sentence([self.clause(tense, rich)])
        if shape < 0.42:
            tense = self.choice(["present", "past", "past", "future", "state"])
            return Sentence([self.last(self.clause(tense, rich, negative=False))], question=True)
        if shape < 0.5:
            tense = self.choice(["present", "past", "future", "state"])
            return Sentence([self.report(self.clause(tense, rich), rich)])
        sentence = self.compound(rich)
        if shape > 0.86 and sentence.join in ("because", "but", "and"):
            sentence.clauses[0] = self.report(sentence.clauses[0], rich)
        return sentence

    def state_of_things(self, rich: float) -> Clause:
        kinds = self.choice(
            [PERSONS, ("animal",), ("goods",), ("book", "text"), ("drink",), ("crossing", "bridge")]
        )
        subject = (
            NounPhrase(self.choice(nouns(kinds)))
            if kinds[0] in ("drink", "crossing")
            else self.subject(kinds, rich)
        )
        if isinstance(subject, NounPhrase) and subject.determiner == "a":
            subject.determiner = "this"
        return self.quality(subject, self.choice(["state", "imperfect"]))

    def report(self, clause: Clause, rich: float) -> Clause:
        """Says that …"""
        verb = VERBS[self.choice(["say", "think", "know-that"])]
        return Clause(verb, "state", self.subject(verb.subjects, rich), that=self.last(clause))

    def compound(self, rich: float) -> Sentence:
        join = self.choice(["because", "because", "because", "but", "and", "then", "when", "if"])
        if join == "because":
            return Sentence(self.because(rich), join)
        if join == "then":
            return Sentence(self.then(rich), join)
        if join == "when":
            verb = VERBS[self.choice(["arrive", "leave", "fall"])]
            event = Clause(verb, "past", self.subject(ANIMATE, rich))
            return Sentence(
                [
                    event,
                    self.last(self.clause("imperfect", rich, verb=self.choice(GOING_ON), negative=False)),
                ],
                join,
            )
        if join == "if":
            return Sentence(self.condition(rich), join)
        tense = self.choice(["past", "past", "state", "future", "present"])
        return Sentence([self.last(self.clause(tense, rich)) for _ in range(2)], join)

    def condition(self, rich: float) -> list[Clause]:
        if self.chance(0.4):
            rain = Clause(
                VERBS["rain"], "habit", time=self.choice([None, *(t for t in TIMES if t[3] == "future")])
            )
            return [rain, self.last(self.clause("future", rich))]
        subject = self.subject(ANIMATE, rich)
        state = self.quality(subject, "state")
        return [state, self.last(self.clause("future", rich, Pronoun(subject.noun, subject.plural)))]

    def because(self, rich: float) -> list[Clause]:
        past = self.chance(0.7)
        tense, then = ("past", "imperfect") if past else ("present", "state")
        if self.chance(0.4):
            name, negative, names = self.choice(OBJECT_REASONS)
            main = self.clause(tense, rich, verb=VERBS[name], negative=negative)
            thing = main.object
            fitting = [q for q in QUALITIES if q.english in names and thing and thing.noun.kind in q.kinds]
            if fitting and isinstance(thing, NounPhrase):
                if thing.determiner == "some":
                    thing.determiner = "the"
                return [main, self.quality(Pronoun(thing.noun, thing.plural), then, names, "too")]
        main = self.clause(tense, rich)
        assert main.subject is not None
        who = Pronoun(main.subject.noun, main.subject.plural)
        outdoors = main.verb.style & {"together", "going"} or main.verb.name == "cross"
        if (main.negative and outdoors and self.chance(0.4)) or main.verb.name == "close":
            return [main, Clause(VERBS["rain"], "imperfect" if past else "present")]
        if past and who.noun.person and self.chance(0.25):
            verb = VERBS[self.choice(["lose", "find", "break"])]
            thing = NounPhrase(self.choice(nouns(verb.objects[:1])), "own", owner=who)
            return [main, Clause(verb, "past", who, object=thing)]
        if main.negative:
            return [
                main,
                self.quality(
                    who, then, ("tired", "busy", "nervous", "sad"), "too" if self.chance(0.7) else "very"
                ),
            ]
        names = {"sleep": ("tired",), "cry": ("sad", "tired")}.get(
            main.verb.name, ("happy", "nervous", "tired")
        )
        return [main, self.quality(who, then, names, "very")]

    def then(self, rich: float) -> list[Clause]:
        """Bought a book and gave it to her brother."""
        verb = VERBS[self.choice(["buy", "find"])]
        subject = self.subject(verb.subjects, rich)
        thing = self.describe(NounPhrase(self.choice(nouns(("goods", "book"))), self.choice(["the", "a"])))
        again = Gap(subject) if isinstance(subject, NounPhrase) else Pronoun(subject.noun, subject.plural)
        receiver = self.kin(subject) if self.chance(0.5) else NounPhrase(self.choice(nouns(PERSONS)))
        passed_on = VERBS[self.choice(["give", "lend"])]
        return [
            Clause(verb, "past", subject, object=thing),
            Clause(passed_on, "past", again, object=Pronoun(thing.noun), recipient=receiver),
        ]


def chapter_sentences() -> list[Sentence]:
    """The course chapter's own examples, and the one that turns on a single word."""
    sentences = []
    for quality in ("tired", "wide"):
        animal, street = NounPhrase(NOUNS["animal"]), NounPhrase(NOUNS["street"])
        crossing = Clause(VERBS["cross"], "past", animal, negative=True, object=street)
        why = next(q for q in QUALITIES if q.english == quality)
        it = Pronoun((animal if quality == "tired" else street).noun)
        sentences.append(
            Sentence([crossing, Clause(VERBS["be"], "imperfect", it, degree="too", quality=why)], "because")
        )
    for recipient_first in (False, True):
        book, her = NounPhrase(NOUNS["book"]), Pronoun(WOMAN)
        giving = Clause(
            VERBS["give"], "past", Pronoun(MAN), object=book, recipient=her, recipient_first=recipient_first
        )
        sentences.append(Sentence([giving]))
    return sentences
