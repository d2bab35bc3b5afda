"""Layers of gates and automata as functions for JAX, computed by boolgrad's kernels on the CPU.

The kernels are called through `jax.pure_callback` and have derivatives (`jax.custom_vjp`), so `jax.jit`, `jax.grad` and
`jax.vmap` work. There are no second derivatives.

>>> import jax
>>> from boolgrad.jax import LogicLayers, group_sum
>>> layers = LogicLayers((16, 64, 40), seed=1)
>>> weights = layers.init()
>>> x = jax.random.bernoulli(jax.random.key(0), 0.5, (8, 16)).astype("float32")
>>> loss = lambda weights: group_sum(layers(weights, x), k=10, tau=2.0)[:, 3].sum()
>>> [g.shape for g in jax.jit(jax.grad(loss))(weights)]
[(64, 16), (40, 16)]
>>> layers.to_circuit(weights)
Circuit('circuit', 16 inputs, 40 outputs, 104 gates, depth 2)
"""

import functools
import os
import tempfile

import numpy as np

try:
    import jax
except ImportError as error:
    raise ImportError("boolgrad.jax needs JAX: pip install jax") from error

import jax.numpy as jnp

from boolgrad import _core as _package
from boolgrad._core import layers as _core
from boolgrad._errors import ArgumentError

__all__ = ["LogicAutomaton", "LogicLayers", "group_sum"]


def _call(function, shapes, *arrays):
    """Calls a function of NumPy arrays, now or as a part of compiled code."""
    return jax.pure_callback(
        lambda *own: jax.tree.map(np.ascontiguousarray, function(*jax.tree.map(np.asarray, own))),
        shapes, *arrays, vmap_method="sequential")


def _like(array):
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _check_weights(where, weights, shapes):
    received = [tuple(np.shape(one)) for one in weights]
    if received != list(shapes):
        raise ArgumentError(f"[{where}] expected weights of the shapes {list(shapes)}, received {received}")


def _floats(*arrays):
    """The arrays in the dtype of the kernels: float64 if one of them has it, else float32."""
    dtype = jnp.result_type(jnp.float32, *arrays)
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ArgumentError(f"[jax] expected real numbers, received {dtype}")
    dtype = jnp.float64 if dtype == jnp.float64 else jnp.float32
    return [jnp.asarray(one, dtype) for one in arrays]


def group_sum(outputs, k, tau=1.0):
    """Sums over `k` groups of consecutive outputs [..., outputs], divided by `tau`: [..., k]."""
    if k < 1 or outputs.shape[-1] % k != 0:
        raise ArgumentError(f"[group_sum] expected a number of groups that divides {outputs.shape[-1]}, received {k}")
    return outputs.reshape(*outputs.shape[:-1], k, -1).sum(-1) / tau


class LogicLayers:
    """Layers of gates, one after the other, as a function of weights and inputs.

    Args:
        sizes: Number of inputs, then the gates per layer.
        arity: Inputs per gate, 1 to 6. softmax16 requires 2.
        parametrisation: `softmax16`, `sigmoid` or `walsh`.
        wiring: `random`, `unique`, `adjacent`, `butterfly` or `local`.
        init, init_strength: `gaussian`, `pass_through` or `residual`, and its strength.
        seed: Of wires and weights.

    A call is `layers(weights, x, hard=False)` with x [..., inputs] and gives [..., gates]. With `hard`, gates are
    rounded, and gradients pass straight through to the soft tables.
    """

    def __init__(self, sizes, arity=2, parametrisation="softmax16", *, wiring="random", init="residual",
                 init_strength=2.0, seed=0):
        sizes = tuple(int(size) for size in sizes)
        if len(sizes) < 2 or min(sizes) < 1:
            raise ArgumentError(f"[LogicLayers] expected the inputs and the gates of at least one layer, received {sizes}")
        self.sizes = sizes
        self._wirings = [_core.make_wiring(wiring, sizes[i], sizes[i + 1], arity, seed, i)
                         for i in range(len(sizes) - 1)]
        self._initial = [_core.initial_weights(parametrisation, gates, arity, init, init_strength, seed, i)
                         for i, gates in enumerate(sizes[1:])]
        self._shapes = [one.shape for one in self._initial]
        self._stack = _core.LayerStack(self._wirings, [parametrisation] * len(self._wirings))
        self._rows = jax.custom_vjp(self._forward, nondiff_argnums=(2,))
        self._rows.defvjp(lambda weights, x, hard: (self._forward(weights, x, hard), (weights, x)), self._backward)

    @property
    def wires(self):
        """The source of every gate input: int32 [arity, gates] per layer."""
        return [wiring.wires for wiring in self._wirings]

    def init(self):
        """The initial weights: float32 [gates, weights per gate] per layer."""
        return [jnp.asarray(one) for one in self._initial]

    # Activations of the kernels are [features, samples].

    def _forward(self, weights, x, hard):
        out = jax.ShapeDtypeStruct((self.sizes[-1], x.shape[1]), x.dtype)
        return _call(lambda weights, x: self._stack.forward(x, weights, hard), out, weights, x)

    def _backward(self, hard, saved, g):
        weights, x = saved
        shapes = (_like(x), [_like(one) for one in weights])

        def gradients(g, weights, x):
            own = self._stack.backward(g, x, weights, hard, True)
            return own[0], list(own[1:])

        of_x, of_weights = _call(gradients, shapes, g, weights, x)
        return of_weights, of_x

    def __call__(self, weights, x, hard=False):
        _check_weights("LogicLayers", weights, self._shapes)
        if jnp.ndim(x) < 1 or x.shape[-1] != self.sizes[0]:
            raise ArgumentError(f"[LogicLayers] expected inputs [..., {self.sizes[0]}], received {list(jnp.shape(x))}")
        x, *weights = _floats(x, *weights)
        rows = self._rows(weights, x.reshape(-1, self.sizes[0]).T, bool(hard))
        return rows.T.reshape(*x.shape[:-1], self.sizes[-1])

    def to_circuit(self, weights):
        """The hardened gates as a `boolgrad.Circuit`, as trained: nothing is simplified."""
        _check_weights("LogicLayers", weights, self._shapes)
        return self._stack.circuit([np.asarray(one, np.float32) for one in weights])


