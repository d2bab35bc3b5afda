"""Cellular automata of gates."""

import torch
from torch import nn

from boolgrad._core import layers as _core
from boolgrad._errors import ArgumentError
from boolgrad.torch import _ops
from boolgrad.torch._layer import PARAMETRISATIONS, GateModule, check_choice, check_positive, new_seed


class LogicAutomaton(GateModule):
    """A cellular automaton: every cell runs the same circuit of gates on its 3x3 neighbourhood, again and again.

    States are [grids, channels, height, width] with values between 0 and 1. A call runs `steps` steps, and gradients
    flow back through all of them; the backward pass recomputes what it needs, so memory does not grow with the number
    of gates. After `eval()`, gates are hard, and the state stays zeros and ones. The gradient needs `train()`.

    Args:
        channels: Bits per cell.
        kernels: Perception kernels: networks over the neighbourhood of one channel, applied to every channel.
        perceive: Gates per layer of a kernel; 8 in the first.
        update: Gates per layer of the update, without the last, which has one gate per channel.
        border: What cells at the edge see: `zero` or `periodic`.
        parametrisation, init, init_strength, seed: As in `LogicLayer`.

    The state dict has `weights.0`, ... and `wires_0`, ... of all layers, perception first.

    >>> import torch
    >>> from boolgrad.torch import LogicAutomaton
    >>> automaton = LogicAutomaton(channels=2, kernels=1, perceive=[8, 4, 2, 1], update=[8, 4], seed=1)
    >>> automaton(torch.rand(3, 2, 5, 5), steps=4).shape
    torch.Size([3, 2, 5, 5])
    """

    def __init__(self, channels, kernels=4, perceive=(8, 4, 2, 1), update=(16, 8, 4), *, border="periodic",
                 parametrisation="softmax16", init="pass_through", init_strength=10.0, seed=None, device=None,
                 dtype=None):
        super().__init__()
        check_positive("LogicAutomaton", channels=channels, kernels=kernels)
        check_choice("LogicAutomaton", "parametrisation", parametrisation, PARAMETRISATIONS)
        check_choice("LogicAutomaton", "border", border, ("zero", "periodic"))
        self.channels = channels
        self.border = border
        seed = new_seed(seed)
        self.seed = seed
        self._shape = (channels, kernels, list(perceive), list(update), border, parametrisation, init, init_strength,
                       seed)
        rule = _core.make_rule(*self._shape)
        dtype = dtype or torch.get_default_dtype()
        self.weights = nn.ParameterList(
            torch.from_numpy(weight).to(device=device, dtype=dtype) for weight in rule.weights)
        self._layers = len(self.weights)
        for i, wiring in enumerate(rule.wirings):
            self.register_buffer(f"wires_{i}", torch.from_numpy(wiring.wires))
        self._refresh()

    def _wires(self):
        return [getattr(self, f"wires_{i}") for i in range(self._layers)]

    def _rule(self, dtype):
        wires = [one.cpu().numpy() for one in self._wires()]
        weights = [one.detach().cpu().to(dtype).contiguous().numpy() for one in self.weights]
        return _core.make_rule(*self._shape).replaced(wires, weights)

    def _build(self):
        # One rule per dtype, because a rule has one; the weights of calls replace its own.
        kept = _ops.Kept(self._rule(torch.float32))
        kept.of_doubles = _ops.Kept(self._rule(torch.float64))
        return kept

    def forward(self, state, steps, fire_rate=1.0, returned=1, seed=None):
        """The state after `steps` steps.

        Args:
            state: Initial states [grids, channels, height, width], or one [channels, height, width].
            steps: Number of steps.
            fire_rate: Probability that a cell updates in a step.
            returned: With n > 1, the last n states: [n, grids, channels, height, width].
            seed: Of the random updates. By default, every call has its own.
        """
        check_positive("LogicAutomaton", steps=steps, returned=returned)
        if state.dim() not in (3, 4) or state.shape[-3] != self.channels:
            raise ArgumentError(f"[LogicAutomaton] expected states [grids, {self.channels}, height, width], received "
                                f"{list(state.shape)}")
        if not 0 <= fire_rate <= 1:
            raise ArgumentError(f"[LogicAutomaton] expected a fire rate from 0 to 1, received {fire_rate}")
        _ops.check_device(state, self.weights[0])
        _ops.check_floating(state, "states")
        batch = state if state.dim() == 4 else state.unsqueeze(0)
        if batch.numel() == 0:
            raise ArgumentError(f"[LogicAutomaton] expected at least one grid of at least one cell, received "
                                f"{list(state.shape)}")
        dtype = _ops.compute_dtype(self.weights[0].dtype)
        kept = self.kept()
        kept = kept.of_doubles if dtype == torch.float64 else kept
        fire = None if fire_rate == 1 else self._fire(batch, steps, fire_rate, seed)
        states = _ops.rollout(batch.to(dtype).transpose(0, 1).contiguous(), [w.to(dtype) for w in self.weights], fire,
                              kept.number, steps, returned, not self.training)
        states = states.to(self.weights[0].dtype).transpose(1, 2)
        if state.dim() == 3:
            states = states.squeeze(1)
        return states[0] if returned == 1 else states

    def _fire(self, batch, steps, rate, seed):
        # Generated by PyTorch, so that torch.manual_seed and torch.compile apply.
        generator = None
        if seed is not None:
            generator = torch.Generator().manual_seed(seed)
        shape = (steps, batch.shape[0], *batch.shape[-2:])
        return (torch.rand(shape, generator=generator) < rate).to(torch.uint8)

    def extra_repr(self):
        channels, kernels, perceive, update, border, parametrisation, *_ = self._shape
        return f"{channels}, kernels={kernels}, perceive={perceive}, update={update}, {border!r}, {parametrisation!r}"
