"""The interface of torchlogix: `from boolgrad.compat.torchlogix import LogicDense, LogicConv2d, GroupSum`.

>>> import torch
>>> from boolgrad.compat.torchlogix import GroupSum, LogicDense
>>> model = torch.nn.Sequential(
...     LogicDense(16, 40, lut_rank=4, parametrization="warp"),
...     LogicDense(40, 40, parametrization="raw"),
...     GroupSum(k=2, tau=10),
... )
>>> model(torch.rand(3, 16)).shape
torch.Size([3, 2])

Parameters, buffers and their order are those of torchlogix 0.2, so a `state_dict` of either package loads in the other.
Computation is on the CPU. Learnable connections, groups of channels, and convolutions of three dimensions are not offered.
"""

import math

import torch
from torch.nn import functional

from boolgrad import torch as _torch
from boolgrad._errors import ArgumentError

__all__ = ["GroupSum", "LogicConv2d", "LogicDense", "OrPooling2d"]


def _reversed_bits(count):
    """For every entry of boolgrad's order, whose first input is the lowest bit, that of torchlogix."""
    bits = count.bit_length() - 1
    return torch.tensor([int(f"{i:0{bits}b}"[::-1], 2) for i in range(count)])


def _gate_entries():
    """The tables [16, 4] of the sixteen gates in boolgrad's order of entries."""
    k = torch.arange(16)
    return torch.stack([k >> 3 & 1, k >> 1 & 1, k >> 2 & 1, k & 1], dim=1).float()


def _walsh_signs(count):
    """Row e, column s: the product of 1 - 2 x over the inputs of subset s, at entry e."""
    entries = _reversed_bits(count)
    return torch.tensor([[(-1.0) ** (int(e) & s).bit_count() for s in range(count)] for e in entries])


