"""Files of reference values for `boolgrad verify` and `boolgrad bench ops --file`.

A case `op.variant` has the tensors in0, in1, ..., out, gout (the upstream gradient), and one gradient
grad0, ... for each differentiable input. The metadata `cases` maps names to options.
"""

import json
import struct

import torch

DTYPES = {
    torch.float32: "F32",
    torch.float64: "F64",
    torch.int32: "I32",
    torch.int64: "I64",
}


def write_tensors(path, tensors, metadata):
    """Writes a safetensors file from {name: tensor} and {name: text}."""
    tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    header = {"__metadata__": metadata}
    offset = 0
    for name, tensor in tensors.items():
        end = offset + tensor.numel() * tensor.element_size()
        # Scalars are stored as tensors of shape [1].
        shape = list(tensor.shape) or [1]
        header[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": shape,
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.numpy().tobytes())


def write(path, cases, about):
    """Writes cases {name: (options, {tensor name: tensor})} of reference values."""
    tensors = {
        f"{case}/{name}": tensor
        for case, (_, named) in cases.items()
        for name, tensor in named.items()
    }
    options = {case: settings for case, (settings, _) in cases.items()}
    write_tensors(path, tensors, {"about": about, "cases": json.dumps(options)})


def case(function, inputs, options=None, upstream=None, differentiate=None):
    """Evaluates `function` and its derivatives at `inputs`.

    `differentiate` lists the inputs that get a gradient; by default all floating-point ones. `upstream`
    is random by default.
    """
    if differentiate is None:
        differentiate = [i for i, x in enumerate(inputs) if x.is_floating_point()]
    leaves = [x.detach().clone() for x in inputs]
    for i in differentiate:
        leaves[i].requires_grad_()
    out = function(*leaves)
    if upstream is None:
        upstream = torch.randn(out.shape, dtype=out.dtype)
    if out.requires_grad:
        out.backward(upstream)
    named = {f"in{i}": x for i, x in enumerate(inputs)}
    named["out"] = out.detach()
    named["gout"] = upstream
    for i in differentiate:
        gradient = leaves[i].grad
        named[f"grad{i}"] = torch.zeros_like(inputs[i]) if gradient is None else gradient
    return options or {}, named
