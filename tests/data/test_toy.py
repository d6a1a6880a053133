import re
from statistics import mean

import pytest

from keras_attention.data import Vocabulary, load
from keras_attention.data.toy import TOYS, align, english, load_toy, realise, spell_english, write
from keras_attention.data.toy.lexicon import ADJECTIVES, NOUNS, QUALITIES, TIMES, VERBS
from keras_attention.data.toy.meaning import Clause, Draw, Gap, NounPhrase, Place, Pronoun, Sentence

MAN, WOMAN = NOUNS["man"], NOUNS["woman"]
both = pytest.mark.parametrize("name", list(TOYS))


def np(noun, determiner="the", plural=False, *adjectives, **more):
    found = tuple(
        next(a for a in ADJECTIVES if a.english == e and NOUNS[noun].kind in a.kinds) for e in adjectives
    )
    return NounPhrase(NOUNS[noun], determiner, plural, found, **more)


def owned(noun, owner, plural=False):
    return NounPhrase(NOUNS[noun], "own", plural, owner=owner)


def does(subject, verb, tense, object=None, **more):
    return Clause(VERBS[verb], tense, subject, object=object, **more)


def is_(subject, quality, degree="very", tense="state"):
    return Clause(
        VERBS["be"], tense, subject, degree=degree, quality=next(q for q in QUALITIES if q.english == quality)
    )


def with_relative(head, make):
    head.relative = make(Gap(head))
    return head


def at(preposition, noun):
    return Place(preposition, NounPhrase(NOUNS[noun]))


def when(name):
    return next(time for time in TIMES if time[0] == name)


HE, SHE, THEY = Pronoun(MAN), Pronoun(WOMAN), Pronoun(MAN, True)
GIRLS, ANIMAL, MOTHER = np("girl", plural=True), np("animal"), NounPhrase(NOUNS["mother"], "my")

