"""The words of the toy corpora in English, French and Chinese: a table each for nouns, adjectives and verbs."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PERSONS = ("youth", "pupil", "adult")


@dataclass(frozen=True)
class Noun:
    """``kind`` decides what it can do; ``pronoun`` is he, she or it; ``gender`` (m, f) is the French one."""

    kind: str
    english: str
    english_plural: str
    pronoun: str
    french: str
    french_plural: str
    gender: str
    chinese: str
    classifier: str

    @property
    def person(self) -> bool:
        return self.pronoun != "it"


@dataclass(frozen=True)
class Adjective:
    """``french`` lists masculine, feminine, masculine plural, masculine before a vowel."""

    english: str
    french: tuple[str, str, str, str]
    before_noun: bool
    chinese: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Verb:
    """``french`` lists present singular and plural, participle, future singular and plural, imperfect
    singular and plural where it is used; ``style`` names what else matters to the grammar."""

    name: str
    english: tuple[str, str, str, str]  # read, reads, read, reading
    french: tuple[str, ...]
    chinese: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    style: frozenset[str]


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


NOUNS = {
    row[1]: Noun(*row)
    for row in _rows("""
        youth    boy         boys       he   garçon       garçons      m 男孩   个
        youth    girl        girls      she  fille        filles       f 女孩   个
        pupil    student     students   he   étudiant     étudiants    m 学生   个
        adult    man         men        he   homme        hommes       m 男人   个
        adult    woman       women      she  femme        femmes       f 女人   个
        adult    teacher     teachers   he   professeur   professeurs  m 老师   位
        adult    doctor      doctors    he   médecin      médecins     m 医生   位
        adult    writer      writers    he   écrivain     écrivains    m 作家   位
        adult    nurse       nurses     she  infirmière   infirmières  f 护士   位
        kin      brother     brothers   he   frère        frères       m 弟弟   个
        kin      sister      sisters    she  sœur         sœurs        f 妹妹   个
        kin      mother      mothers    she  mère         mères        f 妈妈   位
        kin      father      fathers    he   père         pères        m 爸爸   位
        kin      friend      friends    he   ami          amis         m 朋友   个
        kin      uncle       uncles     he   oncle        oncles       m 叔叔   位
        animal   animal      animals    it   animal       animaux      m 动物   只
        animal   dog         dogs       it   chien        chiens       m 狗     只
        animal   cat         cats       it   chat         chats        m 猫     只
        animal   bird        birds      it   oiseau       oiseaux      m 鸟     只
        animal   horse       horses     it   cheval       chevaux      m 马     匹
        animal   cow         cows       it   vache        vaches       f 牛     头
        book     book        books      it   livre        livres       m 书     本
        book     novel       novels     it   roman        romans       m 小说   本
        text     letter      letters    it   lettre       lettres      f 信     封
        text     story       stories    it   histoire     histoires    f 故事   个
        food     apple       apples     it   pomme        pommes       f 苹果   个
        food     orange      oranges    it   orange       oranges      f 橙子   个
        food     cake        cakes      it   gâteau       gâteaux      m 蛋糕   个
        food     fish        fish       it   poisson      poissons     m 鱼     条
        meal     bread       -          it   pain         -            m 面包   个
        meal     cheese      -          it   fromage      -            m 奶酪   块
        meal     rice        -          it   riz          -            m 米饭   碗
        drink    tea         -          it   thé          -            m 茶     杯
        drink    coffee      -          it   café         -            m 咖啡   杯
        drink    water       -          it   eau          -            f 水     杯
        drink    milk        -          it   lait         -            m 牛奶   杯
        sound    music       -          it   musique      -            f 音乐   首
        goods    car         cars       it   voiture      voitures     f 汽车   辆
        goods    bicycle     bicycles   it   vélo         vélos        m 自行车 辆
        goods    hat         hats       it   chapeau      chapeaux     m 帽子   顶
        goods    dress       dresses    it   robe         robes        f 裙子   条
        goods    chair       chairs     it   chaise       chaises      f 椅子   把
        goods    umbrella    umbrellas  it   parapluie    parapluies   m 雨伞   把
        goods    watch       watches    it   montre       montres      f 手表   块
        key      key         keys       it   clé          clés         f 钥匙   把
        flower   flower      flowers    it   fleur        fleurs       f 花     朵
        opening  door        doors      it   porte        portes       f 门     扇
        opening  window      windows    it   fenêtre      fenêtres     f 窗户   扇
        dish     cup         cups       it   tasse        tasses       f 杯子   个
        dish     plate       plates     it   assiette     assiettes    f 盘子   个
        crossing street      streets    it   rue          rues         f 马路   条
        crossing river       rivers     it   rivière      rivières     f 河     条
        bridge   bridge      bridges    it   pont         ponts        m 桥     座
        place    park        parks      it   parc         parcs        m 公园   个
        place    garden      gardens    it   jardin       jardins      m 花园   个
        place    kitchen     kitchens   it   cuisine      cuisines     f 厨房   个
        place    school      schools    it   école        écoles       f 学校   所
        place    library     libraries  it   bibliothèque bibliothèques f 图书馆 个
        place    market      markets    it   marché       marchés      m 市场   个
        place    museum      museums    it   musée        musées       m 博物馆 个
        place    hotel       hotels     it   hôtel        hôtels       m 酒店   家
        place    village     villages   it   village      villages     m 村子   个
        spot     house       houses     it   maison       maisons      f 房子   座
        spot     tree        trees      it   arbre        arbres       m 树     棵
        spot     table       tables     it   table        tables       f 桌子   张
    """)
}

ADJECTIVES = [
    Adjective(english, tuple(french.split("/")), where == "before", chinese, tuple(kinds.split("/")))  # type: ignore[arg-type]
    for english, french, where, chinese, kinds in _rows("""
        small       petit/petite/petits/petit             before 小       youth/animal/goods/food/place/dish/flower
        big         grand/grande/grands/grand             before 大       animal/goods/food/place/dish/opening
        new         nouveau/nouvelle/nouveaux/nouvel      before 新       goods/book/dish
        old         vieux/vieille/vieux/vieil             before 旧       goods/book/key
        old         vieux/vieille/vieux/vieil             before 年老的   adult
        young       jeune/jeune/jeunes/jeune              before 年轻的   adult
        beautiful   beau/belle/beaux/bel                  before 漂亮的   animal/goods/flower/dish
        red         rouge/rouge/rouges/rouge              after  红色的   goods/flower/dish/opening
        blue        bleu/bleue/bleus/bleu                 after  蓝色的   goods/flower/dish/opening
        black       noir/noire/noirs/noir                 after  黑色的   animal/goods
        white       blanc/blanche/blancs/blanc            after  白色的   animal/goods/flower/dish
        clever      intelligent/intelligente/intelligents/intelligent after 聪明的 youth/pupil/adult
        famous      célèbre/célèbre/célèbres/célèbre      after  有名的   adult
        interesting intéressant/intéressante/intéressants/intéressant after 有意思的 book/text
    """)
]

# What a sentence can say of its subject or of its object after "is very" or "was too": the two never meet.
QUALITIES = [
    Adjective(english, tuple(french.split("/")), False, chinese, tuple(kinds.split("/")))  # type: ignore[arg-type]
    for english, french, chinese, kinds in _rows("""
        tired       fatigué/fatiguée/fatigués/fatigué     累       youth/pupil/adult/kin/animal
        nervous     nerveux/nerveuse/nerveux/nerveux      紧张     youth/pupil/adult/kin/animal
        happy       heureux/heureuse/heureux/heureux      高兴     youth/pupil/adult/kin
        sad         triste/triste/tristes/triste          难过     youth/pupil/adult/kin
        busy        occupé/occupée/occupés/occupé         忙       pupil/adult/kin
        wide        large/large/larges/large              宽       crossing
        dangerous   dangereux/dangereuse/dangereux/dangereux 危险  crossing/bridge
        expensive   cher/chère/chers/cher                 贵       goods/book
        heavy       lourd/lourde/lourds/lourd             重       goods
        long        long/longue/longs/long                长       book/text
        hot         chaud/chaude/chauds/chaud             烫       drink
        cold        froid/froide/froids/froid             凉       drink
    """)
]

VERBS: dict[str, Verb] = {}


def _add_verbs(table: str, *style: str) -> None:
    for name, english, french, chinese, subjects, objects in _rows(table):
        kinds: dict[str, Any] = {
            "person": (*PERSONS, "kin"),
            "animate": (*PERSONS, "kin", "animal"),
        }
        VERBS[name] = Verb(
            name,
            tuple(english.split("/")),  # type: ignore[arg-type]
            tuple(french.split("/")),
            chinese,
            tuple(kind for group in subjects.split("/") for kind in kinds.get(group, (group,))),
            tuple(kind for group in objects.split("/") for kind in kinds.get(group, (group,))),
            frozenset(style),
        )


# Actions that can go on; "dispose": a definite object moves before the verb with 把.
_add_verbs(
    """
    read  read/reads/read/reading        lit/lisent/lu/lira/liront                    读 person book/text
    write write/writes/wrote/writing     écrit/écrivent/écrit/écrira/écriront         写 person text
    cross cross/crosses/crossed/crossing traverse/traversent/traversé/traversera/traverseront 过 animate crossing/bridge
    drink drink/drinks/drank/drinking    boit/boivent/bu/boira/boiront                喝 person drink
    hear  listen/listens/listened/listening écoute/écoutent/écouté/écoutera/écouteront 听 person sound
    dine  eat/eats/ate/eating            mange/mangent/mangé/mangera/mangeront        吃 person meal
