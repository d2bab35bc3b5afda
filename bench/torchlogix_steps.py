#!/usr/bin/env python3
"""Training steps of torchlogix under torch.compile, on the networks of `boolgrad bench wires` and `bench convolutions`.

A step is a forward pass, group sums, cross-entropy of 10 classes, a backward pass and Adam. Before a variant is timed,
its outputs are compared with the same network in NumPy. A variant that fails is listed with the reason.

torchlogix need not be installed: a folder with its unpacked wheel is enough. Results are saved after every variant, and
bench/wiring.py and bench/convolutions.py --load write them into the documentation.

  pip download torchlogix --no-deps -d wheels && unzip -d torchlogix wheels/torchlogix-*.whl
  bench/torchlogix_steps.py --package torchlogix --device cuda --save peers.json
  bench/torchlogix_steps.py --package torchlogix --device cpu --small
"""
import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import pathlib
import statistics
import sys
import time
import types

import numpy

CLASSES = 10
CHECKED_SAMPLES = 8
# Kernels of the first convolution, outputs of the last layer, and temperature.
CONVOLUTIONS = {"s": (16, 2560, 6.5), "m": (64, 20480, 28.0)}
PROBLEMS = ["wires.fixed", "wires.16", "convolutions.s", "convolutions.m"]
PARAMETRISATIONS = {"light": "4 sigmoid coefficients", "raw": "16 logits"}
MODES = {"compile": "torch.compile", "graphs": "torch.compile, CUDA graphs", "eager": "eager"}


def import_layers(folder):
    """The module `torchlogix.layers` and the version. The package itself is not imported: its compiler of circuits
    needs Python 3.12 and packages that layers do not need."""
    if folder:
        places = [str(pathlib.Path(folder) / "torchlogix")]
        found = list(importlib.metadata.distributions(name="torchlogix", path=[str(folder)]))
    else:
        places = list(importlib.util.find_spec("torchlogix").submodule_search_locations)
        found = list(importlib.metadata.distributions(name="torchlogix"))
    package = types.ModuleType("torchlogix")
    package.__path__ = places
    sys.modules["torchlogix"] = package
    return importlib.import_module("torchlogix.layers"), found[0].version if found else "of unknown version"


class Problem:
    """A network and a batch of random bits."""

    def __init__(self, torch, layers, name, parametrisation, options):
        self.torch = torch
        torch.manual_seed(1)
        torch._dynamo.reset()
        kind, size = name.split(".")
        # Both programs train wires with hard forward passes and convolutions with soft ones.
        common = {"device": options.device, "parametrization": parametrisation,
                  "parametrization_kwargs": {"forward_sampling": "hard" if kind == "wires" else "soft"}}
        batch = 16 if options.small else 256
        parts = self.wires(layers, size, common, options) if kind == "wires" else self.convolutions(
            layers, size, common, options)
        self.model = torch.nn.Sequential(*parts).to(options.device).train()
        # Random tables, so that a comparison of outputs notices every mistake.
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.normal_()
        generator = torch.Generator().manual_seed(2)
        shape = (batch, self.inputs) if kind == "wires" else (batch, 1, 28, 28)
        self.x = torch.randint(0, 2, shape, generator=generator).float().to(options.device)
        self.labels = torch.randint(0, CLASSES, (batch,), generator=generator).to(options.device)

    def wires(self, layers, size, common, options):
        gates, self.inputs = (200, 64) if options.small else (8000, 1568)
        learned = {} if size == "fixed" else {"connections": "learnable",
                                              "connections_kwargs": {"num_candidates": int(size)}}
        return [layers.LogicDense(self.inputs, gates, **common, **learned), layers.GroupSum(CLASSES, tau=8.0)]

    def convolutions(self, layers, size, common, options):
        kernels, outputs, temperature = (4, 160, 6.5) if options.small else CONVOLUTIONS[size]
        pairs = {"connections_kwargs": {"channel_group_size": 2}}

        def convolution(side, channels, count, window, padding, **more):
            return [layers.LogicConv2d(in_dim=side, channels=channels, num_kernels=count, tree_depth=3,
                                       receptive_field_size=window, padding=padding, **common, **more),
                    layers.OrPooling2d(kernel_size=2, stride=2, padding=0)]

        return [*convolution(28, 1, kernels, 5, 0), *convolution(12, kernels, 3 * kernels, 3, 1, **pairs),
                *convolution(6, 3 * kernels, 9 * kernels, 3, 1, **pairs), self.torch.nn.Flatten(),
                layers.LogicDense(81 * kernels, 4 * outputs, **common),
                layers.LogicDense(4 * outputs, 2 * outputs, **common),
                layers.LogicDense(2 * outputs, outputs, **common), layers.GroupSum(CLASSES, tau=temperature)]


