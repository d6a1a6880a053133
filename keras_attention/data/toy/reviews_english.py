"""The words and templates of the English toy reviews."""

from __future__ import annotations

from keras_attention.data.toy.reviews import Grammar


def _things(names: str) -> list[dict[str, str]]:
    """Slots of things; ``+`` marks a plural."""
    things = []
    for name in names.split(", "):
        many = name.endswith("+")
        things.append(
            {
                "the": "the " + name.rstrip("+"),
                "it": "them" if many else "it",
                "it_subject": "they" if many else "it",
                "was": "were" if many else "was",
                "wasnt": "weren't" if many else "wasn't",
            }
        )
    return things


GRAMMAR = Grammar(
    domains={
        "restaurant": (
            ["food", "staff", "room"],
            [
                "we had a table by the window",
                "the restaurant is near the station",
                "I ordered the soup and a tea",
                "we did not order a dessert",
                "my brother took the fish",
                "there were four of us",
            ],
        ),
        "hotel": (
            ["room", "staff", "food"],
            [
                "we stayed for three nights",
                "the hotel is not far from the river",
                "our room was on the second floor",
                "we did not use the pool",
                "I booked it in March",
                "we arrived late in the evening",
            ],
        ),
        "film": (
            ["story", "actors"],
            [
                "I saw it with my sister",
                "it is about a family in a village",
                "it runs for two hours",
                "I have not read the book",
                "it was made in the sixties",
                "we sat in the last row",
            ],
        ),
        "thing": (
            ["device"],
            [
                "I bought it for my father",
                "it came in a blue box",
                "I use it every day at work",
                "I have not tried the other model",
                "it arrived on Friday",
                "it weighs half a kilo",
            ],
        ),
    },
    things={
        "food": _things(
            "soup, fish, chicken, noodles+, dumplings+, breakfast, cake, rice, vegetables+, sauce"
        ),
        "staff": _things("waiter, staff, manager, owner, receptionist, cooks+"),
        "room": _things("room, bathroom, lobby, garden, terrace, beds+, pool, dining room"),
        "story": _things("film, story, ending, music, dialogues+, first half, pictures+, plot"),
        "actors": _things("actors+, leading actress, hero, narrator, child actors+"),
        "device": _things("phone, screen, battery, camera, keys+, sound, speakers+, software, charger, case"),
    },
    plain={
        "any": (["good", "nice", "fine", "pleasant"], ["bad", "poor", "disappointing", "mediocre"]),
        "food": (
            ["tasty", "fresh", "hot", "delicious", "tender"],
            ["bland", "stale", "cold", "greasy", "salty"],
        ),
        "staff": (
            ["friendly", "polite", "helpful", "patient", "attentive"],
            ["rude", "careless", "lazy", "arrogant", "slow"],
        ),
        "room": (
            ["clean", "quiet", "bright", "comfortable", "spacious"],
            ["dirty", "noisy", "dark", "shabby", "cramped"],
        ),
        "story": (
            ["exciting", "moving", "funny", "original", "clever"],
            ["boring", "predictable", "silly", "confusing", "dull"],
        ),
        "actors": (
            ["convincing", "charming", "natural", "funny", "touching"],
            ["wooden", "annoying", "dull", "stiff", "unconvincing"],
        ),
        "device": (
            ["reliable", "handy", "sturdy", "fast", "practical"],
            ["fragile", "clumsy", "slow", "faulty", "useless"],
        ),
    },
    strong=(
        ["excellent", "wonderful", "perfect", "superb", "great", "fantastic"],
        ["terrible", "awful", "horrible", "dreadful", "miserable", "appalling"],
    ),
    verbs=(
        [
            {"love": "like", "loved": "liked"},
            {"love": "enjoy", "loved": "enjoyed"},
            {"love": "love", "loved": "loved"},
            {"love": "admire", "loved": "admired"},
        ],
        [
            {"love": "hate", "loved": "hated"},
            {"love": "dislike", "loved": "disliked"},
            {"love": "regret", "loved": "regretted"},
            {"love": "detest", "loved": "detested"},
        ],
    ),
    verdicts=(
        [
            "I *recommend it",
            "we will *return",
            "it was *worth the money",
            "I am *satisfied",
            "I am *happy with it",
            "it was *not a *waste *of *money",
            "I do *not *regret it",
            "I have *nothing to *criticise",
            "I *cannot *complain",
        ],
        [
            "I *regret it",
            "I must *complain",
            "it was a *waste *of *money",
            "I am *annoyed",
            "I am *sorry I paid for it",
            "it was *not *worth the money",
            "I do *not *recommend it",
            "we will *never *return",
            "I am *not *satisfied",
        ],
    ),
    direct=[
        "{the} {was} *{adjective}",
        "{the} {was} {degree} *{adjective}",
        "{the} {was} *{adjective} this time",
        "I found {the} {degree} *{adjective}",
        "to me {the} {was} *{adjective}",
    ],
    negated=[
        "{the} {was} *not *{adjective}",
        "{the} *{wasnt} *{adjective}",
        "{the} {was} *not *{adjective} at all",
        "{the} {was} *never *{adjective}",
        "I did *not find {the} *{adjective}",
    ],
    felt=["I *{loved} {the}", "I really *{loved} {the}", "we *{loved} {the} from the first moment"],
    not_felt=["I did *not *{love} {the}", "we *didn't *{love} {the}", "I *never *{loved} {the}"],
    both=["{first} and {second}", "{first} . {second}", "{first} , and {second} too"],
    contrast=[
        "{other} , but {main}",
        "{other} . but {main}",
        "although {other} , {main}",
        "{main} , although {other}",
        "{other} . still , {main}",
        "even if {other} , {main}",
    ],
    hearsay=[
        "{person} {they_loved} {the} , but I *{i_loved} {it}",
        "{person} {they_loved} {the} . I *{i_loved} {it}",
        "I *{i_loved} {the} , although {person} {they_loved} {it}",
    ],
    hope=[
        "I expected {the} to be {hoped} , but {main}",
        "I had read that {the} {was} {hoped} , but {main}",
        "they say that {the} {was} {hoped} last year . now {main}",
    ],
    degrees=["really", "so", "quite", "truly"],
    people=["my sister", "my brother", "my wife", "my boss", "everybody else", "our neighbour", "my friend"],
    facts=[
        "we went there on Monday",
        "it was our second visit",
        "I paid by card",
        "it was not my idea",
        "my friend told me about it",
        "it cost thirty euros",
        "this is my first review",
        "I have never written a review before",
    ],
    asides=[
        "the weather was terrible that day",
        "the weather was wonderful that day",
        "I had a bad cold",
        "I was in a good mood",
        "it had been an awful week at work",
        "it had been a great week at work",
        "the traffic was not bad",
        "the traffic was not good",
        "I am very patient",
        "I am not very patient",
    ],
    space=" ",
    stop=".",
)
