#!/usr/bin/env python3
"""One training step of a differentiable-logic cellular automaton in JAX, the peer of boolgrad.

    python bench/jax_automaton.py                 # recomputes goldens/ca.safetensors in float64
    python bench/jax_automaton.py --time          # also times the step of the checkerboard automaton

A soft gate has two forms. `plain_gate` is the textbook form: all sixteen gates for every sample, weighted by a softmax.
`coefficient_gate` computes c0 + c1 a + c2 b + c3 ab, with the coefficients computed once per step.

Activations are [kernels, features, samples], so that a wire selects a row. On a CPU this is much faster in JAX than
features last, the usual order of axes, which `usual_next_state` uses.
"""

import argparse
import dataclasses
import itertools
import json
import pathlib
import time

import jax
import jax.numpy as jnp
import numpy
import optax
from safetensors import safe_open
from safetensors.numpy import save_file

GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "goldens/ca.safetensors"
TOLERANCE = 1e-9

# Keys as in the metadata of the reference values.
CHECKERBOARD = {
    "seed": 1, "channels": 8, "kernels": 16, "perceive_layers": [9, 8, 4, 2],
    "update_layers": [264] + [256] * 10 + [128, 64, 32, 16, 8, 8], "height": 16, "width": 16, "batch": 2,
    "steps": 20, "periodic": False, "asynchronous": False, "loss_channels": 1,
}

# The built-in automata, in the sizes of the literature.
AUTOMATA = {
    "life": {
        **CHECKERBOARD, "channels": 1, "perceive_layers": [9, 8, 4, 2, 1],
        "update_layers": [17] + [128] * 16 + [64, 32, 16, 8, 4, 2, 1], "height": 3, "width": 3, "batch": 512,
        "steps": 1, "periodic": True},
    "checkerboard": CHECKERBOARD,
    "checkerboard-async": {
        **CHECKERBOARD, "update_layers": [264] + [256] * 14 + [128, 64, 32, 16, 8, 8], "height": 14, "width": 14,
        "batch": 1, "steps": 50, "asynchronous": True},
    "lizard-torus": {
        **CHECKERBOARD, "channels": 128, "kernels": 4, "perceive_layers": [9, 8, 4, 2, 1],
        "update_layers": [640] + [512] * 8 + [256, 128], "height": 20, "width": 20, "batch": 1, "steps": 12,
        "periodic": True},
    "letter-g": {
        **CHECKERBOARD, "channels": 64, "kernels": 4, "update_layers": [576] + [512] * 8 + [256, 128, 64],
        "batch": 1, "steps": 15, "loss_channels": 3},
}


@dataclasses.dataclass
class Problem:
    """An automaton with its initial states and targets.

    `initial` is [B, H, W, C], `target` [B, H, W, loss channels], `fire_mask` [T, B, H, W, 1] or None if
    every cell always updates. `wires` and `logits` have the lists "perceive" and "update", one entry per layer:
    wires [2, gates], logits [kernels, gates, 16] and [gates, 16].
    """

    settings: dict
    initial: numpy.ndarray
    target: numpy.ndarray
    fire_mask: numpy.ndarray | None
    wires: dict
    logits: dict


def any_wires(rng, before, gates):
    return rng.integers(0, before, (2, gates)).astype(numpy.int32)


def paired_wires(rng, before, gates):
    """The wiring of the literature: a neighbour and the cell itself for nine inputs, otherwise adjacent pairs, even
    offsets first, shuffled."""
    if before == 9:
        places = rng.permutation([0, 1, 2, 3, 5, 6, 7, 8])[:gates]
        return numpy.stack([places, numpy.full(gates, 4)]).astype(numpy.int32)
    firsts = [*range(0, before - 1, 2), *range(1, before - 1, 2)]
    pairs = [(i, i + 1) for i in firsts]
    pairs += [(i, i + apart) for apart in range(2, before) for i in range(before - apart)]
    return numpy.array(rng.permutation(pairs[:gates])).T.astype(numpy.int32)


