"""The page in a real browser: what is clicked and typed, and what it then says, shows and asks for."""

import re

import numpy as np
import pytest

from keras_attention.plotting import AttentionLayer, AttentionRecord, explore
from keras_attention.plotting.alignment import alignment
from keras_attention.plotting.explorer.page import HTMLView

SOURCE = ["the", "black", "cat", "sleeps", "."]
TARGET = ["le", "chat", "noir", "dort"]
GOLD = np.array([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0]], bool)
MASK = np.tri(4, 5, 1, dtype=bool)
LOOK = re.compile(r"(\S+) \((\d+)\) looks at (\S+) \((\d+)\): (.+)")


def weights_of(record, layer=0, head=None, moment=-1):
    weights = record.layers[layer].weights[moment]
    return weights.mean(0) if head is None else weights[head]


def digits(weight):
    """A weight as a half float to three digits, as JavaScript writes it."""
    return "0" if weight == 0 else f"{float(np.float16(weight)):#.3g}"


def about(text, weight):
    assert float(text.replace("−", "-")) == pytest.approx(weight, rel=4e-3, abs=4e-3)


def readout(page):
    return re.sub("[\u2068\u2069]", "", page.inner_text("#readout"))


def said(page):
    """The row, the column and the weight of the readout."""
    found = LOOK.match(readout(page))
    assert found, readout(page)
    query, row, key, column, rest = found.groups()
    row, column = int(row) - 1, int(column) - 1
    assert (query, key) == (TARGET[row], SOURCE[column])
    return row, column, rest


def panel(page, name="first"):
    return page.locator(f"#{name}")


def cells(page, name="first"):
    """The weights of the table."""
    place = panel(page, name)
    if not place.locator("details.table").get_attribute("open"):
        place.locator("details.table").evaluate("details => { details.open = true; }")
        place.locator("tbody tr").first.wait_for()
    rows = place.locator("tbody tr").all()
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]


def colour(page, canvas, x, y):
    """Red, green, blue, opacity of a canvas at a place, in shares of its width and height."""
    script = """(canvas, [x, y]) => {
        const copy = new OffscreenCanvas(1, 1).getContext("2d");
        copy.drawImage(canvas, -Math.floor(x * canvas.width), -Math.floor(y * canvas.height));
        return [...copy.getImageData(0, 0, 1, 1).data];
    }"""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return canvas.evaluate(script, [x, y])


def test_the_table_holds_the_weights_of_the_chosen_layer_and_head(show, record):
    shown = record(3, 2)
    page = show(explore(shown))
    assert page.locator("#layer option").all_inner_texts() == ["a", "b"]
    assert page.locator("#heads label").all_inner_texts() == ["mean", "1", "2", "3"]
    for layer, head in [(0, None), (0, 2), (1, 1), (1, 0)]:
        page.select_option("#layer", str(layer))
        page.locator("#heads label").nth(0 if head is None else head + 1).click()
        expected = weights_of(shown, layer, head)
        found = cells(page)
        assert (len(found), len(found[0])) == (4, 5)
        for row in range(4):
            for column in range(5):
                about(found[row][column], expected[row, column])
                if head is not None:
                    assert found[row][column] == digits(expected[row, column])
    assert panel(page).locator("thead th").all_inner_texts()[1:] == [
        f"{token} ({i})" for i, token in enumerate(SOURCE, 1)
    ]


def test_the_choice_of_one_is_no_choice(show, record):
    page = show(explore(record(1)))
    for control in ("#record", "#layer", "#other", "#heads", "#moment", "#gold"):
        assert not page.locator(control).is_visible(), control


def test_pointing_at_a_cell_tells_its_weight(show, record):
    shown = record(1)
    page = show(explore(shown))
    box = panel(page).locator(".map canvas").bounding_box()
    found = set()
    for x in np.linspace(0.02, 0.98, 12) * box["width"]:
        for y in (0.35, 0.6, 0.85):
            page.mouse.move(box["x"] + x, box["y"] + y * box["height"])
            if LOOK.match(readout(page)):
                row, column, rest = said(page)
                weights = weights_of(shown)[row]
                assert rest.split(" · ")[0] == digits(weights[column])
                assert ("largest of its row" in rest) == (column == weights.argmax())
                assert page.inner_text("#tip") == page.inner_text("#readout")
                found.add((row, column))
    assert len(found) >= 8
    page.mouse.move(2, 2)
    assert "Point at" in readout(page)
    assert not page.locator("#tip").is_visible()


