import copy
import doctest
import gc
import importlib
import io
import pathlib
import pickle
import re
import subprocess
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import boolgrad  # noqa: E402
from boolgrad.torch import (  # noqa: E402
    Binarise,
    GroupSum,
    LogicAutomaton,
    LogicConv2d,
    LogicLayer,
    LogicSequential,
    OrPool2d,
    _ops,
    fuse,
    to_circuit,
    to_model,
)
from conftest import resident_bytes  # noqa: E402

MODULES = ["boolgrad.torch", "boolgrad.torch._layer", "boolgrad.torch._convolution", "boolgrad.torch._heads",
           "boolgrad.torch._automaton", "boolgrad.torch._export", "boolgrad.torch._sequential",
           "boolgrad.compat.difflogic", "boolgrad.compat.torchlogix"]
KINDS = [("softmax16", 2), ("sigmoid", 1), ("sigmoid", 3), ("sigmoid", 6), ("walsh", 2), ("walsh", 4)]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def tables_of(layer):
    """The soft tables [gates, 2^arity] of a layer, from the definitions of the parametrisations."""
    weight = layer.weight.detach()
    entries = 1 << layer.arity
    if layer.parametrisation == "softmax16":
        # Function k is 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1); entry i has input j in its bit j.
        bits = torch.tensor([[k >> b & 1 for b in (3, 1, 2, 0)] for k in range(16)], dtype=weight.dtype)
        return weight.softmax(1) @ bits
    if layer.parametrisation == "sigmoid":
        return weight.sigmoid()
    signs = torch.tensor([[(-1.0) ** (k & ~i).bit_count() for k in range(entries)] for i in range(entries)],
                         dtype=weight.dtype)
    return (weight @ signs.t()).sigmoid()


def hard_tables_of(layer):
    if layer.parametrisation != "softmax16":
        return (tables_of(layer) > 0.5).double()
    best = layer.weight.argmax(1)
    return torch.stack([best >> b & 1 for b in (3, 1, 2, 0)], 1).double()


def outputs_of(layer, x, tables):
    """Multilinear interpolation of tables, entry by entry."""
    result = 0
    for i in range(1 << layer.arity):
        product = tables[:, i]
        for j in range(layer.arity):
            value = x[:, layer.wires[j].long()]
            product = product * (value if i >> j & 1 else 1 - value)
        result = result + product
    return result


@pytest.mark.parametrize("kind, arity", KINDS)
def test_a_layer_interpolates_its_tables(kind, arity):
    layer = LogicLayer(9, 7, arity, kind, dtype=torch.float64)
    x = torch.rand(5, 9, dtype=torch.float64)
    torch.testing.assert_close(layer(x), outputs_of(layer, x, tables_of(layer)))
    torch.testing.assert_close(layer.eval()(x), outputs_of(layer, x, hard_tables_of(layer)))


@pytest.mark.parametrize("kind, arity", KINDS)
def test_straight_through_layers_have_the_gradient_of_soft_tables(kind, arity):
    layer = LogicLayer(6, 5, arity, kind, dtype=torch.float64, forward="hard")
    x = torch.rand(3, 6, dtype=torch.float64)
    y = layer(x)
    torch.testing.assert_close(y, outputs_of(layer, x, hard_tables_of(layer)))
    y.sum().backward()
    soft = LogicLayer(6, 5, arity, kind, dtype=torch.float64)
    soft.load_state_dict(layer.state_dict())
    soft(x).sum().backward()
    torch.testing.assert_close(layer.weight.grad, soft.weight.grad)


@pytest.mark.parametrize("kind, arity", KINDS)
def test_gradients_of_layers(kind, arity):
    layer = LogicLayer(6, 5, arity, kind, dtype=torch.float64)
    x = torch.rand(3, 6, dtype=torch.float64, requires_grad=True)
    call = lambda x, w: torch.func.functional_call(layer, {"weight": w}, (x,))  # noqa: E731
    assert torch.autograd.gradcheck(call, (x, layer.weight.detach().requires_grad_()))