def make_problem(settings, dtype=numpy.float32, wires=any_wires):
    """A random problem: random bits as initial states and targets, normal logits."""
    rng = numpy.random.default_rng(settings["seed"])
    cells = (settings["batch"], settings["height"], settings["width"])
    sizes = {"perceive": settings["perceive_layers"], "update": settings["update_layers"]}
    leading = {"perceive": (settings["kernels"],), "update": ()}

    def bits(*shape):
        return rng.integers(0, 2, shape).astype(dtype)

    return Problem(
        settings,
        bits(*cells, settings["channels"]),
        bits(*cells, settings["loss_channels"]),
        bits(settings["steps"], *cells, 1) if settings["asynchronous"] else None,
        {part: [wires(rng, before, gates) for before, gates in zip(layers, layers[1:])]
         for part, layers in sizes.items()},
        {part: [rng.standard_normal((*leading[part], gates, 16)).astype(dtype) for gates in layers[1:]]
         for part, layers in sizes.items()},
    )


# ------------------------------------------------------------------ gates


# Gate i is the truth table 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
def sixteen_gates(a, b):
    ab = a * b
    return [
        jnp.zeros_like(a), ab, a - ab, a, b - ab, b, a + b - 2 * ab, a + b - ab,
        1 - (a + b - ab), 1 - (a + b - 2 * ab), 1 - b, 1 - b + ab, 1 - a, 1 - a + ab, 1 - ab, jnp.ones_like(a),
    ]


COEFFICIENTS = numpy.array([
    [0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, -1], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 1, 0],
    [0, 1, 1, -2], [0, 1, 1, -1], [1, -1, -1, 1], [1, -1, -1, 2], [1, 0, -1, 0], [1, 0, -1, 1],
    [1, -1, 0, 0], [1, -1, 0, 1], [1, 0, 0, -1], [1, 0, 0, 0]])


def plain_gate(weights, a, b):
    """`weights` is [..., gates, 16]; a and b are [..., gates, samples]."""
    return sum(weights[..., i, None] * gate for i, gate in enumerate(sixteen_gates(a, b)))


def coefficient_gate(weights, a, b):
    c = weights @ COEFFICIENTS.astype(weights.dtype)
    c0, c1, c2, c3 = (c[..., i, None] for i in range(4))
    return c0 + c1 * a + (c2 + c3 * a) * b


def soft(logits):
    return jax.nn.softmax(logits, axis=-1)


def hard(logits):
    return jax.nn.one_hot(jnp.argmax(logits, axis=-1), 16, dtype=logits.dtype)


# `None` stands for the usual order of axes.
FORMS = {"usual": None, "plain": plain_gate, "coefficients": coefficient_gate}

# ------------------------------------------------------------------ the automaton


def network(gate, weights, wires, x):
    """Layers of gates on features [kernels, features, samples]."""
    for w, pair in zip(weights, wires):
        x = gate(w, x[:, pair[0]], x[:, pair[1]])
    return x


def patches(state, periodic):
    """The nine neighbours, row-major, of each cell of a state [C, B, H, W]: [9, C, B, H, W]."""
    height, width = state.shape[2:]
    around = jnp.pad(state, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="wrap" if periodic else "constant")
    return jnp.stack([around[:, :, y:y + height, x:x + width] for y in range(3) for x in range(3)])


def next_state(gate, weights, wires, state, periodic):
    """One update of every cell of a state [C, B, H, W]."""
    channels, *cells = state.shape
    seen = network(gate, weights["perceive"], wires["perceive"], patches(state, periodic).reshape(1, 9, -1))
    kernels, outputs = seen.shape[:2]
    # [kernels, outputs, channels, cells] to value (c * outputs + s) * kernels + k.
    seen = seen.reshape(kernels, outputs, channels, -1).transpose(2, 1, 0, 3)
    x = jnp.concatenate([state.reshape(channels, -1), seen.reshape(channels * outputs * kernels, -1)])
    new = network(gate, [w[None] for w in weights["update"]], wires["update"], x[None])
    return new.reshape(channels, *cells)


def usual_next_state(weights, wires, state, periodic):
    """The same as it is usually written: [C, B, H, W] in and out, but features last and sixteen gates inside."""
    channels, *cells = state.shape

    def layers(part, x):
        for w, pair in zip(weights[part], wires[part]):
            gates = sixteen_gates(x[..., pair[0]], x[..., pair[1]])
            x = jnp.sum(jnp.stack(gates, axis=-1) * w, axis=-1)
        return x

    around = jnp.moveaxis(patches(state, periodic), (0, 1), (-1, -2))
    seen = layers("perceive", around[..., None, :])
    seen = jnp.swapaxes(seen, -1, -2).reshape(*cells, -1)
    return jnp.moveaxis(layers("update", jnp.concatenate([jnp.moveaxis(state, 0, -1), seen], axis=-1)), -1, 0)


