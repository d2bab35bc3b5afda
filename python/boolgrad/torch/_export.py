"""Trained modules as circuits and models of boolgrad."""

import os
import tempfile

import numpy as np
import torch
from torch import nn

from boolgrad import _core as _package
from boolgrad._core import layers as _core
from boolgrad._errors import ArgumentError
from boolgrad.torch import _ops
from boolgrad.torch._automaton import LogicAutomaton
from boolgrad.torch._convolution import OrPool2d
from boolgrad.torch._heads import Binarise, GroupSum
from boolgrad.torch._layer import GateModule


def _leaves(module):
    """The modules of nested sequences, in order."""
    if isinstance(module, nn.Sequential):
        return [leaf for child in module for leaf in _leaves(child)]
    children = list(module.children())
    if not isinstance(module, GateModule) and len(children) == 1 and isinstance(children[0], nn.Sequential):
        return _leaves(children[0])  # a wrapper around a sequence
    return [module]


class _Hardened:
    """The gates of a module as one stack, and what lies around them."""

    def __init__(self, module):
        self.binarise = self.head = None
        wirings, kinds, self.weights, image = [], [], [], None
        for leaf in _leaves(module):
            if self.head is not None:
                raise ArgumentError(f"[to_circuit] expected GroupSum to be the last module, received {leaf} after it")
            if isinstance(leaf, GateModule) and not isinstance(leaf, LogicAutomaton):
                part = leaf.part_of_export()
                wirings += part.wirings
                kinds += part.kinds
                self.weights += [weight.detach().float().cpu().contiguous().numpy() for weight in part.weights]
                size = getattr(leaf, "out_size", None)
                image = None if size is None else (leaf.out_channels, *size)
            elif isinstance(leaf, OrPool2d) and image is not None:
                number, image = leaf.stack_for(image)
                kept = _ops._get(number)
                wirings += kept.wirings
                kinds += kept.kinds
            elif isinstance(leaf, GroupSum) and wirings:
                self.head = leaf
            elif isinstance(leaf, Binarise) and not wirings and self.binarise is None:
                self.binarise = leaf
            elif not isinstance(leaf, (nn.Flatten, nn.Identity, nn.Dropout)):
                raise ArgumentError(f"[to_circuit] expected layers of gates, pooling behind a convolution, Binarise "
                                    f"first and GroupSum last, received {type(leaf).__name__}")
        if not wirings:
            raise ArgumentError("[to_circuit] expected at least one layer of gates, received none")
        self.stack = _core.LayerStack(wirings, kinds)

    def thresholds(self):
        """The feature and the threshold of every input bit."""
        if self.binarise is None:
            return self.stack.inputs, list(range(self.stack.inputs)), np.full(self.stack.inputs, 0.5, np.float32)
        values = self.binarise.thresholds.detach().float().cpu()
        count = values.shape[-1]
        if values.dim() == 1:
            if self.stack.inputs % count != 0:
                raise ArgumentError(f"[to_model] expected a number of inputs that {count} thresholds divide, received "
                                    f"{self.stack.inputs}")
            values = values.expand(self.stack.inputs // count, count)
        # Bits are in the order (feature, threshold, place), features in the order (feature, place).
        features = values.shape[0]
        places = self.stack.inputs // (features * count)
        source = torch.arange(features * places).view(features, 1, places).expand(features, count, places)
        every = values.view(features, count, 1).expand(features, count, places)
        return features * places, source.flatten().tolist(), every.contiguous().flatten().numpy()


def to_circuit(module):
    """The hardened gates of a module as a `boolgrad.Circuit`, as trained: nothing is simplified.

    The module is a layer or a sequence of layers. The inputs of the circuit are the inputs of the first layer of gates,
    behind `Binarise`; its outputs are those of the last one, before `GroupSum`.

    >>> import torch
    >>> from boolgrad.torch import LogicLayer, to_circuit
    >>> circuit = to_circuit(torch.nn.Sequential(LogicLayer(4, 8, seed=1), LogicLayer(8, 2, seed=2)))
    >>> len(circuit.inputs), len(circuit.outputs), circuit.simplify().gates <= 10
    (4, 2, True)
    """
    hardened = _Hardened(module)
    return hardened.stack.circuit(hardened.weights)


def to_model(module):
    """The hardened module as a model of boolgrad.

    A sequence that ends with `GroupSum` becomes a `boolgrad.Classifier`, whose features are the inputs of `Binarise`,
    or bits if there is none; any other sequence a `boolgrad.CircuitModel`, and a `LogicAutomaton` a
    `boolgrad.Automaton`.
    Models predict, are saved and are exported without PyTorch.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        if isinstance(module, LogicAutomaton):
            module._rule(torch.float32).save_model(path)
            return _package.load(path)
        hardened = _Hardened(module)
        if hardened.head is None:
            hardened.stack.save_model(hardened.weights, path)
        else:
            features, sources, thresholds = hardened.thresholds()
            hardened.stack.save_classifier(hardened.weights, path, hardened.head.k, float(hardened.head.tau), features,
                                           sources, thresholds)
        return _package.load(path)
