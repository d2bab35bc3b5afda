"""The modules for difflogic and torchlogix, next to these packages or to their definitions."""

import importlib
import importlib.util
import os
import pathlib
import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import boolgrad  # noqa: E402
from boolgrad.compat import difflogic as ours_difflogic  # noqa: E402
from boolgrad.compat import torchlogix as ours  # noqa: E402
from boolgrad.torch import LogicSequential, fuse, to_circuit, to_model  # noqa: E402

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def theirs():
    """torchlogix.layers. The package itself is not imported: its compiler of circuits needs Python 3.12 and packages
    that layers do not need. BOOLGRAD_TORCHLOGIX may name a folder with its unpacked wheel."""
    folder = os.environ.get("BOOLGRAD_TORCHLOGIX")
    spec = importlib.util.find_spec("torchlogix") if folder is None else None
    if folder is None and spec is None:
        pytest.skip("torchlogix is not installed: pip install --no-deps torchlogix==0.2.2")
    package = types.ModuleType("torchlogix")
    package.__path__ = [str(pathlib.Path(folder) / "torchlogix")] if folder else list(spec.submodule_search_locations)
    sys.modules["torchlogix"] = package
    return importlib.import_module("torchlogix.layers")


def difference(one, other):
    """The largest difference, relative to the largest value above 1. NaN counts as infinite."""
    scale = max(1.0, float(one.abs().max()))
    error = float((one - other).abs().max()) / scale
    return error if error == error else float("inf")


def compare(one, other, x, training=True):
    """Runs both modules with the same weights, wires and noise, forward and backward."""
    other.load_state_dict(one.state_dict())
    results = []
    for module in (one.train(training), other.train(training)):
        module.zero_grad()
        own = x.clone().requires_grad_()
        torch.manual_seed(3)
        y = module(own)
        values = [y.detach()]
        if training:
            weights = torch.linspace(-1, 1, y.numel()).view(y.shape)
            (y * weights).sum().backward()
            values += [own.grad] + [p.grad for p in module.parameters()]
        results.append(values)
    assert len(results[0]) == len(results[1])
    for first, second in zip(*results):
        assert first.shape == second.shape
        assert difference(first, second) <= TOLERANCE


def assert_twins(make_one, make_other):
    """Both modules, constructed after the same seed. They have the same state."""
    modules = []
    for make in (make_one, make_other):
        torch.manual_seed(7)
        modules.append(make())
    states = [module.state_dict() for module in modules]
    assert list(states[0]) == list(states[1])
    for name in states[0]:
        torch.testing.assert_close(states[0][name], states[1][name])
    return modules