# What each tree must say, written by hand.
EXPECTED = [
    # passé composé: avoir with a preceding feminine object, être with its subject
    (does(HE, "see", "past", SHE), "He saw her.", "Il l'a vue.", "他看见了她。"),
    (does(GIRLS, "leave", "past"), "The girls left.", "Les filles sont parties.", "女孩们走了。"),
    (
        does(
            np("woman"),
            "read",
            "past",
            with_relative(np("letter"), lambda gap: does(HE, "write", "past", gap)),
        ),
        "The woman read the letter that he wrote.",
        "La femme a lu la lettre qu'il a écrite.",
        "女人读了他写的信。",
    ),
    # negation: de for the indefinite article, no numeral
    (
        does(SHE, "buy", "past", np("orange", "a"), negative=True),
        "She didn't buy an orange.",
        "Elle n'a pas acheté d'orange.",
        "她没有买橙子。",
    ),
    (
        does(HE, "drink", "present", np("water", "some")),
        "He is drinking water.",
        "Il boit de l'eau.",
        "他正在喝水。",
    ),
    (
        does(HE, "drink", "future", np("tea", "some"), negative=True),
        "He won't drink tea.",
        "Il ne boira pas de thé.",
        "他不会喝茶。",
    ),
    (
        does(np("doctor"), "like", "state", np("coffee", "all"), negative=True),
        "The doctor doesn't like coffee.",
        "Le médecin n'aime pas le café.",
        "医生不喜欢咖啡。",
    ),
    # adjectives: place, gender, number, bel and nouvelle; 的 or not; classifiers
    (
        does(THEY, "want", "state", np("flower", "a", False, "red")),
        "They want a red flower.",
        "Ils veulent une fleur rouge.",
        "他们想要一朵红色的花。",
    ),
    (
        does(np("writer", "a", False, "old"), "sell", "past", np("dress", "two", True, "small", "white")),
        "An old writer sold two small white dresses.",
        "Un vieil écrivain a vendu deux petites robes blanches.",
        "一位年老的作家卖了两条白色的小裙子。",
    ),
    (
        does(np("bird", "this", False, "beautiful"), "sleep", "present", negative=True),
        "This beautiful bird isn't sleeping.",
        "Ce bel oiseau ne dort pas.",
        "这只漂亮的鸟没有在睡觉。",
    ),
    (
        does(np("student", "this"), "find", "past", np("umbrella", "three", True, "new")),
        "This student found three new umbrellas.",
        "Cet étudiant a trouvé trois nouveaux parapluies.",
        "这个学生找到了三把新雨伞。",
    ),
    # possessives follow the owner in English and Chinese, the thing in French
    (
        does(SHE, "lose", "past", owned("hat", SHE)),
        "She lost her hat.",
        "Elle a perdu son chapeau.",
        "她把她的帽子丢了。",
    ),
    (
        does(HE, "wash", "present", owned("plate", HE)),
        "He is washing his plate.",
        "Il lave son assiette.",
        "他正在洗他的盘子。",
    ),
    (
        does(HE, "find", "past", owned("key", HE)),
        "He found his key.",
        "Il a trouvé sa clé.",
        "他找到了他的钥匙。",
    ),
    (
        does(GIRLS, "sell", "past", owned("car", GIRLS)),
        "The girls sold their car.",
        "Les filles ont vendu leur voiture.",
        "女孩们把她们的汽车卖了。",
    ),
    # giving: two English orders, clitics, à + le = au, 把
    (
        does(HE, "give", "past", np("flower"), recipient=np("teacher"), recipient_first=True),
        "He gave the teacher the flower.",
        "Il a donné la fleur au professeur.",
        "他把花给了老师。",
    ),
    (
        does(MOTHER, "send", "future", np("letter", "a"), recipient=THEY),
        "My mother will send a letter to them.",
        "Ma mère leur enverra une lettre.",
        "我的妈妈会寄给他们一封信。",
    ),
    (
        does(SHE, "put", "past", np("cup"), place=at("on", "table"), time=when("yesterday")),
        "She put the cup on the table yesterday.",
        "Elle a mis la tasse sur la table hier.",
        "她昨天把杯子放在了桌子上。",
    ),
    # relative clauses, possessors, places and times before the verb
    (
        does(
            with_relative(
                np("man"), lambda gap: Clause(VERBS["live"], "state", gap, place=at("near", "river"))
            ),
            "open",
            "past",
            np("door"),
        ),
        "The man who lives near the river opened the door.",
        "L'homme qui habite près de la rivière a ouvert la porte.",
        "住在河旁边的男人把门打开了。",
    ),
    (
        does(
            NounPhrase(NOUNS["cat"], owner=np("writer"), genitive=True), "eat", "past", np("egg", "the", True)
        ),
        "The writer's cat ate the eggs.",
        "Le chat de l'écrivain a mangé les œufs.",
        "作家的猫把那些鸡蛋吃了。",
    ),
    (
        does(
            np("boy", "the", True),
            "play",
            "present",
            companion=owned("friend", np("boy", "the", True)),
            negative=True,
        ),
        "The boys aren't playing with their friend.",
        "Les garçons ne jouent pas avec leur ami.",
        "男孩们没有和他们的朋友一起玩。",
    ),
    (
        does(SHE, "hear", "habit", np("music", "some"), time=when("every morning"), time_first=True),
        "Every morning, she listens to music.",
        "Tous les matins, elle écoute de la musique.",
        "每天早上，她听音乐。",
    ),
    (
        does(SHE, "go", "past", place=at("at", "school")),
        "She went to school.",
        "Elle est allée à l'école.",
        "她去了学校。",
    ),
    (
        Clause(
            VERBS["think"], "state", HE, that=does(np("nurse"), "work", "present", place=at("at", "hotel"))
        ),
        "He thinks that the nurse is working at the hotel.",
        "Il pense que l'infirmière travaille à l'hôtel.",
        "他觉得护士正在酒店工作。",
    ),
]
EXPECTED = [(Sentence([clause]), *texts) for clause, *texts in EXPECTED] + [
    (
        Sentence(
            [
                does(np("girl"), "buy", "past", np("car", "a")),
                does(Gap(np("girl")), "give", "past", Pronoun(NOUNS["car"]), recipient=owned("brother", SHE)),
            ],
            "then",
        ),
        "The girl bought a car and gave it to her brother.",
        "La fille a acheté une voiture et l'a donnée à son frère.",
        "女孩买了一辆汽车，把它给了她的弟弟。",
    ),
    (
        Sentence(
            [
                does(np("horse", "the", True), "arrive", "past"),
                does(np("man", "a"), "sing", "imperfect", place=at("under", "tree")),
            ],
            "when",
        ),
        "When the horses arrived, a man was singing under the tree.",
        "Quand les chevaux sont arrivés, un homme chantait sous l'arbre.",
        "那些马到的时候，一个男人正在树下面唱歌。",
    ),
    (
        Sentence(
            [
                Clause(VERBS["rain"], "habit", time=when("tomorrow")),
                does(THEY, "cross", "future", np("bridge"), negative=True),
            ],
            "if",
        ),
        "If it rains tomorrow, they won't cross the bridge.",
        "S'il pleut demain, ils ne traverseront pas le pont.",
        "如果明天下雨，他们不会过桥。",
    ),
    (
        Sentence([does(HE, "know", "state", SHE), does(SHE, "know", "state", HE, negative=True)], "but"),
        "He knows her, but she doesn't know him.",
        "Il la connaît, mais elle ne le connaît pas.",
        "他认识她，但是她不认识他。",
    ),
    (
        Sentence(
            [does(GIRLS, "cry", "past"), is_(Pronoun(NOUNS["girl"], True), "sad", "very", "imperfect")],
            "because",
        ),
        "The girls cried because they were very sad.",
        "Les filles ont pleuré parce qu'elles étaient très tristes.",
        "女孩们哭了，因为她们很难过。",
    ),
    (
        Sentence(
            [does(np("student", "the", True), "lend", "past", np("bicycle"), recipient=SHE)], question=True
        ),
        "Did the students lend the bicycle to her?",
        "Est-ce que les étudiants lui ont prêté le vélo\u202f?",
        "学生们把自行车借给了她吗？",
    ),
    (
        Sentence([does(np("nurse"), "like", "state", ANIMAL)], question=True),
        "Does the nurse like the animal?",
        "Est-ce que l'infirmière aime l'animal\u202f?",
        "护士喜欢那只动物吗？",
    ),
]


