import copy
import pickle
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import boolgrad  # noqa: E402
from boolgrad import torch as btorch  # noqa: E402
from boolgrad.torch import Binarise, GroupSum, LogicConv2d, LogicLayer, OrPool2d  # noqa: E402

KINDS = [("softmax16", 2), ("sigmoid", 1), ("sigmoid", 2), ("sigmoid", 4), ("walsh", 3), ("sigmoid", 6)]


def reference(layer, x):
    """A layer in plain PyTorch: the multilinear interpolation of the tables at the inputs."""
    weight = layer.weight
    if layer.parametrisation == "softmax16":
        # Gate k has the entries f(0,0), f(1,0), f(0,1), f(1,1) at bits 3, 1, 2, 0 of k.
        k = torch.arange(16)
        entries = torch.stack([k >> 3 & 1, k >> 1 & 1, k >> 2 & 1, k & 1], dim=1).to(weight.dtype)
        tables = torch.softmax(weight, dim=1) @ entries
    elif layer.parametrisation == "sigmoid":
        tables = torch.sigmoid(weight)
    else:
        count = weight.shape[1]
        signs = torch.tensor(
            [[np.prod([1.0 if e >> j & 1 else -1.0 for j in range(layer.arity) if s >> j & 1]) for s in range(count)]
             for e in range(count)], dtype=weight.dtype)
        tables = torch.sigmoid(weight @ signs.t())
    inputs = x[..., layer.wires.long()]  # [..., arity, gates]
    y = 0
    for entry in range(2**layer.arity):
        term = tables[:, entry]
        for j in range(layer.arity):
            term = term * (inputs[..., j, :] if entry >> j & 1 else 1 - inputs[..., j, :])
        y = y + term
    return y


def layer_of(kind, arity, inputs=7, gates=11, **options):
    return LogicLayer(inputs, gates, parametrisation=kind, arity=arity, init="gaussian", seed=3, **options)


@pytest.mark.parametrize(("kind", "arity"), KINDS)
def test_layers_and_gradients_are_those_of_plain_pytorch(kind, arity):
    layer = layer_of(kind, arity)
    x = torch.rand(2, 5, 7, requires_grad=True)
    upstream = torch.rand(2, 5, 11)
    expected = torch.autograd.grad(reference(layer, x), [x, layer.weight], upstream)
    received = torch.autograd.grad(layer(x), [x, layer.weight], upstream)
    torch.testing.assert_close(layer(x), reference(layer, x))
    torch.testing.assert_close(received, expected)


@pytest.mark.parametrize(("kind", "arity"), KINDS)
def test_gradcheck_and_opcheck(kind, arity):
    layer = layer_of(kind, arity, dtype=torch.float64)
    x = torch.rand(5, 7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: torch.func.functional_call(layer, {"weight": w}, x), (x, layer.weight))
    weight = layer.weight.detach().clone().requires_grad_()
    torch.library.opcheck(btorch.soft_tables, (weight, kind))
    torch.library.opcheck(btorch.hard_tables, (weight.detach(), kind))
    tables = btorch.soft_tables(weight.detach(), kind).requires_grad_()
    columns = x.detach().t().contiguous().requires_grad_()
    torch.library.opcheck(btorch.lut_layer, (columns, tables, layer._handles[0].number, 1.0))
    torch.library.opcheck(btorch.lut_layer, (columns.detach(), tables, layer._handles[0].number, 0.5))


def test_gradient_factor():
    layer, scaled = layer_of("softmax16", 2), layer_of("softmax16", 2, gradient_factor=2.0)
    x = torch.rand(5, 7, requires_grad=True)
    (gx, gw), (sx, sw) = (torch.autograd.grad(one(x).sum(), [x, one.weight]) for one in (layer, scaled))
    torch.testing.assert_close(sx, 2 * gx)
    torch.testing.assert_close(sw, gw)


def small_model(**options):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Flatten(), LogicLayer(16, 64, **options), LogicLayer(64, 40, **options), GroupSum(4, tau=5.0))


@pytest.mark.parametrize(("kind", "arity"), [("softmax16", 2), ("sigmoid", 4)])
def test_evaluation_is_hard_and_that_of_the_circuit(kind, arity):
    model = small_model(parametrisation=kind, arity=arity, init="gaussian").eval()
    bits = torch.randint(0, 2, (100, 16))
    circuit = btorch.to_netlist(model)
    votes = circuit.evaluate(bits.numpy()).reshape(100, 4, 10).sum(axis=2)
    np.testing.assert_array_equal((5 * model(bits.float())).numpy(), votes)
    assert circuit.simplify().equivalent(circuit)
    assert not torch.equal(model.train()(bits.float()), model.eval()(bits.float()))


