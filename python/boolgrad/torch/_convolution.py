"""Convolutions of gate trees, and pooling."""

import torch
from torch import nn

from boolgrad._core import layers as _core
from boolgrad._errors import ArgumentError
from boolgrad.torch import _ops
from boolgrad.torch._layer import (FORWARDS, PARAMETRISATIONS, GateModule, Part, check_choice, check_positive,
                                   keep_stack, new_seed, run_stack)


def pair(where, name, value):
    """Two integers from one or two."""
    values = tuple(value) if isinstance(value, (tuple, list, torch.Size)) else (value, value)
    if len(values) != 2 or not all(isinstance(one, int) for one in values):
        raise ArgumentError(f"[{where}] expected {name} to be one or two integers, received {value!r}")
    return values


def check_image(where, x, channels, height, width):
    expected = [channels, height, width]
    if x.dim() not in (3, 4) or list(x.shape[-3:]) != expected:
        raise ArgumentError(f"[{where}] expected images [samples, {channels}, {height}, {width}], received "
                            f"{list(x.shape)}")


class LogicConv2d(GateModule):
    """A convolution whose kernels are trees of gates. All positions share the tables of a kernel.

    Inputs are [samples, in_channels, height, width], outputs [samples, out_channels, height', width'].

    Args:
        in_size: (height, width) of the images, or one number for both.
        in_channels: Channels of the images.
        out_channels: Number of kernels.
        kernel_size: Side of the square window that a kernel reads.
        depth: Levels of the tree; 1 is a single gate. A kernel reads arity^depth bits of its window.
        arity: Inputs per gate.
        stride, padding: As in torch.nn.Conv2d.
        channels_per_kernel: Channels that a kernel reads.
        groups: Groups of channels that do not mix.
        parametrisation, init, init_strength, seed, forward: As in `LogicLayer`.

    The state dict has `weights.0`, ... [kernels * gates per kernel, weights per gate], from the leaves to the root, and
    `leaves` [kernels, leaves, 3]: channel, row and column in the window.
    """

    def __init__(self, in_size, in_channels, out_channels, kernel_size=3, depth=3, arity=2, *, stride=1, padding=0,
                 channels_per_kernel=2, groups=1, parametrisation="softmax16", init="gaussian", init_strength=1.0,
                 seed=None, forward="soft", device=None, dtype=None):
        super().__init__()
        check_choice("LogicConv2d", "parametrisation", parametrisation, PARAMETRISATIONS)
        check_choice("LogicConv2d", "forward", forward, FORWARDS)
        self.in_size = pair("LogicConv2d", "in_size", in_size)
        check_positive("LogicConv2d", in_channels=in_channels, out_channels=out_channels, height=self.in_size[0],
                       width=self.in_size[1])
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.parametrisation = parametrisation
        self.hard_forward = forward == "hard"
        self.options = {"kernels": out_channels, "window": kernel_size, "stride": stride, "padding": padding,
                        "depth": depth, "arity": arity, "channels_per_kernel": channels_per_kernel, "groups": groups}
        image = (in_channels, *self.in_size)
        _, *self.out_size = _core.convolution_size(image, self.options)
        self.out_size = tuple(self.out_size)
        seed = new_seed(seed)
        self.register_buffer("leaves", torch.from_numpy(_core.convolution_leaves(image, seed, 0, self.options)))
        dtype = dtype or torch.get_default_dtype()
        self.weights = nn.ParameterList(
            torch.from_numpy(_core.initial_weights(parametrisation, out_channels * arity**level, arity, init,
                                                   init_strength, seed, level)).to(device=device, dtype=dtype)
            for level in reversed(range(depth)))
        self._refresh()

    def _wires(self):
        return [self.leaves]

    def _build(self):
        wirings = _core.convolution_wirings((self.in_channels, *self.in_size), self.leaves.cpu().numpy(), self.options)
        return keep_stack(wirings, [self.parametrisation] * len(wirings))

    def forward(self, x):
        check_image("LogicConv2d", x, self.in_channels, *self.in_size)
        out = run_stack(self.kept(), x.flatten(-3), list(self.weights), self.hard_forward or not self.training)
        return out.unflatten(-1, (self.out_channels, *self.out_size))

    def part(self):
        kept = self.kept()
        return Part(kept.wirings, kept.kinds, list(self.weights), self.hard_forward or not self.training)

    def part_of_export(self):
        part = self.part()
        part.hard = True
        return part

    def extra_repr(self):
        names = {"window": "kernel_size", "depth": "depth", "arity": "arity", "stride": "stride", "padding": "padding"}
        options = ", ".join(f"{name}={self.options[key]}" for key, name in names.items())
        return f"{self.in_size}, {self.in_channels}, {self.out_channels}, {options}, {self.parametrisation!r}"


_pools = {}


@torch.compiler.assume_constant_result
def pooling_of(image, size, stride, padding, first_wins):
    """The number of the pooling for images of one size, and the size of its outputs. Built once per size."""
    key = (tuple(image), size, stride, padding, first_wins)
    if key not in _pools:
        wirings = _core.pooling_wirings(*key)
        out = tuple(_core.pooling_size(image, size, stride, padding))
        _pools[key] = keep_stack(wirings, ["pool"] * len(wirings)), out
    kept, out = _pools[key]
    return kept.number, out


class OrPool2d(nn.Module):
    """Pooling: the OR of a rectangle of bits. In training, the maximum of soft values.

    The gradient goes to the largest value of a rectangle; values that tie share it equally.

    Args:
        kernel_size: Side of the rectangles, or (height, width), at most 6.
        stride: Distance of rectangles; by default, they do not overlap.
        padding: Rows and columns around the image, which are never the maximum.
    """

    #: Whether the first of several largest values gets the whole gradient.
    first_wins = False

    def __init__(self, kernel_size=2, stride=None, padding=0):
        super().__init__()
        self.kernel_size = pair("OrPool2d", "kernel_size", kernel_size)
        self.stride = self.kernel_size if stride is None else pair("OrPool2d", "stride", stride)
        self.padding = pair("OrPool2d", "padding", padding)

    def stack_for(self, image):
        """The pooling of images (channels, height, width), and the size of its outputs."""
        return pooling_of(tuple(image), self.kernel_size, self.stride, self.padding, self.first_wins)

    def forward(self, x):
        if x.dim() not in (3, 4):
            raise ArgumentError(f"[OrPool2d] expected images [samples, channels, height, width], received "
                                f"{list(x.shape)}")
        _ops.check_device(x)
        _ops.check_floating(x, "images")
        number, size = self.stack_for(tuple(x.shape[-3:]))
        flat = x.flatten(-3) if x.dim() == 4 else x.flatten().unsqueeze(0)
        dtype = _ops.compute_dtype(x.dtype)
        rows = flat.to(dtype).t().contiguous()
        out = _ops.layers(rows, [], number, False).t()
        if x.is_floating_point() and x.dtype != dtype:
            out = out.to(x.dtype)
        out = out.unflatten(1, size)
        return out if x.dim() == 4 else out.squeeze(0)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