class _Parametrization(torch.nn.Module):
    """How weights become the tables of the gates."""

    def __init__(
        self,
        name,
        lut_rank,
        forward_sampling="soft",
        temperature=1.0,
        weight_init="residual",
        residual_probability=0.951,
        materialize_basis=False,
    ):
        super().__init__()
        ranks = {"raw": [2], "warp": [1, 2, 4, 6], "light": [2, 4, 6]}
        if name not in ranks:
            raise ArgumentError(f"[LogicDense] expected the parametrization raw, warp or light, received {name}")
        if lut_rank not in ranks[name]:
            raise ArgumentError(f"[LogicDense] expected a lut_rank in {ranks[name]} for {name}, received {lut_rank}")
        if forward_sampling not in ("soft", "hard", "gumbel_soft", "gumbel_hard"):
            raise ArgumentError(
                "[LogicDense] expected forward_sampling soft, hard, gumbel_soft or gumbel_hard, "
                f"received {forward_sampling}"
            )
        if weight_init not in ("residual", "random"):
            raise ArgumentError(f"[LogicDense] expected weight_init residual or random, received {weight_init}")
        self.name = name
        self.lut_rank = lut_rank
        self.forward_sampling = forward_sampling
        self.temperature = temperature
        self.weight_init = weight_init
        self.residual_probability = residual_probability

    def init_weights(self, count):
        entries = 2**self.lut_rank
        columns = 16 if self.name == "raw" else entries
        if self.weight_init == "random":
            return (torch.rand if self.name == "light" else torch.randn)(count, columns)
        p = self.residual_probability
        if self.name == "light":
            weights = torch.randn(count, columns)
            weights[:, : entries // 2] -= 3
            weights[:, entries // 2 :] += 3
            return weights
        weights = torch.zeros(count, columns)
        if self.name == "raw":
            weights[:, 3] = self.temperature * (math.log(15 * p - 7) - math.log(1 - p))
        else:  # the coefficient of the first input alone
            weights[:, entries // 2] = self.temperature * (math.log(p) - math.log(1 - p))
        return weights

    def _sampled(self, logits, training):
        """Probabilities of logits, as sampled in a forward pass."""
        if not training:
            return (logits > 0).to(logits.dtype)
        if self.forward_sampling.startswith("gumbel"):
            uniform = torch.rand_like(logits)
            logits = logits + torch.log(uniform + 1e-20) - torch.log(1 - uniform + 1e-20)
        soft = torch.sigmoid(logits / self.temperature)
        return soft + ((soft > 0.5).to(soft.dtype) - soft).detach() if "hard" in self.forward_sampling else soft

    def tables(self, weight, training):
        """Tables for the kernel, and whether a sigmoid follows: of warp, the kernel interpolates the logits."""
        if self.name == "warp":
            return weight @ -_walsh_signs(weight.shape[1]).t().to(weight.dtype)
        if self.name == "light":
            return self._sampled(weight[:, _reversed_bits(weight.shape[1])], training)
        if training and self.forward_sampling == "soft":
            return _torch.soft_tables(weight / self.temperature, "softmax16")
        if not training:
            return _torch.hard_tables(weight.detach(), "softmax16")
        hard = self.forward_sampling.endswith("hard")
        if self.forward_sampling.startswith("gumbel"):
            shares = functional.gumbel_softmax(weight, tau=self.temperature, hard=hard, dim=-1)
        else:
            soft = torch.softmax(weight / self.temperature, dim=-1)
            shares = soft + (functional.one_hot(soft.argmax(-1), 16).to(soft.dtype) - soft).detach()
        return shares @ _gate_entries().to(weight.dtype)

    def outputs(self, y, training):
        """Outputs of the layer from those of the kernel."""
        return self._sampled(y, training) if self.name == "warp" else y


class _FixedConnections(_torch._Wired):
    """The inputs of every gate, `indices` [lut_rank, out_dim]."""

    def __init__(self, in_dim, out_dim, lut_rank, init_method="random"):
        super().__init__()
        self.in_dim = in_dim
        if init_method not in ("random", "random-unique"):
            raise ArgumentError(f"[LogicDense] expected init_method random or random-unique, received {init_method}")
        if out_dim * lut_rank < in_dim:
            raise ArgumentError(
                f"[LogicDense] expected out_dim * lut_rank of at least in_dim = {in_dim}, received {out_dim * lut_rank}"
            )
        if init_method == "random":
            indices = (torch.randperm(lut_rank * out_dim) % in_dim).reshape(lut_rank, out_dim)
        else:
            wires = _torch._layers.new_wires("random", in_dim, out_dim, lut_rank, _torch._new_seed())
            indices = torch.from_numpy(wires).to(torch.int64)
        self.register_buffer("indices", indices)
        self._make_wirings()

    def _new_wirings(self):
        return [_torch._layers.Wiring.of(self.in_dim, self.indices.to(torch.int32).cpu().contiguous().numpy())]


class LogicDense(torch.nn.Module):
    """A layer of soft look-up tables with the arguments of torchlogix's.

    Args:
        in_dim: Number of inputs.
        out_dim: Number of gates.
        device: `cpu`.
        grad_factor: Multiplies the gradient that is passed to the inputs.
        lut_rank: Inputs per gate.
        parametrization: `raw` (sixteen logits), `warp` (Walsh coefficients) or `light` (one logit per entry).
        parametrization_kwargs: `forward_sampling`, `temperature`, `weight_init`, `residual_probability`.
        connections: `fixed`.
        connections_kwargs: `init_method`: `random` or `random-unique`.
    """

    def __init__(
        self,
        in_dim,
        out_dim,
        device="cpu",
        grad_factor=1.0,
        lut_rank=2,
        parametrization="raw",
        parametrization_kwargs=None,
        connections="fixed",
        connections_kwargs=None,
    ):
        super().__init__()
        if connections != "fixed":
            raise ArgumentError(f"[LogicDense] expected the connections fixed, received {connections}")
        self.in_dim = in_dim
        self.out_dim = out_dim
        self.device = device
        self.grad_factor = grad_factor
        self.lut_rank = lut_rank
        self.num_neurons = self.num_weights = out_dim
        self.parametrization = _Parametrization(parametrization, lut_rank, **(parametrization_kwargs or {}))
        self.weight = torch.nn.Parameter(self.parametrization.init_weights(out_dim))
        self.connections = _FixedConnections(in_dim, out_dim, lut_rank, **(connections_kwargs or {}))

    def forward(self, x):
        if x.dim() < 2 or x.shape[-1] != self.in_dim:
            raise ArgumentError(f"[LogicDense] expected inputs [..., {self.in_dim}], received shape {list(x.shape)}")
        tables = self.parametrization.tables(self.weight, self.training)
        columns = x.reshape(-1, self.in_dim).t().to(tables.dtype)
        y = _torch.lut_layer(columns, tables, self.connections._handles[0].number, float(self.grad_factor)).t()
        return self.parametrization.outputs(y, self.training).reshape(*x.shape[:-1], self.out_dim)

    def get_luts(self):
        """The most probable tables, bool [out_dim, 2 ** lut_rank], in torchlogix's order: the first input is the
        highest bit."""
        with torch.no_grad():
            tables = self.parametrization.tables(self.weight, False)
        return (tables > (0 if self.parametrization.name == "warp" else 0.5))[:, _reversed_bits(2**self.lut_rank)]

    def extra_repr(self):
        return f"{self.in_dim}, {self.out_dim}, lut_rank={self.lut_rank}, parametrization={self.parametrization.name!r}"


class _FixedConvConnections(_torch._Wired):
    """The inputs of the gates of a convolution.

    `_indices_L0` [lut_rank, kernels, positions, leaves, 3] are the row, column and channel, in the padded image, that the
    gates of the first level read; `_indices_L1` and so on the gates of the level before.
    """

    def __init__(
        self, in_dim, channels, num_kernels, tree_depth, window, stride, padding, lut_rank, init_method="random"
    ):
        super().__init__()
        if init_method not in ("random", "random-unique"):
            raise ArgumentError(f"[LogicConv2d] expected init_method random or random-unique, received {init_method}")
        self.in_shape = (channels, *in_dim)
        self.padding = padding
        self.tree_depth = tree_depth
        leaves = self._leaves(window, channels, num_kernels, lut_rank, lut_rank ** (tree_depth - 1), init_method)
        starts = [torch.arange(0, side + 2 * padding - w + 1, stride) for side, w in zip(in_dim, window)]
        offsets = torch.stack([*(g.flatten() for g in torch.meshgrid(*starts, indexing="ij"))], dim=-1)
        offsets = torch.cat([offsets, torch.zeros(len(offsets), 1, dtype=torch.int64)], dim=1)
        self.register_buffer("_indices_L0", leaves[:, :, None] + offsets[:, None])
        for level in range(1, tree_depth):
            below = torch.arange(lut_rank ** (tree_depth - level))
            self.register_buffer(f"_indices_L{level}", below.view(-1, lut_rank).t().contiguous())
        self._make_wirings()

    @staticmethod
    def _leaves(window, channels, kernels, rank, count, method):
        """Row, column and channel of every leaf within the window: [rank, kernels, count, 3]."""
        places = torch.cartesian_prod(torch.arange(window[0]), torch.arange(window[1]), torch.arange(channels))
        if method == "random":
            return places[torch.randint(len(places), (rank, kernels, count))]
        if math.comb(len(places), rank) < count:
            raise ArgumentError(
                f"[LogicConv2d] expected at least {count} combinations of {rank} places, "
                f"received {math.comb(len(places), rank)}"
            )
        chosen = []
        for _ in range(kernels):
            sets = set()
            while len(sets) < count:
                sets.add(tuple(sorted(torch.randperm(len(places))[:rank].tolist())))
            chosen.append(sorted(sets))
        order = torch.stack([torch.tensor(sets)[torch.randperm(count)] for sets in chosen])  # [kernels, count, rank]
        return places[order.permute(2, 0, 1)]

    def _new_wirings(self):
        channels, height, width = self.in_shape
        rows, columns, channel = (self._indices_L0 - torch.tensor([self.padding, self.padding, 0])).unbind(-1)
        rank, kernels, positions, leaves = rows.shape
        outside = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
        sources = (channel * height + rows) * width + columns
        # Gates in the order (kernel, node, position): those of a node are consecutive and share its table.
        wires = sources.masked_fill(outside, 0).transpose(2, 3).reshape(rank, -1)
        bits = (outside.transpose(2, 3).reshape(rank, -1) << torch.arange(rank)[:, None]).sum(0).to(torch.uint8)
        wirings = [self._wiring(channels * height * width, wires, positions, bits if outside.any() else None)]
        for level in range(1, self.tree_depth):
            nodes = getattr(self, f"_indices_L{level}")  # [rank, nodes]
            below = torch.arange(kernels)[:, None] * leaves + nodes[:, None]  # [rank, kernels, nodes]
            wires = below[..., None] * positions + torch.arange(positions)
            wirings.append(self._wiring(kernels * leaves * positions, wires.reshape(rank, -1), positions, None))
            leaves = nodes.shape[1]
        return wirings

    @staticmethod
    def _wiring(inputs, wires, positions, outside):
        wires = wires.to(torch.int32).contiguous().numpy()
        return _torch._layers.Wiring.of(inputs, wires, positions, None if outside is None else outside.numpy())


class LogicConv2d(torch.nn.Module):
    """A convolution of trees of gates with the arguments of torchlogix's.

    Args:
        in_dim: (height, width) of the images, or their side.
        channels: Number of channels.
        num_kernels: Number of kernels, each of which gives one channel.
        tree_depth: Levels of the tree.
        receptive_field_size: (height, width) of the window, or its side.
        stride, padding: Of the window.
        connections_kwargs: `init_method`: `random` or `random-unique`.
        device, grad_factor, lut_rank, parametrization, parametrization_kwargs, connections: As those of `LogicDense`. As in
            torchlogix, convolutions do not use `grad_factor`.
    """

    def __init__(
        self,
        in_dim,
        channels=1,
        num_kernels=16,
        tree_depth=None,
        receptive_field_size=2,
        stride=1,
        padding=0,
        device="cpu",
        grad_factor=1.0,
        lut_rank=2,
        parametrization="raw",
        parametrization_kwargs=None,
        connections="fixed",
        connections_kwargs=None,
    ):
        super().__init__()
        if connections != "fixed":
            raise ArgumentError(f"[LogicConv2d] expected the connections fixed, received {connections}")
        if tree_depth is None or tree_depth < 1:
            raise ArgumentError(f"[LogicConv2d] expected a tree_depth of at least 1, received {tree_depth}")
        self.in_dim = (in_dim, in_dim) if isinstance(in_dim, int) else tuple(in_dim)
        window = receptive_field_size
        window = (window, window) if isinstance(window, int) else tuple(window)
        if stride > min(window) or any(w > side + 2 * padding for w, side in zip(window, self.in_dim)):
            raise ArgumentError(
                "[LogicConv2d] expected a window of at least the stride that fits into the padded image, "
                f"received {window} with stride {stride} and images {self.in_dim}"
            )
        self.channels = channels
        self.num_kernels = num_kernels
        self.tree_depth = tree_depth
        self.receptive_field_size = window
        self.stride = stride
        self.padding = padding
        self.device = device
        self.lut_rank = lut_rank
        self.kernel_positions = [(side + 2 * padding - w) // stride + 1 for side, w in zip(self.in_dim, window)]
        self.parametrization = _Parametrization(parametrization, lut_rank, **(parametrization_kwargs or {}))
        self.tree_weights = torch.nn.ParameterList()
        for level in reversed(range(tree_depth)):
            weights = [self.parametrization.init_weights(num_kernels) for _ in range(lut_rank**level)]
            self.tree_weights.append(torch.nn.Parameter(torch.stack(weights)))
        self.connections = _FixedConvConnections(
            self.in_dim, channels, num_kernels, tree_depth, window, stride, padding, lut_rank,
            **(connections_kwargs or {}),
        )

    def forward(self, x):
        expected = (self.channels, *self.in_dim)
        if x.dim() != 4 or tuple(x.shape[1:]) != expected:
            raise ArgumentError(
                f"[LogicConv2d] expected images [n, {', '.join(map(str, expected))}], received shape {list(x.shape)}"
            )
        y = x.reshape(len(x), -1).t().to(self.tree_weights[0].dtype)
        for handle, weight in zip(self.connections._handles, self.tree_weights):
            # [nodes, kernels, ...] to one table per kernel and node.
            tables = self.parametrization.tables(weight.transpose(0, 1).flatten(0, 1), self.training)
            y = self.parametrization.outputs(_torch.lut_layer(y, tables, handle.number, 1.0), self.training)
        return y.t().reshape(len(x), self.num_kernels, *self.kernel_positions)

    def extra_repr(self):
        return (
            f"{self.in_dim}, channels={self.channels}, num_kernels={self.num_kernels}, tree_depth={self.tree_depth}, "
            f"lut_rank={self.lut_rank}, parametrization={self.parametrization.name!r}"
        )


class GroupSum(_torch.GroupSum):
    """Sums of `k` groups of consecutive outputs: (sum + beta) / tau."""

    def __init__(self, k, tau=1.0, beta=0.0, device="cpu"):
        super().__init__(k, tau, beta)
        self.device = device


class OrPooling2d(torch.nn.MaxPool2d):
    """The OR of bits over squares of positions: the maximum."""

    def __init__(self, kernel_size, stride, padding=0):
        super().__init__(kernel_size, stride, padding)
