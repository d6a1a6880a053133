import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from keras_attention.plotting import animate_attention, animation

SOURCE, TARGET = ["the", "猫", "."], ["le", "chat"]
FRAMES = np.array([[[1, 0, 0], [0.5, 0.5, 0]], [[0.5, 0.5, 0], [0, 1, 0]], [[0.4, 0.6, 0], [0, 0.9, 0.1]]])


@pytest.fixture
def shown(monkeypatch, texts):
    """What the Axes held each time that a frame was drawn: title, array, numbers, position of the map."""
    seen = []
    draw = animation.FigureCanvasAgg.draw

    def record(canvas):
        draw(canvas)
        ax = canvas.figure.axes[0]
        array = np.ma.getdata(ax.images[0].get_array()).copy()
        seen.append((ax.get_title(), array, texts(ax.texts), ax.get_position().bounds))

    monkeypatch.setattr(animation.FigureCanvasAgg, "draw", record)
    return seen


def test_every_frame_is_drawn_in_place(shown, tmp_path):
    titles = ["epoch 0", "epoch 10", "epoch 2"]
    path = animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "training.gif", titles)
    assert [title for title, *_ in shown] == titles
    np.testing.assert_array_equal([array for _, array, *_ in shown], FRAMES)
    assert [numbers for *_, numbers, _ in shown] == [[f"{x:.2f}" for x in frame.flat] for frame in FRAMES]
    assert len({place for *_, place in shown}) == 1
    assert path == tmp_path / "training.gif"


def test_the_gif_repeats_at_its_speed_and_holds_the_last_frame(tmp_path):
    path = animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "a.gif", fps=4)
    with Image.open(path) as gif:
        assert gif.format == "GIF"
        assert gif.n_frames == 3
        assert gif.info["loop"] == 0
        durations = []
        for i in range(3):
            gif.seek(i)
            durations.append(gif.info["duration"])
        gif.seek(0)
        comment = gif.info["comment"].decode()
    assert durations == [250, 250, 750]
    assert "le – 猫 (0.60), chat – 猫 (0.90)." in comment


def test_cells_take_the_colours_of_their_frame(tmp_path):
    path = animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "a.gif", annotate=False)
    yellow = np.array(plt.get_cmap("cividis")(1.0)[:3]) * 255
    found = []
    with Image.open(path) as gif:
        for i in range(3):
            gif.seek(i)
            pixels = np.asarray(gif.convert("RGB"), float)
            found.append((np.abs(pixels - yellow).max(-1) < 12)[:, : pixels.shape[1] * 7 // 10].any())
    assert found == [True, True, False]


def test_no_figure_stays_open_whatever_happens(tmp_path):
    animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "a.gif")
    assert not plt.get_fignums()
    with pytest.raises(FileNotFoundError):
        animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "missing" / "a.gif")
    assert not plt.get_fignums()


def test_bad_frames_are_noticed(tmp_path):
    with pytest.warns(UserWarning, match=r"rows 0, 1 do not sum to 1 \(the first to 3\.00\)"):
        animate_attention(FRAMES * [[[1]], [[3]], [[1]]], SOURCE, TARGET, tmp_path / "a.gif")
    with pytest.raises(ValueError, match=r"got \(2, 3\): choose one sentence and one head"):
        animate_attention(FRAMES[0], SOURCE, TARGET, tmp_path / "a.gif")
    with pytest.raises(ValueError, match="2 titles for 3 frames"):
        animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "a.gif", ["a", "b"])
    with pytest.raises(ValueError, match=r"must end in \.gif"):
        animate_attention(FRAMES, SOURCE, TARGET, tmp_path / "a.mp4")
    with pytest.raises(ValueError, match="3 columns but there are 2 source tokens"):
        animate_attention(FRAMES, SOURCE[:2], TARGET, tmp_path / "a.gif")