def tables_in_numpy(weight, parametrisation):
    """f(0,0), f(0,1), f(1,0), f(1,1) as the last dimension, from the parameters of a layer."""
    weight = weight.detach().cpu().double().numpy()
    hard = parametrisation.forward_sampling == "hard"
    if weight.shape[-1] == 4:
        return (weight > 0).astype(float) if hard else 1 / (1 + numpy.exp(-weight))
    entries = numpy.array([[i >> bit & 1 for bit in (3, 2, 1, 0)] for i in range(16)], float)
    if hard:
        return entries[weight.argmax(-1)]
    powers = numpy.exp(weight - weight.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ entries


def gate_in_numpy(tables, a, b):
    return ((1 - a) * ((1 - b) * tables[..., 0] + b * tables[..., 1])
            + a * ((1 - b) * tables[..., 2] + b * tables[..., 3]))


def layer_in_numpy(layer, x):
    """The output of a layer of torchlogix, from its parameters and wires only."""
    kind = type(layer).__name__
    if kind == "Flatten":
        return x.reshape(len(x), -1)
    if kind == "GroupSum":
        return x.reshape(len(x), layer.k, -1).sum(-1) / layer.tau
    if kind == "OrPooling2d":
        count, channels, height, width = x.shape
        return x.reshape(count, channels, height // 2, 2, width // 2, 2).max((3, 5))
    if kind == "LogicDense":
        wires = layer.connections.indices.cpu().numpy()
        if wires.ndim == 3:
            best = layer.connections.weights.detach().cpu().numpy().argmax(0)
            wires = numpy.take_along_axis(wires, best[None], 0)[0]
        return gate_in_numpy(tables_in_numpy(layer.weight, layer.parametrization), x[:, wires[0]], x[:, wires[1]])
    pad = layer.padding
    x = numpy.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    leaves = layer.connections.indices[0].cpu().numpy()  # [2, kernels, positions, gates, (row, column, channel)]
    a, b = (x[:, side[..., 2], side[..., 0], side[..., 1]] for side in leaves)
    for level, weight in enumerate(layer.tree_weights):
        tables = tables_in_numpy(weight, layer.parametrization).transpose(1, 0, 2)[:, None]
        values = gate_in_numpy(tables, a, b)
        a, b = values[..., 0::2], values[..., 1::2]
    return values.reshape(len(x), layer.num_kernels, *layer.kernel_positions)


def error_of(problem, forward):
    """The largest difference of the outputs from NumPy's, relative to the largest output."""
    expected = problem.x[:CHECKED_SAMPLES].cpu().double().numpy()
    for layer in problem.model:
        expected = layer_in_numpy(layer, expected)
    outputs = forward(problem.x)
    received = outputs[:CHECKED_SAMPLES].detach().cpu().double().numpy()
    outputs.sum().backward()  # CUDA graphs are recorded with their backward pass
    return float(numpy.abs(received - expected).max() / numpy.abs(expected).max())


def compiled(torch, model, mode):
    if mode == "eager":
        return model
    return torch.compile(model, dynamic=False, mode="reduce-overhead" if mode == "graphs" else None)


def median_ms(torch, problem, forward, options):
    on_gpu = options.device.startswith("cuda")
    optimiser = torch.optim.Adam(problem.model.parameters(), lr=0.01, fused=on_gpu)

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        optimiser.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(forward(problem.x), problem.labels).backward()
        optimiser.step()

    def wait():
        if on_gpu:
            torch.cuda.synchronize()

    for _ in range(3 if options.small else 10):
        step()
    wait()
    times = []
    steps = 1 if options.small else 20
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        times.append((time.perf_counter() - start) / steps * 1e3)
    return statistics.median(times)


def measured(torch, layers, name, parametrisation, mode, options):
    problem = Problem(torch, layers, name, parametrisation, options)
    forward = compiled(torch, problem.model, mode)
    error = error_of(problem, forward)
    if not error <= 1e-4:
        return {"failure": f"outputs differ from NumPy by {error:.1e}"}
    return {"ms": median_ms(torch, problem, forward, options), "max_error": error}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", help="folder with the unpacked wheel; by default the installed package")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--parametrisations", nargs="+", default=list(PARAMETRISATIONS), choices=PARAMETRISATIONS)
    parser.add_argument("--modes", nargs="+", default=["compile", "graphs"], choices=MODES)
    parser.add_argument("--small", action="store_true", help="small networks, to try the script without a GPU")
    parser.add_argument("--minutes", type=float, default=9, help="start no variant after this time")
    parser.add_argument("--save", type=pathlib.Path, help="keep the results in this file")
    options = parser.parse_args()
    start = time.monotonic()
    import torch

    layers, version = import_layers(options.package)
    gpu = torch.cuda.get_device_name(0) if options.device.startswith("cuda") else None
    result = {"torch": torch.__version__, "gpu": gpu, "peers": []}
    for mode in options.modes:
        for name in options.problems:
            for parametrisation in options.parametrisations:
                row = {"program": f"torchlogix {version}", "device": options.device,
                       "problem": name + (".small" if options.small else ""),
                       "variant": f"{PARAMETRISATIONS[parametrisation]}, {MODES[mode]}"}
                if time.monotonic() - start > 60 * options.minutes:
                    row |= {"failure": "no time left"}
                else:
                    try:
                        row |= measured(torch, layers, name, parametrisation, mode, options)
                    except Exception as error:  # a variant must not end the run
                        row |= {"failure": f"{type(error).__name__}: {error}"}
                result["peers"].append(row)
                print(json.dumps(row), flush=True)
                if options.save:
                    options.save.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
