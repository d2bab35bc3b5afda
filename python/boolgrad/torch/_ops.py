"""The kernels as PyTorch operators. Activations are [features, samples], contiguous.

Wires are objects of the extension. Operators take them by number, because arguments of an operator are tensors and
numbers; a `Kept` object keeps its number valid for as long as a module or a graph of gradients needs it.
"""

import itertools
import weakref

import torch
from torch.library import custom_op

from boolgrad._core import layers as core
from boolgrad._errors import ArgumentError, Error

_numbers = itertools.count()
_kept = weakref.WeakValueDictionary()


class Kept:
    """An object of the extension, and its number."""

    def __init__(self, core, **facts):
        self.core = core
        self.number = next(_numbers)
        self.__dict__.update(facts)
        _kept[self.number] = self

    def __deepcopy__(self, memo):
        return self


def _get(number):
    kept = _kept.get(number)
    if kept is None:
        raise Error("[torch] the wires of this operator no longer exist: its module was deleted or changed")
    return kept


def check_device(*tensors):
    """Throws for tensors that no kernel of this package can read."""
    for tensor in tensors:
        if tensor.device.type not in ("cpu", "meta"):
            raise ArgumentError(
                f"[torch] expected tensors on the CPU, received one on {tensor.device}: the layers of boolgrad.torch "
                "compute on the CPU. Move model and data with .cpu(), or train on a GPU with boolgrad.train")


def check_floating(tensor, what):
    """Throws for complex tensors."""
    if tensor.is_complex():
        raise ArgumentError(f"[torch] expected real numbers as {what}, received {tensor.dtype}")


def compute_dtype(dtype):
    """Halves are computed as float32."""
    return dtype if dtype == torch.float64 else torch.float32


def _array(tensor):
    return tensor.detach().contiguous().numpy()


def _tensor(array):
    return torch.from_numpy(array)


# ---------------------------------------------------------------------------------------------------------------------
# Stacks of layers


@custom_op("boolgrad::layers", mutates_args=(), device_types="cpu")
def layers(x: torch.Tensor, weights: list[torch.Tensor], stack: int, hard: bool) -> torch.Tensor:
    """The outputs of a stack for x [inputs, samples]."""
    return _tensor(_get(stack).core.forward(_array(x), [_array(w) for w in weights], hard))


@layers.register_fake
def _(x, weights, stack, hard):
    return x.new_empty((_get(stack).outputs, x.shape[1]))


@custom_op("boolgrad::layers_backward", mutates_args=(), device_types="cpu")
def layers_backward(g: torch.Tensor, x: torch.Tensor, weights: list[torch.Tensor], stack: int, hard: bool,
                    needs_x: bool) -> list[torch.Tensor]:
    """The gradients of x, unless it needs none, and of all weights."""
    gradients = _get(stack).core.backward(_array(g), _array(x), [_array(w) for w in weights], hard, needs_x)
    return [_tensor(gradient) for gradient in (gradients if needs_x else gradients[1:])]


@layers_backward.register_fake
def _(g, x, weights, stack, hard, needs_x):
    shapes = ([x] if needs_x else []) + list(weights)
    return [one.new_empty(one.shape) for one in shapes]


def _setup_layers(ctx, inputs, output):
    x, weights, stack, ctx.hard = inputs
    ctx.stack = stack
    ctx.kept = _kept.get(stack)
    ctx.save_for_backward(x, *weights)


def _layers_gradient(ctx, g):
    x, *weights = ctx.saved_tensors
    needs_x = ctx.needs_input_grad[0]
    gradients = list(layers_backward(g.contiguous(), x, weights, ctx.stack, ctx.hard, needs_x))
    return gradients.pop(0) if needs_x else None, gradients, None, None


layers.register_autograd(_layers_gradient, setup_context=_setup_layers)


# ---------------------------------------------------------------------------------------------------------------------
# Group sums


@custom_op("boolgrad::group_sums", mutates_args=(), device_types="cpu")
def group_sums(y: torch.Tensor, groups: int) -> torch.Tensor:
    """Sums over groups of consecutive rows: [groups, samples] from [outputs, samples]."""
    return _tensor(core.group_sums(_array(y), groups))


@group_sums.register_fake
def _(y, groups):
    return y.new_empty((groups, y.shape[1]))


@custom_op("boolgrad::group_sums_backward", mutates_args=(), device_types="cpu")
def group_sums_backward(g: torch.Tensor, outputs: int) -> torch.Tensor:
    """The gradient of the rows."""
    return _tensor(core.group_sums_backward(_array(g), outputs))


@group_sums_backward.register_fake
def _(g, outputs):
    return g.new_empty((outputs, g.shape[1]))


def _setup_sums(ctx, inputs, output):
    ctx.outputs = inputs[0].shape[0]


group_sums.register_autograd(lambda ctx, g: (group_sums_backward(g.contiguous(), ctx.outputs), None),
                             setup_context=_setup_sums)