""",
    "action",
)
_add_verbs(
    """
    eat   eat/eats/ate/eating            mange/mangent/mangé/mangera/mangeront        吃 animate food
    wash  wash/washes/washed/washing     lave/lavent/lavé/lavera/laveront             洗 person dish
    sell  sell/sells/sold/selling        vend/vendent/vendu/vendra/vendront           卖 person goods
""",
    "action",
    "dispose",
)
_add_verbs(
    """
    buy   buy/buys/bought/buying         achète/achètent/acheté/achètera/achèteront   买 person goods/book/food/flower
    see   see/sees/saw/seeing            voit/voient/vu/verra/verront                 看见 animate youth/pupil/adult/animal/goods
    find  find/finds/found/finding       trouve/trouvent/trouvé/trouvera/trouveront   找到 person goods/key/animal/text
    help  help/helps/helped/helping      aide/aident/aidé/aidera/aideront             帮助 person youth/pupil/adult
""",
    "event",
)
_add_verbs(
    """
    lose  lose/loses/lost/losing         perd/perdent/perdu/perdra/perdront           丢 person key/goods/book
    break break/breaks/broke/breaking    casse/cassent/cassé/cassera/casseront        打破 person dish
""",
    "event",
    "dispose",
    "accident",
)
_add_verbs(
    """
    open  open/opens/opened/opening      ouvre/ouvrent/ouvert/ouvrira/ouvriront       打开 person opening
    close close/closes/closed/closing    ferme/ferment/fermé/fermera/fermeront        关上 person opening
