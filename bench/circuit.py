#!/usr/bin/env python3
"""A hardened network with group sums, from image bytes to classes, on one core: boolgrad compared with
straight-line C of the same network compiled by GCC, in one run.

784 inputs, 6 layers of 8,000 random gates of two inputs, 10 groups of 800 outputs, 10,000 random images. The C
is what is usually generated: one line per gate on words of 64 images, in a loop that packs 64 images bit by bit, with
bit-sliced counters for the group sums (the compiled model of difflogic). It is compiled at -O1 and, within
--compile-limit, at -O3. The run fails if the two differ in the class of any image.

Writes the table between the markers in docs/benchmarks/circuits.md and adds the run to bench/results/circuit.json. Needs
numpy and gcc.
"""
import argparse
import ctypes
import json
import math
import pathlib
import struct
import subprocess
import tempfile
import time

import numpy

import common

INPUTS, WIDTH, LAYERS, CLASSES, IMAGES = 784, 8000, 6, 10, 10_000
GROUP = WIDTH // CLASSES

# Indexed by 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
GATES = ["0", "{a} & {b}", "{a} & ~{b}", "{a}", "{b} & ~{a}", "{b}", "{a} ^ {b}", "{a} | {b}",
         "~({a} | {b})", "~({a} ^ {b})", "~{b}", "{a} | ~{b}", "~{a}", "{b} | ~{a}", "~({a} & {b})",
         "~(uint64_t)0"]

HARNESS = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void gates(const uint64_t *in, uint64_t *out);

void core(const uint64_t *in, uint64_t *out, size_t blocks) {{
  for (size_t i = 0; i < blocks; ++i) gates(in + i * {inputs}, out);
}}

/* Packs 64 images of one byte per pixel into one word per pixel. */
void pack(const uint8_t *images, uint64_t *words) {{
  for (size_t d = 0; d < {inputs}; ++d) {{
    uint64_t word = 0;
    for (size_t b = 0; b < 64; ++b) word |= (uint64_t)!!images[b * {inputs} + d] << b;
    words[d] = word;
  }}
}}

/* Bit-sliced sum of every group, then the class of the largest sum for each image. */
static void count(const uint64_t *out, int32_t *classes) {{
  int32_t best[64];
  memset(best, 0xff, sizeof best);
  for (int c = 0; c < {classes}; ++c) {{
    uint64_t digits[{digits}] = {{0}};
    for (int a = 0; a < {group}; ++a) {{
      uint64_t carry = out[c * {group} + a];
      for (int d = 0; d < {digits}; ++d) {{
        const uint64_t digit = digits[d];
        digits[d] = digit ^ carry;
        carry &= digit;
      }}
    }}
    for (int b = 0; b < 64; ++b) {{
      int32_t sum = 0;
      for (int d = 0; d < {digits}; ++d) sum |= (int32_t)(digits[d] >> b & 1) << d;
      if (sum > best[b]) {{
        best[b] = sum;
        classes[b] = c;
      }}
    }}
  }}
}}