@pytest.mark.parametrize(("sentence", "en", "fr", "zh"), EXPECTED, ids=[row[1] for row in EXPECTED])
def test_grammar(sentence, en, fr, zh):
    french, chinese = realise(sentence, "en-fr"), realise(sentence, "en-zh")
    assert (french.source, french.target, chinese.target) == (en, fr, zh)
    assert chinese.source == en


def linked(pair):
    return [(pair.source[slice(*link.source)], pair.target[slice(*link.target)]) for link in pair.links]


def test_links_of_the_chapter():
    corpus = load("toy:en-fr")
    i = corpus.test.source.index("The animal didn't cross the street because it was too tired.")
    assert corpus.test.target[i] == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    text, translation = corpus.test.source[i], corpus.test.target[i]
    assert [(text[slice(*k.source)], translation[slice(*k.target)]) for k in corpus.test.links[i]] == [
        ("animal", "L'animal"), ("didn't", "n'a"), ("didn't", "pas"), ("cross", "traversé"), ("the", "la"),
        ("street", "rue"), ("because", "parce"), ("because", "qu'il"), ("it", "qu'il"), ("was", "était"),
        ("too", "trop"), ("tired", "fatigué"), (".", "."),
    ]  # fmt: skip


def test_links_of_the_chinese_chapter():
    corpus = load("toy:en-zh")
    i, j = (corpus.test.source.index(s) for s in ("He gave the book to her.", "He gave her the book."))
    assert corpus.test.target[i] == corpus.test.target[j] == "他把书给了她。"
    # to her and her are the recipient alike; 把 says nothing that English says
    for k in (i, j):
        text, translation = corpus.test.source[k], corpus.test.target[k]
        assert [(text[slice(*n.source)], translation[slice(*n.target)]) for n in corpus.test.links[k]] == [
            ("He", "他"), ("book", "书"), ("gave", "给"), ("gave", "了"), ("her", "她"), (".", "。"),
        ]  # fmt: skip


def test_links_cross_where_the_order_differs():
    woman = with_relative(np("woman", "a"), lambda gap: does(gap, "live", "state", place=at("near", "park")))
    clause = does(woman, "buy", "past", np("car", "a", False, "red"), time=when("yesterday"))
    pair = realise(Sentence([clause]), "en-zh")
    assert pair.source == "A woman who lives near the park bought a red car yesterday."
    assert pair.target == "一个住在公园旁边的女人昨天买了一辆红色的汽车。"
    assert linked(pair) == [
        ("A", "一"), ("woman", "个"), ("lives", "住"), ("near", "在"), ("park", "公园"),
        ("near", "旁边"),
        ("who", "的"), ("woman", "女人"), ("yesterday", "昨天"), ("bought", "买"), ("bought", "了"),
        ("a", "一"), ("car", "辆"), ("red", "红色的"), ("car", "汽车"), (".", "。"),
    ]  # fmt: skip


def test_it_is_what_the_adjective_says():
    """The same sentence but for its last word: it is the animal, or it is the street."""
    corpus = load("toy:en-fr")
    i = corpus.test.source.index("The animal didn't cross the street because it was too wide.")
    assert corpus.test.target[i] == "L'animal n'a pas traversé la rue parce qu'elle était trop large."