def test_learning():
    torch.manual_seed(0)
    x = torch.rand(500, 6)
    binarise = Binarise.fit(x, thresholds=3)
    bits = binarise(x)
    y = bits[:, 1].long() ^ bits[:, 10].long()
    model = torch.nn.Sequential(binarise, LogicLayer(18, 256), LogicLayer(256, 256), GroupSum(2, tau=4))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(150):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimiser.step()
    assert (model.eval()(x).argmax(dim=1) == y).float().mean() > 0.95


def test_state_dicts_contain_wires():
    a, b = small_model(), small_model(wiring="random")
    torch.manual_seed(9)
    other = torch.nn.Sequential(torch.nn.Flatten(), LogicLayer(16, 64), LogicLayer(64, 40), GroupSum(4, tau=5.0))
    x = torch.rand(10, 4, 4)
    assert torch.equal(a(x), b(x)) and not torch.equal(a(x), other(x))
    other.load_state_dict(a.state_dict())
    assert torch.equal(a(x), other(x))
    torch.save(a.state_dict(), "model.pt")
    other.load_state_dict(torch.load("model.pt", weights_only=True))
    for copied in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert torch.equal(a(x), copied(x))
        assert copied[1]._handles[0] is not a[1]._handles[0]
    assert sorted(a.state_dict()) == ["1.weight", "1.wires", "2.weight", "2.wires"]


def test_wirings_are_removed_with_their_layers():
    before = len(btorch._wirings)
    model = small_model()
    copy.deepcopy(model)
    assert len(btorch._wirings) == before + 2
    del model
    assert len(btorch._wirings) == before


def test_layers_chain_without_copies():
    layer = LogicLayer(16, 64)
    y = layer(torch.rand(10, 16))
    assert y.t().is_contiguous() and not y.is_contiguous()
    np.testing.assert_equal(btorch._array(y.t()).ctypes.data, y.data_ptr())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    model = small_model()
    x = torch.rand(10, 4, 4)
    y = model(x.to(dtype))
    assert y.dtype == dtype
    torch.testing.assert_close(y.float(), model(x.to(dtype).float()), atol=0.02, rtol=0.02)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(model(x), model(x), rtol=0, atol=0)
    half = copy.deepcopy(model).to(dtype)
    half(x.to(dtype)).sum().backward()
    assert half[1].weight.grad.dtype == dtype


def test_compile():
    model = small_model()
    x = torch.rand(10, 4, 4, requires_grad=True)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), model(x))
    compiled(x).sum().backward()
    received = model[1].weight.grad.clone()
    model.zero_grad()
    model(x).sum().backward()
    torch.testing.assert_close(received, model[1].weight.grad)
    torch.testing.assert_close(torch.compile(model.eval(), backend="aot_eager", fullgraph=True)(x), model(x))


def test_threads():
    model = small_model()
    x = torch.rand(1000, 4, 4)
    expected = model(x)
    results = [None, None]

    def work(i):
        for _ in range(20):
            results[i] = model(x)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(result, expected) for result in results)


def conv_reference(layer, x):
    """A convolution as layers of all its gates, in plain PyTorch."""
    y = x.flatten(1)
    for level, (_, positions) in enumerate(layer._levels):
        wires, outside = getattr(layer, f"wires_{level}").long(), getattr(layer, f"outside_{level}")
        values = y[:, wires]  # [n, arity, gates]
        if outside is not None:
            inside = 1 - torch.stack([outside >> j & 1 for j in range(len(wires))])
            values = values * inside
        logits = layer.weights[level].repeat_interleave(positions, dim=0)
        entries = torch.tensor([[k >> 3 & 1, k >> 1 & 1, k >> 2 & 1, k & 1] for k in range(16)], dtype=x.dtype)
        tables = torch.softmax(logits, dim=1) @ entries
        a, b = values[:, 0], values[:, 1]
        y = (tables[:, 0] * (1 - a) * (1 - b) + tables[:, 1] * a * (1 - b) + tables[:, 2] * (1 - a) * b
             + tables[:, 3] * a * b)
    return y.reshape(len(x), *layer.out_shape)


