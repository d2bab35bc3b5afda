"""Layers and automata for JAX."""

import doctest
import pathlib
import re

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")

import jax.numpy as jnp  # noqa: E402

import boolgrad  # noqa: E402
from boolgrad.jax import LogicAutomaton, LogicLayers, group_sum  # noqa: E402


def soft_gate(tables, inputs):
    """The multilinear interpolation of tables [gates, 2^arity] at inputs [arity, samples, gates]."""
    total = 0
    for entry in range(tables.shape[1]):
        share = 1
        for j, value in enumerate(inputs):
            share = share * (value if entry >> j & 1 else 1 - value)
        total = total + share * tables[:, entry]
    return total


def in_plain_jax(layers, weights, x):
    """The same layers, sigmoid tables, written with JAX alone."""
    for wires, weight in zip(layers.wires, weights):
        x = soft_gate(jax.nn.sigmoid(weight), [x[:, wire] for wire in wires])
    return x


@pytest.mark.parametrize("arity", [2, 4])
def test_layers_and_their_gradients_equal_those_in_plain_jax(arity):
    layers = LogicLayers((12, 30, 20), arity, "sigmoid", init="gaussian", seed=3)
    weights = layers.init()
    x = jax.random.uniform(jax.random.key(0), (9, 12))

    def loss(function):
        return lambda weights, x: (jnp.sin(3 * function(weights, x))).sum()

    expected = jax.value_and_grad(loss(lambda w, x: in_plain_jax(layers, w, x)), (0, 1))(weights, x)
    for compiled in (lambda f: f, jax.jit):
        received = compiled(jax.value_and_grad(loss(layers), (0, 1)))(weights, x)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), expected, received)
    one = layers(weights, x[0])
    np.testing.assert_array_equal(one, layers(weights, x)[0])
    np.testing.assert_array_equal(layers(weights, x.reshape(3, 3, 12)).reshape(9, 20), layers(weights, x))
    np.testing.assert_array_equal(jax.vmap(lambda x: layers(weights, x))(x), layers(weights, x))


def test_gradients_in_double_precision():
    from jax.test_util import check_grads

    with jax.enable_x64(True):
        layers = LogicLayers((5, 6, 4), seed=2)
        weights = [w.astype(jnp.float64) for w in layers.init()]
        x = jax.random.uniform(jax.random.key(1), (3, 5), jnp.float64, 0.1, 0.9)
        assert layers(weights, x).dtype == jnp.float64
        check_grads(layers, (weights, x), order=1, modes=["rev"], atol=1e-6, rtol=1e-6)
        automaton = LogicAutomaton(1, kernels=1, update=(4,), init="residual", init_strength=1.0, seed=2)
        weights = [w.astype(jnp.float64) for w in automaton.init()]
        state = jax.random.uniform(jax.random.key(1), (2, 1, 3, 4), jnp.float64, 0.1, 0.9)
        fired = lambda weights, state: automaton(weights, state, 3, 0.5, key=jax.random.key(3))  # noqa: E731
        check_grads(fired, (weights, state), order=1, modes=["rev"], atol=1e-6, rtol=1e-6)


def test_hard_layers_are_the_circuit():
    layers = LogicLayers((10, 40, 20), seed=4)
    weights = [3 * w for w in layers.init()]
    bits = np.random.default_rng(0).integers(0, 2, (50, 10)).astype(np.uint8)
    hard = layers(weights, bits, hard=True)
    np.testing.assert_array_equal(layers.to_circuit(weights).simplify().evaluate(bits), hard)
    gradients = jax.grad(lambda w: layers(w, bits, hard=True).sum())(weights)  # straight through
    assert all(float(abs(g).max()) > 0 for g in gradients)


def test_large_layers_under_jit():
    """Larger than what JAX copies on the spot."""
    layers = LogicLayers((1000, 2000, 2000), seed=0)
    weights = layers.init()
    x = np.random.default_rng(0).random((256, 1000), dtype=np.float32)
    step = jax.jit(jax.grad(lambda weights, x: layers(weights, x).mean()))
    for _ in range(2):
        gradients = jax.block_until_ready(step(weights, x))
    assert all(bool(jnp.isfinite(g).all()) for g in gradients)


