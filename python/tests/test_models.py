import copy
import pickle

import numpy as np
import pytest

import boolgrad
from conftest import flowers

ALL_CASES = np.arange(256)[:, None] >> np.arange(8) & 1


def numbers(bits):
    return bits @ (1 << np.arange(bits.shape[1]))


def test_a_circuit_adds(adder):
    sums = numbers(adder.predict(ALL_CASES).astype(int))
    np.testing.assert_array_equal(sums, numbers(ALL_CASES[:, :4]) + numbers(ALL_CASES[:, 4:]))
    soft = adder.predict_soft(ALL_CASES)
    assert soft.dtype == np.float32 and soft.shape == (256, 5)
    np.testing.assert_array_equal(soft.round(), adder.predict(ALL_CASES))
    assert (adder.inputs, adder.outputs, adder.name) == (8, 5, "add")


def test_load_gives_the_kind_of_the_model(trained, adder):
    folder = trained("add").folder
    assert isinstance(boolgrad.load(folder / "model.safetensors"), boolgrad.CircuitModel)
    assert isinstance(boolgrad.load(str(folder / "checkpoint.safetensors")), boolgrad.CircuitModel)
    assert boolgrad.CircuitModel.load(folder / "model.safetensors").name == "add"
    with pytest.raises(ValueError, match="expected an automaton, received a circuit"):
        boolgrad.Automaton.load(folder / "model.safetensors")
    with pytest.raises(boolgrad.Error, match="missing.safetensors"):
        boolgrad.load("missing.safetensors")


def test_a_classifier_predicts(classifier):
    x, y = flowers(300, seed=5)
    assert classifier.classes == ["daisy", "rose"]
    assert classifier.features == 5 and classifier.feature_names == ["x0", "x1", "x2", "x3", "x4"]
    predicted = classifier.predict(x)
    assert predicted.dtype == np.int32
    assert (np.array(classifier.classes)[predicted] == y).mean() > 0.9
    hard, soft, sums = classifier.predict_proba(x), classifier.predict_soft(x), classifier.sums(x)
    for p in (hard, soft):
        assert p.shape == (300, 2)
        np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(hard.argmax(axis=1), predicted)
    np.testing.assert_array_equal(sums.argmax(axis=1), predicted)
    assert (soft.argmax(axis=1) == predicted).mean() > 0.9
    assert np.abs(hard - soft).max() > 1e-3  # not the same computation


def test_predictions_are_those_of_the_exported_circuit(classifier):
    x, _ = flowers(300, seed=5)
    circuit = classifier.to_netlist(head=True)
    bits = x[:, classifier.threshold_features] > classifier.thresholds
    np.testing.assert_array_equal(numbers(circuit.evaluate(bits)), classifier.predict(x))
    votes = classifier.to_netlist().evaluate(bits)
    np.testing.assert_array_equal(votes.reshape(300, 2, -1).sum(axis=2), classifier.sums(x))


def test_importances_find_the_features_that_matter(classifier):
    x, _ = flowers(300, seed=5)
    importances = classifier.importances(x)
    assert importances.shape == (5,)
    assert importances[:2].min() > 3 * importances[2:].max()
    # One bit, by hand.
    bits = x[:, classifier.threshold_features] > classifier.thresholds
    circuit = classifier.to_netlist(head=True)
    expected = np.zeros(5)
    for bit in range(bits.shape[1]):
        flipped = bits.copy()
        flipped[:, bit] ^= True
        changed = numbers(circuit.evaluate(flipped)) != classifier.predict(x)
        expected[classifier.threshold_features[bit]] += changed.mean()
    np.testing.assert_allclose(importances, expected)


def test_regression():
    x, _ = flowers()
    y = 3 * x[:, 0] - x[:, 2]
    result = boolgrad.train(
        "table", data=(x, y), steps=300, seed=1, overrides={"head.kind": "regression"})
    model = result.model
    predicted = model.predict(x)
    assert predicted.dtype == np.float64 and model.classes == []
    assert np.corrcoef(predicted, y)[0, 1] > 0.9
    np.testing.assert_array_equal(model.predict_proba(x), predicted)
    assert np.abs(model.predict_soft(x) - predicted).mean() < 2
    assert model.importances(x).argmax() == 0


@pytest.mark.parametrize("kind", ["binary", "bits"])
def test_other_heads(kind):
    x, _ = flowers()
    y = (x[:, 0] > 0) * (1 if kind == "binary" else 2) + (0 if kind == "binary" else x[:, 1] > 0)
    model = boolgrad.train(
        "table", data=(x, y), steps=300, seed=1, overrides={"head.kind": kind}).model
    predicted = model.predict(x)
    assert (predicted == y).mean() > 0.9
    p = model.predict_proba(x)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == predicted).mean() > 0.99


@pytest.mark.parametrize("format", ["netlist", "c", "verilog", "blif", "aiger", "dot", "html"])
def test_export(classifier, adder, checkerboard, tmp_path, format):
    for model in (adder, classifier, checkerboard):
        report = model.export(format, tmp_path / "file", prove=model is adder)
        assert (tmp_path / "file").stat().st_size > 100
        assert report["format"] == format and 0 < report["gates"] <= report["gates_before"]
        assert report["proven"] is (model is adder)
    if format == "verilog":
        assert (tmp_path / "file_tb").exists() and report["test_bench"].endswith("file_tb")


def test_export_options(checkerboard, classifier):
    report = checkerboard.export("verilog", "array.v", size=(4, 4))
    assert "initial_state" in open("array.v").read() and report["proven"]
    classifier.export("verilog", "pipelined.v", pipeline=3, classes=2)
    assert "LATENCY" in open("pipelined.v").read()
    for options, message in [
        ({"format": "png"}, "expected the format netlist, c, verilog, .*received 'png'"),
        ({"format": "c", "size": (3, 3)}, "expected verilog with a pipeline or a size, received c"),
        ({"format": "verilog", "size": (3, 3), "pipeline": 1}, "received both"),
        ({"format": "verilog", "shared_kernels": True}, "expected a model that begins with convolutions"),
    ]:
        with pytest.raises(ValueError, match=message):
            classifier.export(path="no_file", **options)
    with pytest.raises(boolgrad.Error, match="cannot create missing/file: No such file"):
        classifier.export("c", "missing/file")


def test_inspect(adder, checkerboard, classifier):
    for model in (adder, checkerboard, classifier):
        seen = model.inspect()
        assert 0 < seen["active_gates"] <= seen["gates"] == sum(layer["gates"] for layer in seen["layers"])
        assert sum(seen["kinds"].values()) == seen["gates"]


def test_pickle_copies_and_files(adder, checkerboard, classifier, tmp_path):
    x, _ = flowers(50, seed=5)
    for model in (adder, checkerboard, classifier):
        model.save(tmp_path / "copy.safetensors")
        others = [pickle.loads(pickle.dumps(model)), boolgrad.load(tmp_path / "copy.safetensors"),
                  copy.copy(model), copy.deepcopy(model)]
        for other in others:
            assert type(other) is type(model) and repr(other) == repr(model)
            assert other.experiment == model.experiment
            assert other.to_netlist().to_text() == model.to_netlist().to_text()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(classifier)).predict_proba(x),
                                  classifier.predict_proba(x))