# ---------------------------------------------------------------------------------------------------------------------
# Learned wires


@custom_op("boolgrad::select_wires", mutates_args=(), device_types="cpu")
def select_wires(x: torch.Tensor, logits: torch.Tensor, candidates: int, hard: bool,
                 temperature: float) -> torch.Tensor:
    """The values of all gate inputs [gates * arity, samples] from x [inputs, samples]."""
    return _tensor(core.select_forward(_get(candidates).core, _array(x), _array(logits), hard, temperature))


@select_wires.register_fake
def _(x, logits, candidates, hard, temperature):
    return x.new_empty((logits.shape[0] * logits.shape[1], x.shape[1]))


@custom_op("boolgrad::select_wires_backward", mutates_args=(), device_types="cpu")
def select_wires_backward(g: torch.Tensor, x: torch.Tensor, logits: torch.Tensor, candidates: int, hard: bool,
                          temperature: float) -> list[torch.Tensor]:
    """The gradients of x and of the logits."""
    gradients = core.select_backward(_get(candidates).core, _array(g), _array(x), _array(logits), hard, temperature)
    return [_tensor(gradient) for gradient in gradients]


@select_wires_backward.register_fake
def _(g, x, logits, candidates, hard, temperature):
    return [x.new_empty(x.shape), logits.new_empty(logits.shape)]


def _setup_select(ctx, inputs, output):
    x, logits, ctx.candidates, ctx.hard, ctx.temperature = inputs
    ctx.kept = _kept.get(ctx.candidates)
    ctx.save_for_backward(x, logits)


def _select_gradient(ctx, g):
    x, logits = ctx.saved_tensors
    gradients = select_wires_backward(g.contiguous(), x, logits, ctx.candidates, ctx.hard, ctx.temperature)
    return gradients[0], gradients[1], None, None, None


select_wires.register_autograd(_select_gradient, setup_context=_setup_select)


@custom_op("boolgrad::candidate_gradients", mutates_args=(), device_types="cpu")
def candidate_gradients(x: torch.Tensor, g: torch.Tensor, candidates: int) -> torch.Tensor:
    """For every candidate [gates, arity, count], the sum over samples of its value times the gradient of its slot."""
    return _tensor(core.candidate_gradients(_get(candidates).core, _array(x), _array(g)))


@candidate_gradients.register_fake
def _(x, g, candidates):
    return x.new_empty(_get(candidates).shape)


# ---------------------------------------------------------------------------------------------------------------------
# Automata


@custom_op("boolgrad::rollout", mutates_args=(), device_types="cpu")
def rollout(initial: torch.Tensor, weights: list[torch.Tensor], fire: torch.Tensor | None, rule: int, steps: int,
            returned: int, hard: bool) -> torch.Tensor:
    """The last states [returned, channels, grids, height, width] from states [channels, grids, height, width]."""
    return _tensor(_get(rule).core.rollout_forward(
        _array(initial), [_array(w) for w in weights], None if fire is None else _array(fire), steps, returned, hard))


@rollout.register_fake
def _(initial, weights, fire, rule, steps, returned, hard):
    return initial.new_empty((returned, *initial.shape))


@custom_op("boolgrad::rollout_backward", mutates_args=(), device_types="cpu")
def rollout_backward(g: torch.Tensor, initial: torch.Tensor, weights: list[torch.Tensor], fire: torch.Tensor | None,
                     rule: int, steps: int, returned: int) -> list[torch.Tensor]:
    """The gradients of the initial states and of all weights."""
    gradients = _get(rule).core.rollout_backward(
        _array(g), _array(initial), [_array(w) for w in weights], None if fire is None else _array(fire), steps,
        returned)
    return [_tensor(gradient) for gradient in gradients]


@rollout_backward.register_fake
def _(g, initial, weights, fire, rule, steps, returned):
    return [one.new_empty(one.shape) for one in [initial, *weights]]


def _setup_rollout(ctx, inputs, output):
    initial, weights, fire, ctx.rule, ctx.steps, ctx.returned, ctx.hard = inputs
    ctx.kept = _kept.get(ctx.rule)
    ctx.has_fire = fire is not None
    ctx.save_for_backward(initial, *([fire] if ctx.has_fire else []), *weights)


def _rollout_gradient(ctx, g):
    if ctx.hard:
        raise Error("[LogicAutomaton] hard rollouts have no gradient: call train() first, or run under torch.no_grad()")
    initial, *rest = ctx.saved_tensors
    fire = rest.pop(0) if ctx.has_fire else None
    gradients = rollout_backward(g.contiguous(), initial, rest, fire, ctx.rule, ctx.steps, ctx.returned)
    return gradients[0], list(gradients[1:]), None, None, None, None, None


rollout.register_autograd(_rollout_gradient, setup_context=_setup_rollout)
