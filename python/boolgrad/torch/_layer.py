"""Layers of gates: what all of them share, and the dense layer."""

import dataclasses

import torch
from torch import nn

from boolgrad._core import layers as _core
from boolgrad._errors import ArgumentError
from boolgrad.torch import _ops


@dataclasses.dataclass
class Part:
    """Layers of gates within a module, as fusing and export see them."""

    wirings: list
    kinds: list
    weights: list  #: tensors, without those of pooling layers
    hard: bool


def keep_stack(wirings, kinds):
    """A stack of layers, which operators call by its number."""
    core = _core.LayerStack(wirings, kinds)
    return _ops.Kept(core, inputs=core.inputs, outputs=core.outputs, wirings=wirings, kinds=kinds)


def run_stack(kept, x, weights, hard):
    """The outputs [..., outputs] of a stack for x [..., inputs].

    The outputs are a transposed view of [outputs, samples], the layout of the kernels, so that the next layer reads
    them without a copy.
    """
    weight = weights[0] if weights else x
    dtype = _ops.compute_dtype(weight.dtype)
    rows = feature_major(x, kept.inputs, dtype)
    out = _ops.layers(rows, [w.to(dtype) for w in weights], kept.number, hard)
    if weight.is_floating_point() and weight.dtype != dtype:
        out = out.to(weight.dtype)
    return sample_major(out, x)


def feature_major(x, features, dtype):
    """x [..., features] as contiguous [features, samples]. Copies nothing if x is an output of a layer."""
    if x.dim() < 1 or x.shape[-1] != features:
        raise ArgumentError(f"[torch] expected inputs [..., {features}], received {list(x.shape)}")
    _ops.check_device(x)
    _ops.check_floating(x, "inputs")
    if x.dim() != 2:
        x = x.reshape(-1, features)
    # Bytes and bits are transposed before they become four times as large.
    return x.t().contiguous().to(dtype) if not x.is_floating_point() else x.to(dtype).t().contiguous()


def sample_major(rows, x):
    """[features, samples] as [..., features], where `...` are the dimensions of the inputs x."""
    out = rows.t()
    return out if x.dim() == 2 else out.unflatten(0, x.shape[:-1]) if x.dim() > 2 else out.squeeze(0)


def new_seed(seed):
    """The seed, or one that follows torch.manual_seed."""
    if seed is None:
        return int(torch.randint(2**62, (), device="cpu"))
    if not 0 <= seed < 2**64:
        raise ArgumentError(f"[torch] expected a seed from 0 to 2^64 - 1, received {seed}")
    return seed


def is_compiling():
    return torch.compiler.is_compiling()


def _refresh_loaded(module, incompatible_keys):
    module._refresh()


class GateModule(nn.Module):
    """A module with gates. Its wires are buffers; the objects that kernels read are built from them when they
    change."""

    def __init__(self):
        super().__init__()
        self._kept = None
        self._kept_for = None
        self.register_load_state_dict_post_hook(_refresh_loaded)

    def _wires(self):
        """The buffers from which `_build` builds."""
        raise NotImplementedError

    def _build(self):
        """What the kernels read: a `Kept` object."""
        raise NotImplementedError

    def _refresh(self):
        """Rebuilds if the wires changed. Not traced: compiled code uses what the last call built."""
        wires = self._wires()
        if any(one.device.type == "meta" for one in wires):
            return
        state = [(one.data_ptr(), one._version, tuple(one.shape)) for one in wires]
        if self._kept is None or state != self._kept_for:
            self._kept = self._build()
            self._kept_for = state

    def kept(self):
        if not is_compiling():
            self._refresh()
        return self._kept

    def part(self):
        """The layers as a `Part`, or None if the module is more than layers of gates."""
        return None

    def part_of_export(self):
        """The hardened layers as a `Part`."""
        return self.part()

    def __getstate__(self):
        return {**self.__dict__, "_kept": None, "_kept_for": None}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._refresh()


def check_choice(where, name, value, choices):
    if value not in choices:
        raise ArgumentError(f"[{where}] expected {name} to be one of {', '.join(choices)}, received {value!r}")


def check_positive(where, **values):
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ArgumentError(f"[{where}] expected {name} to be an integer of at least 1, received {value!r}")


PARAMETRISATIONS = ("softmax16", "sigmoid", "walsh")
FORWARDS = ("soft", "hard")


