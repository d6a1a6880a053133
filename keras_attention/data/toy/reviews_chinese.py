"""The words and templates of the Chinese toy reviews."""

from __future__ import annotations

from keras_attention.data.toy.reviews import Grammar


def _things(names: str) -> list[dict[str, str]]:
    """Slots of things; ``+`` marks people."""
    things = []
    for name in names.split():
        pronoun = "他们" if name.endswith("+") else "它"
        things.append({"the": name.rstrip("+"), "it": pronoun, "it_subject": pronoun})
    return things


GRAMMAR = Grammar(
    domains={
        "restaurant": (
            ["food", "staff", "room"],
            [
                "我们 坐 在 窗户 旁边",
                "餐厅 在 火车站 附近",
                "我 点 了 汤 和 茶",
                "我们 没有 点 甜点",
                "哥哥 点 了 鱼",
                "我们 一共 四 个 人",
            ],
        ),
        "hotel": (
            ["room", "staff", "food"],
            [
                "我们 住 了 三 个 晚上",
                "酒店 离 河边 不 远",
                "我们 的 房间 在 二 楼",
                "我们 没有 用 游泳池",
                "我 三月 就 订 了",
                "我们 晚上 才 到",
            ],
        ),
        "film": (
            ["story", "actors"],
            [
                "我 和 妹妹 一起 看 的",
                "它 讲 的 是 一 个 村子 里 的 家庭",
                "片长 两 个 小时",
                "我 没有 读 过 原著",
                "这 是 六十 年代 的 片子",
                "我们 坐 在 最后 一 排",
            ],
        ),
        "thing": (
            ["device"],
            [
                "我 是 给 爸爸 买 的",
                "它 装 在 蓝色 的 盒子 里",
                "我 每天 上班 都 用",
                "我 没有 试 过 别 的 型号",
                "星期五 就 到货 了",
                "它 有 一 斤 重",
            ],
        ),
    },
    things={
        "food": _things("汤 鱼 鸡肉 面条 饺子 早餐 蛋糕 米饭 蔬菜 酱汁"),
        "staff": _things("服务员+ 员工+ 经理+ 老板+ 前台+ 厨师+"),
        "room": _things("房间 浴室 大厅 花园 阳台 床 泳池 包间"),
        "story": _things("电影 故事 结局 音乐 对白 前半段 画面 情节"),
        "actors": _things("演员+ 女主角+ 男主角+ 旁白 小演员+"),
        "device": _things("手机 屏幕 电池 相机 键盘 音质 音箱 软件 充电器 外壳"),
    },
    plain={
        "any": (["好", "理想", "出色", "令人满意"], ["差", "糟", "一般", "令人失望"]),
        "food": (["好吃", "新鲜", "可口", "美味", "鲜嫩"], ["难吃", "油腻", "太咸", "冰凉", "寡淡"]),
        "staff": (["友好", "礼貌", "热情", "耐心", "周到"], ["粗鲁", "马虎", "懒散", "傲慢", "冷淡"]),
        "room": (["干净", "安静", "明亮", "舒适", "宽敞"], ["肮脏", "吵闹", "昏暗", "破旧", "拥挤"]),
        "story": (["精彩", "感人", "有趣", "新颖", "巧妙"], ["无聊", "老套", "幼稚", "混乱", "乏味"]),
        "actors": (["可信", "迷人", "自然", "有趣", "动人"], ["呆板", "烦人", "做作", "僵硬", "乏味"]),
        "device": (["可靠", "方便", "结实", "流畅", "实用"], ["脆弱", "笨重", "迟钝", "难用", "没用"]),
    },
    strong=(
        ["完美", "出众", "绝妙", "一流", "不错", "惊艳"],
        ["糟糕", "可怕", "恐怖", "恶劣", "不堪", "差劲"],
    ),
    verbs=(
        [{"love": "喜欢"}, {"love": "欣赏"}, {"love": "爱"}],
        [{"love": "讨厌"}, {"love": "反感"}, {"love": "嫌弃"}],
    ),
    verdicts=(
        [
            "我 *推荐",
            "我们 还 会 *再来",
            "这 钱 花 得 *值",
            "我 很 *满意",
            "这 次 很 *开心",
            "这 *不 是 *浪费 *钱",
            "我 *不 *后悔",
            "我 *没有 什么 可 *抱怨 的",
            "我 *挑不出 *毛病",
        ],
        [
            "我 很 *后悔",
            "我 要 *抱怨",
            "这 是 *浪费 *钱",
            "这 次 很 *生气",
            "我 发现 很 多 *毛病",
            "这 钱 花 得 *不 *值",
            "我 *不 *推荐",
            "我们 *不 会 *再来",
            "我 *不 *满意",
        ],
    ),
    direct=[
        "{the} {degree} *{adjective}",
        "{the} 让 人 觉得 *{adjective}",
        "这 次 {the} {degree} *{adjective}",
        "我 觉得 {the} {degree} *{adjective}",
        "{the} 给 我 的 印象 是 *{adjective}",
    ],
    negated=[
        "{the} *不 *{adjective}",
        "{the} *并不 *{adjective}",
        "{the} 一点 也 *不 *{adjective}",
        "{the} *谈不上 *{adjective}",
        "我 *不 觉得 {the} *{adjective}",
    ],
    felt=["我 *{love} {the}", "我 真 的 *{love} {the}", "我们 从 一 开始 就 *{love} {the}"],
    not_felt=["我 *不 *{love} {the}", "我们 *并不 *{love} {the}", "我 从来 *不 *{love} {the}"],
    both=["{first} ， {second}", "{first} 。 {second}", "{first} ， 而且 {second}"],
    contrast=[
        "{other} ， 但是 {main}",
        "{other} 。 但 {main}",
        "虽然 {other} ， {main}",
        "{main} ， 虽然 {other}",
        "{other} ， 不过 {main}",
        "即使 {other} ， {main}",
    ],
    hearsay=[
        "{person} {they_love} {the} ， 但 我 *{i_love} {it}",
        "{person} {they_love} {the} 。 我 *{i_love} {it}",
        "我 *{i_love} {the} ， 虽然 {person} {they_love} {it}",
    ],
    hope=[
        "我 以为 {the} 会 {hoped} ， 但是 {main}",
        "网上 说 {the} {hoped} ， 但 {main}",
        "听说 {the} 去年 {hoped} ， 现在 {main}",
    ],
    degrees=["很", "非常", "特别", "真", "十分"],
    people=["妹妹", "哥哥", "妻子", "老板", "别人", "邻居", "朋友"],
    facts=[
        "我们 星期一 去 的",
        "这 是 第二 次 了",
        "我 刷 卡 付 的 钱",
        "这 不 是 我 的 主意",
        "是 朋友 告诉 我 的",
        "一共 三十 块 钱",
        "这 是 我 第一 次 写 评论",
        "我 以前 没有 写 过 评论",
    ],
    asides=[
        "那 天 天气 很 糟糕",
        "那 天 天气 很 好",
        "我 感冒 得 很 厉害",
        "我 心情 很 好",
        "这 周 工作 很 糟",
        "这 周 工作 很 顺利",
        "路上 不 差",
        "路上 不 好 走",
        "我 这 个 人 很 耐心",
        "我 这 个 人 不 耐心",
    ],
    space="",
    stop="。",
)