void classify(const uint8_t *images, int32_t *classes, size_t blocks) {{
  static uint64_t in[{inputs}], out[{width}];
  for (size_t i = 0; i < blocks; ++i) {{
    pack(images + i * 64 * {inputs}, in);
    gates(in, out);
    count(out, classes + i * 64);
  }}
}}
"""


def random_network(generator):
    """(wires [gates, 2], gate indices [gates]) per layer; every input is read about equally often."""
    below, layers = INPUTS, []
    for _ in range(LAYERS):
        wires = generator.permutation(2 * WIDTH) % below
        layers.append((generator.permutation(below)[wires].reshape(WIDTH, 2).astype(numpy.int32),
                       generator.integers(0, 16, WIDTH)))
        below = WIDTH
    return layers


def straight_line_c(layers):
    text = [HARNESS.format(inputs=INPUTS, width=WIDTH, classes=CLASSES, group=GROUP,
                           digits=math.ceil(math.log2(GROUP + 1))),
            "static void gates(const uint64_t *in, uint64_t *out) {"]
    for layer, (wires, kinds) in enumerate(layers):
        name = "in[{}]".format if layer == 0 else f"v{layer - 1}_{{}}".format
        for gate, ((a, b), kind) in enumerate(zip(wires.tolist(), kinds.tolist())):
            formula = GATES[kind].format(a=name(a), b=name(b))
            target = f"out[{gate}]" if layer == LAYERS - 1 else f"const uint64_t v{layer}_{gate}"
            text.append(f"  {target} = {formula};")
    return "\n".join([*text, "}", ""])


def write_problem(path, layers, images, classes):
    """Writes network, images and classes as `boolgrad bench circuit --file` reads them."""
    tensors = {"input_mask": numpy.ones(INPUTS, numpy.float32), "images": images, "classes": classes}
    for i, (wires, kinds) in enumerate(layers):
        tensors[f"layer.{i}.wires"] = numpy.ascontiguousarray(wires.T)
        tensors[f"layer.{i}.logits"] = numpy.eye(16, dtype=numpy.float32)[kinds]
        tensors[f"layer.{i}.mask"] = numpy.ones(WIDTH, numpy.float32)
    network = {"inputs": INPUTS, "layers": LAYERS, "parametrisation": "softmax16", "group_sizes": [1] * LAYERS}
    header, offset = {"__metadata__": {"logic_network": json.dumps(network)}}, 0
    names = {"float32": "F32", "int32": "I32", "uint8": "U8"}
    for name, tensor in tensors.items():
        header[name] = {"dtype": names[str(tensor.dtype)], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(numpy.ascontiguousarray(tensor).tobytes())


def least_seconds(work, runs=15):
    """The fastest of several runs: other load can only add time."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def compiled(folder, source, level, limit):
    """The library and its compile time in seconds; None for the library if that exceeds the limit."""
    library = folder / f"peer{level}.so"
    start = time.perf_counter()
    try:
        subprocess.run(["gcc", level, "-shared", "-fPIC", "-o", library, source], check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, time.perf_counter() - start
    return ctypes.CDLL(str(library)), time.perf_counter() - start


def peer_row(library, images):
    """Images per second, from bytes to classes and for the gates only, and the classes."""
    blocks = -(-IMAGES // 64)
    padded = numpy.zeros((blocks * 64, INPUTS), numpy.uint8)
    padded[:IMAGES] = images
    words = numpy.zeros((blocks, INPUTS), numpy.uint64)
    out = numpy.zeros(WIDTH, numpy.uint64)
    classes = numpy.zeros(blocks * 64, numpy.int32)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    for block in range(blocks):
        library.pack(pointer(padded[block * 64:]), pointer(words[block]))
    count = ctypes.c_size_t(blocks)
    whole = least_seconds(lambda: library.classify(pointer(padded), pointer(classes), count))
    core = least_seconds(lambda: library.core(pointer(words), pointer(out), count))
    return {"images_per_second": IMAGES / whole, "core_per_second": IMAGES / core}, classes[:IMAGES].copy()


def our_row(program, path):
    command = [program, "bench", "circuit", "--file", path, "--threads", "1", "--json", "--quiet"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    rows = {row["name"].removeprefix("circuit."): row for row in answer["benchmarks"]}
    if rows["classify"]["max_error"] != 0 or rows["classify_bits"]["max_error"] != 0:
        raise SystemExit(f"the classes of {rows['classify']['max_error']:.0f} images differ")
    rate = lambda name: IMAGES / rows[name]["min_ms"] * 1e3
    return {"images_per_second": rate("classify"), "core_per_second": rate("core"),
            "load_ms": rows["load"]["min_ms"], "load_million_ms": rows["load_million"]["min_ms"],
            "pack_ms": rows["pack"]["min_ms"], "classify_ms": rows["classify"]["min_ms"],
            "core_ms": rows["core"]["min_ms"], "core_in_cache_ms": rows["core_in_cache"]["min_ms"],
            "classify_bits_ms": rows["classify_bits"]["min_ms"],
            "classify_by_gates_ms": rows["classify_by_gates"]["min_ms"], **answer["circuit"]}


def table(ours, peers, images_bytes):
    lines = ["| | images per second, bytes to classes | gates only | start-up |", "|---|---:|---:|---:|",
             f"| boolgrad | {ours['images_per_second']:.3g} | {ours['core_per_second']:.3g} | "
             f"{ours['load_ms']:.0f} ms |"]
    for level, row in peers.items():
        rates = (f"{row['images_per_second']:.3g} | {row['core_per_second']:.3g}" if "core_per_second" in row
                 else "not within the limit | ")
        lines.append(f"| C, gcc {level} | {rates} | {row['compile_seconds']:.0f} s |")
    done = [row for row in peers.values() if "core_per_second" in row]
    best, core = (max(row[key] for row in done) for key in ("images_per_second", "core_per_second"))
    lines += ["", f"boolgrad is {ours['images_per_second'] / best:.1f}× faster from bytes to classes and "
              f"{ours['core_per_second'] / core:.1f}× faster for the gates only than the faster C. Both give the same "
              f"classes for all {IMAGES:,} images. A netlist of a million gates loads from text in "
              f"{ours['load_million_ms'] / 1e3:.2f} s.", ""]
    blocks = -(-IMAGES // (64 * ours["row_words"]))
    vectors = blocks * ours["steps"] * ours["row_words"] / 8
    lines += ["| part | ms |", "|---|---:|",
              f"| bytes to classes | {ours['classify_ms']:.2f} |",
              f"| packing only | {ours['pack_ms']:.2f} |",
              f"| gates, sums and argmax, from bits | {ours['classify_bits_ms']:.2f} |",
              f"| gates only, outputs copied out | {ours['core_ms']:.2f} |",
              f"| the same steps with all rows in the L1 cache | {ours['core_in_cache_ms']:.2f} |",
              f"| sums and argmax as gates of the netlist | {ours['classify_by_gates_ms']:.2f} |", "",
              f"On loading, the network simplifies to {ours['gates']:,} two-input gates. They take "
              f"{ours['steps']:,} steps of two or three inputs in {ours['runs']} runs of one kind, on rows of "
              f"{ours['row_words'] * 64:,} images in {ours['slots']:,} slots "
              f"({ours['slots'] * ours['row_words'] * 8 / 1e3:.0f} kB). Lower bound: {vectors / 1e6:.2f} million "
              f"operations on 512 bits, each with up to three loads and one store of 64 bytes, "
              f"{vectors * 256 / 1e9:.2f} GB through the L1 cache, plus {images_bytes / 1e6:.1f} MB of images "
              f"read once."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--compile-limit", type=float, default=900, help="seconds per optimisation level")
    parser.add_argument("--levels", nargs="*", default=["-O1", "-O3"])
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()

    generator = numpy.random.default_rng(1)
    layers = random_network(generator)
    images = generator.integers(0, 2, (IMAGES, INPUTS), numpy.uint8)
    peers, classes = {}, None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "peer.c"
        source.write_text(straight_line_c(layers))
        for level in options.levels:
            library, seconds = compiled(folder, source, level, options.compile_limit)
            peers[level] = {"compile_seconds": seconds}
            if library is not None:
                row, classes = peer_row(library, images)
                peers[level].update(row)
        if classes is None:
            raise SystemExit("no C was compiled within the limit")
        problem = folder / "problem.safetensors"
        write_problem(problem, layers, images, classes)
        ours, load = common.other_load(lambda: our_row(options.boolgrad, problem))

    text = table(ours, peers, images.nbytes)
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    facts = common.machine(options.boolgrad, 1, gcc)
    text += f"\n\nOther processes used {load:.1f} cores during the run."
    print(common.describe(facts) + "\n\n" + text)
    if not options.dry_run:
        common.write_documentation("bench/circuit.py", common.describe(facts) + "\n\n" + text,
                                   "docs/benchmarks/circuits.md")
        common.write_results("circuit", facts, {"boolgrad": ours, "peers": peers})


if __name__ == "__main__":
    main()