@both
def test_sizes_and_spread(name):
    corpus = load(f"toy:{name}")
    assert [len(p) for p in (corpus.train, corpus.validation, corpus.test)] == [6000, 500, 500]
    words = Vocabulary.build(corpus.train.source)
    lengths = [len(words.encode(text)) for text in corpus.test.source]
    assert min(lengths) <= 4
    assert max(lengths) >= 25
    assert 10 < mean(lengths) < 15
    assert sum(length > 15 for length in lengths) > 75
    assert sum(length <= 8 for length in lengths) > 75
    assert 150 < len(words) < 350


@both
def test_no_leak(name):
    corpora = [load(f"toy:{name}"), load(f"toy:{name}", seed=1)]
    for side in ("source", "target"):
        parts = {
            s: {t for c in corpora for t in getattr(c.split(s), side)}
            for s in ("train", "validation", "test")
        }
        assert not parts["train"] & parts["test"]
        assert not parts["train"] & parts["validation"]
        assert not parts["validation"] & parts["test"]
    sources = [text for split in ("train", "validation", "test") for text in corpora[0].split(split).source]
    assert len(set(sources)) == len(sources) == 7000


@both
def test_seed_decides(name):
    first = load(f"toy:{name}", seed=1)
    load_toy.cache_clear()
    assert load(f"toy:{name}", seed=1) == first
    assert load(f"toy:{name}", seed=2).train != first.train


@both
def test_every_word_of_the_other_splits_is_in_training(name):
    corpus = load(f"toy:{name}")
    for side, lexicon in (("source", ()), ("target", corpus.lexicon)):
        words = Vocabulary.build(getattr(corpus.train, side), lexicon=lexicon)
        for split in ("validation", "test"):
            assert not any(
                words.UNKNOWN in ids for ids in words.encode_batch(getattr(corpus.split(split), side))
            )


@both
def test_a_source_has_one_translation(name):
    draw, translations = Draw(7), {}
    for _ in range(3000):
        pair = realise(draw.sentence(), name)
        assert translations.setdefault(pair.source, pair.target) == pair.target


UNLINKED = {
    "en-fr": {"le", "la", "les", "de", "du", "à", ","},  # articles and prepositions that English has not
    "en-zh": {"把", "，"},
}


@both
def test_links_cover_the_target_by_whole_tokens(name):
    """Every target word but a few function words is linked, and links end where the vocabulary's words do."""
    corpus = load(f"toy:{name}")
    source, target = (
        Vocabulary.build(corpus.train.source),
        Vocabulary.build(corpus.train.target, lexicon=corpus.lexicon),
    )
    free = set()
    for split in ("train", "validation", "test"):
        pairs = corpus.split(split)
        for text, translation, links in zip(pairs.source, pairs.target, pairs.links, strict=True):
            assert len(set(links)) == len(links)
            source_spans, target_spans = set(source.spans(text)), set(target.spans(translation))
            assert {link.source for link in links} <= source_spans
            assert {link.target for link in links} <= target_spans
            free |= {translation[a:b].lower() for a, b in target_spans - {link.target for link in links}}
    assert free <= UNLINKED[name]


def test_lexicon_is_the_grammar_s_words():
    corpus = load("toy:en-zh")
    assert {"图书馆", "的时候", "孩", "上个星期"} & set(corpus.lexicon) == {"图书馆", "的时候", "上个星期"}
    words = Vocabulary.build(corpus.train.target, lexicon=corpus.lexicon)
    draw = Draw(11)
    for _ in range(500):
        pair = realise(draw.sentence(), "en-zh")
        if set(pair.target_words) <= set(corpus.lexicon):
            assert words.tokens(pair.target) == pair.target_words
    assert load("toy:en-fr").lexicon == ()


def test_french_elision_and_contraction_are_complete():
    corpus = load("toy:en-fr")
    text = "\n".join([*corpus.train.target, *corpus.test.target]).lower()
    assert not re.findall(r"\b(?:le|la|de|ne|que|ce|sa|ma|beau|nouveau) [aeiouhéèêœ]\w*", text)
    assert not re.findall(r"\bvieux (?:homme|écrivain|étudiant)\b", text)
    assert not re.findall(r"\b(?:de|à) les? (?!lui)\w+|\bsi ils?\b", text)
    assert not re.findall(r"\b(?:un|le|ce) (?:fille|femme|voiture|robe|lettre|clé|mère|sœur)\b", text)
    assert not re.findall(r"\b(?:une|la|cette) (?:garçon|livre|chien|vélo|frère|père|parc)\b", text)


def test_links_share_a_part():
    clause = does(HE, "read", "past", np("book"), negative=True)
    words = english.sentence(Sentence([clause]))
    text, spans = write(spell_english(words))
    assert text == "He didn't read the book."
    assert [(link.source, link.target) for link in align(words, spans, words, spans)] == [
        (s, s) for s in spans
    ]