class LogicAutomaton:
    """A cellular automaton: every cell runs the same circuit of gates on its 3x3 neighbourhood, again and again.

    Args:
        channels: Bits per cell.
        kernels: Perception kernels: networks over the neighbourhood of one channel, applied to every channel.
        perceive: Gates per layer of a kernel; 8 in the first.
        update: Gates per layer of the update, without the last, which has one gate per channel.
        border: What cells at the edge see: `zero` or `periodic`.
        parametrisation, init, init_strength, seed: As in `LogicLayers`.

    A call is `automaton(weights, state, steps)` with a state [grids, channels, height, width] and gives the state after
    `steps` steps. The backward pass recomputes what it needs, so memory does not grow with the number of gates.

    >>> import jax
    >>> from boolgrad.jax import LogicAutomaton
    >>> automaton = LogicAutomaton(channels=2, kernels=1, update=(8, 4), seed=1)
    >>> state = jax.random.uniform(jax.random.key(0), (3, 2, 5, 5))
    >>> automaton(automaton.init(), state, steps=4).shape
    (3, 2, 5, 5)
    """

    def __init__(self, channels, kernels=4, perceive=(8, 4, 2, 1), update=(16, 8, 4), *, border="periodic",
                 parametrisation="softmax16", init="pass_through", init_strength=10.0, seed=0):
        self.channels = channels
        self._rule = _core.make_rule(channels, kernels, list(perceive), list(update), border, parametrisation, init,
                                     init_strength, seed)
        self._wires = [wiring.wires for wiring in self._rule.wirings]
        self._initial = self._rule.weights
        self._shapes = [one.shape for one in self._initial]
        # A rule has one dtype; the weights of calls replace its own.
        self._rule_of = functools.cache(self._with_dtype)
        self._states = jax.custom_vjp(self._forward, nondiff_argnums=(3, 4, 5))
        self._states.defvjp(
            lambda weights, state, fire, *how: (self._forward(weights, state, fire, *how), (weights, state, fire)),
            self._backward)

    def _with_dtype(self, dtype):
        return self._rule.replaced(self._wires, [one.astype(dtype) for one in self._initial])

    def init(self):
        """The initial weights of all layers, perception first."""
        return [jnp.asarray(one) for one in self._initial]

    # States of the kernels are [channels, grids, height, width].

    def _forward(self, weights, state, fire, steps, returned, hard):
        rule = self._rule_of(np.dtype(state.dtype))
        out = jax.ShapeDtypeStruct((returned, *state.shape), state.dtype)
        return _call(lambda weights, state, fire: rule.rollout_forward(state, weights, fire, steps, returned, hard),
                     out, weights, state, fire)

    def _backward(self, steps, returned, hard, saved, g):
        weights, state, fire = saved
        if hard:
            raise ArgumentError("[LogicAutomaton] expected hard=False for a gradient, received hard=True")
        rule = self._rule_of(np.dtype(state.dtype))
        shapes = (_like(state), [_like(one) for one in weights])

        def gradients(g, weights, state, fire):
            own = rule.rollout_backward(g, state, weights, fire, steps, returned)
            return own[0], list(own[1:])

        of_state, of_weights = _call(gradients, shapes, g, weights, state, fire)
        none = None if fire is None else np.zeros(fire.shape, jax.dtypes.float0)
        return of_weights, of_state, none

    def __call__(self, weights, state, steps, fire_rate=1.0, *, key=None, returned=1, hard=False):
        """The state after `steps` steps, or with returned=n the last n states, [n, grids, ...].

        With a `fire_rate` below 1, cells update at random, which takes a `key`.
        """
        _check_weights("LogicAutomaton", weights, self._shapes)
        if jnp.ndim(state) != 4 or state.shape[1] != self.channels or 0 in state.shape:
            raise ArgumentError(f"[LogicAutomaton] expected states [grids, {self.channels}, height, width], received "
                                f"{list(jnp.shape(state))}")
        if steps < 1 or not 1 <= returned <= steps:
            raise ArgumentError(f"[LogicAutomaton] expected at least 1 step and at most as many states, received "
                                f"{steps} steps and {returned} states")
        if not 0 <= fire_rate <= 1:
            raise ArgumentError(f"[LogicAutomaton] expected a fire rate from 0 to 1, received {fire_rate}")
        if fire_rate < 1 and key is None:
            raise ArgumentError("[LogicAutomaton] expected a key for a fire rate below 1, received none")
        state, *weights = _floats(state, *weights)
        fire = None
        if fire_rate < 1:
            shape = (steps, state.shape[0], *state.shape[2:])
            fire = jax.random.bernoulli(key, fire_rate, shape).astype(jnp.uint8)
        states = self._states(weights, state.swapaxes(0, 1), fire, steps, returned, bool(hard)).swapaxes(1, 2)
        return states[0] if returned == 1 else states

    def to_model(self, weights):
        """The hardened rule as a `boolgrad.Automaton`."""
        _check_weights("LogicAutomaton", weights, self._shapes)
        own = [np.asarray(one, np.float32) for one in weights]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            self._rule.replaced(self._wires, own).save_model(path)
            return _package.load(path)
