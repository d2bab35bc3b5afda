"""The layers of torchlogix, computed by boolgrad.

Constructors, attributes and state dicts are those of the package, and random numbers are drawn from torch's generator
in the same order. Differences: the basis of a table is never materialised, and export mode is replaced by
`boolgrad.torch.to_circuit`.

>>> import torch
>>> from boolgrad.compat.torchlogix import GroupSum, LogicConv2d, LogicDense, OrPooling2d
>>> model = torch.nn.Sequential(
...     LogicConv2d(in_dim=28, num_kernels=4, tree_depth=3, receptive_field_size=5, parametrization="light"),
...     OrPooling2d(kernel_size=2, stride=2), torch.nn.Flatten(),
...     LogicDense(4 * 12 * 12, 1000, lut_rank=4, parametrization="light"), GroupSum(k=10, tau=8.0))
>>> model(torch.rand(5, 1, 28, 28)).shape
torch.Size([5, 10])
"""

import itertools
import math

import torch
from torch import nn

from boolgrad._core import layers as _core
from boolgrad.compat._shared import check, check_device, scaled_gradient
from boolgrad.torch import _convolution, _heads, _ops
from boolgrad.torch._layer import GateModule, Part, feature_major, keep_stack, run_stack, sample_major

__all__ = ["GroupSum", "LogicConv2d", "LogicDense", "OrPooling", "OrPooling2d"]

_SAMPLINGS = ("soft", "hard", "gumbel_soft", "gumbel_hard")
_RANKS = {"raw": (2,), "warp": (1, 2, 4, 6), "light": (2, 4, 6)}


