"""Stacks of layers that are computed together."""

import torch
from torch import nn

from boolgrad.torch import _ops
from boolgrad.torch._convolution import OrPool2d
from boolgrad.torch._layer import GateModule, is_compiling, keep_stack, run_stack


def _has_hooks(module):
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks
                or module._backward_pre_hooks)


class _Segment:
    """Consecutive modules of a sequence: one module, or layers of gates with one stack."""

    def __init__(self, modules, kept=None, numbers=(), image=None):
        self.modules = modules
        self.kept = kept
        self.numbers = numbers  #: of the stacks that were joined
        self.image = image  #: (channels, height, width) of the outputs if they are images


class LogicSequential(nn.Sequential):
    """torch.nn.Sequential that computes neighbouring layers of gates together.

    Runs of `LogicLayer`, `LogicConv2d`, `OrPool2d` and torch.nn.Flatten become one operator, which takes a tile of
    samples through all its layers while the tile is in the cache and recomputes activations in the backward pass:
    steps are faster, and memory does not grow with depth. All other modules, and layers with learned wires or hooks,
    run as usual. The state dict is that of torch.nn.Sequential.
    """

    def __init__(self, *modules):
        super().__init__(*modules)
        self._segments = None
        self._facts = None

    def __getstate__(self):
        return {**self.__dict__, "_segments": None, "_facts": None}

    def _is_current(self):
        """Whether all stacks still have the wires of their modules."""
        return self._segments is not None and all(
            segment.numbers == tuple(module._kept.number for module in segment.modules
                                     if isinstance(module, GateModule))
            for segment in self._segments if segment.kept is not None)

    def _plan(self):
        segments = []
        run, parts, image = [], [], None

        def close():
            gates = [module for module in run if isinstance(module, GateModule)]
            if len(gates) + sum(isinstance(module, OrPool2d) for module in run) < 2:
                segments.extend(_Segment([module]) for module in run)
            else:
                wirings = [wiring for part in parts for wiring in part[0]]
                kinds = [kind for part in parts for kind in part[1]]
                segments.append(_Segment(list(run), keep_stack(wirings, kinds),
                                         tuple(module._kept.number for module in gates), image))
            run.clear()
            parts.clear()

        outputs = None
        for module in self:
            part, size = self._joined(module, outputs, image)
            if part is None:
                close()
                outputs = image = None
                part, size = self._joined(module, None, None)
            if part is None:
                segments.append(_Segment([module]))
                continue
            run.append(module)
            parts.append(part)
            image = size
            outputs = part[0][-1].gates if part[0] else outputs
        close()
        return segments

    def _joined(self, module, outputs, image):
        """(wirings, kinds) of a module behind a layer with so many outputs and this image, and the image that it
        gives; (None, None) if it cannot join. `outputs` is None for the first module of a run."""
        if _has_hooks(module):
            return None, None
        if isinstance(module, GateModule):
            part = module.part()
            if part is None or (outputs is not None and part.wirings[0].inputs != outputs):
                return None, None
            size = getattr(module, "out_size", None)
            if size is not None and outputs is not None and image is None:
                return None, None  # images only follow images
            if size is None and image is not None and image[1:] != (1, 1):
                return None, None  # a dense layer reads the last dimension
            return (part.wirings, part.kinds), None if size is None else (module.out_channels, *size)
        if isinstance(module, OrPool2d) and image is not None:
            number, size = module.stack_for(image)
            kept = _ops._get(number)
            return (kept.wirings, kept.kinds), size
        if isinstance(module, nn.Flatten) and outputs is not None and (module.start_dim, module.end_dim) == (1, -1):
            return ([], []), None
        return None, None

    def forward(self, x):
        if not is_compiling():
            for module in self:
                if isinstance(module, GateModule):
                    module._refresh()
            facts = [(module, _has_hooks(module)) for module in self]
            if facts != self._facts or not self._is_current():
                self._segments = self._plan()
                self._facts = facts
        elif not self._is_current():
            return super().forward(x)
        for segment in self._segments:
            x = self._run(segment, x)
        return x

    def _run(self, segment, x):
        parts = [] if segment.kept is None else [m.part() for m in segment.modules if isinstance(m, GateModule)]
        weights = [weight for part in parts for weight in part.weights]
        if not parts or len({part.hard for part in parts}) > 1 or len({weight.dtype for weight in weights}) > 1:
            for module in segment.modules:
                x = module(x)
            return x
        first = segment.modules[0]
        if hasattr(first, "in_channels"):
            x = x.flatten(-3)
        out = run_stack(segment.kept, x, weights, parts[0].hard)
        return out if segment.image is None else out.unflatten(-1, segment.image)


def fuse(module):
    """Replaces every torch.nn.Sequential within a module by `LogicSequential`, in place, and returns the module."""
    for name, child in module.named_children():
        setattr(module, name, fuse(child))
    if type(module) is nn.Sequential:
        fused = LogicSequential()
        fused.__dict__.update({**module.__dict__, "_segments": None, "_facts": None})
        return fused
    return module