def test_a_classifier_trains():
    layers = LogicLayers((8, 60, 40), init_strength=1.0, seed=1)
    bits = np.random.default_rng(0).integers(0, 2, (256, 8)).astype(np.float32)
    labels = (bits[:, 0] != bits[:, 1]).astype(int)

    def loss_of(weights):
        scores = jax.nn.log_softmax(group_sum(layers(weights, bits), k=2, tau=4.0))
        return -scores[jnp.arange(256), labels].mean()

    slope = jax.jit(jax.value_and_grad(loss_of))
    weights = layers.init()
    losses = []
    for _ in range(100):
        loss, gradients = slope(weights)
        weights = [w - 0.1 * jnp.sign(g) for w, g in zip(weights, gradients)]
        losses.append(float(loss))
    assert losses[-1] < 0.6 * losses[0]
    assert (group_sum(layers(weights, bits, hard=True), 2).argmax(1) == labels).mean() > 0.9


def test_rollouts():
    automaton = LogicAutomaton(2, kernels=2, update=(8, 4), seed=1)
    weights = automaton.init()
    state = np.random.default_rng(0).integers(0, 2, (3, 2, 6, 5)).astype(np.float32)
    last = automaton(weights, state, 4)
    states = jax.jit(lambda w, s: automaton(w, s, 4, returned=3))(weights, state)
    assert states.shape == (3, 3, 2, 6, 5)
    np.testing.assert_array_equal(states[-1], last)
    np.testing.assert_allclose(automaton(weights, states[0], 2), last, atol=1e-6)
    hard = automaton(weights, state, 4, hard=True)
    np.testing.assert_array_equal(automaton.to_model(weights).run(state, 4), hard)
    still = automaton(weights, state, 4, 0.0, key=jax.random.key(0))
    np.testing.assert_array_equal(still, state)


def test_an_automaton_trains():
    automaton = LogicAutomaton(1, kernels=2, update=(8, 4), init_strength=5.0, seed=1)
    start = jax.random.bernoulli(jax.random.key(0), 0.5, (16, 1, 6, 6)).astype(jnp.float32)

    @jax.jit
    def step(weights):
        value, gradients = jax.value_and_grad(lambda w: ((automaton(w, start, 1) - (1 - start)) ** 2).mean())(weights)
        return value, [w - 0.05 * jnp.sign(g) for w, g in zip(weights, gradients)]

    weights = automaton.init()
    for _ in range(200):
        value, weights = step(weights)
    np.testing.assert_array_equal(automaton(weights, start, 1, hard=True), 1 - start)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LogicLayers((5,)), r"expected the inputs and the gates of at least one layer, received \(5,\)"),
        (lambda: LogicLayers((5, 4), parametrisation="magic"), "expected softmax16, sigmoid or walsh, received magic"),
        (lambda: LogicLayers((5, 4))([jnp.zeros((4, 16))], jnp.zeros((2, 6))),
         r"expected inputs \[..., 5\], received \[2, 6\]"),
        (lambda: LogicLayers((5, 4))([jnp.zeros((4, 4))], jnp.zeros((2, 5))),
         r"expected weights of the shapes \[\(4, 16\)\], received \[\(4, 4\)\]"),
        (lambda: LogicLayers((5, 4))([jnp.zeros((4, 16))], jnp.zeros((2, 5), complex)), "expected real numbers"),
        (lambda: group_sum(jnp.zeros((2, 5)), 2), "expected a number of groups that divides 5, received 2"),
        (lambda: LogicAutomaton(2)(LogicAutomaton(2).init(), jnp.zeros((3, 1, 4, 4)), 1),
         r"expected states \[grids, 2, height, width\], received \[3, 1, 4, 4\]"),
        (lambda: LogicAutomaton(1)(LogicAutomaton(1).init(), jnp.zeros((3, 1, 4, 4)), 0), "expected at least 1 step"),
        (lambda: LogicAutomaton(1)(LogicAutomaton(1).init(), jnp.zeros((3, 1, 4, 4)), 1, 0.5), "expected a key"),
        (lambda: LogicAutomaton(1)(LogicAutomaton(1).init(), jnp.zeros((3, 1, 4, 4)), 1, 2.0),
         "expected a fire rate from 0 to 1, received 2.0"),
        (lambda: jax.grad(lambda s: LogicAutomaton(1)(LogicAutomaton(1).init(), s, 1, hard=True).sum())(
            jnp.zeros((3, 1, 4, 4))), "expected hard=False for a gradient, received hard=True"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(boolgrad.ArgumentError, match=message):
        call()


def test_examples_of_the_guide():
    """The sessions of docs/jax.md, in one interpreter."""
    page = pathlib.Path(__file__).parents[2] / "docs/jax.md"
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/jax.md", "docs/jax.md", 0)
    assert len(test.examples) > 20
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0
