"""Layers of logic gates for PyTorch, on the kernels of boolgrad.

>>> import torch
>>> from boolgrad.torch import Binarise, GroupSum, LogicLayer
>>> _ = torch.manual_seed(0)
>>> x, y = torch.rand(256, 4), torch.arange(256) % 2
>>> x[:, 2] = y * 0.5 + x[:, 2] / 2
>>> binarise = Binarise.fit(x, thresholds=3)
>>> model = torch.nn.Sequential(binarise, LogicLayer(binarise.out_features, 64), LogicLayer(64, 40), GroupSum(2, tau=4))
>>> optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
>>> for _ in range(60):
...     loss = torch.nn.functional.cross_entropy(model(x), y)
...     optimiser.zero_grad()
...     loss.backward()
...     optimiser.step()
>>> _ = model.eval()  # hard: every gate is one of the sixteen
>>> bool((model(x).argmax(dim=1) == y).float().mean() > 0.95)
True

Activations are [..., features]. In memory they are feature-major: the output of a layer is a transposed view, and the
next layer reads it without a copy. Tensors are on the CPU, float32 or float64; other floating dtypes are computed in
float32.
"""

import copy

import torch

from boolgrad import _core
from boolgrad._errors import ArgumentError

_layers = _core.layers

# Wirings by number: custom ops take tensors and numbers only. A module removes its wirings when it is collected.
_wirings = {}
_next_wiring = 0


class _WiringHandle:
    """Owns an entry of `_wirings`."""

    def __init__(self, wiring):
        global _next_wiring
        self.wiring = wiring
        self.number = _next_wiring
        _next_wiring += 1
        _wirings[self.number] = wiring

    def __del__(self):
        if _wirings is not None:  # at the end of the interpreter
            _wirings.pop(self.number, None)


def _array(tensor):
    if tensor.device.type != "cpu":
        raise ArgumentError(f"[torch] expected a tensor on the CPU, received one on {tensor.device}")
    return tensor.detach().contiguous().numpy()


def _check(x, wiring):
    if x.dim() != 2 or x.shape[0] != wiring.inputs:
        raise ArgumentError(f"[lut_layer] expected inputs of {wiring.inputs} features, received shape {list(x.shape)}")


# ---------------------------------------------------------------------------------------------------------------------
# Ops. Tensors are feature-major: [features, samples].


@torch.library.custom_op("boolgrad::soft_tables", mutates_args=(), device_types="cpu")
def soft_tables(logits: torch.Tensor, parametrisation: str) -> torch.Tensor:
    """The soft tables [gates, 2^arity] of logits."""
    return torch.from_numpy(_layers.soft_tables(parametrisation, _array(logits)))


@soft_tables.register_fake
def _(logits, parametrisation):
    entries = 4 if parametrisation == "softmax16" else logits.shape[1]
    return logits.new_empty((logits.shape[0], entries))


@torch.library.custom_op("boolgrad::soft_tables_gradient", mutates_args=(), device_types="cpu")
def _soft_tables_gradient(logits: torch.Tensor, upstream: torch.Tensor, parametrisation: str) -> torch.Tensor:
    return torch.from_numpy(_layers.soft_tables_gradient(parametrisation, _array(logits), _array(upstream)))


@_soft_tables_gradient.register_fake
def _(logits, upstream, parametrisation):
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