def test_convolutions():
    layer = LogicConv2d(3, (6, 5), 4, 3, padding=1, stride=2, depth=3, init="gaussian", seed=1, dtype=torch.float64)
    assert layer.out_shape == (4, 3, 3)
    x = torch.rand(4, 3, 6, 5, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(layer(x), conv_reference(layer, x))
    upstream = torch.rand(4, *layer.out_shape, dtype=torch.float64)
    parameters = [x, *layer.weights]
    torch.testing.assert_close(torch.autograd.grad(layer(x), parameters, upstream),
                               torch.autograd.grad(conv_reference(layer, x), parameters, upstream))
    with pytest.raises(ValueError, match=r"expected images \[n, 3, 6, 5\], received shape \[4, 3, 5, 6\]"):
        layer(x.transpose(2, 3))


def test_pooling():
    pool = OrPool2d(2, (3, 6, 5))
    x = torch.rand(4, 3, 6, 5, requires_grad=True)
    torch.testing.assert_close(pool(x), torch.nn.functional.max_pool2d(x, 2))
    upstream = torch.rand(4, 3, 3, 2)
    torch.testing.assert_close(torch.autograd.grad(pool(x), x, upstream),
                               torch.autograd.grad(torch.nn.functional.max_pool2d(x, 2), x, upstream))
    ties = torch.ones(1, 3, 6, 5, requires_grad=True)
    pool(ties).sum().backward()
    assert (ties.grad[..., :4] == 0.25).all() and (ties.grad[..., 4] == 0).all()


def test_a_convolutional_network_and_its_circuit():
    torch.manual_seed(0)
    first = LogicConv2d(1, (8, 8), 6, padding=1, depth=2, init="gaussian")
    pool = OrPool2d(2, first.out_shape)
    second = LogicConv2d(6, pool.out_shape[1:], 8, depth=2, init="gaussian")
    last = LogicLayer(32, 40, init="gaussian")
    model = torch.nn.Sequential(first, pool, second, torch.nn.Flatten(), last, GroupSum(4))
    model(torch.rand(3, 1, 8, 8)).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
    bits = torch.randint(0, 2, (50, 1, 8, 8))
    votes = btorch.to_netlist(model).evaluate(bits.flatten(1).numpy()).reshape(50, 4, 10).sum(axis=2)
    np.testing.assert_array_equal(model.eval()(bits.float()).numpy(), votes)
    other = copy.deepcopy(model)
    other.load_state_dict(pickle.loads(pickle.dumps(model)).state_dict())
    assert torch.equal(other(bits.float()), model(bits.float()))


def test_binarise():
    x = torch.tensor([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    binarise = Binarise.fit(x, thresholds=3)
    bits = binarise(x)
    assert bits.shape == (4, binarise.out_features) and set(bits.unique().tolist()) == {0.0, 1.0}
    for bit in range(binarise.out_features):
        expected = x[:, binarise.features[bit]] > binarise.thresholds[bit]
        assert torch.equal(bits[:, bit].bool(), expected)
    assert torch.equal(binarise(x.reshape(2, 2, 2)), bits.reshape(2, 2, -1))
    one = Binarise(2, [1], [5.5])
    assert one(x).tolist() == [[0.0], [0.0], [1.0], [1.0]]


def test_group_sum():
    x = torch.rand(3, 12)
    torch.testing.assert_close(GroupSum(4, tau=2.0, beta=1.0)(x), (x.reshape(3, 4, 3).sum(2) + 1) / 2)


def test_errors():
    for call, message in [
        (lambda: LogicLayer(8, 4)(torch.rand(3, 7)), r"expected 8 input features, received shape \[3, 7\]"),
        (lambda: LogicLayer(8, 4, arity=3), "expected gates of 2 inputs, received 3"),
        (lambda: LogicLayer(8, 4, parametrisation="magic"), "received magic"),
        (lambda: LogicLayer(8, 4, wiring="magic"), "expected the wiring random, unique or butterfly, received magic"),
        (lambda: LogicLayer(8, 4, wiring=torch.zeros(2, 3)), r"expected wires of shape \[2, 4\], received \[2, 3\]"),
        (lambda: LogicLayer(8, 4, wiring=torch.full((2, 4), 8)), "8"),
        (lambda: GroupSum(3)(torch.rand(2, 7)), r"expected a multiple of 3 outputs, received shape \[2, 7\]"),
        (lambda: Binarise(2, [0, 1], [0.5]), "expected as many features as thresholds"),
        (lambda: btorch.to_netlist(torch.nn.Linear(2, 2)), "expected a model with a LogicLayer or LogicConv2d, received none"),
    ]:
        with pytest.raises(boolgrad.Error, match=message):
            call()


def test_difflogic():
    from boolgrad.compat.difflogic import CompiledLogicNet, GroupSum, LogicLayer

    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Flatten(),
        LogicLayer(16, 80, device="cpu", grad_factor=2.0, implementation="python", connections="random"),
        LogicLayer(80, 80, connections="unique"),
        GroupSum(k=4, tau=10),
    )
    first = model[1]
    assert first.weight.shape == (80, 16) and first.num_neurons == 80 and len(first.indices) == 2
    counts = torch.bincount(first.wires.flatten(), minlength=16)
    assert counts.min() >= 10 and counts.max() <= 10
    bits = torch.randint(0, 2, (100, 4, 4))
    compiled = CompiledLogicNet(model, num_bits=64)
    with pytest.raises(ValueError, match="after compile"):
        compiled(bits)
    compiled.compile(save_lib_path="net.h")
    np.testing.assert_allclose(compiled(bits).numpy(), 10 * model.eval()(bits.float()).numpy())
    assert open("net.h").read() and "circuit_eval(const uint64_t" in compiled.get_c_code()


def test_gates_have_the_order_of_difflogic():
    """The sixteen functions of difflogic, in its order: `bin_op(a, b, i)`."""
    from boolgrad.compat.difflogic import LogicLayer

    a, b = torch.rand(2, 20)
    functions = [
        torch.zeros_like(a), a * b, a - a * b, a, b - a * b, b, a + b - 2 * a * b, a + b - a * b,
        1 - (a + b - a * b), 1 - (a + b - 2 * a * b), 1 - b, 1 - b + a * b, 1 - a, 1 - a + a * b, 1 - a * b,
        torch.ones_like(a),
    ]
    layer = LogicLayer(2, 16, connections="random").eval()
    layer.wires.copy_(torch.tensor([[0] * 16, [1] * 16]))
    layer._make_wirings()
    with torch.no_grad():
        layer.weight.copy_(torch.eye(16))
    torch.testing.assert_close(layer(torch.stack([a, b], dim=1)), torch.stack(functions, dim=1))


TORCHLOGIX = [("raw", 2, "soft"), ("raw", 2, "hard"), ("warp", 1, "soft"), ("warp", 2, "soft"), ("warp", 4, "soft"),
              ("warp", 4, "hard"), ("warp", 6, "soft"), ("light", 2, "soft"), ("light", 4, "soft"), ("light", 6, "hard")]


@pytest.mark.parametrize(("kind", "rank", "sampling"), TORCHLOGIX)
def test_torchlogix(kind, rank, sampling):
    """Next to torchlogix, where it is installed: the same outputs, gradients and tables for the same state."""
    theirs = pytest.importorskip("torchlogix.layers", reason="torchlogix is not installed, or needs a newer Python")
    from boolgrad.compat import torchlogix as ours

    torch.manual_seed(0)
    options = {"lut_rank": rank, "parametrization": kind, "grad_factor": 1.5,
               "parametrization_kwargs": {"temperature": 1.3, "weight_init": "random", "forward_sampling": sampling}}
    a, b = (package.LogicDense(16, 40, **options) for package in (theirs, ours))
    b.load_state_dict(a.state_dict())
    a.load_state_dict(b.state_dict())
    x = torch.rand(20, 16, requires_grad=True)
    upstream = torch.rand(20, 40)
    torch.testing.assert_close(b(x), a(x), atol=1e-5, rtol=1e-5)
    expected = torch.autograd.grad(a(x), [x, a.weight], upstream)
    received = torch.autograd.grad(b(x), [x, b.weight], upstream)
    torch.testing.assert_close(received, expected, atol=1e-5, rtol=1e-5)
    bits = torch.randint(0, 2, (50, 16)).float()
    torch.testing.assert_close(b.eval()(bits), a.eval()(bits))
    assert torch.equal(b.get_luts(), a.get_luts().bool())
    groups = torch.rand(3, 12)
    torch.testing.assert_close(ours.GroupSum(4, 2.0, 1.0)(groups), theirs.GroupSum(4, 2.0, 1.0)(groups))


@pytest.mark.parametrize(("kind", "rank", "sampling"), TORCHLOGIX + [("raw", 2, "gumbel_hard"), ("warp", 2, "gumbel_soft")])
def test_the_interface_of_torchlogix(kind, rank, sampling):
    from boolgrad.compat.torchlogix import GroupSum, LogicDense, OrPooling2d

    torch.manual_seed(0)
    options = {"lut_rank": rank, "parametrization": kind, "parametrization_kwargs": {"forward_sampling": sampling}}
    model = torch.nn.Sequential(LogicDense(16, 40, **options), LogicDense(40, 40, **options), GroupSum(4, tau=3.0))
    x = torch.rand(20, 16)
    model(x).sum().backward()
    assert model[0].weight.grad.abs().sum() > 0
    hard = model.eval()(x.round())
    assert torch.equal((3 * hard).round(), 3 * hard)
    # Residual gates pass on their first input.
    first = LogicDense(16, 40, **options).eval()
    passed = first(x.round()) == x.round()[:, first.connections.indices[0]]
    assert passed.float().mean() > 0.95
    assert copy.deepcopy(model)(x).equal(model(x))
    assert OrPooling2d(2, 2)(torch.eye(4)[None, None]).tolist() == [[[[1, 0], [0, 1]]]]
    for bad, message in [({"parametrization": "magic"}, "received magic"), ({"lut_rank": 5}, "received 5"),
                         ({"connections": "learnable"}, "expected the connections fixed, received learnable")]:
        with pytest.raises(ValueError, match=message):
            LogicDense(16, 40, **{**options, **bad})


CONVOLUTIONS = [
    ("raw", 2, {"in_dim": (7, 6), "receptive_field_size": 3, "padding": 1, "stride": 2}),
    ("raw", 2, {"in_dim": 6, "receptive_field_size": (2, 3)}),
    ("light", 2, {"in_dim": 6, "receptive_field_size": 3, "connections_kwargs": {"init_method": "random-unique"}}),
    ("warp", 4, {"in_dim": 6, "receptive_field_size": 3, "padding": 2}),
]


@pytest.mark.parametrize(("kind", "rank", "shape"), CONVOLUTIONS)
def test_convolutions_of_torchlogix(kind, rank, shape):
    theirs = pytest.importorskip("torchlogix.layers", reason="torchlogix is not installed, or needs a newer Python")
    from boolgrad.compat import torchlogix as ours

    torch.manual_seed(0)
    options = {**shape, "channels": 3, "num_kernels": 5, "tree_depth": 2, "lut_rank": rank, "parametrization": kind,
               "parametrization_kwargs": {"weight_init": "random"}}
    a, b = (package.LogicConv2d(**options) for package in (theirs, ours))
    b.load_state_dict(a.state_dict())
    a.load_state_dict(b.state_dict())
    x = torch.rand(4, 3, *b.in_dim, requires_grad=True)
    torch.testing.assert_close(b(x), a(x), atol=1e-5, rtol=1e-5)
    upstream = torch.rand_like(a(x))
    expected = torch.autograd.grad(a(x), [x, *a.tree_weights], upstream)
    received = torch.autograd.grad(b(x), [x, *b.tree_weights], upstream)
    torch.testing.assert_close(received, expected, atol=1e-5, rtol=1e-5)
    bits = torch.randint(0, 2, x.shape).float()
    torch.testing.assert_close(b.eval()(bits), a.eval()(bits))


@pytest.mark.parametrize(("kind", "rank", "shape"), CONVOLUTIONS)
def test_the_interface_of_convolutions(kind, rank, shape):
    from boolgrad.compat.torchlogix import GroupSum, LogicConv2d, LogicDense, OrPooling2d

    torch.manual_seed(0)
    convolution = LogicConv2d(**shape, channels=3, num_kernels=5, tree_depth=2, lut_rank=rank, parametrization=kind)
    x = torch.rand(4, 3, *convolution.in_dim)
    bits = 5 * np.prod([side // 2 for side in convolution.kernel_positions])
    model = torch.nn.Sequential(
        convolution, OrPooling2d(2, 2), torch.nn.Flatten(), LogicDense(int(bits), 60), GroupSum(3))
    model(x).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert torch.equal(copy.deepcopy(model).eval()(x.round()), model.eval()(x.round()))
    # A convolution is the same function at every position.
    if not shape.get("padding"):
        y, moved = convolution(x), convolution(x.roll(1, dims=3))
        torch.testing.assert_close(moved[..., 1:], y[..., :-1])
    with pytest.raises(ValueError, match="expected images"):
        convolution(torch.rand(4, 2, *convolution.in_dim))
