"""Logic-gate networks and automata as PyTorch modules.

>>> import torch
>>> from boolgrad.torch import GroupSum, LogicLayer, LogicSequential, to_circuit
>>> model = LogicSequential(LogicLayer(16, 64, seed=1), LogicLayer(64, 40, seed=2), GroupSum(k=10, tau=2.0))
>>> scores = model(torch.randint(0, 2, (8, 16)).float())
>>> torch.nn.functional.cross_entropy(scores, torch.zeros(8, dtype=torch.long)).backward()
>>> circuit = to_circuit(model).simplify()
>>> len(circuit.inputs), len(circuit.outputs)
(16, 40)
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("boolgrad.torch needs PyTorch: pip install torch") from error

del _torch

from boolgrad.torch._automaton import LogicAutomaton  # noqa: E402
from boolgrad.torch._convolution import LogicConv2d, OrPool2d  # noqa: E402
from boolgrad.torch._export import to_circuit, to_model  # noqa: E402
from boolgrad.torch._heads import Binarise, GroupSum  # noqa: E402
from boolgrad.torch._layer import LogicLayer  # noqa: E402
from boolgrad.torch._sequential import LogicSequential, fuse  # noqa: E402

__all__ = [
    "Binarise",
    "GroupSum",
    "LogicAutomaton",
    "LogicConv2d",
    "LogicLayer",
    "LogicSequential",
    "OrPool2d",
    "fuse",
    "to_circuit",
    "to_model",
]