""",
    "event",
    "dispose",
)
_add_verbs(
    """
    like  like/likes/liked/liking        aime/aiment/aimé                             喜欢 person youth/pupil/adult/animal/book/goods/flower/drink/meal
    know  know/knows/knew/knowing        connaît/connaissent/connu                    认识 person youth/pupil/adult
    want  want/wants/wanted/wanting      veut/veulent/voulu                           想要 person goods/book/animal
""",
    "state",
)
_add_verbs(
    """
    give  give/gives/gave/giving         donne/donnent/donné/donnera/donneront        给 person book/flower/goods/key
    send  send/sends/sent/sending        envoie/envoient/envoyé/enverra/enverront     寄给 person text/book
    lend  lend/lends/lent/lending        prête/prêtent/prêté/prêtera/prêteront        借给 person book/goods
""",
    "event",
    "transfer",
)
_add_verbs(
    """
    put   put/puts/put/putting           met/mettent/mis/mettra/mettront              放 person book/text/goods/key/dish
""",
    "event",
    "placing",
)
_add_verbs(
    """
    sleep sleep/sleeps/slept/sleeping    dort/dorment/dormi/dormira/dormiront/dormait/dormaient 睡觉 animate -
    cry   cry/cries/cried/crying         pleure/pleurent/pleuré/pleurera/pleureront/pleurait/pleuraient 哭 person -
""",
    "action",
    "intransitive",
)
_add_verbs(
    """
    play  play/plays/played/playing      joue/jouent/joué/jouera/joueront/jouait/jouaient 玩 youth/animal -
    work  work/works/worked/working      travaille/travaillent/travaillé/travaillera/travailleront/travaillait/travaillaient 工作 adult/kin -
    run   run/runs/ran/running           court/courent/couru/courra/courront/courait/couraient 跑步 person -
    sing  sing/sings/sang/singing        chante/chantent/chanté/chantera/chanteront/chantait/chantaient 唱歌 person -
    dance dance/dances/danced/dancing    danse/dansent/dansé/dansera/danseront/dansait/dansaient 跳舞 person -
    swim  swim/swims/swam/swimming       nage/nagent/nagé/nagera/nageront/nageait/nageaient 游泳 person -
