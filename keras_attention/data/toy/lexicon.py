"""The words of the toy corpora in English, French and Chinese: a table each for nouns, adjectives and verbs."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass

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
        food     egg         eggs       it   œuf          œufs         m 鸡蛋   个
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

GROUPS = {"person": (*PERSONS, "kin"), "animate": (*PERSONS, "kin", "animal")}


def _kinds(names: str) -> tuple[str, ...]:
    return tuple(kind for name in names.split("/") for kind in GROUPS.get(name, (name,)))


# Style: an action goes on, an event happens, a state lasts; dispose moves a definite object before the verb in
# Chinese (把); être forms the French past; together is done in company; an accident is not foreseen.
VERBS = {
    name: Verb(
        name,
        tuple(english.split("/")),  # type: ignore[arg-type]
        tuple(french.split("/")),
        chinese,
        _kinds(subjects),
        _kinds(objects),
        frozenset(style.split("+")),
    )
    for name, style, subjects, objects, chinese, english, french in _rows("""
        read      action                           person       book/text                          读   read/reads/read/reading           lit/lisent/lu/lira/liront
        write     action                           person       text                               写   write/writes/wrote/writing        écrit/écrivent/écrit/écrira/écriront
        cross     action                           animate      crossing/bridge                    过   cross/crosses/crossed/crossing    traverse/traversent/traversé/traversera/traverseront
        drink     action                           person       drink                              喝   drink/drinks/drank/drinking       boit/boivent/bu/boira/boiront
        hear      action                           person       sound                              听   listen/listens/listened/listening écoute/écoutent/écouté/écoutera/écouteront
        dine      action                           person       meal                               吃   eat/eats/ate/eating               mange/mangent/mangé/mangera/mangeront
        eat       action+dispose                   animate      food                               吃   eat/eats/ate/eating               mange/mangent/mangé/mangera/mangeront
        wash      action+dispose                   person       dish                               洗   wash/washes/washed/washing        lave/lavent/lavé/lavera/laveront
        sell      action+dispose                   person       goods                              卖   sell/sells/sold/selling           vend/vendent/vendu/vendra/vendront
        buy       event                            person       goods/book/food/flower             买   buy/buys/bought/buying            achète/achètent/acheté/achètera/achèteront
        see       event                            animate      youth/pupil/adult/animal/goods     看见 see/sees/saw/seeing               voit/voient/vu/verra/verront
        find      event                            person       goods/key/animal/text              找到 find/finds/found/finding          trouve/trouvent/trouvé/trouvera/trouveront
        help      event                            person       youth/pupil/adult                  帮助 help/helps/helped/helping         aide/aident/aidé/aidera/aideront
        lose      event+dispose+accident           person       key/goods/book                     丢   lose/loses/lost/losing            perd/perdent/perdu/perdra/perdront
        break     event+dispose+accident           person       dish                               打破 break/breaks/broke/breaking       casse/cassent/cassé/cassera/casseront
        open      event+dispose                    person       opening                            打开 open/opens/opened/opening         ouvre/ouvrent/ouvert/ouvrira/ouvriront
        close     event+dispose                    person       opening                            关上 close/closes/closed/closing       ferme/ferment/fermé/fermera/fermeront
        like      state                            person       youth/pupil/adult/animal/book/goods/flower/drink/meal 喜欢 like/likes/liked/liking           aime/aiment/aimé
        know      state                            person       youth/pupil/adult                  认识 know/knows/knew/knowing           connaît/connaissent/connu
        want      state                            person       goods/book/animal                  想要 want/wants/wanted/wanting         veut/veulent/voulu
        give      event+transfer                   person       book/flower/goods/key              给   give/gives/gave/giving            donne/donnent/donné/donnera/donneront
        send      event+transfer                   person       text/book                          寄给 send/sends/sent/sending           envoie/envoient/envoyé/enverra/enverront
        lend      event+transfer                   person       book/goods                         借给 lend/lends/lent/lending           prête/prêtent/prêté/prêtera/prêteront
        put       event+placing                    person       book/text/goods/key/dish           放   put/puts/put/putting              met/mettent/mis/mettra/mettront
        sleep     action+intransitive              animate      -                                  睡觉 sleep/sleeps/slept/sleeping       dort/dorment/dormi/dormira/dormiront/dormait/dormaient
        cry       action+intransitive              person       -                                  哭   cry/cries/cried/crying            pleure/pleurent/pleuré/pleurera/pleureront/pleurait/pleuraient
        play      action+intransitive+together     youth/animal -                                  玩   play/plays/played/playing         joue/jouent/joué/jouera/joueront/jouait/jouaient
        work      action+intransitive+together     adult/kin    -                                  工作 work/works/worked/working         travaille/travaillent/travaillé/travaillera/travailleront/travaillait/travaillaient
        run       action+intransitive+together     person       -                                  跑步 run/runs/ran/running              court/courent/couru/courra/courront/courait/couraient
        sing      action+intransitive+together     person       -                                  唱歌 sing/sings/sang/singing           chante/chantent/chanté/chantera/chanteront/chantait/chantaient
        dance     action+intransitive+together     person       -                                  跳舞 dance/dances/danced/dancing       danse/dansent/dansé/dansera/danseront/dansait/dansaient
        swim      action+intransitive+together     person       -                                  游泳 swim/swims/swam/swimming          nage/nagent/nagé/nagera/nageront/nageait/nageaient
        arrive    event+intransitive+être          animate      -                                  到   arrive/arrives/arrived/arriving   arrive/arrivent/arrivé/arrivera/arriveront
        leave     event+intransitive+être          animate      -                                  走   leave/leaves/left/leaving         part/partent/parti/partira/partiront
        fall      event+intransitive+être+accident animate      -                                  摔倒 fall/falls/fell/falling           tombe/tombent/tombé/tombera/tomberont
        go        event+être+going                 person       -                                  去   go/goes/went/going                va/vont/allé/ira/iront
        live      state+living                     person       -                                  住   live/lives/lived/living           habite/habitent/habité
        say       state+report                     person       -                                  说   say/says/said/saying              dit/disent/dit
        think     state+report                     person       -                                  觉得 think/thinks/thought/thinking     pense/pensent/pensé
        know-that state+report                     person       -                                  知道 know/knows/knew/knowing           sait/savent/su
    """)
}
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