def test_gradients_of_learned_wires():
    layer = LogicLayer(6, 4, candidates=3, wire_forward="soft", dtype=torch.float64)
    x = torch.rand(3, 6, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in layer.named_parameters()]
    call = lambda x, *p: torch.func.functional_call(layer, dict(zip(names, p)), (x,))  # noqa: E731
    assert torch.autograd.gradcheck(call, (x, *[p.detach().requires_grad_() for p in layer.parameters()]))


def test_gradients_of_a_convolutional_stack():
    model = LogicSequential(LogicConv2d(5, 2, 3, 3, depth=2, padding=1), OrPool2d(2), torch.nn.Flatten(),
                            LogicLayer(12, 6), GroupSum(3, tau=2.0)).double()
    x = torch.rand(2, 2, 5, 5, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in model.named_parameters()]
    call = lambda x, *p: torch.func.functional_call(model, dict(zip(names, p)), (x,))  # noqa: E731
    assert torch.autograd.gradcheck(call, (x, *[p.detach().requires_grad_() for p in model.parameters()]))


@pytest.mark.parametrize("border", ["zero", "periodic"])
def test_gradients_of_a_rollout(border):
    automaton = LogicAutomaton(2, 1, (8, 4, 2, 1), (4,), border=border, init="gaussian", init_strength=1.0).double()
    state = torch.rand(2, 2, 4, 3, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in automaton.named_parameters()]

    def call(state, *weights):
        return torch.func.functional_call(automaton, dict(zip(names, weights)), (state, 3),
                                          {"fire_rate": 0.7, "returned": 2, "seed": 1})

    assert torch.autograd.gradcheck(call, (state, *[p.detach().requires_grad_() for p in automaton.parameters()]))


def test_operators_follow_the_rules_of_pytorch():
    layer = LogicLayer(6, 4)
    learned = LogicLayer(6, 4, candidates=3)
    automaton = LogicAutomaton(2, 1, (8, 4, 2, 1), (4,))
    x = torch.rand(6, 5, requires_grad=True)
    stack = layer.kept().number
    torch.library.opcheck(_ops.layers, (x, [layer.weight], stack, False))
    torch.library.opcheck(_ops.layers, (x, [layer.weight], stack, True))
    torch.library.opcheck(_ops.layers_backward, (torch.rand(4, 5), x.detach(), [layer.weight.detach()], stack, False,
                                                 True))
    candidates = learned.kept().candidates.number
    torch.library.opcheck(_ops.select_wires, (x, learned.wire_weight, candidates, False, 0.5))
    torch.library.opcheck(_ops.select_wires_backward,
                          (torch.rand(8, 5), x.detach(), learned.wire_weight.detach(), candidates, True, 1.0))
    torch.library.opcheck(_ops.group_sums, (x, 3))
    torch.library.opcheck(_ops.group_sums_backward, (torch.rand(3, 5), 6))
    states = torch.rand(2, 3, 4, 4, requires_grad=True)
    fire = torch.ones(2, 3, 4, 4, dtype=torch.uint8)
    rule = automaton.kept().number
    torch.library.opcheck(_ops.rollout, (states, list(automaton.weights), fire, rule, 2, 1, False))
    torch.library.opcheck(_ops.rollout_backward, (torch.rand(1, 2, 3, 4, 4), states.detach(),
                                                  [w.detach() for w in automaton.weights], None, rule, 2, 1))


def small_model(sequence=LogicSequential):
    return sequence(LogicLayer(16, 64), LogicLayer(64, 64), LogicLayer(64, 40), GroupSum(10, tau=2.0))


def step(model, x):
    """The outputs, and the gradients of x and of all parameters."""
    x = x.detach().clone().requires_grad_()
    model.zero_grad()
    y = model(x)
    (y * torch.linspace(0, 1, y.numel()).view(y.shape)).sum().backward()
    return [y.detach(), x.grad] + [p.grad.clone() for p in model.parameters()]