def channels_first(x):
    return jnp.moveaxis(jnp.asarray(x), -1, -4)


def rollout(problem, logits, gate, weigh=soft, checkpoint=False):
    """All states, [T + 1, C, B, H, W]. With `checkpoint`, backward recomputes each step."""
    periodic, wires = problem.settings["periodic"], problem.wires
    weights = jax.tree.map(weigh, logits)
    fires = None if problem.fire_mask is None else channels_first(problem.fire_mask)

    def step(state, fire):
        if gate is None:
            new = usual_next_state(weights, wires, state, periodic)
        else:
            new = next_state(gate, weights, wires, state, periodic)
        if fire is not None:
            new = fire * new + (1 - fire) * state
        return new, new

    start = channels_first(problem.initial)
    _, states = jax.lax.scan(jax.checkpoint(step) if checkpoint else step, start, fires,
                             length=problem.settings["steps"])
    return jnp.concatenate([start[None], states])


def loss_of(problem, logits, gate, checkpoint=False):
    last = rollout(problem, logits, gate, checkpoint=checkpoint)[-1]
    return jnp.sum((last[:problem.settings["loss_channels"]] - channels_first(problem.target)) ** 2)


def use_cores(count):
    """Makes JAX use `count` CPU devices; call it before any computation. Otherwise XLA runs automata of this size on one
    core, whatever its number of threads."""
    jax.config.update("jax_num_cpu_devices", count)


def loss_and_gradients(problem, gate, checkpoint=False, cores=1):
    """A function of the logits. With several cores, the batch is sharded over them."""
    cells = [x for x in (problem.initial, problem.target, problem.fire_mask) if x is not None]

    def evaluate(logits, *cells):
        initial, target, *fires = cells
        part = dataclasses.replace(
            problem, initial=initial, target=target, fire_mask=fires[0] if fires else None)
        result = jax.value_and_grad(lambda z: loss_of(part, z, gate, checkpoint))(logits)
        return jax.lax.psum(result, "batch") if cores > 1 else result

    if cores > 1:
        batch = jax.P("batch")
        mesh = jax.make_mesh((cores,), ("batch",), axis_types=(jax.sharding.AxisType.Auto,))
        evaluate = jax.shard_map(
            evaluate, mesh=mesh,
            in_specs=(jax.P(), batch, batch, jax.P(None, "batch"))[:1 + len(cells)],
            out_specs=jax.P(), check_vma=False)
    return lambda logits: evaluate(logits, *cells)


def wrong_bits(problem, logits, gate):
    """Number of wrong bits of the hardened rule."""
    last = rollout(problem, logits, gate, weigh=hard)[-1]
    return jnp.sum(last[:problem.settings["loss_channels"]] != channels_first(problem.target))


def training_step(problem, gate, weight_decay=0.01, checkpoint=True, cores=1, with_hard=False):
    """A compiled step (logits, moments) -> (logits, moments, loss), and its initial arguments. With
    `with_hard`, the third result is a pair of the loss and the wrong bits of the hardened rule.

    `checkpoint` is the default because it was faster in every measurement and needs less memory.
    """
    optimiser = optax.chain(
        optax.clip(100.0), optax.adamw(0.05, b1=0.9, b2=0.99, weight_decay=weight_decay))
    evaluate = loss_and_gradients(problem, gate, checkpoint, cores)

    def step(logits, moments):
        loss, gradients = evaluate(logits)
        if with_hard:
            loss = loss, wrong_bits(problem, logits, gate)
        changes, moments = optimiser.update(gradients, moments, logits)
        return optax.apply_updates(logits, changes), moments, loss

    logits = jax.tree.map(jnp.asarray, problem.logits)
    # Logits and moments are donated to the step, which updates them in place.
    return jax.jit(step, donate_argnums=(0, 1)), (logits, optimiser.init(logits))