def test_pointing_at_a_token_shows_where_it_looks(show, record):
    shown = record(1)
    page = show(explore(shown))
    weights = weights_of(shown)
    keys, queries = panel(page).locator(".keys li"), panel(page).locator(".queries li")
    assert queries.locator("bdi").all_inner_texts() == TARGET
    queries.nth(2).hover()
    panel(page).locator(".keys .shaded").first.wait_for()
    assert keys.locator("small").all_inner_texts() == [digits(w) for w in weights[2]]
    best = [SOURCE[i] for i in np.argsort(-weights[2])[:3]]
    assert re.findall(r"([a-z.]+) [\d.]+", readout(page).split("most at ")[1]) == best
    keys.nth(1).hover()
    panel(page).locator(".queries .shaded").first.wait_for()
    assert queries.locator("small").all_inner_texts() == [digits(w) for w in weights[:, 1]]
    assert "black (key 2) is looked at most by" in readout(page)


def test_a_line_goes_to_each_token_that_is_looked_at(show):
    weights = np.eye(4, 5)[:, [1, 0, 2, 3, 4]]  # le → black, chat → the, …
    page = show(explore(AttentionRecord([AttentionLayer("a", weights, TARGET, SOURCE)])))
    canvas = panel(page).locator(".lines canvas")
    place = lambda i: (i + 0.5) / 5  # noqa: E731
    for row in range(4):
        assert colour(page, canvas, 0.03, place(row))[3] > 200
        assert colour(page, canvas, 0.97, place(row))[3] > 200
    assert colour(page, canvas, 0.97, place(4))[3] == 0  # nobody looks at the last
    panel(page).locator(".queries li").nth(0).hover()
    assert colour(page, canvas, 0.03, place(0))[3] > 200
    assert colour(page, canvas, 0.97, place(1))[3] > 200
    assert colour(page, canvas, 0.03, place(1))[3] == 0
    assert colour(page, canvas, 0.97, place(0))[3] == 0


def test_a_click_pins_and_another_lets_go(show, record):
    page = show(explore(record(1)))
    query = panel(page).locator(".queries li").nth(1)
    query.click()
    page.mouse.move(2, 2)
    panel(page).locator(".queries [aria-selected=true]").wait_for()
    assert readout(page).startswith("chat (query 2) looks most at")
    assert readout(page).endswith("pinned")
    panel(page).locator(".queries li").nth(3).hover()
    assert readout(page).startswith("dort")
    page.mouse.move(2, 2)
    assert readout(page).startswith("chat")
    query.click()
    page.mouse.move(2, 2)
    assert "Point at" in readout(page)


def test_the_map_is_walked_by_keys(show, record):
    shown = record(3)
    page = show(explore(shown))
    canvas = panel(page).locator(".map canvas")
    canvas.focus()
    places = []
    for key in ["ArrowRight", "ArrowRight", "ArrowDown", "End", "Home", "ArrowLeft", "ArrowUp", "ArrowUp"]:
        page.keyboard.press(key)
        places.append(said(page)[:2])
    assert places == [(0, 0), (0, 1), (1, 1), (1, 4), (1, 0), (1, 0), (0, 0), (0, 0)]
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert page.locator("#heads input").nth(2).is_checked()
    assert said(page)[2].split(" · ")[0] == digits(weights_of(shown, head=1)[0, 0])
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert readout(page).endswith("pinned")
    canvas.focus()
    page.keyboard.press("Escape")
    assert "Point at" in readout(page)