def assert_same(a, b):
    for one, other in zip(a, b, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("sequence", [torch.nn.Sequential, LogicSequential])
def test_compiled_models_compute_the_same(sequence):
    model = small_model(sequence)
    x = torch.rand(8, 16)
    assert_same(step(model, x), step(torch.compile(model, fullgraph=True), x))


@pytest.mark.parametrize("make, shape", [
    (lambda: LogicLayer(16, 20, candidates=4), (8, 16)),
    (lambda: torch.nn.Sequential(LogicConv2d(6, 2, 4, 3), OrPool2d(2)), (3, 2, 6, 6)),
    (lambda: torch.nn.Sequential(Binarise([0.3, 0.6], learned=True), LogicLayer(32, 20)), (8, 16)),
])
def test_compiled_modules_compute_the_same(make, shape):
    model = make()
    x = torch.rand(shape)
    assert_same(step(model, x), step(torch.compile(model, fullgraph=True), x))


def test_compiled_automaton():
    automaton = LogicAutomaton(2, 1, (8, 4, 2, 1), (4,))
    state = torch.rand(2, 2, 5, 5)
    compiled = torch.compile(lambda state: automaton(state, steps=3), fullgraph=True)
    torch.testing.assert_close(compiled(state), automaton(state, steps=3))


def test_compiled_models_follow_loaded_wires():
    model, other = small_model(), small_model()
    compiled = torch.compile(model, fullgraph=True)
    x = torch.rand(8, 16)
    compiled(x)
    model.load_state_dict(other.state_dict())
    torch.testing.assert_close(compiled(x), other(x))


def segments_of(model, x):
    model(x)
    return [len(segment.modules) for segment in model._segments]


def test_fused_sequences_compute_the_same():
    model = small_model()
    x = torch.rand(70, 16)
    assert segments_of(model, x) == [3, 1]
    assert_same(step(model, x), step(torch.nn.Sequential(*model), x))


def test_fused_convolutions_compute_the_same():
    model = LogicSequential(LogicConv2d(10, 1, 4, 3, padding=1), OrPool2d(2), LogicConv2d(5, 4, 6, 3), OrPool2d(3),
                            torch.nn.Flatten(), LogicLayer(6, 10), torch.nn.Identity(), LogicLayer(10, 4))
    x = torch.rand(5, 1, 10, 10)
    assert segments_of(model, x) == [6, 1, 1]
    assert_same(step(model, x), step(torch.nn.Sequential(*model), x))


def test_hooks_and_learned_wires_are_not_fused():
    model = LogicSequential(LogicLayer(8, 8), LogicLayer(8, 8, candidates=2), LogicLayer(8, 8), LogicLayer(8, 8))
    x = torch.rand(4, 8)
    assert segments_of(model, x) == [1, 1, 2]
    seen = []
    handle = model[3].register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
    model(x)
    assert seen == [torch.Size([4, 8])]
    handle.remove()
    assert segments_of(model, x) == [1, 1, 2] and len(seen) == 1


def test_a_dense_layer_on_images_is_not_fused_wrongly():
    model = LogicSequential(LogicConv2d(5, 1, 2, 3), LogicLayer(3, 4))
    x = torch.rand(2, 1, 5, 5)
    assert model(x).shape == (2, 2, 3, 4)
    torch.testing.assert_close(model(x), torch.nn.Sequential(*model)(x))


def test_sequences_can_be_changed():
    model = LogicSequential(LogicLayer(8, 8), LogicLayer(8, 8))
    x = torch.rand(4, 8)
    model(x)
    model[1] = LogicLayer(8, 3)
    assert model(x).shape == (4, 3)
    model.append(LogicLayer(3, 2))
    torch.testing.assert_close(model(x), torch.nn.Sequential(*model)(x))


def test_fuse_keeps_parameters_and_nested_modules():
    model = torch.nn.ModuleDict({"body": torch.nn.Sequential(LogicLayer(4, 4), LogicLayer(4, 4))})
    names = list(model.state_dict())
    assert type(fuse(model)["body"]) is LogicSequential
    assert list(model.state_dict()) == names
    assert model["body"](torch.rand(2, 4)).shape == (2, 4)


def test_outputs_have_the_layout_of_the_kernels():
    y = LogicLayer(6, 4)(torch.rand(8, 6))
    assert y.stride() == (1, 8)
    # The next layer reads this memory.
    assert y.t().contiguous().data_ptr() == y.data_ptr()


@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x.t().contiguous().t(), lambda x: x.repeat(2, 1)[::2], lambda x: x.expand(4, *x.shape)[2],
    lambda x: x[:, ::2].repeat_interleave(2, 1), lambda x: x[:1].expand(8, 6)])