def timed(step, start, seconds=5.0, least=3):
    """Median milliseconds of a step, after one that compiles and one that warms up."""
    logits, moments = start
    times = []
    for run in itertools.count(-2):
        begin = time.perf_counter()
        logits, moments, loss = jax.block_until_ready(step(logits, moments))
        if run >= 0:
            times.append((time.perf_counter() - begin) * 1000)
        if len(times) >= least and sum(times) >= seconds * 1000:
            return sorted(times)[len(times) // 2]


# ------------------------------------------------------------------ files of reference values


def read_problem(path, case):
    """A case of a file of reference values: the problem, and the tensors that were computed from it."""
    with safe_open(path, "numpy") as file:
        settings = json.loads(file.metadata()[case])
        tensors = {name.removeprefix(case + "/"): file.get_tensor(name)
                   for name in file.keys() if name.startswith(case + "/")}

    def layers(part, kind):
        count = len(settings[f"{part}_layers"]) - 1
        return [tensors[f"{part}.{i}.{kind}"] for i in range(count)]

    wires, logits = ({part: layers(part, kind) for part in ("perceive", "update")}
                     for kind in ("wires", "logits"))
    problem = Problem(settings, tensors["initial"], tensors["target"], tensors["fire_mask"], wires, logits)
    return problem, tensors


def computed(problem, gate):
    """What follows from a problem, in float64 and by the names of the reference values."""
    with jax.enable_x64(True):
        logits = jax.tree.map(lambda z: jnp.asarray(z, jnp.float64), problem.logits)
        wide = dataclasses.replace(
            problem, initial=problem.initial.astype(numpy.float64),
            target=problem.target.astype(numpy.float64),
            fire_mask=None if problem.fire_mask is None else problem.fire_mask.astype(numpy.float64))
        loss, gradients = jax.jit(loss_and_gradients(wide, gate))(logits)
        tensors = {"loss": numpy.asarray(loss).reshape(1)}
        for name, weigh in (("soft_states", soft), ("hard_states", hard)):
            states = jax.jit(lambda z, weigh=weigh: rollout(wide, z, gate, weigh))(logits)
            tensors[name] = numpy.moveaxis(numpy.asarray(states), 1, -1)
        for part in ("perceive", "update"):
            for i, gradient in enumerate(gradients[part]):
                tensors[f"{part}.{i}.grad"] = numpy.asarray(gradient)
    return tensors


def write_problem(path, case, problem, gate=coefficient_gate):
    """Writes a problem and what follows from it as `boolgrad verify` reads it."""
    settings = problem.settings
    fire_mask = problem.fire_mask
    if fire_mask is None:
        fire_mask = numpy.ones((settings["steps"], *problem.initial.shape[:3], 1))
    tensors = {"initial": problem.initial, "target": problem.target, "fire_mask": fire_mask,
               **computed(problem, gate)}
    for part in ("perceive", "update"):
        for i, (wires, logits) in enumerate(zip(problem.wires[part], problem.logits[part])):
            tensors[f"{part}.{i}.wires"] = wires
            tensors[f"{part}.{i}.logits"] = logits
    save_file(
        {f"{case}/{name}": numpy.ascontiguousarray(
            tensor if tensor.dtype == numpy.int32 else tensor.astype(numpy.float64))
         for name, tensor in tensors.items()},
        path, {case: json.dumps({**settings, "source": "bench/jax_automaton.py, float64"})})


# ------------------------------------------------------------------ self-check


def check(path):
    """Prints the maximum errors of every case in all forms; returns the largest, or NaN if there is one."""
    with safe_open(path, "numpy") as file:
        cases = sorted(file.metadata())
    worst = 0.0
    for case in cases:
        problem, expected = read_problem(path, case)
        for form, gate in FORMS.items():
            errors = {}
            for name, value in computed(problem, gate).items():
                kind = "gradients" if name.endswith("grad") else name
                error = numpy.abs(value - expected[name]).max()
                errors[kind] = numpy.maximum(errors.get(kind, 0.0), error)
            print(f"{case:16} {form:13}" + "".join(f" {kind} {error:.1e}" for kind, error in errors.items()))
            worst = numpy.max([worst, *errors.values()])
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", default=str(GOLDENS), help="reference values to recompute")
    parser.add_argument("--time", action="store_true", help="time a step of the checkerboard automaton")
    parser.add_argument("--cores", type=int, default=2, help="number of cores to shard the batch of 2 over")
    parser.add_argument("--seconds", type=float, default=10.0, help="time spent on each form")
    options = parser.parse_args()
    use_cores(options.cores)
    worst = check(options.file)
    if not worst <= TOLERANCE:
        raise SystemExit(f"the maximum error is {worst}, above the tolerance of {TOLERANCE}")
    if options.time:
        problem = make_problem(CHECKERBOARD)
        for form, gate in FORMS.items():
            step, start = training_step(problem, gate, cores=options.cores)
            print(f"{form:13} {timed(step, start, options.seconds):.1f} ms per step")


if __name__ == "__main__":
    main()
