import json
import pathlib

import numpy as np
import pytest

import boolgrad
from conftest import flowers

TEXT = """
name = "small"
[task]
kind = "add"
bits = 4
[network]
hidden = [32, 16]
arity = 4
[training]
steps = 200
learning_rate = 0.2
log_every = 20
stop_when_solved = false
"""
KEYS = {
    "name": "small",
    "task": {"kind": "add", "bits": 4},
    "network": {"hidden": [32, 16], "arity": 4},
    "training": {"steps": 200, "learning_rate": 0.2, "log_every": 20, "stop_when_solved": False},
}


def without_times(history):
    return [{key: value for key, value in line.items() if key != "seconds"} for line in history]


def content(folder):
    return (pathlib.Path(folder) / "model.safetensors").read_bytes()


def test_every_way_to_give_an_experiment(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    expected = boolgrad.train(TEXT, out="text")
    assert expected.ending == "finished" and expected.metrics["step"] == 200
    for name, experiment in [("dict", KEYS), ("path", path), ("str", str(path))]:
        result = boolgrad.train(experiment, out=name)
        assert without_times(result.history) == without_times(expected.history)
        assert content(name) == content("text")
    dotted = {"name": "small", "task.kind": "add", "task.bits": 4, "network.hidden": (32, 16),
              "network.arity": np.int64(4), "training": KEYS["training"]}
    boolgrad.train(dotted, out="dotted")
    assert content("dotted") == content("text")


def test_the_result_is_that_of_the_command_line(tmp_path):
    import subprocess

    from boolgrad._data import PROGRAM

    (tmp_path / "small.toml").write_text(TEXT)
    subprocess.run([PROGRAM, "train", "small.toml", "--seed", "3", "--out", "program", "--quiet"], check=True)
    result = boolgrad.train("./small.toml", seed=3, out="python")
    assert content("program") == content("python")
    lines = [json.loads(line) for line in open("program/metrics.jsonl")]
    assert without_times(lines) == without_times(result.history)


def test_default_folder_and_named_changes():
    result = boolgrad.train(TEXT, seed=4, steps=10, overrides={"training.log_every": 5})
    assert result.folder == pathlib.Path("runs/small-4")
    assert [line["step"] for line in result.history] == [0, 5, 10]
    assert "seed = 4" in result.model.experiment
    result = boolgrad.train(TEXT, epochs=7, out="epochs")
    assert result.metrics["step"] == 7  # all cases are one batch
    result = boolgrad.train("add", steps=3, knockout=0.25, out="knockout")
    assert result.metrics["masked"] > 0


def test_iteration():
    run = boolgrad.train_iter(TEXT, out="a")
    assert run.steps == 0 and run.total_steps == 200 and run.result is None
    assert run.folder == pathlib.Path("a") and "kind = 'add'" in run.experiment
    seen = list(run)
    assert [line["step"] for line in seen] == list(range(0, 201, 20))
    assert run.steps == 200 and run.result.history == seen and run.result.metrics == seen[-1]
    assert list(run) == []
    assert run.result.model.predict(np.zeros((1, 4))).shape == (1, 3)


def test_stopped_and_resumed_gives_the_same_bits():
    boolgrad.train(TEXT, out="straight")
    with boolgrad.train_iter(TEXT, out="parts") as run:
        for metrics in run:
            if metrics["step"] >= 60:
                break
    assert run.result.ending == "stopped" and run.result.model is None
    assert not pathlib.Path("parts/model.safetensors").exists()
    result = boolgrad.train(TEXT, out="parts", resume=True, callbacks=lambda m: m["step"] >= 120)
    assert result.ending == "stopped" and result.metrics["step"] == 120
    result = boolgrad.train(out="parts", resume=True)  # the experiment is that of the checkpoint
    assert result.ending == "finished"
    assert content("parts") == content("straight")
    with pytest.raises(ValueError, match="the run was started with"):
        boolgrad.train(TEXT, out="parts", resume=True, overrides={"training.learning_rate": 0.1})
    with pytest.raises(boolgrad.Error, match="cannot read .*checkpoint.safetensors"):
        boolgrad.train(TEXT, out="nothing", resume=True)


def test_starts_from_a_circuit():
    circuit = ("netlist adder\n" + "".join(f"input x{i}\n" for i in range(4)) +
               "gate s 0110 x0 x2\ngate c 0001 x0 x2\ngate t 0110 x1 x3\ngate y1 0110 t c\n"
               "gate d 0001 x1 x3\ngate e 0111 t c\ngate y2 0111 d e\n"  # e should be t AND c
               "output y0 s\noutput y1 y1\noutput y2 y2\nend\n")
    pathlib.Path("adder.net").write_text(circuit)
    experiment = {"name": "adder", "task": {"kind": "add", "bits": 4},
                  "network": {"init_circuit": "adder.net"},
                  "training": {"steps": 40, "log_every": 20, "stop_when_solved": False}}
    result = boolgrad.train(experiment, out="straight")
    assert result.history[0]["hard_loss"] == 7
    assert result.notices == ["adder.net: network.hidden grows from [] to [4, 4]"]
    boolgrad.train(experiment, out="parts", callbacks=lambda m: m["step"] >= 20)
    pathlib.Path("adder.net").unlink()
    boolgrad.train(out="parts", resume=True)
    assert content("parts") == content("straight")
    with pytest.raises(boolgrad.Error, match="cannot read .*adder.net"):
        boolgrad.train(experiment, out="other")


def test_arrays_resume_too():
    data = flowers()
    arguments = {"data": data, "seed": 2, "steps": 100}
    boolgrad.train("table", out="straight", **arguments)
    boolgrad.train("table", out="parts", callbacks=lambda m: m["step"] >= 50, **arguments)
    boolgrad.train("table", out="parts", resume=True, **arguments)
    assert content("parts") == content("straight")


def test_arrays_are_the_same_samples_as_files(tmp_path):
    x, y = flowers()
    x = x.round(3)  # exact in decimal digits
    header = "a,b,c,d,e,kind\n"
    rows = "".join(",".join(repr(float(v)) for v in row) + f",{label}\n" for row, label in zip(x, y))
    (tmp_path / "flowers.csv").write_text(header + rows)
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv("flowers.csv")
    changes = {"seed": 1, "steps": 50, "overrides": {"data.test": 0.0}}
    from_file = boolgrad.train("table", data="flowers.csv", target="kind", out="file", **changes)
    from_arrays = boolgrad.train("table", data=(table[["a", "b", "c", "d", "e"]], table["kind"]), out="arrays", **changes)
    assert without_times(from_file.history) == without_times(from_arrays.history)
    assert from_arrays.model.classes == ["daisy", "rose"]
    assert from_arrays.model.feature_names == from_file.model.feature_names == ["a", "b", "c", "d", "e"]


def test_images():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, size=(200, 8, 8), dtype=np.uint8)
    y = x[:, 2:6, 2:6].mean(axis=(1, 2)) > 127
    overrides = {"training.max_shift": 1, "network.hidden": [200], "head.outputs": 100}
    result = boolgrad.train("table", data=(x, y), steps=20, overrides=overrides, out="a")
    assert result.model.predict(x.reshape(200, 64)).shape == (200,)
    colours = np.stack([x, x, x], axis=1)
    convolutions = {"convolution.kernels": [4], "network.hidden": [100], "head.outputs": 40, "binarise.thresholds": 2}
    result = boolgrad.train("table", data=(colours, y), steps=5, overrides=convolutions, out="b")
    assert result.model.features == 3 * 64
    with pytest.raises(ValueError, match="expected images for training.max_shift"):
        boolgrad.train("table", data=(x.reshape(200, 64), y), steps=5, overrides={"training.max_shift": 1})


