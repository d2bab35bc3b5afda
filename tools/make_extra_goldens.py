#!/usr/bin/env python3
"""Writes goldens/extra_ops.safetensors: PyTorch's float64 results for cases that goldens/ops.safetensors does not
have. Losses, reductions over several axes, ties, empty shapes, kinks and extreme values.

    python tools/make_extra_goldens.py
"""

import pathlib

import torch
from torch.nn import functional

import reference_file
from reference_file import case

OUTPUT = pathlib.Path(__file__).parent.parent / "goldens" / "extra_ops.safetensors"


def grid(*shape, low=-2.0, high=2.0):
    """Multiples of 1/64, which float16 represents exactly: rounding moves no value across a jump or a tie."""
    values = torch.rand(shape, dtype=torch.float64) * (high - low) + low
    return torch.round(values * 64) / 64


def values(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def floor_divide(a, b):
    return torch.div(a, b, rounding_mode="floor")


def axis_tuple(axis):
    return tuple(axis) if isinstance(axis, list) else axis


def reduce_with(function, axis, keepdims):
    if axis == []:  # reduces nothing; PyTorch reads an empty list as "all"
        return lambda x: x * 1
    return lambda x: function(x, dim=axis_tuple(axis), keepdim=keepdims)


def clipped(y):
    return torch.clamp(y, 1e-7, 1 - 1e-7)


def binary_cross_entropy(y, t):
    y = clipped(y)
    return -(t * torch.log(y) + (1 - t) * torch.log1p(-y)).sum()


def focal(y, t, gamma=2.0, alpha=None):
    y = clipped(y)
    positive, negative = (1.0, 1.0) if alpha is None else (alpha, 1 - alpha)
    one = -positive * t * (1 - y) ** gamma * torch.log(y)
    zero = -negative * (1 - t) * y**gamma * torch.log1p(-y)
    return (one + zero).sum()


def cross_entropy(axis, reduction):
    def loss(logits, labels):
        classes_last = torch.movedim(logits, axis, -1)
        classes = classes_last.shape[-1]
        return functional.cross_entropy(
            classes_last.reshape(-1, classes), labels.reshape(-1), reduction=reduction
        )

    return loss


def arithmetic_cases():
    a = values(7, -7, 7, -7, 6, -6, 0, 0.5, -0.5, 5.5)
    b = values(2, 2, -2, -2, 3, 3, 2, 2, 2, -1.25)
    integers = values(2, 3, 1, 0, 4, -1, -2, -3)
    return {
        "floor_divide.signs": case(floor_divide, [a, b]),
        "floor_divide.broadcast": case(
            floor_divide, [grid(3, 1, 5, low=-9, high=9), grid(4, 1, low=0.5)]
        ),
        "modulo.signs": case(torch.remainder, [a, b]),
        "modulo.broadcast": case(
            torch.remainder, [grid(3, 4, low=-9, high=9), grid(4, low=-3, high=-0.5)]
        ),
        "power.negative_base": case(
            torch.pow, [grid(3, 8, low=-2, high=-0.5), integers], differentiate=[0]
        ),
        "power.square_of_zero": case(torch.pow, [values(0, 0, 0), values(2, 3, 1)]),
        "multiply.empty": case(torch.mul, [grid(2, 0), grid(2, 1)]),
        "subtract.empty_result": case(torch.sub, [grid(3), grid(0, 3)]),
        "divide.middle": case(torch.div, [grid(2, 1, 3), grid(4, 1, low=0.5)]),
    }


def matrix_cases():
    return {
        "matmul.no_rows": case(torch.matmul, [grid(0, 3), grid(3, 2)]),
        "matmul.nothing_to_sum": case(torch.matmul, [grid(2, 0), grid(0, 3)]),
        "matmul.vector_by_batch": case(torch.matmul, [grid(4), grid(2, 4, 3)]),
        "matmul.batch_by_vector": case(torch.matmul, [grid(2, 3, 4), grid(4)]),
        "transpose.empty": case(lambda x: x.permute(2, 0, 1), [grid(2, 0, 3)], {"axes": [2, 0, 1]}),
        "transpose.four": case(
            lambda x: x.permute(3, 1, 0, 2), [grid(2, 3, 4, 5)], {"axes": [3, 1, 0, 2]}
        ),
    }


REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}


def reduction_cases():
    cases = {}
    for name, function in REDUCTIONS.items():
        for axis in ([0, 2], [-1, 0], [1, 2], []):
            for keepdims in (False, True):
                label = "_".join(str(a) for a in axis) or "none"
                cases[f"{name}.axes{label}_keep{int(keepdims)}"] = case(
                    reduce_with(function, axis, keepdims),
                    [grid(2, 3, 4)],
                    {"axis": axis, "keepdims": keepdims},
                )
    return cases


def tie_cases():
    few_levels = torch.round(grid(3, 5, 2))
    cases = {}
    for name in ("max", "min"):
        function = REDUCTIONS[name]
        cases[f"{name}.ties_all"] = case(function, [values(1, 3, 2, 3, 1, 1)], {"axis": None})
        for axis in (0, 1, -1, [0, 2]):
            cases[f"{name}.ties_{axis}".replace(" ", "")] = case(
                reduce_with(function, axis, False), [few_levels], {"axis": axis}
            )
        cases[f"{name}.no_rows"] = case(
            reduce_with(function, 1, False), [grid(0, 3)], {"axis": 1}
        )
    return cases