def test_tokens_are_walked_by_keys(show, record):
    page = show(explore(record(1)))
    panel(page).locator(".keys").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert readout(page).startswith("cat (key 3)")
    panel(page).locator(".keys[aria-activedescendant]").wait_for()
    marked = panel(page).locator(".keys").get_attribute("aria-activedescendant")
    assert page.locator(f"#{marked} bdi").inner_text() == "cat"
    page.keyboard.press("End")
    assert readout(page).startswith(". (key 5)")
    page.keyboard.press("Enter")
    panel(page).locator(".keys [aria-selected=true]").wait_for()


def test_two_records_are_set_side_by_side_with_their_difference(show, record):
    first, second = record(1, title="Bahdanau"), record(1, title="Luong", seed=7)
    page = show(explore(first, second))
    assert page.locator("#other option").all_inner_texts() == ["nothing", "Bahdanau", "Luong"]
    page.select_option("#other", "1")
    assert page.locator("h2").all_inner_texts() == [
        "First: Bahdanau",
        "Second: Luong",
        "Difference: second minus first",
    ]
    change = weights_of(second) - weights_of(first)
    for row, line in enumerate(cells(page, "difference")):
        for column, text in enumerate(line):
            about(text, change[row, column])
            assert text[0] == ("+" if change[row, column] > 0 else "−")
    canvas = panel(page, "second").locator(".map canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert f"second: {digits(weights_of(second)[0, 0])}; difference" in readout(page)
    page.select_option("#other", "-1")
    assert page.locator(".panel").count() == 1


def test_records_of_other_tokens_have_no_difference(show, record, softmax):
    other = AttentionRecord([AttentionLayer("z", softmax(3, 5, seed=3), ["die", "Katze", "schläft"], SOURCE)])
    page = show(explore(record(2), other))
    page.select_option("#other", "1")
    assert page.locator(".panel").count() == 2
    assert "no difference to draw" in panel(page, "second").locator(".summary").inner_text()
    panel(page, "second").locator(".queries li").nth(1).hover()
    assert readout(page).startswith("Katze (query 2)")
    panel(page, "second").locator(".keys .shaded").first.wait_for()
    assert panel(page).locator(".shaded").count() == 0


def test_the_slider_goes_through_training(show, softmax):
    frames = softmax(3, 2, 4, 5)
    shown = AttentionRecord(
        [AttentionLayer("a", frames, TARGET, SOURCE)], moments=["epoch 0", "epoch 5", "epoch 9"]
    )
    page = show(explore(shown))
    output = page.locator("output[for=moment]")
    assert output.inner_text() == "epoch 9"
    page.locator("#moment").focus()
    page.keyboard.press("ArrowLeft")
    assert output.inner_text() == "epoch 5"
    assert page.locator("#moment").get_attribute("aria-valuetext") == "epoch 5"
    page.locator("#heads label").nth(2).click()
    assert cells(page)[1][2] == digits(frames[1, 1, 1, 2])
    page.select_option("#other", "0")  # the same training, at another moment
    page.locator("#other-moment").fill("0")
    assert page.locator("h2").nth(1).inner_text().endswith("epoch 0")
    assert cells(page, "second")[1][2] == digits(frames[0, 1, 1, 2])


def test_training_plays_from_the_first_moment_to_the_last(show, softmax):
    shown = AttentionRecord([AttentionLayer("a", softmax(3, 1, 4, 5), TARGET, SOURCE)], moments=list("xyz"))
    page = show(explore(shown))
    page.clock.install(time=0)
    page.clock.pause_at(10)
    page.click("#play")
    seen = []
    for _ in range(4):
        seen.append((page.inner_text("output[for=moment]"), page.inner_text("#play")))
        page.clock.run_for(600)
    assert seen == [("x", "Pause"), ("y", "Pause"), ("z", "Play"), ("z", "Play")]


@pytest.mark.parametrize("head", [0, 1])
def test_gold_pairs_are_marked_and_counted(show, record, head):
    shown = record(2, gold=GOLD, seed=3)
    page = show(explore(shown))
    page.locator("#heads label").nth(head + 1).click()
    rate = alignment(weights_of(shown, head=head), GOLD).error_rate
    assert f"Alignment error rate {rate:.2f}:" in panel(page).locator(".summary").inner_text()
    marked = [["gold pair" in text for text in line] for line in cells(page)]
    np.testing.assert_array_equal(marked, GOLD)
    page.click("#gold")
    assert "error rate" not in panel(page).locator(".summary").inner_text()


def test_a_masked_cell_is_not_a_zero(show, softmax):
    weights = softmax(4, 5, mask=MASK)
    weights[3] = [1, 0, 0, 0, 0]
    layer = AttentionLayer("a", weights, TARGET, SOURCE, MASK)
    page = show(explore(AttentionRecord([layer])))
    assert page.locator("[data-only=masks]").is_visible()
    assert f"{(~MASK).sum()} cells are masked" in panel(page).locator(".summary").inner_text()
    found = cells(page)
    np.testing.assert_array_equal([[text == "masked" for text in line] for line in found], ~MASK)
    assert found[3][1] == "0"
    canvas = panel(page).locator(".map canvas")
    canvas.focus()
    for key in ("ArrowRight", "End"):
        page.keyboard.press(key)
    assert said(page) == (0, 4, "masked")


def test_masked_weights_zeros_and_nan_have_colours_of_their_own(show):
    weights = np.array([[0.0, 0.0, 1.0, np.nan]])
    layer = AttentionLayer("a", weights, ["q"], list("abcd"), [[True, False, True, True]])
    page = show(explore(AttentionRecord([layer]), check=False))
    canvas = panel(page).locator(".map canvas")
    box, places = canvas.bounding_box(), {}
    for x in range(2, int(box["width"]), 3):
        page.mouse.move(box["x"] + x, box["y"] + box["height"] - 8)
        match = re.search(r"\((\d)\): (\S+)", readout(page))
        if match:
            places.setdefault(match[2], []).append(x / box["width"])
    page.mouse.move(2, 2)
    y = 1 - 8 / box["height"]
    found = {text: colour(page, canvas, np.median(xs), y)[:3] for text, xs in places.items()}
    assert found["0"] == [255, 255, 255]
    assert found["1.00"] == [8, 48, 107]
    assert found["NaN"] == [214, 39, 40]
    assert found["masked"] in ([231, 228, 222], [179, 173, 162])  # its ground, or a line of its hatch
    assert "1 weights are not a number" in panel(page).locator(".summary").inner_text()


def test_one_query_is_shown_as_shaded_text(show, softmax):
    weights = softmax(2, 1, 5)
    page = show(explore(AttentionRecord([AttentionLayer("a", weights, ["calm"], SOURCE)])))
    words = panel(page).locator(".reading span")
    assert words.all_inner_texts() == SOURCE
    assert not panel(page).locator(".lines").is_visible()
    words.nth(3).hover()
    assert readout(page).startswith("calm (1) looks at sleeps (4): ")
    about(readout(page).split(": ")[1].split(" ")[0], weights.mean(0)[0, 3])


def test_stretched_colours_say_so(show):
    flat = AttentionRecord([AttentionLayer("a", np.full((4, 5), 0.2), TARGET, SOURCE)])
    page = show(explore(flat))
    assert page.locator("#stretch").is_checked()  # nothing is above one half
    assert page.inner_text("#most") == "0.200"
    page.click("#stretch")
    assert page.inner_text("#most") == "1.00"


def test_tokens_of_any_script_and_sort_show_as_text(show):
    tokens = ["猫", "שלום", "مرحبا", "😀", "</script>", "<img src=x onerror=alert(1)>", "", "$x$"]
    weights = np.full((8, 8), 1 / 8)
    page = show(explore(AttentionRecord([AttentionLayer("<b>x</b>", weights, tokens, tokens)])))
    expected = ["猫", "שלום", "مرحبا", "😀", "</script>", "<img␣src=x␣onerror=aler…", "∅", "$x$"]
    for side in ("queries", "keys"):
        assert panel(page).locator(f".{side} bdi").all_inner_texts() == expected
    assert page.locator("img").count() == 0
    assert cells(page)[0][0] == "0.125"
    assert panel(page).locator("tbody th").all_inner_texts()[4] == "</script> (5)"


def test_the_language_can_be_switched(show, record):
    page = show(explore(record(2, 2, gold=GOLD, mask=MASK), record(1, title="我"), title="我"))
    page.select_option("#other", "1")
    cells(page)
    assert page.locator("html").get_attribute("lang") == "en"
    page.click("#language")
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    words = set(re.findall("[A-Za-z]{2,}", page.inner_text("body")))
    assert words - {*SOURCE, *TARGET} == {"English"}
    labels = page.evaluate("[...document.querySelectorAll('[aria-label]')].map((e) => e.ariaLabel)")
    assert all(re.search("[一-鿿]", label) for label in labels)
    page.click("#language")
    assert "Layer" in page.inner_text("body")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_light_or_dark_as_the_system_is(show, record, scheme):
    page = show(explore(record(1)), color_scheme=scheme)

    def brightness():
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", ground)[:3])) / 765

    corner = colour(page, page.locator("#ramp"), 0, 0.5)[:3]
    assert (brightness() > 0.5) == (scheme == "light") == (sum(corner) > 382)
    page.click("#theme")
    assert (brightness() > 0.5) == (scheme == "dark")
    assert (sum(colour(page, page.locator("#ramp"), 0, 0.5)[:3]) > 382) == (scheme == "dark")


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_never_scrolls_sideways(show, record, width):
    page = show(explore(record(6, 6, gold=GOLD), record(1, title="long " * 30)), width=width)
    page.select_option("#other", "1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    canvases = [item for item in page.locator("#panels canvas").all() if item.is_visible()]
    assert len(canvases) == 5
    assert all(canvas.bounding_box()["width"] > 60 for canvas in canvases)


def test_five_hundred_tokens_can_be_explored(show, softmax):
    tokens = [f"token{i}" for i in range(512)]
    weights = softmax(1, 512, 512)
    page = show(explore(AttentionRecord([AttentionLayer("a", weights, tokens, tokens)])))
    canvases = page.locator("#panels canvas").all()
    assert all(box["height"] <= 900 for box in (canvas.bounding_box() for canvas in canvases))
    canvas = panel(page).locator(".map canvas")
    canvas.focus()
    for key in ("ArrowRight", "End", "ArrowDown"):
        page.keyboard.press(key)
    assert f"token1 (2) looks at token511 (512): {digits(weights[0, 1, 511])}" in readout(page)
    rows = panel(page).locator("details.table")
    rows.locator("summary").click()
    best = np.argsort(-weights[0, 7])[:5]
    texts = [t.replace("\u2068", "").replace("\u2069", "") for t in cells(page)[7]]
    assert texts == [f"token{i} ({i + 1}) {digits(weights[0, 7, i])}" for i in best]
    panel(page).locator(".zoom input").fill("100")
    canvas.focus()
    page.keyboard.press("End")
    assert panel(page).locator(".scroller").evaluate("place => place.scrollLeft") > 5000
    panel(page).locator(".lines").evaluate("place => { place.scrollTop = 26 * 400; }")
    assert colour(page, panel(page).locator(".lines canvas"), 0.5, 0.5) is not None


def test_a_notebook_shows_the_page(show, record):
    frame = explore(record(2))._repr_html_()
    page = show(HTMLView(f"<!doctype html><link rel=icon href=data:,><div id=panels><section>{frame}"))
    inner = page.frame_locator("iframe")
    inner.locator("#first .map canvas").wait_for()
    inner.locator("#heads label").nth(2).click()
    assert inner.locator("#heads input").nth(2).is_checked()
    assert inner.locator(".queries bdi").all_inner_texts() == TARGET


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_accessibility_check_finds_nothing(show, record, scheme, language):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    first = record(3, 2, gold=GOLD, mask=MASK, title="one")
    second = record(1, gold=GOLD, title="two", seed=4)
    page = show(explore(first, second, language=language), color_scheme=scheme)

    def violations():
        found = axe.run(page).response["violations"]
        return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]

    assert violations() == []
    page.select_option("#other", "1")
    for name in ("first", "second", "difference"):
        cells(page, name)
    page.click(".help summary")
    panel(page).locator(".queries li").nth(0).click()
    assert violations() == []
