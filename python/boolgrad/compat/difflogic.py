"""The modules of difflogic, computed by boolgrad.

Constructors, attributes and the order of the sixteen gates are those of the package, and random numbers are drawn from
torch's generator in the same order: after torch.manual_seed(s), a model on the CPU has the same wires and weights as
with difflogic, so the state dict of its trained model can be loaded.

>>> import torch
>>> from boolgrad.compat.difflogic import CompiledLogicNet, GroupSum, LogicLayer
>>> _ = torch.manual_seed(0)
>>> model = torch.nn.Sequential(LogicLayer(784, 1000), LogicLayer(1000, 1000), GroupSum(k=10, tau=10))
>>> model(torch.rand(5, 784)).shape
torch.Size([5, 10])
>>> compiled = CompiledLogicNet(model)
>>> compiled.compile()
>>> compiled(torch.rand(5, 784) > 0.5).shape
torch.Size([5, 10])
"""

import math

import numpy as np
import torch
from torch import nn

from boolgrad._core import Circuit
from boolgrad._core import layers as _core
from boolgrad.compat._shared import check, check_device, scaled_gradient
from boolgrad.torch import _export, _heads
from boolgrad.torch._layer import GateModule, Part, keep_stack, run_stack

__all__ = ["CompiledLogicNet", "GroupSum", "LogicLayer", "PackBitsTensor", "get_unique_connections"]


class LogicLayer(GateModule):
    """A layer of two-input gates.

    Args:
        in_dim: Number of inputs.
        out_dim: Number of gates; at least half the number of inputs.
        device: `cpu`.
        grad_factor: Multiplies the gradient of the inputs.
        implementation: Accepted for compatibility; there is one implementation.
        connections: `random` or `unique`.

    The state dict has `weights` [out_dim, 16], as in difflogic, and `wires` [2, out_dim]. A state dict without wires
    keeps those of the layer.
    """

    def __init__(self, in_dim, out_dim, device=None, grad_factor=1.0, implementation=None, connections="random"):
        super().__init__()
        device = check_device("LogicLayer", device)
        check("LogicLayer", implementation in (None, "python", "cuda"),
              f"expected the implementation python or cuda, received {implementation!r}")
        check("LogicLayer", connections in ("random", "unique"),
              f"expected the connections random or unique, received {connections!r}")
        check("LogicLayer", in_dim >= 1 and 2 * out_dim >= in_dim,
              f"expected at least half as many gates as inputs, received {out_dim} gates and {in_dim} inputs")
        self.weights = nn.Parameter(torch.randn(out_dim, 16, device=device))
        self.in_dim = in_dim
        self.out_dim = out_dim
        self.device = device
        self.grad_factor = grad_factor
        self.implementation = implementation or "python"
        self.connections = connections
        self.num_neurons = self.num_weights = out_dim
        a, b = self.get_connections(connections, device)
        self.register_buffer("wires", torch.stack([a, b]).int())
        self._refresh()

    @property
    def indices(self):
        """The sources of both inputs, two tensors [out_dim]."""
        return self.wires[0].long(), self.wires[1].long()

    @indices.setter
    def indices(self, sources):
        self.wires = torch.stack([torch.as_tensor(one).cpu() for one in sources]).int()
        self._refresh()

    def get_connections(self, connections, device="cpu"):
        if connections == "unique":
            return get_unique_connections(self.in_dim, self.out_dim, device)
        places = torch.randperm(2 * self.out_dim) % self.in_dim
        return torch.randperm(self.in_dim)[places].reshape(2, self.out_dim).to(device).unbind(0)

    def _wires(self):
        return [self.wires]

    def _build(self):
        return keep_stack([_core.wiring_of(self.in_dim, self.wires.cpu().numpy())], ["softmax16"])

    def _load_from_state_dict(self, state_dict, prefix, *arguments):
        state_dict.setdefault(prefix + "wires", self.wires)
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def forward(self, x):
        if isinstance(x, PackBitsTensor):
            check("LogicLayer", not self.training, "expected eval() before a PackBitsTensor is passed")
            return PackBitsTensor(self(x.t.float()) > 0.5)
        return run_stack(self.kept(), scaled_gradient(x, self.grad_factor), [self.weights], not self.training)

    def part(self):
        return self.part_of_export() if self.grad_factor == 1 else None

    def part_of_export(self):
        kept = self.kept()
        return Part(kept.wirings, kept.kinds, [self.weights], not self.training)

    def extra_repr(self):
        return f"{self.in_dim}, {self.out_dim}, {'train' if self.training else 'eval'}"