def test_validation_samples_choose_the_model():
    x, y = flowers()
    result = boolgrad.train("table", data=(x, y), steps=100, out="a",
                            overrides={"data.validation": 0.25, "training.log_every": 10})
    best = max(result.history, key=lambda m: (m["hard_accuracy"], -m["soft_loss"]))
    assert result.best["hard_accuracy"] == best["hard_accuracy"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"experiment": "ad"}, "expected a TOML file or a built-in experiment .*received 'ad'"),
        ({"experiment": None}, "expected an experiment, or resume=True and out, received neither"),
        ({"experiment": 5}, "expected an experiment: a name, a dict, .*received int"),
        ({"experiment": {"training": {"step": 5}}}, "unknown key 'training.step', did you mean 'training.steps'"),
        ({"experiment": {"training": {"steps": "many"}}}, 'expected training.steps to be an integer from 1'),
        ({"experiment": {"training": {"steps": None}}}, "expected a bool, a number, a string or a list.*received NoneType"),
        ({"experiment": "add", "overrides": {"nothing": 1}}, "unknown key 'nothing'"),
        ({"experiment": "add", "steps": 5, "epochs": 5}, "expected a number of steps or of epochs, received both"),
        ({"experiment": "add", "device": "cuda:99"}, "no usable CUDA device|expected"),
        ({"experiment": "add", "data": (np.zeros((2, 2)), [0, 1])}, "expected the experiment of a classifier for data"),
        ({"experiment": "table"}, "table needs data"),
        ({"experiment": "table", "data": "missing.csv"}, "cannot read .*missing.csv"),
        ({"experiment": "table", "data": 5}, r"expected a path or \(x, y\) as data, received int"),
        ({"experiment": "table", "data": (np.zeros((3, 2)), [0, 1])}, r"expected one label per sample, y of shape \[3\]"),
        ({"experiment": "table", "data": (np.zeros((3, 2)), np.zeros((3, 2)))}, "expected one label per sample"),
        ({"experiment": "table", "data": (np.zeros((0, 2)), [])}, "expected at least one sample"),
        ({"experiment": "table", "data": (np.full((3, 2), np.nan), [0, 1, 0])}, "received NaN in sample 0, feature 0"),
        ({"experiment": "table", "data": (np.ones((3, 2)), [0, 1, 0])}, "expected at least one feature that varies"),
        ({"experiment": "table", "data": (np.eye(3), [1, 1, 1])}, "expected at least 2 classes"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(boolgrad.Error, match=message):
        boolgrad.train(**arguments)
    assert not pathlib.Path("runs").exists()


def test_an_exception_of_a_callback_leaves_a_checkpoint():
    def fail(metrics):
        if metrics["step"] == 40:
            raise RuntimeError("of the callback")

    with pytest.raises(RuntimeError, match="of the callback"):
        boolgrad.train(TEXT, out="a", callbacks=[fail])
    boolgrad.train(TEXT, out="straight")
    boolgrad.train(TEXT, out="a", resume=True)
    assert content("a") == content("straight")


def test_a_loss_that_is_not_finite():
    with pytest.raises(boolgrad.Error, match="the loss is nan; the state after step 0 was saved") as caught:
        boolgrad.train("table", data=flowers(), out="a", overrides={"head.temperature": 1e-38})
    assert caught.value.__context__ is None
    assert pathlib.Path("a/checkpoint.safetensors").exists()


def test_plots_and_progress(capsys):
    boolgrad.train(TEXT, steps=20, out="a", plots=True, callbacks=boolgrad.callbacks.Progress())
    assert pathlib.Path("a/losses.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().err.splitlines()
    assert len(printed) == 2 and printed[1].startswith("step      20  soft loss ")


def test_tensorboard():
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    result = boolgrad.train(TEXT, out="a", callbacks=[boolgrad.callbacks.TensorBoard("logs")])
    events = EventAccumulator("logs").Reload()
    logged = [(event.step, event.value) for event in events.Scalars("soft_loss")]
    expected = [(line["step"], pytest.approx(line["soft_loss"])) for line in result.history]
    assert logged == expected