def _keep_logits(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.parametrisation = inputs[1]


def _tables_backward(ctx, upstream):
    (logits,) = ctx.saved_tensors
    return _soft_tables_gradient(logits, upstream, ctx.parametrisation), None


soft_tables.register_autograd(_tables_backward, setup_context=_keep_logits)


@torch.library.custom_op("boolgrad::hard_tables", mutates_args=(), device_types="cpu")
def hard_tables(logits: torch.Tensor, parametrisation: str) -> torch.Tensor:
    """The hard tables [gates, 2^arity] of logits: zeros and ones."""
    return torch.from_numpy(_layers.hard_tables(parametrisation, _array(logits))).to(logits.dtype)


@hard_tables.register_fake
def _(logits, parametrisation):
    entries = 4 if parametrisation == "softmax16" else logits.shape[1]
    return logits.new_empty((logits.shape[0], entries))


@torch.library.custom_op("boolgrad::lut_layer", mutates_args=(), device_types="cpu")
def lut_layer(x: torch.Tensor, tables: torch.Tensor, wiring: int, gradient_factor: float) -> torch.Tensor:
    """Outputs [gates, samples] of gates with these tables for inputs [inputs, samples]."""
    wires = _wirings[wiring]
    _check(x, wires)
    return torch.from_numpy(_layers.lut_layer(_array(x), _array(tables), wires))


@lut_layer.register_fake
def _(x, tables, wiring, gradient_factor):
    return x.new_empty((_wirings[wiring].gates, x.shape[1]))


@torch.library.custom_op("boolgrad::lut_layer_gradients", mutates_args=(), device_types="cpu")
def _lut_layer_gradients(
    x: torch.Tensor, tables: torch.Tensor, upstream: torch.Tensor, wiring: int
) -> tuple[torch.Tensor, torch.Tensor]:
    gx, gt = _layers.lut_layer_gradients(_array(x), _array(tables), _wirings[wiring], _array(upstream))
    return torch.from_numpy(gx), torch.from_numpy(gt)


@_lut_layer_gradients.register_fake
def _(x, tables, upstream, wiring):
    contiguous = {"memory_format": torch.contiguous_format}
    return torch.empty_like(x, **contiguous), torch.empty_like(tables, **contiguous)


@torch.library.custom_op("boolgrad::lut_layer_table_gradient", mutates_args=(), device_types="cpu")
def _lut_layer_table_gradient(
    x: torch.Tensor, tables: torch.Tensor, upstream: torch.Tensor, wiring: int
) -> torch.Tensor:
    """The gradient of the tables alone, for a first layer, whose inputs need none."""
    _, gt = _layers.lut_layer_gradients(_array(x), _array(tables), _wirings[wiring], _array(upstream), False)
    return torch.from_numpy(gt)


@_lut_layer_table_gradient.register_fake
def _(x, tables, upstream, wiring):
    return torch.empty_like(tables, memory_format=torch.contiguous_format)


def _keep_layer(ctx, inputs, output):
    x, tables, ctx.wiring, ctx.gradient_factor = inputs
    ctx.save_for_backward(x, tables)


def _layer_backward(ctx, upstream):
    x, tables = ctx.saved_tensors
    if not ctx.needs_input_grad[0]:
        return None, _lut_layer_table_gradient(x, tables, upstream, ctx.wiring), None, None
    gx, gt = _lut_layer_gradients(x, tables, upstream, ctx.wiring)
    if ctx.gradient_factor != 1:
        gx = gx * ctx.gradient_factor
    return gx, gt, None, None


lut_layer.register_autograd(_layer_backward, setup_context=_keep_layer)


# ---------------------------------------------------------------------------------------------------------------------
# Modules


def _new_seed():
    return int(torch.randint(2**62, ()).item())


class _Wired(torch.nn.Module):
    """A module whose buffers decide its wirings: they are made again after every change of the buffers."""

    def _new_wirings(self):
        """The wirings of the present buffers."""
        raise NotImplementedError

    def _make_wirings(self):
        self._handles = [_WiringHandle(wiring) for wiring in self._new_wirings()]

    def _load_from_state_dict(self, *arguments, **options):
        super()._load_from_state_dict(*arguments, **options)
        self._make_wirings()

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["_handles"]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        self._make_wirings()

    def __deepcopy__(self, memo):
        new = self.__class__.__new__(self.__class__)
        memo[id(self)] = new
        new.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return new

    def _tables(self, weight):
        """The tables of logits: soft in training mode, zeros and ones in evaluation mode."""
        weight = weight if weight.dtype == torch.float64 else weight.float()
        if self.training:
            return soft_tables(weight, self.parametrisation)
        return hard_tables(weight.detach(), self.parametrisation)

    def _circuit_layers(self):
        """(wiring, logits or None for pooling) of every layer of gates."""
        raise NotImplementedError


def _initial_logits(parametrisation, gates, arity, init, strength, seed, layer=0):
    if strength is None:
        strength = {"softmax16": 5.0}.get(parametrisation, 2.0) if init != "gaussian" else 1.0
    return torch.from_numpy(_layers.initial_logits(parametrisation, gates, arity, init, strength, seed, layer))


class LogicLayer(_Wired):
    """A layer of soft look-up tables with fixed wires.

    In training mode, a gate interpolates its table multilinearly. In evaluation mode it is hard: its table is rounded,
    and inputs of zeros and ones give zeros and ones.

    Args:
        in_features: Number of inputs.
        out_features: Number of gates.
        arity: Inputs per gate, 1 to 6. softmax16 requires 2.
        parametrisation: `softmax16` (sixteen logits per gate), `sigmoid` (one logit per table entry) or `walsh`.
        wiring: `random`, `unique`, `butterfly`, or an int tensor [arity, out_features] of input indices.
        init: `residual`, `pass_through` or `gaussian`.
        init_strength: Its strength.
        gradient_factor: Multiplies the gradient that is passed to the inputs.
        seed: Of wires and initialisation; sampled from PyTorch's generator by default.
    """

    def __init__(
        self,
        in_features,
        out_features,
        *,
        arity=2,
        parametrisation="softmax16",
        wiring="random",
        init="residual",
        init_strength=None,
        gradient_factor=1.0,
        seed=None,
        dtype=torch.float32,
    ):
        super().__init__()
        seed = _new_seed() if seed is None else seed
        self.in_features = in_features
        self.out_features = out_features
        self.arity = arity
        self.parametrisation = parametrisation
        self.gradient_factor = float(gradient_factor)
        if isinstance(wiring, str):
            wiring = torch.from_numpy(_layers.new_wires(wiring, in_features, out_features, arity, seed))
        wires = torch.as_tensor(wiring, dtype=torch.int32).cpu().contiguous()
        if wires.shape != (arity, out_features):
            raise ArgumentError(
                f"[LogicLayer] expected wires of shape [{arity}, {out_features}], received {list(wires.shape)}"
            )
        self.register_buffer("wires", wires)
        logits = _initial_logits(parametrisation, out_features, arity, init, init_strength, seed)
        self.weight = torch.nn.Parameter(logits.to(dtype))
        self._make_wirings()

    def _new_wirings(self):
        return [_layers.Wiring.of(self.in_features, self.wires.cpu().numpy())]

    def _circuit_layers(self):
        return [(self._handles[0].wiring, _array(self.weight))]

    def tables(self):
        """The tables [gates, 2^arity]: soft in training mode, zeros and ones in evaluation mode."""
        return self._tables(self.weight)

    def forward(self, x):
        if x.shape[-1] != self.in_features:
            raise ArgumentError(
                f"[LogicLayer] expected {self.in_features} input features, received shape {list(x.shape)}"
            )
        dtype = x.dtype if x.is_floating_point() else torch.float32
        tables = self.tables()
        columns = x.reshape(-1, self.in_features).t().to(tables.dtype)
        with torch.autocast(x.device.type, enabled=False):
            y = lut_layer(columns, tables, self._handles[0].number, self.gradient_factor)
        return y.t().reshape(*x.shape[:-1], self.out_features).to(dtype)

    def extra_repr(self):
        return (
            f"{self.in_features}, {self.out_features}, arity={self.arity}, "
            f"parametrisation={self.parametrisation!r}"
        )


class LogicConv2d(_Wired):
    """A convolution of trees of soft gates: [n, in_channels, height, width] becomes [n, kernels, rows, columns].

    A kernel is a complete tree of gates, whose leaves read random places of a window. All positions share its tables.

    Args:
        in_channels: Number of channels of bits.
        size: (height, width) of the images.
        kernels: Number of kernels, each of which gives one channel.
        window: Side of the square that a kernel reads.
        stride, padding: As those of `torch.nn.Conv2d`.
        depth: Levels of the tree.
        arity: Inputs per gate. softmax16 requires 2.
        channels_per_kernel: Channels that a kernel reads.
        groups: Groups of channels that do not mix.
        parametrisation, init, init_strength, gradient_factor, seed: As those of `LogicLayer`.
    """

    def __init__(
        self,
        in_channels,
        size,
        kernels,
        window=3,
        *,
        stride=1,
        padding=0,
        depth=3,
        arity=2,
        channels_per_kernel=2,
        groups=1,
        parametrisation="softmax16",
        init="residual",
        init_strength=None,
        gradient_factor=1.0,
        seed=None,
        dtype=torch.float32,
    ):
        super().__init__()
        seed = _new_seed() if seed is None else seed
        self.in_shape = (in_channels, *size)
        self.out_shape = (kernels, *((side + 2 * padding - window) // stride + 1 for side in size))
        self.depth = depth
        self.parametrisation = parametrisation
        self.gradient_factor = float(gradient_factor)
        self.weights = torch.nn.ParameterList()
        levels = _layers.convolution(
            *self.in_shape, kernels=kernels, window=window, stride=stride, padding=padding, depth=depth, arity=arity,
            channels_per_kernel=channels_per_kernel, groups=groups, pool=1, seed=seed,
        )
        self._levels = []  # (inputs, positions)
        for level, (wires, inputs, positions, outside, _) in enumerate(levels):
            self._levels.append((inputs, positions))
            self.register_buffer(f"wires_{level}", torch.from_numpy(wires))
            self.register_buffer(f"outside_{level}", None if outside is None else torch.from_numpy(outside))
            tables = wires.shape[1] // positions
            logits = _initial_logits(parametrisation, tables, arity, init, init_strength, seed, level)
            self.weights.append(torch.nn.Parameter(logits.to(dtype)))
        self._make_wirings()

    def _new_wirings(self):
        wirings = []
        for level, (inputs, positions) in enumerate(self._levels):
            outside = getattr(self, f"outside_{level}")
            wirings.append(
                _layers.Wiring.of(
                    inputs,
                    getattr(self, f"wires_{level}").cpu().numpy(),
                    positions,
                    None if outside is None else outside.cpu().numpy(),
                )
            )
        return wirings

    def _circuit_layers(self):
        return [(handle.wiring, _array(weight)) for handle, weight in zip(self._handles, self.weights)]

    def forward(self, x):
        if x.dim() != 4 or tuple(x.shape[1:]) != self.in_shape:
            raise ArgumentError(
                f"[LogicConv2d] expected images [n, {', '.join(map(str, self.in_shape))}], "
                f"received shape {list(x.shape)}"
            )
        dtype = x.dtype if x.is_floating_point() else torch.float32
        tables = [self._tables(weight) for weight in self.weights]
        y = x.reshape(len(x), -1).t().to(tables[0].dtype)
        with torch.autocast(x.device.type, enabled=False):
            for handle, table in zip(self._handles, tables):
                y = lut_layer(y, table, handle.number, self.gradient_factor)
        return y.t().reshape(len(x), *self.out_shape).to(dtype)

    def extra_repr(self):
        return f"{self.in_shape} to {self.out_shape}, depth={self.depth}, parametrisation={self.parametrisation!r}"


class OrPool2d(_Wired):
    """The OR of the bits of squares of positions, for soft values their maximum. Largest values that are equal share the
    gradient.

    Args:
        size: Side of the squares, which do not overlap.
        in_shape: (channels, height, width) of the images.
    """

    def __init__(self, size, in_shape):
        super().__init__()
        self.size = size
        self.in_shape = tuple(in_shape)
        channels, height, width = self.in_shape
        self.out_shape = (channels, height // size, width // size)
        if min(self.out_shape) < 1:
            raise ArgumentError(f"[OrPool2d] expected images of at least {size}x{size}, received {height}x{width}")
        self._make_wirings()

    def _new_wirings(self):
        channels, height, width = self.in_shape
        bits = torch.arange(channels * height * width, dtype=torch.int32).reshape(channels, height, width)
        squares = bits.unfold(1, self.size, self.size).unfold(2, self.size, self.size)
        wires = squares.reshape(-1, self.size**2).t().contiguous()
        return [_layers.Wiring.pooling(bits.numel(), wires.numpy())]

    def _circuit_layers(self):
        return [(self._handles[0].wiring, None)]

    def forward(self, x):
        if x.dim() != 4 or tuple(x.shape[1:]) != self.in_shape:
            raise ArgumentError(
                f"[OrPool2d] expected images [n, {', '.join(map(str, self.in_shape))}], received shape {list(x.shape)}"
            )
        dtype = x.dtype if x.is_floating_point() else torch.float32
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        # Pooling has no tables.
        tables = torch.empty(0, 2 ** (self.size**2), dtype=wide)
        with torch.autocast(x.device.type, enabled=False):
            y = lut_layer(x.reshape(len(x), -1).t().to(wide), tables, self._handles[0].number, 1.0)
        return y.t().reshape(len(x), *self.out_shape).to(dtype)

    def extra_repr(self):
        return f"{self.size}, {self.in_shape}"


class GroupSum(torch.nn.Module):
    """Sums of `k` groups of consecutive outputs, (sum + beta) / tau: [..., n] becomes [..., k]."""

    def __init__(self, k, tau=1.0, beta=0.0):
        super().__init__()
        self.k = k
        self.tau = tau
        self.beta = beta

    def forward(self, x):
        if x.shape[-1] % self.k != 0:
            raise ArgumentError(
                f"[GroupSum] expected a multiple of {self.k} outputs, received shape {list(x.shape)}"
            )
        return x.unflatten(-1, (self.k, -1)).sum(-1).add(self.beta) / self.tau

    def extra_repr(self):
        return f"k={self.k}, tau={self.tau}, beta={self.beta}"


class Binarise(torch.nn.Module):
    """Compares features with thresholds: [..., features] becomes zeros and ones [..., bits].

    `features` are the indices of the compared features and `thresholds` the values, one per bit. `Binarise.fit` chooses
    them from samples.
    """

    def __init__(self, in_features, features, thresholds):
        super().__init__()
        self.in_features = in_features
        self.register_buffer("features", torch.as_tensor(features, dtype=torch.int64))
        self.register_buffer("thresholds", torch.as_tensor(thresholds, dtype=torch.float32))
        if self.features.shape != self.thresholds.shape or self.features.dim() != 1:
            raise ArgumentError(
                "[Binarise] expected as many features as thresholds, received shapes "
                f"{list(self.features.shape)} and {list(self.thresholds.shape)}"
            )

    @classmethod
    def fit(cls, samples, thresholds=4, kind="quantile"):
        """Thresholds for samples [samples, features]: `quantile`, `uniform` or `threshold` (one per feature)."""
        found = _layers.thresholds(_array(samples), kind, thresholds)
        return cls(samples.shape[1], *map(torch.from_numpy, found))

    @property
    def out_features(self):
        """The number of bits."""
        return len(self.features)

    def forward(self, x):
        if x.shape[-1] != self.in_features:
            raise ArgumentError(f"[Binarise] expected {self.in_features} features, received shape {list(x.shape)}")
        dtype = x.dtype if x.is_floating_point() else torch.float32
        # Feature-major, as the first layer reads it.
        columns = x.reshape(-1, self.in_features).t()[self.features]
        bits = (columns > self.thresholds[:, None]).to(dtype)
        return bits.t().reshape(*x.shape[:-1], self.out_features)

    def extra_repr(self):
        return f"{self.in_features}, bits={self.out_features}"


def to_netlist(model):
    """The hardened circuit of a `Sequential` of layers of gates, as a `boolgrad.Circuit`.

    Modules before the first layer of gates and after the last one, such as `Binarise`, `Flatten` and `GroupSum`, are left
    out: inputs of the circuit are the bits, and its outputs those of the last layer.
    """
    modules = [module for module in model.modules() if isinstance(module, _Wired)]
    kinds = {module.parametrisation for module in modules if not isinstance(module, OrPool2d)}
    if not kinds:
        raise ArgumentError("[to_netlist] expected a model with a LogicLayer or LogicConv2d, received none")
    if len(kinds) > 1:
        raise ArgumentError(f"[to_netlist] expected one parametrisation, received {', '.join(sorted(kinds))}")
    layers = [layer for module in modules for layer in module._circuit_layers()]
    return _layers.harden(layers[0][0].inputs, kinds.pop(), layers)
