"""The interface of difflogic: `from boolgrad.compat.difflogic import LogicLayer, GroupSum, CompiledLogicNet`.

>>> import torch
>>> from boolgrad.compat.difflogic import GroupSum, LogicLayer
>>> model = torch.nn.Sequential(torch.nn.Flatten(), LogicLayer(16, 40), LogicLayer(40, 40), GroupSum(k=2, tau=10))
>>> model(torch.rand(3, 4, 4)).shape
torch.Size([3, 2])

Models have the same parameters: `weight` [gates, 16], one logit per gate in the order of difflogic, and `indices`. A
`state_dict` of difflogic loads. Computation is on the CPU, whatever `implementation` says.
"""

import numpy as np
import torch

from boolgrad import torch as _torch
from boolgrad._errors import ArgumentError

__all__ = ["BITS_TO_NP_DTYPE", "CompiledLogicNet", "GroupSum", "LogicLayer", "PackBitsTensor"]

BITS_TO_NP_DTYPE = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


class LogicLayer(_torch.LogicLayer):
    """A layer of soft gates with the arguments of difflogic's.

    Args:
        in_dim: Number of inputs.
        out_dim: Number of gates.
        device: `cpu`. difflogic's default, `cuda`, is accepted and ignored.
        grad_factor: Multiplies the gradient that is passed to the inputs.
        implementation: `python` or `cuda`: ignored.
        connections: `random` or `unique`.
    """

    def __init__(
        self, in_dim, out_dim, device="cpu", grad_factor=1.0, implementation=None, connections="random"
    ):
        if connections not in ("random", "unique"):
            raise ArgumentError(f"[LogicLayer] expected the connections random or unique, received {connections}")
        seed = _torch._new_seed()
        super().__init__(
            in_dim, out_dim, wiring=_connections(in_dim, out_dim, connections, seed), init="gaussian",
            gradient_factor=grad_factor, seed=seed,
        )
        self.device = device
        self.implementation = implementation
        self.connections = connections

    @property
    def in_dim(self):
        return self.in_features

    @property
    def out_dim(self):
        return self.out_features

    @property
    def grad_factor(self):
        return self.gradient_factor

    @property
    def num_neurons(self):
        return self.out_features

    @property
    def num_weights(self):
        return self.out_features

    @property
    def indices(self):
        """The inputs of all gates: a tuple of two tensors [out_dim], as in difflogic."""
        return tuple(self.wires.to(torch.int64))


def _connections(inputs, gates, kind, seed):
    """Wires as difflogic samples them: every input is read about equally often."""
    if kind == "unique":
        return "unique"
    if gates * 2 < inputs:
        raise ArgumentError(
            f"[LogicLayer] expected at least half as many gates as inputs, {(inputs + 1) // 2}, received {gates}"
        )
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(2 * gates, generator=generator) % inputs
    order = torch.randperm(inputs, generator=generator)[order]
    return order.reshape(2, gates)


class GroupSum(_torch.GroupSum):
    """Sums of `k` groups of consecutive outputs, divided by `tau`."""

    def __init__(self, k, tau=1.0, device="cpu"):
        super().__init__(k, tau)
        self.device = device


class PackBitsTensor:
    """Bits packed for `CompiledLogicNet`; kept for compatibility, since boolgrad packs by itself."""

    def __init__(self, t, bit_count=32, device="cpu"):
        self.t = t


class CompiledLogicNet(torch.nn.Module):
    """The hardened network, simplified and evaluated on packed bits. No compiler is needed.

    `model` is a `Sequential` of layers with a `GroupSum` at its end. `forward` takes zeros and ones [samples, inputs] and
    returns the sums [samples, k].
    """

    def __init__(self, model, device="cpu", num_bits=64, cpu_compiler="gcc", verbose=False):
        super().__init__()
        self.model = model
        self.device = device
        self.num_bits = num_bits
        self.cpu_compiler = cpu_compiler
        sums = [module for module in model.modules() if isinstance(module, _torch.GroupSum)]
        if len(sums) != 1:
            raise ArgumentError(f"[CompiledLogicNet] expected a model with one GroupSum, received {len(sums)}")
        self.num_classes = sums[0].k
        self.circuit = None

    def compile(self, opt_level=1, save_lib_path=None, verbose=False):
        """Hardens and simplifies the network. With `save_lib_path`, writes it as C."""
        self.circuit = _torch.to_netlist(self.model).simplify()
        if save_lib_path is not None:
            self.circuit.write(save_lib_path, "c")

    def get_c_code(self):
        """The network as a C99 header."""
        return _torch.to_netlist(self.model).to_text("c")

    def forward(self, x, verbose=False):
        if self.circuit is None:
            raise ArgumentError("[CompiledLogicNet] expected a network after compile(), received one before it")
        bits = x.numpy() if isinstance(x, torch.Tensor) else np.asarray(x)
        outputs = self.circuit.evaluate(bits.reshape(len(bits), -1))
        return torch.from_numpy(outputs.reshape(len(bits), self.num_classes, -1).sum(axis=2, dtype=np.int32))