class LogicLayer(GateModule):
    """A layer of gates: each reads `arity` of the inputs through a learned truth table.

    Inputs are [..., in_features] with values between 0 and 1, outputs are [..., out_features]. In training, a table
    holds probabilities and is interpolated multilinearly; after `eval()`, gates are hard: zeros and ones give zeros and
    ones.

    Args:
        in_features: Number of inputs.
        out_features: Number of gates.
        arity: Inputs per gate, 1 to 6. softmax16 requires 2.
        parametrisation: `softmax16` (16 logits per gate, one per Boolean function of two inputs), `sigmoid` (a logit
            per entry of the table) or `walsh` (a Walsh coefficient per entry).
        wiring: `random`, `unique`, `adjacent`, `butterfly`, `local`, or the wires themselves: integers
            [arity, out_features].
        candidates: Candidate sources per gate input, among which training chooses. 1: wires are fixed; 0: every input
            is a candidate.
        init: `gaussian`, `pass_through` (every gate passes its first input) or `residual` (the same with noise).
        init_strength: Standard deviation of `gaussian`; logit of the passed input otherwise.
        seed: Of wires and weights. By default, it follows torch.manual_seed.
        forward: `soft`, or `hard`: the forward pass of training computes hard gates, and gradients pass straight
            through.
        wire_forward: The same for learned wires: `hard` reads the most probable candidate, `soft` the mean of all.
        wire_temperature: Divides the logits of learned wires.

    The state dict has `weight` [gates, weights per gate] and `wires` [arity, gates]; with learned wires `wire_weight`
    and, unless every input is a candidate, `candidates`, both [gates, arity, candidates].

    >>> import torch
    >>> from boolgrad.torch import LogicLayer
    >>> layer = LogicLayer(3, 4, wiring=[[0, 1, 2, 0], [1, 2, 0, 2]], seed=1)
    >>> layer(torch.rand(5, 3)).shape
    torch.Size([5, 4])
    """

    def __init__(self, in_features, out_features, arity=2, parametrisation="softmax16", *, wiring="random",
                 candidates=1, init="gaussian", init_strength=1.0, seed=None, forward="soft", wire_forward="hard",
                 wire_temperature=1.0, device=None, dtype=None):
        super().__init__()
        check_positive("LogicLayer", in_features=in_features, out_features=out_features, arity=arity)
        check_choice("LogicLayer", "parametrisation", parametrisation, PARAMETRISATIONS)
        check_choice("LogicLayer", "forward", forward, FORWARDS)
        check_choice("LogicLayer", "wire_forward", wire_forward, FORWARDS)
        self.in_features = in_features
        self.out_features = out_features
        self.arity = arity
        self.parametrisation = parametrisation
        self.hard_forward = forward == "hard"
        self.hard_wires = wire_forward == "hard"
        self.wire_temperature = float(wire_temperature)
        seed = new_seed(seed)
        weight = torch.from_numpy(
            _core.initial_weights(parametrisation, out_features, arity, init, init_strength, seed, 0))
        self.weight = nn.Parameter(weight.to(device=device, dtype=dtype or torch.get_default_dtype()))
        if candidates == 1:
            self.register_parameter("wire_weight", None)
            self.register_buffer("candidates", None)
            self.register_buffer("wires", torch.from_numpy(self._initial_wires(wiring, seed)))
        else:
            chosen = _core.random_candidates(in_features, out_features, arity, candidates, seed, 0)
            sources = chosen.sources
            self.register_buffer("candidates", None if sources is None else torch.from_numpy(sources))
            self.register_buffer("wires", None)
            logits = torch.from_numpy(_core.initial_wire_logits(chosen, 1.0, seed, 0))
            self.wire_weight = nn.Parameter(logits.to(device=device, dtype=self.weight.dtype))
        self._refresh()

    def _initial_wires(self, wiring, seed):
        if isinstance(wiring, str):
            return _core.make_wiring(wiring, self.in_features, self.out_features, self.arity, seed).wires
        wires = wiring.detach().cpu().numpy() if isinstance(wiring, torch.Tensor) else wiring
        own = _core.wiring_of(self.in_features, wires)
        if (own.arity, own.gates) != (self.arity, self.out_features):
            raise ArgumentError(f"[LogicLayer] expected wires [{self.arity}, {self.out_features}], received "
                                f"[{own.arity}, {own.gates}]")
        return own.wires

    def _wires(self):
        return [one for one in (self.wires, self.candidates) if one is not None]

    def _build(self):
        if self.wires is not None:
            return keep_stack([_core.wiring_of(self.in_features, self.wires.cpu().numpy())], [self.parametrisation])
        candidates = (_core.all_candidates(self.in_features, self.out_features, self.arity) if self.candidates is None
                      else _core.candidates_of(self.in_features, self.candidates.cpu().numpy()))
        kept = keep_stack([candidates.slot_wiring], [self.parametrisation])
        kept.candidates = _ops.Kept(candidates, shape=tuple(self.wire_weight.shape))
        return kept

    def forward(self, x):
        kept = self.kept()
        hard = self.hard_forward or not self.training
        if self.wires is not None:
            return run_stack(kept, x, [self.weight], hard)
        dtype = _ops.compute_dtype(self.weight.dtype)
        rows = feature_major(x, self.in_features, dtype)
        slots = _ops.select_wires(rows, self.wire_weight.to(dtype), kept.candidates.number,
                                  self.hard_wires or not self.training, self.wire_temperature)
        out = _ops.layers(slots, [self.weight.to(dtype)], kept.number, hard)
        return sample_major(out.to(self.weight.dtype), x)

    def part(self):
        if self.wires is None:
            return None
        kept = self.kept()
        return Part(kept.wirings, kept.kinds, [self.weight], self.hard_forward or not self.training)

    def part_of_export(self):
        kept = self.kept()
        wirings = kept.wirings
        if self.wires is None:
            wirings = [_core.best_wiring(kept.candidates.core, self.wire_weight.detach().float().cpu().numpy())]
        return Part(wirings, kept.kinds, [self.weight], True)

    def extra_repr(self):
        learned = "" if self.wires is not None else f", candidates={self.wire_weight.shape[2]}"
        return (f"{self.in_features}, {self.out_features}, arity={self.arity}, "
                f"parametrisation={self.parametrisation!r}{learned}")