class GroupSum(_heads.GroupSum):
    """Sums over `k` groups of outputs, divided by `tau`."""

    def __init__(self, k, tau=1.0, device=None):
        super().__init__(k, tau)
        self.device = check_device("GroupSum", device)

    def forward(self, x):
        if isinstance(x, PackBitsTensor):
            return x.group_sum(self.k)
        return super().forward(x)


class PackBitsTensor:
    """Bits [samples, features] for layers in `eval()`. The fast way to evaluate many samples is `CompiledLogicNet`."""

    def __init__(self, t, bit_count=32, device=None):
        check("PackBitsTensor", t.dim() == 2, f"expected bits [samples, features], received {list(t.shape)}")
        self.t = t.bool()
        self.bit_count = bit_count
        self.device = check_device("PackBitsTensor", device)

    def flatten(self, start_dim=0, end_dim=-1):
        """The bits themselves, which are flat: models may begin with torch.nn.Flatten."""
        return self

    def group_sum(self, k):
        return self.t.reshape(self.t.shape[0], k, -1).sum(-1)


def get_unique_connections(in_dim, out_dim, device="cpu"):
    """Pairs of different inputs: (0,1), (2,3), ..., then (1,2), (3,4), ..., then those at distance 2, 3, ..., in random
    order."""
    distances = [(slice(0, in_dim - 1, 2), 1), (slice(1, in_dim - 1, 2), 1)]
    distances += [(slice(0, in_dim - apart), apart) for apart in range(2, in_dim)]
    inputs = torch.arange(in_dim)
    first, second = torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long)
    for places, apart in distances:
        if len(first) >= out_dim:
            break
        first = torch.cat([first, inputs[places]])
        second = torch.cat([second, inputs[places] + apart])
    check("LogicLayer", len(first) >= out_dim,
          f"expected at most {len(first)} gates with unique pairs of {in_dim} inputs, received {out_dim}")
    order = torch.randperm(out_dim)
    return first[:out_dim][order].to(device), second[:out_dim][order].to(device)


class CompiledLogicNet(nn.Module):
    """The hardened model as a simplified circuit, which runs on packed bits.

    No compiler is called: `compile` simplifies the circuit, and with `save_lib_path` writes it to a file that `load`
    reads. `get_c_code` returns it as C.

    Args:
        model: torch.nn.Sequential of `LogicLayer`, optionally torch.nn.Flatten, and `GroupSum` at the end.
        device: `cpu`.
        num_bits, cpu_compiler: Accepted for compatibility.
    """

    def __init__(self, model, device="cpu", num_bits=64, cpu_compiler="gcc", verbose=False):
        super().__init__()
        check("CompiledLogicNet", num_bits in (8, 16, 32, 64), f"expected 8, 16, 32 or 64 bits, received {num_bits}")
        self.model = model
        self.device = check_device("CompiledLogicNet", device)
        self.num_bits = num_bits
        self.cpu_compiler = cpu_compiler
        self.circuit = None
        if model is not None:
            check("CompiledLogicNet", isinstance(model[-1], _heads.GroupSum),
                  f"expected GroupSum as the last layer, received {type(model[-1]).__name__}")
            self.num_classes = model[-1].k

    def compile(self, opt_level=1, save_lib_path=None, verbose=False):
        """Simplifies the circuit."""
        self.circuit = _export.to_circuit(self.model).simplify()
        if save_lib_path is not None:
            self.circuit.write(save_lib_path, "netlist")
        if verbose:
            print(self.circuit)

    def get_c_code(self):
        """The circuit as C."""
        return self._ready().to_text("c")

    @staticmethod
    def load(save_lib_path, num_classes, num_bits=64):
        """Reads what `compile` wrote."""
        net = CompiledLogicNet(None, num_bits=num_bits)
        net.num_classes = num_classes
        net.circuit = Circuit.read(save_lib_path, "netlist")
        return net

    def _ready(self):
        check("CompiledLogicNet", self.circuit is not None, "expected compile() first")
        return self.circuit

    def forward(self, x, verbose=False):
        """The sums of every class, int32 [samples, classes], for bits [samples, features]."""
        bits = x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)
        check("CompiledLogicNet", bits.dtype == np.bool_, f"expected bits of dtype bool, received {bits.dtype}")
        outputs = self._ready().evaluate(bits.reshape(len(bits), math.prod(bits.shape[1:])))
        return torch.from_numpy(outputs.reshape(len(bits), self.num_classes, -1).sum(-1, dtype=np.int32))