class Parametrization:
    """How weights become tables."""

    def __init__(self, where, kind, lut_rank, forward_sampling="soft", temperature=1.0, weight_init="residual",
                 residual_probability=0.951, materialize_basis=False):
        check(where, kind in _RANKS, f"expected the parametrization raw, warp or light, received {kind!r}")
        check(where, lut_rank in _RANKS[kind],
              f"expected a lut_rank of {', '.join(map(str, _RANKS[kind]))} for {kind}, received {lut_rank}")
        check(where, forward_sampling in _SAMPLINGS,
              f"expected forward_sampling to be one of {', '.join(_SAMPLINGS)}, received {forward_sampling!r}")
        check(where, temperature > 0, f"expected a temperature above 0, received {temperature}")
        inits = ("residual", "random") + (("residual-catalog",) if kind == "warp" else ())
        check(where, weight_init in inits, f"expected weight_init to be one of {', '.join(inits)}, received "
              f"{weight_init!r}")
        self.kind = kind
        self.lut_rank = lut_rank
        self.lut_entries = 1 << lut_rank
        self.forward_sampling = forward_sampling
        self.temperature = temperature
        self.weight_init = weight_init
        self.residual_probability = residual_probability
        # The entry order of light and warp counts the first input as the highest bit, that of boolgrad as the lowest:
        # their gates read their inputs in reverse.
        self.reverses = kind != "raw"

    @property
    def is_hard(self):
        return self.forward_sampling.endswith("hard")

    @property
    def table_kind(self):
        return {"raw": "softmax16", "light": "sigmoid", "warp": "walsh_logits"}[self.kind]

    def init_weights(self, count):
        """Weights [count, weights per gate] of gates that pass their first input, or random ones."""
        entries = self.lut_entries
        p = self.residual_probability
        if self.kind == "raw":
            if self.weight_init == "random":
                return torch.randn(count, 1 << entries)
            weights = torch.zeros(count, 1 << entries)
            passes = (1 << (1 << (self.lut_rank - 1))) - 1
            weights[:, passes] = self.temperature * (
                math.log((2**entries - 1) * p - 2 ** (entries - 1) + 1) - math.log(1 - p))
            return weights
        if self.kind == "light":
            if self.weight_init == "random":
                return torch.rand(count, entries)
            weights = torch.randn(count, entries)
            weights[:, :entries // 2] -= 3
            weights[:, entries // 2:] += 3
            return weights
        if self.weight_init == "random":
            return torch.randn(count, entries)
        passes = torch.zeros(entries)
        passes[entries // 2] = 1
        if self.weight_init == "residual":
            return (self.temperature * (math.log(p) - math.log(1 - p)) * passes).repeat(count, 1)
        weights = passes.repeat(count, 1)
        others = round(count * (1 - p))
        signs = 1 - 2 * torch.randint(0, 2, (others, entries)).float()
        weights[torch.randperm(count)[:others]] = signs @ _hadamard(entries) / entries
        return weights

    def logits(self, weight, training):
        """What a stack of boolgrad reads for weights [tables, weights per gate]."""
        if self.kind == "warp":
            return weight * self._signs(weight)
        if not training:
            return weight
        if self.forward_sampling.startswith("gumbel"):
            weight = weight + (_gumbel(weight) if self.kind == "raw" else _logistic(weight))
        return weight if self.temperature == 1 else weight / self.temperature

    def _signs(self, weight):
        """The basis of boolgrad is 2 x - 1 where that of warp is 1 - 2 x, and the output is the sigmoid of the sum
        where that of warp is the sigmoid of its negative."""
        sizes = torch.tensor([i.bit_count() for i in range(self.lut_entries)])
        return (-((-1.0) ** sizes)).to(weight.dtype)

    def outputs(self, y, training):
        """The outputs of gates from what the stack computed."""
        if self.kind != "warp":
            return y
        if not training:
            return (y > 0).to(y.dtype)
        if self.forward_sampling.startswith("gumbel"):
            y = y + _logistic(y)
        soft = torch.sigmoid(y if self.temperature == 1 else y / self.temperature)
        return (soft > 0.5).to(soft.dtype) + (soft - soft.detach()) if self.is_hard else soft

    def luts(self, weight):
        """The hard tables of weights [..., weights per gate]: bool [..., 2^lut_rank], the first input as the highest
        bit of the entry."""
        if self.kind == "raw":
            return (weight.argmax(-1, keepdim=True) >> torch.arange(self.lut_entries - 1, -1, -1)) & 1 == 1
        if self.kind == "warp":
            return weight @ _hadamard(self.lut_entries).to(weight.dtype) < 0
        return weight > 0

    def luts_and_ids(self, weight):
        """The hard tables, and their numbers: the entries as binary digits, the first entry as the highest."""
        check("get_luts_and_ids", self.lut_rank <= 4, f"expected a lut_rank of at most 4, received {self.lut_rank}")
        luts = self.luts(weight)
        return luts, (luts * 2 ** torch.arange(self.lut_entries - 1, -1, -1)).sum(-1)


def _hadamard(size):
    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return matrix


def _gumbel(like):
    return -torch.empty_like(like, memory_format=torch.legacy_contiguous_format).exponential_().log()


def _logistic(like):
    uniform = torch.rand(like.shape, dtype=like.dtype)  # in the order of the elements, whatever the strides
    return torch.log(uniform + 1e-20) - torch.log(1 - uniform + 1e-20)


class _LogicBase(GateModule):
    def __init__(self, device, grad_factor, lut_rank, parametrization, parametrization_kwargs):
        super().__init__()
        where = type(self).__name__
        self.device = check_device(where, device)
        self.grad_factor = grad_factor
        self.lut_rank = lut_rank
        self.parametrization = Parametrization(where, parametrization, lut_rank, **(parametrization_kwargs or {}))

    def _is_hard(self):
        return not self.training or self.parametrization.is_hard

    def _export_kind(self):
        return "walsh" if self.parametrization.kind == "warp" else self.parametrization.table_kind


# ---------------------------------------------------------------------------------------------------------------------
# Dense layers


class FixedConnections(nn.Module):
    """The wires of a dense layer: `indices` [lut_rank, out_dim]."""

    def __init__(self, in_dim, out_dim, lut_rank, init_method="random", **unused):
        super().__init__()
        self.register_buffer("indices", _dense_sources(in_dim, out_dim, lut_rank, init_method))


class LearnableConnections(nn.Module):
    """Candidate wires `indices` and their `weights`, both [num_candidates, lut_rank, out_dim]."""

    def __init__(self, in_dim, out_dim, lut_rank, temperature=0.001, num_candidates=-1, gumbel=False,
                 init_method="random", **unused):
        super().__init__()
        self.temperature = temperature
        self.gumbel = gumbel
        self.has_all = num_candidates == -1
        if self.has_all:
            num_candidates = in_dim
            indices = torch.arange(in_dim).view(-1, 1, 1).expand(in_dim, lut_rank, out_dim).contiguous()
        else:
            check("LogicDense", num_candidates > 0, f"expected at least one candidate, received {num_candidates}")
            check("LogicDense", in_dim >= num_candidates * lut_rank,
                  f"expected at most {in_dim // lut_rank} candidates for {in_dim} inputs, received {num_candidates}")
            indices = _dense_sources(in_dim, out_dim, lut_rank * num_candidates, init_method, lut_rank)
            indices = indices.reshape(num_candidates, lut_rank, out_dim)
        self.num_candidates = num_candidates
        self.register_buffer("indices", indices)
        self.weights = nn.Parameter(torch.rand(num_candidates, lut_rank, out_dim))

    def resolve_connections(self):
        """The wires to the best candidates, [lut_rank, out_dim]."""
        return self.indices.gather(0, self.weights.detach().argmax(0, keepdim=True))[0]

    def select(self, rows):
        """The values of all gate inputs [lut_rank * out_dim, samples] from [in_dim, samples]."""
        noise = torch.zeros_like(self.weights)
        if self.gumbel and self.training:
            noise = -torch.log(-torch.log(torch.rand_like(self.weights) + 1e-20) + 1e-20)
        return _Selection.apply(rows, self.weights, noise, self.indices, self.temperature, self.has_all)


class _Selection(torch.autograd.Function):
    """The best candidates in the forward pass. As in torchlogix, the gradient of a weight is that of its candidate as a
    sign, and inputs receive the gradient of the mixture."""

    @staticmethod
    def forward(ctx, rows, weights, noise, indices, temperature, has_all):
        ctx.save_for_backward(rows, weights, noise, indices)
        ctx.temperature, ctx.has_all = temperature, has_all
        chosen = (weights + noise).argmax(0, keepdim=True)
        return rows[indices.gather(0, chosen).flatten()]

    @staticmethod
    def backward(ctx, g):
        rows, weights, noise, indices = ctx.saved_tensors
        count = len(weights)
        shares = torch.softmax((weights + noise) / ctx.temperature, 0).view(count, -1)
        if ctx.has_all:
            of_weights = rows @ g.t()
            of_rows = shares @ g
        else:
            of_weights = torch.empty_like(shares)
            of_rows = torch.zeros_like(rows)
            for k in range(count):
                sources = indices[k].flatten()
                of_weights[k] = (rows[sources] * g).sum(1)
                of_rows.index_add_(0, sources, shares[k].unsqueeze(1) * g)
        of_weights = 2 * of_weights - g.sum(1)
        return of_rows, of_weights.view_as(weights), None, None, None, None


def _dense_sources(in_dim, out_dim, count, init_method, lut_rank=None):
    """`count` sources per gate, [count, out_dim]."""
    lut_rank = lut_rank or count
    check("LogicDense", in_dim >= lut_rank and out_dim * lut_rank >= in_dim,
          f"expected at least {lut_rank} inputs and enough gates to read them all, received {in_dim} inputs and "
          f"{out_dim} gates")
    if init_method == "random":
        return (torch.randperm(count * out_dim) % in_dim).reshape(count, out_dim)
    check("LogicDense", init_method == "random-unique",
          f"expected the init_method random or random-unique, received {init_method!r}")
    most = in_dim * (in_dim // max(count - 1, 1) - 1) // 2
    check("LogicDense", out_dim <= most, f"expected at most {most} gates with unique inputs, received {out_dim}")
    inputs = torch.arange(in_dim)
    # Neighbours, then inputs at distance 2, 3, ...
    found = []
    for apart in itertools.count(1):
        last = in_dim - (count - 1) * apart
        if last <= 0 or sum(one.shape[1] for one in found) >= out_dim:
            break
        found.append(torch.stack([inputs[:last] + i * apart for i in range(count)]))
    sources = torch.cat(found, 1)[:, :out_dim]
    check("LogicDense", sources.shape[1] == out_dim, f"expected at most {sources.shape[1]} gates with unique inputs, "
          f"received {out_dim}")
    sources = sources[:, torch.randperm(out_dim)]
    return torch.randperm(in_dim)[sources]


class LogicDense(_LogicBase):
    """A layer of gates with `lut_rank` inputs each.

    Args:
        in_dim: Number of inputs.
        out_dim: Number of gates.
        device: `cpu`.
        grad_factor: Multiplies the gradient of the inputs.
        lut_rank: Inputs per gate.
        parametrization: `raw` (16 logits), `light` (a logit per entry) or `warp` (Walsh coefficients).
        parametrization_kwargs: forward_sampling, temperature, weight_init, residual_probability.
        connections: `fixed` or `learnable`.
        connections_kwargs: init_method; for `learnable` also temperature, num_candidates and gumbel.
    """

    def __init__(self, in_dim, out_dim, device="cpu", grad_factor=1.0, lut_rank=2, parametrization="raw",
                 parametrization_kwargs=None, connections="fixed", connections_kwargs=None):
        super().__init__(device, grad_factor, lut_rank, parametrization, parametrization_kwargs)
        check("LogicDense", connections in ("fixed", "learnable"),
              f"expected the connections fixed or learnable, received {connections!r}")
        self.in_dim = in_dim
        self.out_dim = self.num_neurons = self.num_weights = out_dim
        self.weight = nn.Parameter(self.parametrization.init_weights(out_dim))
        kind = FixedConnections if connections == "fixed" else LearnableConnections
        self.connections = kind(in_dim, out_dim, lut_rank, **(connections_kwargs or {}))
        self._refresh()

    @property
    def learns_wires(self):
        return isinstance(self.connections, LearnableConnections)

    def _wires(self):
        return [self.connections.indices]

    def _wiring(self, inputs, sources):
        return _core.wiring_of(inputs, (sources.flip(0) if self.parametrization.reverses else sources).int().numpy())

    def _build(self):
        if self.learns_wires:
            inputs = self.lut_rank * self.out_dim
            wiring = self._wiring(inputs, torch.arange(inputs).view(self.lut_rank, -1))
        else:
            wiring = self._wiring(self.in_dim, self.connections.indices)
        return keep_stack([wiring], [self.parametrization.table_kind])

    def forward(self, x):
        x = scaled_gradient(x, self.grad_factor)
        hard = self._is_hard() and self.parametrization.kind != "warp"
        if self.learns_wires:
            # Noise of wires is drawn before that of weights.
            slots = self.connections.select(
                feature_major(x, self.in_dim, _ops.compute_dtype(self.weight.dtype)))
            weights = [self.parametrization.logits(self.weight, self.training)]
            y = sample_major(_ops.layers(slots, weights, self.kept().number, hard), x)
        else:
            y = run_stack(self.kept(), x, [self.parametrization.logits(self.weight, self.training)], hard)
        return self.parametrization.outputs(y, self.training)

    def part(self):
        if self.learns_wires or self.grad_factor != 1 or self.parametrization.kind == "warp":
            return None
        kept = self.kept()
        return Part(kept.wirings, kept.kinds, [self.parametrization.logits(self.weight, self.training)],
                    self._is_hard())

    def part_of_export(self):
        sources = self.connections.resolve_connections() if self.learns_wires else self.connections.indices
        return Part([self._wiring(self.in_dim, sources)], [self._export_kind()],
                    [self.parametrization.logits(self.weight, False)], True)

    def get_luts(self):
        return self.parametrization.luts(self.weight)

    def get_luts_and_ids(self):
        return self.parametrization.luts_and_ids(self.weight)

    def get_regularization_loss(self, regularizer):
        return _regularization_loss(self.weight, regularizer)

    def rescale_weights(self, method):
        _rescale(self.weight, method)

    def extra_repr(self):
        return f"{self.in_dim}, {self.out_dim}, lut_rank={self.lut_rank}, {self.parametrization.kind}"


# ---------------------------------------------------------------------------------------------------------------------
# Convolutions


class ConvConnections(nn.Module):
    """The wires of a convolution: `_indices_L0` [lut_rank, kernels, positions, gates, (row, column, channel)], and the
    children of the gates of every other level."""

    def __init__(self, levels):
        super().__init__()
        for i, level in enumerate(levels):
            self.register_buffer(f"_indices_L{i}", level)
        self._levels = len(levels)

    @property
    def indices(self):
        return [getattr(self, f"_indices_L{i}") for i in range(self._levels)]


class LogicConv2d(_LogicBase):
    """A convolution of trees of gates.

    Args:
        in_dim: (height, width) of the images, or one number for both.
        channels: Channels of the images.
        num_kernels: Number of kernels.
        tree_depth: Levels of the tree.
        receptive_field_size: Side of the square window.
        stride, padding: As in torch.nn.Conv2d.
        grad_factor: Has no effect, as in torchlogix.
        connections_kwargs: init_method and channel_group_size.

    All others as in `LogicDense`. `connections` is `fixed`.
    """

    def __init__(self, in_dim, channels=1, num_kernels=16, tree_depth=None, receptive_field_size=2, stride=1, padding=0,
                 device="cpu", grad_factor=1.0, lut_rank=2, parametrization="raw", parametrization_kwargs=None,
                 connections="fixed", connections_kwargs=None):
        super().__init__(device, grad_factor, lut_rank, parametrization, parametrization_kwargs)
        check("LogicConv2d", connections == "fixed", f"expected the connections fixed, received {connections!r}")
        check("LogicConv2d", isinstance(tree_depth, int) and tree_depth >= 1,
              f"expected a tree_depth of at least 1, received {tree_depth}")
        self.in_dim = _convolution.pair("LogicConv2d", "in_dim", in_dim)
        self.receptive_field_size = _convolution.pair("LogicConv2d", "receptive_field_size", receptive_field_size)
        check("LogicConv2d", self.receptive_field_size[0] == self.receptive_field_size[1],
              f"expected a square receptive field, received {self.receptive_field_size}")
        check("LogicConv2d", stride <= self.receptive_field_size[0],
              f"expected a stride of at most {self.receptive_field_size[0]}, received {stride}")
        self.channels = channels
        self.num_kernels = num_kernels
        self.tree_depth = tree_depth
        self.stride = stride
        self.padding = padding
        self.options = {"kernels": num_kernels, "window": self.receptive_field_size[0], "stride": stride,
                        "padding": padding, "depth": tree_depth, "arity": lut_rank}
        _, *self.kernel_positions = _core.convolution_size((channels, *self.in_dim), self.options)
        self.n_kernel_positions = math.prod(self.kernel_positions)
        self.tree_weights = nn.ParameterList(
            torch.stack([self.parametrization.init_weights(num_kernels) for _ in range(lut_rank**level)])
            for level in reversed(range(tree_depth)))
        self.connections = ConvConnections(self._initial_connections(**(connections_kwargs or {})))
        self._refresh()

    # What joined stacks ask of a convolution.
    @property
    def in_channels(self):
        return self.channels

    @property
    def out_channels(self):
        return self.num_kernels

    @property
    def out_size(self):
        return tuple(self.kernel_positions)

    def _initial_connections(self, init_method="random", channel_group_size=None):
        window = self.receptive_field_size[0]
        gates = self.lut_rank ** (self.tree_depth - 1)
        kernels = torch.stack([self._initial_leaves(k, gates, init_method, channel_group_size)
                               for k in range(self.num_kernels)])  # [kernels, gates, lut_rank, 3]
        starts = [torch.arange(0, side + 2 * self.padding - window + 1, self.stride) for side in self.in_dim]
        offsets = torch.cartesian_prod(*starts).view(-1, 2)
        offsets = torch.cat([offsets, torch.zeros(len(offsets), 1, dtype=torch.long)], 1)
        levels = [(kernels.permute(2, 0, 1, 3).unsqueeze(2) + offsets.view(1, 1, -1, 1, 3)).contiguous()]
        for level in range(1, self.tree_depth):
            size = self.lut_rank ** (self.tree_depth - level)
            levels.append(torch.arange(size).view(-1, self.lut_rank).t().contiguous())
        return levels

    def _initial_leaves(self, kernel, gates, init_method, group):
        """Row, column and channel of the leaves of one kernel, [gates, lut_rank, 3]."""
        check("LogicConv2d", init_method in ("random", "random-unique"),
              f"expected the init_method random or random-unique, received {init_method!r}")
        side = torch.arange(self.receptive_field_size[0])
        if group is None:
            places = torch.cartesian_prod(side, side, torch.arange(self.channels)).view(-1, 3)
            if init_method == "random":
                return places[torch.randint(0, len(places), (gates, self.lut_rank))]
            tuples = torch.combinations(torch.arange(len(places)), self.lut_rank)
            check("LogicConv2d", len(tuples) >= gates, f"expected at most {len(tuples)} unique gates, received {gates}")
            return places[tuples[torch.randperm(len(tuples))[:gates]]]
        leaves = gates * self.lut_rank
        check("LogicConv2d", group < self.channels and leaves % group == 0,
              f"expected a channel_group_size below {self.channels} that divides {leaves}, received {group}")
        places = torch.cartesian_prod(side, side).view(-1, 2)
        first = kernel % (self.channels - group + 1)
        per_channel = leaves // group
        chosen = []
        for channel in range(first, first + group):
            if init_method == "random":
                own = torch.randint(0, len(places), (per_channel,))
            else:
                check("LogicConv2d", len(places) >= per_channel,
                      f"expected at most {len(places)} leaves per channel, received {per_channel}")
                own = torch.randperm(len(places))[:per_channel]
            chosen.append(torch.cat([places[own], torch.full((per_channel, 1), channel)], 1))
        return torch.cat(chosen)[torch.randperm(leaves)].view(gates, self.lut_rank, 3)

    def _wires(self):
        return self.connections.indices

    def _wirings(self):
        # Position 0 is the window at the corner of the padded image.
        first = self.connections.indices[0][:, :, 0]  # [lut_rank, kernels, gates, 3]
        leaves = first.permute(1, 2, 0, 3).flatten(1, 2)
        # Reading every gate in reverse reverses the order of the whole tree.
        leaves = leaves.flip(1) if self.parametrization.reverses else leaves
        leaves = leaves[..., [2, 0, 1]].int().contiguous()  # channel, row, column
        return _core.convolution_wirings((self.channels, *self.in_dim), leaves.numpy(), self.options)

    def _build(self):
        wirings = self._wirings()
        kind = self.parametrization.table_kind
        if self.parametrization.kind != "warp":
            return keep_stack(wirings, [kind] * len(wirings))
        # Outputs of warp gates pass through a sigmoid, level by level.
        kept = _ops.Kept(None)
        kept.wirings, kept.levels = wirings, [keep_stack([wiring], [kind]) for wiring in wirings]
        return kept

    def _logits(self, training):
        result = []
        for weight in self.tree_weights:  # [gates, kernels, weights per gate]
            weight = weight.flip(0) if self.parametrization.reverses else weight
            result.append(self.parametrization.logits(weight.transpose(0, 1).flatten(0, 1), training))
        return result

    def forward(self, x):
        _convolution.check_image("LogicConv2d", x, self.channels, *self.in_dim)
        x = x.flatten(-3)
        kept = self.kept()
        weights = self._logits(self.training)
        if self.parametrization.kind == "warp":
            for level, weight in zip(kept.levels, weights):
                x = self.parametrization.outputs(run_stack(level, x, [weight], False), self.training)
        else:
            x = run_stack(kept, x, weights, self._is_hard())
        return x.unflatten(-1, (self.num_kernels, *self.kernel_positions))

    def part(self):
        if self.parametrization.kind == "warp":
            return None
        kept = self.kept()
        return Part(kept.wirings, kept.kinds, self._logits(self.training), self._is_hard())

    def part_of_export(self):
        wirings = self._wirings()
        return Part(wirings, [self._export_kind()] * len(wirings), self._logits(False), True)

    def get_luts(self):
        return [[self.parametrization.luts(own) for own in level] for level in self.tree_weights]

    def get_luts_and_ids(self):
        both = [[self.parametrization.luts_and_ids(own) for own in level] for level in self.tree_weights]
        return [[luts for luts, _ in level] for level in both], [[ids for _, ids in level] for level in both]

    def get_regularization_loss(self, regularizer):
        return sum(_regularization_loss(weight, regularizer) for weight in self.tree_weights)

    def rescale_weights(self, method):
        for weight in self.tree_weights:
            _rescale(weight, method)

    def extra_repr(self):
        return (f"{self.in_dim}, {self.channels}, {self.num_kernels}, tree_depth={self.tree_depth}, "
                f"{self.parametrization.kind}")


class OrPooling2d(_convolution.OrPool2d):
    """The OR of rectangles of bits; in training, their maximum. The first of several largest values gets the
    gradient."""

    first_wins = True

    def __init__(self, kernel_size, stride, padding=0):
        super().__init__(kernel_size, stride, padding)

    def forward(self, x):
        return super().forward(x.float())


OrPooling = OrPooling2d


class GroupSum(_heads.GroupSum):
    """Sums over `k` groups of outputs, plus `beta`, divided by `tau`."""

    def __init__(self, k, tau=1.0, beta=0.0, device="cpu"):
        super().__init__(k, tau, beta)
        self.device = check_device("GroupSum", device)


def _regularization_loss(weight, regularizer):
    if regularizer is None:
        return 0.0
    if regularizer == "L2":
        return (1 - weight.pow(2).sum(-1)).pow(2)
    if regularizer == "abs_sum":
        return (1 - weight.sum(-1).abs()).pow(2)
    check("get_regularization_loss", regularizer == "warp",
          f"expected the regularizer L2, abs_sum or warp, received {regularizer!r}")
    return torch.exp(-weight[:, -1]).mean()


@torch.no_grad()
def _rescale(weight, method):
    if method is None:
        return
    check("rescale_weights", method in ("clip", "abs_sum", "L2"),
          f"expected the method clip, abs_sum or L2, received {method!r}")
    if method == "clip":
        weight.clamp_(-1, 1)
    elif method == "abs_sum":
        weight.div_(weight.sum(-1, keepdim=True).abs())
    else:
        weight.div_(weight.norm(dim=-1, keepdim=True))
