import numpy as np
import pytest

from boolgrad import geometry, ops


def numeric_gradient(function, x, upstream, step=1e-6):
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            gradient[index] += sign * (np.asarray(function(moved)) * upstream).sum() / (2 * step)
    return gradient


DISKS = np.array([[0, 0, 1.0], [1.2, 0.1, 0.8], [4, 4, 1.5]])


@pytest.mark.parametrize("name", ["disk_union_area", "smoothed_union_area"])
def test_gradients_of_areas(name):
    function = getattr(geometry, name)
    value, gradient = function(DISKS, grad=True)
    assert value.shape == () and gradient.shape == DISKS.shape
    np.testing.assert_allclose(value, function(DISKS))
    np.testing.assert_allclose(gradient, numeric_gradient(function, DISKS, 1.0), atol=2e-4)
    batch = np.stack([DISKS, DISKS + 1])
    values, gradients = function(batch, grad=True)
    assert values.shape == (2,)
    np.testing.assert_allclose(gradients[0], gradient)


def test_pairs():
    pair = DISKS[:2]
    value, gradient = geometry.disk_pair_area(pair, grad=True)
    np.testing.assert_allclose(value, geometry.disk_union_area(pair))
    np.testing.assert_allclose(gradient, geometry.disk_union_area(pair, grad=True)[1], atol=1e-12)
    np.testing.assert_array_equal(geometry.disk_pair_strata([pair, DISKS[1:], [[0, 0, 3], [0, 0, 1]]]), [1, 0, 2])
    time, gradient = geometry.time_of_impact([[5, 0, 1.0], [0, 0, 1.0]], grad=True)
    assert time == 3
    np.testing.assert_allclose(gradient, [[1, 0, -1], [-1, 0, -1]])
    assert geometry.time_of_impact([[5, 0, 1.0], [0, 0, 1.0]], direction=(-1, 0)) == np.inf


def test_fit():
    free = np.zeros_like(DISKS)
    free[:, 2] = 1
    result = geometry.fit_union_area(DISKS, free, 20.0)
    assert result["converged"] and not result["stuck"] and result["error"] < 1e-12
    np.testing.assert_allclose(geometry.disk_union_area(result["disks"]), 20)
    np.testing.assert_array_equal(result["disks"][:, :2], DISKS[:, :2])
    assert result["areas"][0] == pytest.approx(float(geometry.disk_union_area(DISKS)))
    with pytest.raises(ValueError, match="expected the method exact, smoothed or hybrid, received magic"):
        geometry.fit_union_area(DISKS, free, 20.0, method="magic")


def test_bad_disks():
    for bad, message in [
        (np.zeros((3, 2)), r"\[disk_union_area\]"),
        ([[0, 0, np.nan]], "finite|nan"),
        ([[0, 0, -1.0]], "-1"),
        ("disks", "expected an array as disks, received str"),
    ]:
        with pytest.raises(ValueError, match=message):
            geometry.disk_union_area(bad)
    assert geometry.disk_union_area(np.zeros((0, 3))) == 0


def inputs_of(name, family, count):
    """Inputs away from kinks, as in the tests of the library."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.3, 0.9, size=(2, 3, 4))
    if name in ("floor_divide", "modulo"):
        return [x + 2, y * 0 + 1.03]
    if name == "matmul":
        return [x, y.T.copy()]
    if name == "prelu":
        return [x, np.array([0.2])]
    if name == "cross_entropy":
        return [x, np.array([0, 3, 2])]
    return [x, y][:count]


ALL = [(name, family) for family, names in ops.FAMILIES.items() for name in names]


@pytest.mark.parametrize(("name", "family"), ALL)
def test_ops(name, family):
    count = 1 if family in ("reduction", "elementwise", "activation") and name != "prelu" or name == "transpose" else 2
    inputs = inputs_of(name, family, count)
    value = ops.forward(name, *inputs)
    np.testing.assert_array_equal(getattr(ops, name)(*inputs), value)
    upstream = np.random.default_rng(2).uniform(0.5, 1, size=value.shape)
    gradients = ops.vjp(name, *inputs, upstream=upstream)
    assert len(gradients) == len(inputs)
    for i, gradient in enumerate(gradients):
        if inputs[i].dtype.kind != "f":
            assert gradient is None
            continue

        def moved(x, i=i):
            return ops.forward(name, *[x if j == i else other for j, other in enumerate(inputs)])

        np.testing.assert_allclose(gradient, numeric_gradient(moved, inputs[i], upstream), rtol=1e-4, atol=1e-6)


def test_there_are_34_ops():
    assert len(ALL) == 34


def test_values_and_options():
    x = np.array([[-1.0, 0.5], [2.0, 3.0]], dtype=np.float32)
    np.testing.assert_array_equal(ops.add(x, x[0]), x + x[0])
    np.testing.assert_array_equal(ops.sum(x, axes=[0]), x.sum(axis=0))
    np.testing.assert_array_equal(ops.max(x, axes=[1], keepdims=True), x.max(axis=1, keepdims=True))
    np.testing.assert_array_equal(ops.clip(x, low=0, high=1), x.clip(0, 1))
    np.testing.assert_allclose(ops.softmax(x, axis=0).sum(axis=0), [1, 1], rtol=1e-6)
    assert ops.binary_cross_entropy(x * 0 + 0.5, x * 0, reduction="mean") == pytest.approx(np.log(2))
    result = ops.clip(x, low=-9, high=9)
    result[0, 0] = 100
    assert x[0, 0] == -1  # no view of the argument
    for call, message in [
        (lambda: ops.forward("ad", x, x), "unknown op 'ad', did you mean 'add'"),
        (lambda: ops.add(x), r"\[add\] expected 2 arrays, received 1"),
        (lambda: ops.add(x, x.astype(np.float64)), r"\[add\]"),
        (lambda: ops.add(x, np.zeros(3, np.float32)), "expected shapes that broadcast"),
        (lambda: ops.relu(x, nothing=1), "received nothing"),
        (lambda: ops.sum(x, axes="all"), "expected a value of another type for axes, received 'all'"),
        (lambda: ops.vjp("relu", x), "upstream|expected"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