def test_inputs_of_any_strides(view):
    layer = LogicLayer(6, 4)
    y = view(torch.rand(8, 6))
    torch.testing.assert_close(layer(y), torch.stack([layer(row) for row in y]))


def test_leading_dimensions():
    layer = LogicLayer(6, 4)
    x = torch.rand(2, 3, 5, 6)
    assert layer(x).shape == (2, 3, 5, 4)
    torch.testing.assert_close(layer(x)[1, 2, 3], layer(x[1, 2, 3]))


def test_empty_batches():
    model = LogicSequential(LogicConv2d(6, 1, 2, 3), OrPool2d(2), torch.nn.Flatten(), LogicLayer(8, 4), GroupSum(2))
    x = torch.rand(0, 1, 6, 6, requires_grad=True)
    model(x).sum().backward()
    assert x.grad.shape == x.shape
    assert all(torch.equal(p.grad, torch.zeros_like(p)) for p in model.parameters())
    assert torch.nn.Sequential(*model)(x).shape == (0, 2)
    assert LogicLayer(4, 4, candidates=2)(torch.rand(0, 4)).shape == (0, 4)


def test_half_precision_is_computed_as_float32():
    layer = LogicLayer(6, 4)
    x = torch.rand(8, 6).half()
    expected = layer(x.float())
    assert layer(x).dtype == torch.float32
    torch.testing.assert_close(layer(x), expected)
    for dtype in (torch.float16, torch.bfloat16):
        half = copy.deepcopy(layer).to(dtype)
        y = half(x.to(dtype))
        assert y.dtype == dtype
        y.sum().backward()
        assert half.weight.grad.dtype == dtype
        torch.testing.assert_close(y.float(), expected, atol=0.02, rtol=0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(x).dtype == torch.float32
        torch.testing.assert_close(layer(x), expected)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_bits_of_any_dtype(dtype):
    layer = LogicLayer(6, 4)
    bits = torch.randint(0, 2, (8, 6))
    torch.testing.assert_close(layer(bits.to(dtype)), layer(bits.float()))


@pytest.mark.parametrize("make", [
    lambda: LogicLayer(8, 6), lambda: LogicLayer(8, 6, candidates=3), lambda: LogicLayer(8, 6, candidates=0),
    lambda: LogicConv2d(5, 2, 3), lambda: LogicAutomaton(2, 1, (8, 2, 1), (4,))])
def test_state_dicts_have_the_wires(make):
    one, other = make(), make()
    x = torch.rand(3, 8) if isinstance(one, LogicLayer) else torch.rand(3, 2, 5, 5)
    arguments = (3,) if isinstance(one, LogicAutomaton) else ()
    assert not torch.allclose(one(x, *arguments), other(x, *arguments))
    other.load_state_dict(one.state_dict())
    torch.testing.assert_close(one(x, *arguments), other(x, *arguments))


def test_wires_can_be_changed_in_place():
    layer = LogicLayer(4, 2, wiring=[[0, 1], [1, 2]])
    x = torch.rand(3, 4)
    before = layer(x)
    layer.wires.copy_(torch.tensor([[1, 0], [2, 3]]))
    assert not torch.allclose(layer(x), before)
    layer.wires.copy_(torch.tensor([[0, 1], [1, 4]]))
    with pytest.raises(boolgrad.ArgumentError, match="expected wires below 4 inputs, received 4 at gate 1"):
        layer(x)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_copies(clone):
    model = small_model()
    x = torch.rand(4, 16)
    model(x)
    twin = clone(model)
    torch.testing.assert_close(twin(x), model(x))
    twin[0].wires.copy_(LogicLayer(16, 64).wires)
    assert not torch.allclose(twin(x), model(x))


def test_whole_modules_can_be_saved():
    model = LogicSequential(LogicConv2d(6, 1, 2, 3), OrPool2d(2))
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    x = torch.rand(2, 1, 6, 6)
    torch.testing.assert_close(torch.load(file, weights_only=False)(x), model(x))


def test_seeds():
    assert torch.equal(LogicLayer(8, 6, seed=3).weight, LogicLayer(8, 6, seed=3).weight)
    assert not torch.equal(LogicLayer(8, 6).weight, LogicLayer(8, 6).weight)
    torch.manual_seed(5)
    one = LogicLayer(8, 6)
    torch.manual_seed(5)
    assert torch.equal(LogicLayer(8, 6).weight, one.weight)


def test_hard_modules_are_circuits():
    model = LogicSequential(LogicConv2d(6, 2, 4, 3, padding=1), OrPool2d(2), torch.nn.Flatten(),
                            LogicLayer(36, 30, candidates=4), LogicLayer(30, 20, 4, "walsh"), GroupSum(5))
    bits = torch.randint(0, 2, (100, 2, 6, 6))
    expected = model.eval()[:-1](bits.float()).detach()
    assert set(expected.unique().tolist()) <= {0.0, 1.0}
    circuit = to_circuit(model)
    flat = bits.flatten(1).to(torch.uint8).numpy()
    assert np.array_equal(circuit.evaluate(flat), expected.numpy())
    assert np.array_equal(circuit.simplify().evaluate(flat), expected.numpy())
    predictor = to_model(model)
    assert np.array_equal(predictor.predict(flat), model(bits.float()).argmax(1).numpy())


def test_circuits_are_written_as_c(tmp_path):
    circuit = to_circuit(small_model()).simplify()
    circuit.write(tmp_path / "net.h", "c")
    circuit.write(tmp_path / "net.v", "verilog")
    assert "module" in (tmp_path / "net.v").read_text()
    (tmp_path / "net.c").write_text('#include "net.h"\n')
    subprocess.run(["cc", "-std=c99", "-c", "net.c", "-o", "net.o"], cwd=tmp_path, check=True)


def test_trained_classifiers_become_models():
    x = torch.rand(300, 4)
    labels = (x[:, 0] + x[:, 1] > 1).long()
    model = LogicSequential(Binarise.from_data(x, count=7), LogicLayer(28, 120, init="residual", init_strength=2.0),
                            LogicLayer(120, 80, init="residual", init_strength=2.0), GroupSum(2, tau=6.0))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(100):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    hard = model.eval()(x).argmax(1)
    assert (hard == labels).float().mean() > 0.85
    classifier = to_model(model)
    assert isinstance(classifier, boolgrad.Classifier) and classifier.features == 4
    assert np.array_equal(classifier.predict(x.numpy()), hard.numpy())


def test_image_thresholds_keep_their_order():
    binarise = Binarise([[0.2, 0.6], [0.4, 0.8]])
    model = torch.nn.Sequential(binarise, LogicConv2d(4, 4, 5, 3), torch.nn.Flatten(), LogicLayer(20, 12), GroupSum(3))
    x = torch.rand(50, 2, 4, 4)
    bits = binarise(x)
    assert bits.shape == (50, 4, 4, 4)
    assert torch.equal(bits[:, 2], (x[:, 1] > 0.4).float())
    assert np.array_equal(to_model(model).predict(x.flatten(1).numpy()), model.eval()(x).argmax(1).numpy())


def test_thresholds():
    x = torch.tensor([[0.1, float("nan")], [0.7, 0.2]])
    torch.testing.assert_close(Binarise([0.5])(x), torch.tensor([[0.0, float("nan")], [1.0, 0.0]]), equal_nan=True)
    data = torch.arange(8.0).view(8, 1)
    assert Binarise.from_data(data, 3).thresholds.tolist() == [[2.0, 4.0, 6.0]]
    assert Binarise.from_data(data, 1, "uniform").thresholds.tolist() == [[3.5]]
    learned = Binarise([0.5], learned=True, width=0.2)
    learned(torch.tensor([[0.6]])).sum().backward()
    slope = torch.sigmoid(torch.tensor(0.5))
    torch.testing.assert_close(learned.thresholds.grad, -(slope * (1 - slope) / 0.2).view(1))


def test_pooling_is_that_of_pytorch():
    x = torch.rand(3, 2, 9, 7)
    for arguments in [(2,), (2, 2, 1), (3, 2, 1), (4, 1), ((2, 3), (1, 2), (1, 0))]:
        assert_same(step(OrPool2d(*arguments), x), step(torch.nn.MaxPool2d(*arguments), x))


def test_automata_predict_what_their_models_predict():
    automaton = LogicAutomaton(2, 2, (8, 4, 2, 1), (8,), init="gaussian", init_strength=1.0).eval()
    state = torch.randint(0, 2, (2, 6, 5))
    expected = to_model(automaton).run(state.to(torch.uint8).numpy(), 5)
    assert np.array_equal(automaton(state, 5).detach().numpy(), expected)
    with pytest.raises(boolgrad.Error, match="hard rollouts have no gradient"):
        automaton(state.float().requires_grad_(), 5).sum().backward()


def test_an_automaton_learns():
    automaton = LogicAutomaton(1, 2, (8, 4, 2, 1), (8, 4), init_strength=5.0, seed=1)
    start = torch.randint(0, 2, (16, 1, 6, 6)).float()
    optimiser = torch.optim.Adam(automaton.parameters(), lr=0.05)
    losses = []
    for _ in range(150):
        optimiser.zero_grad()
        loss = (automaton(start, 1) - (1 - start)).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    assert torch.equal(automaton.eval()(start, 1), 1 - start)


@pytest.mark.parametrize("call, message", [
    (lambda: LogicLayer(4, 2)(torch.rand(3, 5)), r"expected inputs \[..., 4\], received \[3, 5\]"),
    (lambda: LogicLayer(4, 2)(torch.rand(3, 4, dtype=torch.complex64)), "expected real numbers as inputs"),
    (lambda: LogicLayer(0, 2), "expected in_features to be an integer of at least 1, received 0"),
    (lambda: LogicLayer(4, 2.5), "expected out_features to be an integer of at least 1, received 2.5"),
    (lambda: LogicLayer(4, 2, 3), "expected gates of 2 inputs, received 3"),
    (lambda: LogicLayer(9, 2, 7, "sigmoid"), "7"),
    (lambda: LogicLayer(4, 2, parametrisation="tanh"), "expected parametrisation to be one of softmax16"),
    (lambda: LogicLayer(4, 2, wiring="star"), "expected random, unique, adjacent, butterfly or local, received star"),
    (lambda: LogicLayer(4, 2, wiring=[[0, 1, 2], [1, 2, 3]]), r"expected wires \[2, 2\], received \[2, 3\]"),
    (lambda: LogicLayer(4, 2, init="ones"), "expected gaussian, pass_through or residual, received ones"),
    (lambda: LogicLayer(4, 2, candidates=9), "9"),
    (lambda: LogicLayer(4, 2, seed=-1), "expected a seed from 0"),
    (lambda: LogicConv2d(4, 1, 2, 5), "expected a window of at most 4"),
    (lambda: LogicConv2d(4, 1, 2)(torch.rand(2, 1, 4, 5)), r"expected images \[samples, 1, 4, 4\]"),
    (lambda: OrPool2d(7)(torch.rand(1, 1, 9, 9)), "expected 1 to 6 rows"),
    (lambda: OrPool2d(2)(torch.rand(9, 9)), r"expected images \[samples, channels, height, width\]"),
    (lambda: GroupSum(3)(torch.rand(2, 4)), "expected a number of inputs that 3 divides"),
    (lambda: GroupSum(3, tau=0), "expected tau above 0, received 0"),
    (lambda: Binarise([float("nan")]), "expected finite thresholds"),
    (lambda: Binarise.from_data(torch.tensor([[float("nan")]])), "received NaN or infinity"),
    (lambda: LogicAutomaton(2, 1)(torch.rand(1, 3, 4, 4), 2), r"expected states \[grids, 2, height, width\]"),
    (lambda: LogicAutomaton(2, 1)(torch.rand(1, 2, 2, 2), 2), "expected at least 3x3 cells with periodic borders"),
    (lambda: LogicAutomaton(2, 1)(torch.rand(0, 2, 4, 4), 2), "expected at least one grid"),
    (lambda: LogicAutomaton(2, 1)(torch.rand(1, 2, 4, 4), 0), "expected steps to be an integer of at least 1"),
    (lambda: to_circuit(torch.nn.Linear(2, 2)), "received Linear"),
    (lambda: to_circuit(GroupSum(2)), "received GroupSum"),
])
def test_messages(call, message):
    with pytest.raises(boolgrad.ArgumentError, match=message):
        call()


def test_other_devices_are_refused():
    layer = LogicLayer(4, 2)
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty(3, 4, device="cuda")
        with pytest.raises(boolgrad.ArgumentError, match="expected tensors on the CPU, received one on cuda"):
            layer(x)


def test_nan_propagates():
    layer = LogicLayer(3, 2, wiring=[[0, 1], [1, 2]])
    y = layer(torch.tensor([[0.5, 0.5, float("nan")]]))
    assert not y[0, 0].isnan() and y[0, 1].isnan()


def test_second_derivatives_are_refused():
    layer = LogicLayer(3, 2)
    x = torch.rand(2, 3, requires_grad=True)
    gradient, = torch.autograd.grad(layer(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError):
        gradient.sum().backward()


def test_a_graph_outlives_its_module():
    layer = LogicLayer(6, 4)
    weight = layer.weight
    y = layer(torch.rand(5, 6))
    del layer
    gc.collect()
    y.sum().backward()
    assert weight.grad is not None


def test_threads_compute_the_same():
    model = small_model().eval()
    x = torch.rand(200, 16).round()
    expected = model(x)
    results = [None] * 4

    def work(i):
        with torch.no_grad():
            results[i] = [model(x) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(y, expected) for ys in results for y in ys)


def test_modules_are_freed():
    x = torch.rand(64, 200)

    def cycle():
        model = LogicSequential(LogicLayer(200, 2000), LogicLayer(2000, 100))
        model(x).sum().backward()

    for _ in range(30):
        cycle()
    gc.collect()
    kept, bytes_before = len(_ops._kept), resident_bytes()
    for _ in range(300):
        cycle()
    gc.collect()
    assert len(_ops._kept) <= kept
    assert resident_bytes() - bytes_before < 30e6


def test_examples_of_the_guide():
    """The sessions of docs/pytorch.md, in one interpreter."""
    page = pathlib.Path(__file__).parents[2] / "docs/pytorch.md"
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/pytorch.md", "docs/pytorch.md", 0)
    assert len(test.examples) > 30
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0