""",
    "action",
    "intransitive",
    "together",
)
_add_verbs(
    """
    arrive arrive/arrives/arrived/arriving arrive/arrivent/arrivé/arrivera/arriveront 到 animate -
    leave  leave/leaves/left/leaving     part/partent/parti/partira/partiront         走 animate -
""",
    "event",
    "intransitive",
    "être",
)
_add_verbs(
    """
    fall   fall/falls/fell/falling       tombe/tombent/tombé/tombera/tomberont        摔倒 animate -
""",
    "event",
    "intransitive",
    "être",
    "accident",
)
_add_verbs(
    """
    go    go/goes/went/going             va/vont/allé/ira/iront                       去 person -
""",
    "event",
    "être",
    "going",
)
_add_verbs(
    """
    live  live/lives/lived/living        habite/habitent/habité                       住 person -
""",
    "state",
    "living",
)
_add_verbs(
    """
    say   say/says/said/saying           dit/disent/dit                               说 person -
    think think/thinks/thought/thinking  pense/pensent/pensé                          觉得 person -
    know-that know/knows/knew/knowing    sait/savent/su                               知道 person -
""",
    "state",
    "report",
)
VERBS["be"] = Verb(
    "be",
    ("be", "is", "was", "being"),
    ("est", "sont", "été", "sera", "seront", "était", "étaient"),
    "",
    (),
    (),
    frozenset({"copula"}),
)
VERBS["rain"] = Verb(
    "rain",
    ("rain", "rains", "rained", "raining"),
    ("pleut", "pleuvent", "plu", "pleuvra", "", "pleuvait"),
    "下雨",
    (),
    (),
    frozenset({"weather"}),
)

# preposition: (English, French, Chinese after the noun)
PREPOSITIONS = {
    "in": ("in", "dans", "里"),
    "at": ("at", "à", ""),
    "in front of": ("in front of", "devant", "前面"),
    "near": ("near", "près de", "旁边"),
    "under": ("under", "sous", "下面"),
    "on": ("on", "sur", "上"),
}
PLACES = {
    "sleep": [("in", "garden"), ("under", "tree"), ("in front of", "house")],
    "play": [("in", "park"), ("in", "garden"), ("at", "school"), ("under", "tree"), ("in front of", "house")],
    "work": [
        ("in", "garden"),
        ("at", "library"),
        ("at", "market"),
        ("at", "museum"),
        ("at", "hotel"),
        ("at", "school"),
    ],
    "run": [("in", "park"), ("near", "river"), ("in", "village")],
    "sing": [("in", "park"), ("at", "school"), ("in", "kitchen"), ("in front of", "house")],
    "dance": [("in", "park"), ("in", "garden"), ("at", "hotel")],
    "swim": [("in", "river")],
    "cry": [("in", "kitchen"), ("at", "school"), ("in front of", "house")],
    "read": [("at", "library"), ("in", "garden"), ("at", "school"), ("under", "tree")],
    "write": [("at", "library"), ("in", "kitchen"), ("under", "tree")],
    "drink": [("in", "kitchen"), ("in", "garden"), ("at", "hotel")],
    "dine": [("in", "kitchen"), ("in", "park"), ("at", "hotel")],
    "eat": [("in", "kitchen"), ("in", "garden"), ("under", "tree")],
    "wash": [("in", "kitchen"), ("near", "river")],
    "buy": [("at", "market")],
    "sell": [("at", "market")],
    "see": [("in", "park"), ("at", "museum"), ("near", "bridge"), ("in front of", "school")],
    "find": [("in", "garden"), ("under", "tree"), ("near", "bridge")],
    "break": [("in", "kitchen")],
}
HOMES = [
    ("in", "village"),
    ("near", "river"),
    ("near", "bridge"),
    ("near", "park"),
    ("near", "school"),
    ("near", "market"),
]
SURFACES = [("on", "table"), ("under", "table"), ("in front of", "door"), ("near", "window"), ("on", "chair")]
DESTINATIONS = ["school", "library", "market", "museum", "park", "village"]

# (English, French, Chinese, tense it goes with)
TIMES = [
    ("yesterday", "hier", "昨天", "past"),
    ("last week", "la semaine dernière", "上个星期", "past"),
    ("this morning", "ce matin", "今天早上", "past"),
    ("tomorrow", "demain", "明天", "future"),
    ("next week", "la semaine prochaine", "下个星期", "future"),
    ("every day", "tous les jours", "每天", "habit"),
    ("every morning", "tous les matins", "每天早上", "habit"),
    ("now", "maintenant", "现在", "present"),
]
