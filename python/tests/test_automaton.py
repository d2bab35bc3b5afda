import numpy as np
import pytest


def test_properties(checkerboard):
    assert (checkerboard.channels, checkerboard.kernels, checkerboard.size) == (8, 16, (16, 16))
    assert checkerboard.border == "zero"
    assert repr(checkerboard) == "Automaton('checkerboard', 8 channels, 16 kernels)"


def test_it_reaches_its_target(checkerboard):
    last = checkerboard.run()
    assert last.shape == (8, 16, 16) and last.dtype == np.uint8
    np.testing.assert_array_equal(last[:1], checkerboard.target())
    large = checkerboard.run(size=(40, 24), steps=100)
    np.testing.assert_array_equal(large[:1], checkerboard.target((40, 24)))


def test_frames_are_the_states(checkerboard):
    start = np.random.default_rng(0).integers(0, 2, size=(8, 10, 12))
    frames = checkerboard.run(start, 7, every=1)
    assert frames.shape == (8, 8, 10, 12)
    np.testing.assert_array_equal(frames[0], start)
    np.testing.assert_array_equal(frames[-1], checkerboard.run(start, 7))
    np.testing.assert_array_equal(checkerboard.run(start, 7, every=3), frames[::3])
    # One step after the other gives the same states.
    for before, after in zip(frames[:-1], frames[1:]):
        np.testing.assert_array_equal(checkerboard.run(before, 1), after)


def test_the_rule_is_that_of_the_netlist(checkerboard):
    start = np.random.default_rng(0).integers(0, 2, size=(8, 9, 9))
    padded = np.pad(start, ((0, 0), (1, 1), (1, 1)))
    neighbours = np.stack([padded[:, y:y + 9, x:x + 9] for y in range(3) for x in range(3)], axis=1)
    inputs = neighbours.reshape(72, 81).T
    outputs = checkerboard.to_netlist().simplify().evaluate(inputs)
    np.testing.assert_array_equal(outputs.T.reshape(8, 9, 9), checkerboard.run(start, 1))


def test_batches(checkerboard):
    starts = np.random.default_rng(0).integers(0, 2, size=(3, 8, 16, 16))
    last = checkerboard.run(starts, 5)
    for one, start in zip(last, starts):
        np.testing.assert_array_equal(one, checkerboard.run(start, 5))
    assert checkerboard.run(starts, 5, every=5).shape == (2, 3, 8, 16, 16)


def test_fire_rate_and_seed(checkerboard):
    a, b, c = (checkerboard.run(steps=3, fire_rate=0.5, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()
    start = np.ones((8, 16, 16))
    np.testing.assert_array_equal(checkerboard.run(start, 5, 0.0), start)


def test_damage(checkerboard):
    frames = checkerboard.run(np.ones((8, 16, 16)), 4, damage=[(2, 3, 4, 5, 6)], every=1)
    assert frames[2][:, 3:8, 4:10].sum() == 0
    without = checkerboard.run(np.ones((8, 16, 16)), 4, every=1)
    np.testing.assert_array_equal(frames[1], without[1])
    assert (frames[2] != without[2]).any()


def test_gif_and_notebook(checkerboard, tmp_path):
    report = checkerboard.gif(tmp_path / "a.gif", steps=40, damage=[(20, 3, 3, 6, 6)])
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF89a")
    assert report == {"file": str(tmp_path / "a.gif"), "height": 16, "width": 16, "steps": 40, "bit_errors": 0}
    page = checkerboard._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "<script" not in page and "&lt;script" in page
    report = checkerboard.export("html", tmp_path / "a.html")
    import html

    assert html.escape((tmp_path / "a.html").read_text(), quote=True) in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"state": np.zeros((7, 16, 16))}, r"with 8 channels, received shape \[7, 16, 16\]"),
        ({"state": np.zeros((16, 16))}, r"received shape \[16, 16\]"),
        ({"state": np.zeros((8, 0, 16))}, "expected a state with cells"),
        ({"state": np.full((8, 4, 4), 2)}, "expected zeros and ones as a state, received 2"),
        ({"state": np.zeros((8, 4, 4)), "size": (4, 4)}, "expected a state or a size, received both"),
        ({"size": (0, 5)}, "received 0x5"),
        ({"size": (1 << 20, 1 << 20)}, "expected 1 to"),
        ({"steps": -1}, "expected 0 to 1000000000 steps, received -1"),
        ({"fire_rate": 1.5}, "expected a fire rate from 0 to 1, received 1.5"),
        ({"fire_rate": float("nan")}, "expected a fire rate from 0 to 1, received nan"),
        ({"damage": [(1, 10, 10, 10, 10)]}, "expected a rectangle inside 16x16 cells"),
        ({"damage": [(-1, 0, 0, 1, 1)]}, "expected damage at step 0 or later, received -1"),
        ({"every": 0}, "expected every of at least 1, received 0"),
        ({"device": "tpu"}, "expected cpu, cuda, cuda:N, vulkan or vulkan:N, received tpu"),
    ],
)
def test_bad_arguments(checkerboard, arguments, message):
    with pytest.raises(ValueError, match=message):
        checkerboard.run(**arguments)


def test_life_on_a_torus(trained):
    life = trained("life", seed=1).model
    assert life.target() is None and life.border == "periodic"
    glider = np.zeros((1, 12, 12), dtype=np.uint8)
    glider[0, 1:4, 1:4] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
    np.testing.assert_array_equal(life.run(glider, 4), np.roll(glider, (1, 1), (1, 2)))
    np.testing.assert_array_equal(life.run(glider, 48), glider)