def empty_reduction_cases():
    return {
        "sum.empty": case(torch.sum, [grid(0, 3)], {"axis": None}),
        "sum.empty_axis": case(lambda x: x.sum(0), [grid(0, 3)], {"axis": 0}),
        "sum.no_rows": case(lambda x: x.sum(1), [grid(0, 3)], {"axis": 1}),
        "mean.no_rows": case(lambda x: x.mean(1), [grid(0, 3)], {"axis": 1}),
        "softmax.no_rows": case(lambda x: torch.softmax(x, -1), [grid(0, 3)], {"axis": -1}),
        "softmax.empty_axis": case(lambda x: torch.softmax(x, -1), [grid(2, 0)], {"axis": -1}),
        "exp.empty": case(torch.exp, [grid(0)]),
    }


def kink_cases():
    around_zero = values(-1, -0.5, 0, 0.5, 1)
    return {
        "abs.kink": case(torch.abs, [around_zero]),
        "relu.kink": case(torch.relu, [around_zero]),
        "leaky_relu.kink": case(
            lambda x: functional.leaky_relu(x, 0.25), [around_zero], {"alpha": 0.25}
        ),
        "clip.bounds": case(
            lambda x: torch.clamp(x, -0.5, 1), [around_zero], {"min": -0.5, "max": 1}
        ),
        "prelu.kink": case(functional.prelu, [around_zero.reshape(5, 1), values(0.25)]),
        "prelu.channels_of_three": case(functional.prelu, [grid(2, 3, 4), values(0.5, -0.25, 0)]),
    }


def extreme_cases():
    far = values(-10000, -100, -20, 0, 20, 100, 10000)
    labels = torch.tensor([0, 3, 6])
    logits = torch.stack([far, far.flip(0), far.roll(1)])
    return {
        "sigmoid.extreme": case(torch.sigmoid, [far]),
        "tanh.extreme": case(torch.tanh, [far]),
        "gelu.extreme": case(functional.gelu, [far]),
        "gelu.tanh.extreme": case(lambda x: functional.gelu(x, approximate="tanh"), [far]),
        "softmax.extreme": case(lambda x: torch.softmax(x, -1), [logits], {"axis": -1}),
        "cross_entropy.extreme": case(cross_entropy(-1, "mean"), [logits, labels]),
    }


def loss_cases():
    y, t = grid(3, 5), grid(3, 5)
    probability = grid(4, 5, low=0.0625, high=0.9375)
    soft_target = grid(4, 5, low=0, high=1)
    hard_target = torch.round(soft_target)
    saturated = values(0, 0, 1, 1, 0.5, 0.25)
    targets = values(0, 1, 0, 1, 1, 0)
    labels = torch.tensor([2, 0, 4, 4])
    images, image_labels = grid(2, 5, 3), torch.tensor([[0, 4, 1], [2, 2, 3]])
    return {
        "sum_of_squares": case(lambda a, b: ((a - b) ** 2).sum(), [y, t]),
        "sum_of_squares.empty": case(lambda a, b: ((a - b) ** 2).sum(), [grid(0), grid(0)]),
        "mean_squares": case(functional.mse_loss, [y, t]),
        "l4": case(lambda a, b: ((a - b) ** 4).sum(), [y, t]),
        "binary_cross_entropy.hard": case(binary_cross_entropy, [probability, hard_target]),
        "binary_cross_entropy.soft": case(binary_cross_entropy, [probability, soft_target]),
        "binary_cross_entropy.mean": case(
            lambda a, b: binary_cross_entropy(a, b) / a.numel(),
            [probability, soft_target],
            {"reduction": "mean"},
        ),
        "binary_cross_entropy.clipped": case(binary_cross_entropy, [saturated, targets]),
        "focal": case(focal, [probability, hard_target]),
        "focal.alpha": case(
            lambda a, b: focal(a, b, 2.0, 0.25),
            [probability, soft_target],
            {"gamma": 2, "alpha": 0.25},
        ),
        "focal.gamma": case(
            lambda a, b: focal(a, b, 1.5), [probability, soft_target], {"gamma": 1.5}
        ),
        "focal.plain": case(
            lambda a, b: focal(a, b, 0.0), [probability, soft_target], {"gamma": 0}
        ),
        "focal.clipped": case(focal, [saturated, targets]),
        "cross_entropy": case(cross_entropy(-1, "mean"), [grid(4, 5), labels]),
        "cross_entropy.sum": case(
            cross_entropy(-1, "sum"), [grid(4, 5), labels], {"reduction": "sum"}
        ),
        "cross_entropy.axis1": case(cross_entropy(1, "mean"), [images, image_labels], {"axis": 1}),
    }


def main():
    torch.manual_seed(20)
    cases = {}
    for make in (
        arithmetic_cases,
        matrix_cases,
        reduction_cases,
        tie_cases,
        empty_reduction_cases,
        kink_cases,
        extreme_cases,
        loss_cases,
    ):
        cases.update(make())
    reference_file.write(
        OUTPUT, cases, "PyTorch float64 forward values and gradients; in*, out, gout, grad*"
    )
    print(f"{OUTPUT}: {len(cases)} cases, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