def randomise(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()


CONNECTIONS = [("fixed", {}), ("fixed", {"init_method": "random-unique"}), ("learnable", {"num_candidates": 3}),
               ("learnable", {"num_candidates": 2, "gumbel": True, "temperature": 0.5}), ("learnable", {})]


@pytest.mark.parametrize("connections, connections_kwargs", CONNECTIONS)
@pytest.mark.parametrize("sampling", ["soft", "hard", "gumbel_soft", "gumbel_hard"])
@pytest.mark.parametrize("parametrization, rank",
                         [("raw", 2), ("light", 2), ("light", 4), ("light", 6), ("warp", 2), ("warp", 4), ("warp", 6)])
def test_dense_layers_equal_those_of_torchlogix(theirs, parametrization, rank, sampling, connections,
                                                connections_kwargs):
    arguments = dict(in_dim=40, out_dim=50, lut_rank=rank, parametrization=parametrization, grad_factor=1.5,
                     parametrization_kwargs={"forward_sampling": sampling, "temperature": 1.3},
                     connections=connections, connections_kwargs=connections_kwargs)
    one, other = assert_twins(lambda: theirs.LogicDense(**arguments), lambda: ours.LogicDense(**arguments))
    randomise(one)
    x = torch.rand(9, 40)
    compare(one, other, x)
    compare(one, other, x, training=False)
    torch.testing.assert_close(one.get_luts().bool(), other.get_luts())
    if rank <= 4:
        torch.testing.assert_close(one.get_luts_and_ids()[1], other.get_luts_and_ids()[1])


@pytest.mark.parametrize("arguments", [
    {"channels": 1, "padding": 1}, {"channels": 5, "stride": 2, "connections_kwargs": {"channel_group_size": 2}},
    {"channels": 2, "connections_kwargs": {"init_method": "random-unique"}, "grad_factor": 2.0}])
@pytest.mark.parametrize("sampling", ["soft", "hard"])
@pytest.mark.parametrize("parametrization, rank", [("raw", 2), ("light", 2), ("warp", 2), ("light", 4), ("warp", 4)])
def test_convolutions_equal_those_of_torchlogix(theirs, parametrization, rank, sampling, arguments):
    if rank == 4 and arguments.get("connections_kwargs", {}).get("init_method"):
        pytest.skip("torchlogix lists all tuples of four places, which takes minutes")
    arguments = dict(in_dim=(9, 8), num_kernels=4, tree_depth=3 if rank == 2 else 2, receptive_field_size=3,
                     lut_rank=rank, parametrization=parametrization,
                     parametrization_kwargs={"forward_sampling": sampling}, **arguments)
    one, other = assert_twins(lambda: theirs.LogicConv2d(**arguments), lambda: ours.LogicConv2d(**arguments))
    randomise(one)
    x = torch.rand(5, arguments["channels"], 9, 8)
    compare(one, other, x)
    compare(one, other, x, training=False)


@pytest.mark.parametrize("parametrization", ["raw", "light", "warp"])
@pytest.mark.parametrize("weight_init", ["residual", "random"])
def test_initial_weights_equal_those_of_torchlogix(theirs, parametrization, weight_init):
    arguments = dict(in_dim=20, out_dim=30, parametrization=parametrization,
                     parametrization_kwargs={"weight_init": weight_init, "residual_probability": 0.9})
    assert_twins(lambda: theirs.LogicDense(**arguments), lambda: ours.LogicDense(**arguments))


def test_pools_and_sums_equal_those_of_torchlogix(theirs):
    for arguments in [(2, 2), (2, 2, 1), (3, 2, 1), (3, 3)]:
        compare(theirs.OrPooling2d(*arguments), ours.OrPooling2d(*arguments), torch.rand(3, 2, 9, 8))
    compare(theirs.GroupSum(5, 2.0, 0.5), ours.GroupSum(5, 2.0, 0.5), torch.rand(3, 20))


def convolutional_model(layers, sequence=torch.nn.Sequential):
    """The example model for MNIST, smaller."""
    common = {"parametrization": "light"}
    return sequence(
        layers.LogicConv2d(in_dim=28, num_kernels=4, channels=1, tree_depth=3, receptive_field_size=5, **common),
        layers.OrPooling2d(kernel_size=2, stride=2, padding=0),
        layers.LogicConv2d(in_dim=12, channels=4, num_kernels=12, tree_depth=3, receptive_field_size=3, **common),
        layers.OrPooling2d(kernel_size=2, stride=2, padding=1),
        torch.nn.Flatten(),
        layers.LogicDense(in_dim=12 * 36, out_dim=400, **common),
        layers.LogicDense(in_dim=400, out_dim=200, **common),
        layers.GroupSum(10, tau=4.0))


@pytest.mark.parametrize("change", [lambda model: model, fuse])
def test_whole_models_equal_those_of_torchlogix(theirs, change):
    one, other = assert_twins(lambda: convolutional_model(theirs), lambda: convolutional_model(ours))
    x = torch.rand(6, 1, 28, 28)
    compare(one, change(other), x)
    compare(one, change(other), x.round(), training=False)


@pytest.mark.parametrize("change", [lambda model: model, fuse])
def test_gradients_of_ties_are_those_of_torchlogix(theirs, change):
    """On bits, the values of a pooled square often tie."""

    def model(layers):
        return torch.nn.Sequential(
            layers.LogicConv2d(in_dim=12, num_kernels=6, tree_depth=3, receptive_field_size=3, padding=1),
            layers.OrPooling2d(kernel_size=2, stride=2))

    one, other = assert_twins(lambda: model(theirs), lambda: model(ours))
    randomise(one)
    x = torch.randint(0, 2, (20, 1, 12, 12)).float()
    with torch.no_grad():
        values = torch.nn.functional.unfold(one[0](x), 2, stride=2).view(20, 6, 4, -1).sort(2).values
    assert (values[:, :, 3] == values[:, :, 2]).float().mean() > 0.01
    compare(one, change(other), x)


def test_models_train_and_harden():
    torch.manual_seed(1)
    x = (torch.rand(128, 1, 28, 28) > 0.95).float()
    labels = torch.randint(0, 10, (128,))
    for i, label in enumerate(labels):  # a bar for each class
        x[i, 0, 2 * label + 3:2 * label + 6, 3:25] = 1
    model = convolutional_model(ours)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(150):
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    hard = model.eval()(x)
    predictor = to_model(model)
    assert np.array_equal(predictor.predict(x.flatten(1).numpy()), hard.argmax(1).numpy())


@pytest.mark.parametrize("parametrization, rank", [("raw", 2), ("light", 4), ("warp", 4)])
@pytest.mark.parametrize("connections", ["fixed", "learnable"])
def test_hard_layers_are_circuits(parametrization, rank, connections):
    torch.manual_seed(2)
    model = torch.nn.Sequential(ours.LogicDense(16, 40, lut_rank=rank, parametrization=parametrization,
                                                connections=connections),
                                ours.LogicDense(40, 20, lut_rank=rank, parametrization=parametrization)).eval()
    randomise(model)
    bits = torch.randint(0, 2, (200, 16))
    assert np.array_equal(to_circuit(model).simplify().evaluate(bits.to(torch.uint8).numpy()),
                          model(bits.float()).detach().numpy())


def test_hard_convolutions_are_circuits():
    torch.manual_seed(2)
    for parametrization in ("raw", "light", "warp"):
        model = torch.nn.Sequential(
            ours.LogicConv2d(6, 2, 3, tree_depth=2, receptive_field_size=3, padding=1, parametrization=parametrization),
            ours.OrPooling(2, 2)).eval()
        randomise(model)
        bits = torch.randint(0, 2, (100, 2, 6, 6))
        expected = model(bits.float()).flatten(1).detach().numpy()
        assert np.array_equal(to_circuit(model).evaluate(bits.flatten(1).to(torch.uint8).numpy()), expected)


def test_compiled_torchlogix_models():
    torch.manual_seed(0)
    for parametrization in ("raw", "light", "warp"):
        for connections in ("fixed", "learnable"):
            layer = ours.LogicDense(12, 16, parametrization=parametrization, connections=connections, grad_factor=2.0)
            x = torch.rand(5, 12)
            torch.testing.assert_close(torch.compile(layer, fullgraph=True)(x), layer(x))
    model = convolutional_model(ours, LogicSequential)
    x = torch.rand(2, 1, 28, 28)
    torch.testing.assert_close(torch.compile(model, fullgraph=True)(x), model(x))


@pytest.fixture(scope="module")
def public_models(theirs):
    """The modules torchlogix.models.dense and .conv twice: as they are, and with the layers of boolgrad in place of
    torchlogix.layers. Their sources are the same; only what they import differs."""
    names = ["dense", "conv"]
    original = [importlib.import_module(f"torchlogix.models.{name}") for name in names]
    changed = types.ModuleType("torchlogix_on_boolgrad")
    changed.__path__ = list(sys.modules["torchlogix"].__path__)
    layers = types.ModuleType("torchlogix_on_boolgrad.layers")
    layers.__path__ = list(theirs.__path__)  # for the binarisation, which boolgrad does not replace
    for name in ours.__all__:
        setattr(layers, name, getattr(ours, name))
    sys.modules.update({changed.__name__: changed, layers.__name__: layers})
    return dict(zip(names, zip(original, [importlib.import_module(f"{changed.__name__}.models.{name}")
                                          for name in names])))


def bars(count):
    """Images of 28x28 pixels with one of ten bars, and noise."""
    x = (torch.rand(count, 1, 28, 28) > 0.95).float()
    labels = torch.arange(count) % 10
    for image, label in zip(x, labels):
        image[0, 2 * label + 3:2 * label + 6, 3:25] = 1
    return x, labels


@pytest.mark.parametrize("module, name, arguments, steps", [
    ("dense", "DlgnMnistTiny", {"parametrization": "raw"}, 25),
    ("dense", "DlgnMnistTiny", {"parametrization": "light", "lut_rank": 4}, 25),
    ("dense", "DlgnMnist", {"neurons_per_layer": 600, "tau": 10.0, "parametrization": "raw", "connections": "learnable",
                            "connections_kwargs": {"num_candidates": 4}}, 25),
    ("conv", "ClgnMnist", {"k_num": 2, "tau": 6.5, "parametrization": "light"}, 40),
    ("conv", "ClgnMnist", {"k_num": 2, "tau": 6.5, "parametrization": "raw"}, 40),
])
def test_the_models_of_torchlogix_train_with_other_imports(public_models, module, name, arguments, steps):
    arguments = {"thresholds": torch.tensor([0.5]), "binarization": "dummy", "binarization_kwargs": {}, **arguments}
    one, other = assert_twins(*(lambda own=own: getattr(own, name)(**arguments) for own in public_models[module]))
    foreign = [type(part).__module__ for part in other.modules() if type(part).__module__.startswith("torchlogix.")]
    assert foreign == []
    torch.manual_seed(1)
    x, labels = bars(60)
    # On bits, values of a pooled square tie up to rounding, and gradients may go to either.
    compare(one, other, torch.rand(12, 1, 28, 28))
    compare(one, other, x[:12], training=False)
    optimiser = torch.optim.Adam(other.train().parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(other(x), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    one.load_state_dict(other.state_dict())
    for training in (True, False):
        with torch.no_grad():
            assert difference(one.train(training)(x), other.train(training)(x)) <= TOLERANCE


# ---------------------------------------------------------------------------------------------------------------------
# difflogic. Its extension needs CUDA to build, so the definitions of its README and paper are the reference.


GATES = [lambda a, b: 0 * a, lambda a, b: a * b, lambda a, b: a - a * b, lambda a, b: a, lambda a, b: b - a * b,
         lambda a, b: b, lambda a, b: a + b - 2 * a * b, lambda a, b: a + b - a * b, lambda a, b: 1 - (a + b - a * b),
         lambda a, b: 1 - (a + b - 2 * a * b), lambda a, b: 1 - b, lambda a, b: 1 - b + a * b, lambda a, b: 1 - a,
         lambda a, b: 1 - a + a * b, lambda a, b: 1 - a * b, lambda a, b: 0 * a + 1]


class Reference(torch.nn.Module):
    """A layer of difflogic: sixteen gates, weighted by a softmax."""

    def __init__(self, layer):
        super().__init__()
        self.weights = torch.nn.Parameter(layer.weights.detach().clone())
        self.indices = layer.indices
        self.grad_factor = layer.grad_factor

    def forward(self, x):
        if self.grad_factor != 1:
            x = x * self.grad_factor + (x - x * self.grad_factor).detach()
        a, b = x[..., self.indices[0]], x[..., self.indices[1]]
        shares = self.weights.softmax(-1)
        if not self.training:
            shares = torch.nn.functional.one_hot(self.weights.argmax(-1), 16).float()
        return sum(shares[..., i] * gate(a, b) for i, gate in enumerate(GATES))


@pytest.mark.parametrize("connections", ["random", "unique"])
@pytest.mark.parametrize("grad_factor", [1.0, 2.0])
def test_layers_equal_those_of_difflogic(connections, grad_factor):
    torch.manual_seed(0)
    layer = ours_difflogic.LogicLayer(30, 40, device="cpu", grad_factor=grad_factor, implementation="python",
                                      connections=connections)
    reference = Reference(layer)
    x = torch.rand(8, 30)
    for training in (True, False):
        results = []
        for module in (reference.train(training), layer.train(training)):
            own = x.clone().requires_grad_()
            module.zero_grad()
            y = module(own)
            y.square().sum().backward()
            results.append([y.detach(), own.grad] + ([module.weights.grad] if training else []))
        for one, other in zip(*results):
            assert difference(one, other) <= TOLERANCE


def test_every_gate_is_that_of_difflogic():
    layer = ours_difflogic.LogicLayer(2, 16)
    layer.indices = (torch.zeros(16, dtype=torch.long), torch.ones(16, dtype=torch.long))
    with torch.no_grad():
        layer.weights.copy_(torch.eye(16))
    bits = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    expected = torch.stack([gate(bits[:, 0], bits[:, 1]) for gate in GATES], 1)
    assert torch.equal(layer.eval()(bits), expected)


def test_wires_follow_the_seed_as_in_difflogic():
    torch.manual_seed(4)
    layer = ours_difflogic.LogicLayer(30, 40)
    torch.manual_seed(4)
    weights = torch.randn(40, 16)
    places = torch.randperm(80) % 30
    sources = torch.randperm(30)[places].reshape(2, 40)
    assert torch.equal(layer.weights, weights)
    assert torch.equal(torch.stack(layer.indices), sources)


def test_unique_connections():
    first, second = ours_difflogic.get_unique_connections(7, 15)
    pairs = {(min(p), max(p)) for p in zip(first.tolist(), second.tolist())}
    assert len(pairs) == 15 and all(a != b for a, b in pairs)
    assert {(0, 1), (2, 3), (4, 5), (1, 2), (3, 4), (5, 6)} <= pairs
    with pytest.raises(boolgrad.ArgumentError, match="expected at most 21 gates with unique pairs of 7 inputs"):
        ours_difflogic.get_unique_connections(7, 22)


def difflogic_model():
    return torch.nn.Sequential(torch.nn.Flatten(), ours_difflogic.LogicLayer(64, 200),
                               ours_difflogic.LogicLayer(200, 100), ours_difflogic.GroupSum(k=10, tau=5.0))


def test_weights_of_difflogic_load_without_wires():
    torch.manual_seed(0)
    model = difflogic_model()
    state = {name: torch.randn_like(value) for name, value in model.state_dict().items() if "weights" in name}
    wires = model[1].wires.clone()
    model.load_state_dict(state)
    assert torch.equal(model[1].wires, wires) and torch.equal(model[1].weights, state["1.weights"])
    assert list(state) == ["1.weights", "2.weights"]
    other = difflogic_model()
    other.load_state_dict(model.state_dict())
    x = torch.rand(5, 64)
    torch.testing.assert_close(other(x), model(x))


def test_the_example_of_difflogic_trains_and_compiles(tmp_path):
    torch.manual_seed(0)
    labels = torch.randint(0, 10, (256,))
    patterns = torch.randint(0, 2, (10, 8, 8))
    x = (patterns[labels] ^ (torch.rand(256, 8, 8) < 0.1)).float()  # a pattern for each class, and noise
    model = difflogic_model()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(150):
        loss = torch.nn.CrossEntropyLoss()(model(x), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] * 0.6
    model.eval()
    expected = model(x) * 5
    compiled = ours_difflogic.CompiledLogicNet(model=model, num_bits=64, cpu_compiler="gcc", verbose=False)
    compiled.compile(opt_level=1, save_lib_path=str(tmp_path / "net.so"))
    sums = compiled(x.flatten(1).bool())
    assert sums.dtype == torch.int32 and torch.equal(sums.float(), expected.round())
    loaded = ours_difflogic.CompiledLogicNet.load(str(tmp_path / "net.so"), 10, 64)
    assert torch.equal(loaded(x.flatten(1).bool().numpy()), sums)
    assert "circuit" in compiled.get_c_code()
    packed = model[1:](ours_difflogic.PackBitsTensor(x.flatten(1).bool()))
    assert torch.equal(packed, sums.long())


def test_the_experiment_of_difflogic_runs_with_other_imports(tmp_path):
    """What experiments/main.py of difflogic does with its layers: model, training, evaluations, compiling."""
    from boolgrad.compat.difflogic import CompiledLogicNet, GroupSum, LogicLayer, PackBitsTensor

    torch.manual_seed(0)
    x, labels = bars(200)
    options = {"grad_factor": 1.0, "connections": "unique"}
    layers = [torch.nn.Flatten(), LogicLayer(in_dim=784, out_dim=1000, **options)]
    layers += [LogicLayer(in_dim=1000, out_dim=1000, **options) for _ in range(5)]
    assert sum(layer.num_neurons for layer in layers[1:]) == sum(layer.num_weights for layer in layers[1:]) == 6000
    model = torch.nn.Sequential(*layers, GroupSum(10, 10.0)).to("cpu")
    loss_fn = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(60):
        loss = loss_fn(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]

    with torch.no_grad():
        reference = torch.nn.Sequential(*[Reference(part) if isinstance(part, LogicLayer) else part for part in model])
        for mode in (True, False):
            scores = model.train(mode=mode)(x.round())
            assert difference(reference.train(mode=mode)(x.round()), scores) <= TOLERANCE
        packed = model(PackBitsTensor(x.reshape(len(x), -1).round().bool()))
        assert torch.equal(packed.argmax(-1), scores.argmax(-1))
    compiled = CompiledLogicNet(model=model, num_bits=64, cpu_compiler="gcc", verbose=True)
    compiled.compile(opt_level=1, save_lib_path=str(tmp_path / "net.so"), verbose=False)
    assert torch.equal(compiled(torch.nn.Flatten()(x).bool().numpy(), verbose=True).argmax(-1), scores.argmax(-1))


@pytest.mark.parametrize("call, message", [
    (lambda: ours_difflogic.LogicLayer(30, 40, device="cuda"), "expected the device cpu, received 'cuda'"),
    (lambda: ours_difflogic.LogicLayer(30, 10), "expected at least half as many gates as inputs"),
    (lambda: ours_difflogic.LogicLayer(30, 40, connections="all"), "expected the connections random or unique"),
    (lambda: ours_difflogic.CompiledLogicNet(torch.nn.Sequential(ours_difflogic.LogicLayer(4, 4))),
     "expected GroupSum as the last layer, received LogicLayer"),
    (lambda: ours_difflogic.CompiledLogicNet(difflogic_model())(torch.zeros(1, 64).bool()), r"expected compile\(\)"),
    (lambda: ours.LogicDense(30, 40, device="cuda"), "expected the device cpu"),
    (lambda: ours.LogicDense(30, 40, lut_rank=3, parametrization="light"), "expected a lut_rank of 2, 4, 6 for light"),
    (lambda: ours.LogicDense(30, 40, parametrization="walsh"), "expected the parametrization raw, warp or light"),
    (lambda: ours.LogicDense(30, 40, connections="all"), "expected the connections fixed or learnable"),
    (lambda: ours.LogicDense(30, 10), "enough gates to read them all"),
    (lambda: ours.LogicConv2d(8, 1, 4), "expected a tree_depth of at least 1, received None"),
    (lambda: ours.LogicConv2d(8, 1, 4, 2, receptive_field_size=(2, 3)), "expected a square receptive field"),
])
def test_messages(call, message):
    with pytest.raises(boolgrad.ArgumentError, match=message):
        call()
