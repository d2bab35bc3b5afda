"""What the modules for difflogic and torchlogix share."""

import torch

from boolgrad._errors import ArgumentError


class _ScaledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


def scaled_gradient(x, factor):
    """x, whose gradient is multiplied by a factor."""
    return x if factor == 1 else _ScaledGradient.apply(x, factor)


def check_device(where, device):
    """The device of a module: None and the CPU."""
    if device is not None and torch.device(device).type != "cpu":
        raise ArgumentError(f"[{where}] expected the device cpu, received {str(device)!r}: the modules of "
                            "boolgrad.compat compute on the CPU. Leave out device, or train on a GPU with "
                            "boolgrad.train")
    return "cpu"


def check(where, condition, message):
    if not condition:
        raise ArgumentError(f"[{where}] {message}")
