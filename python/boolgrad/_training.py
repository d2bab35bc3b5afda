"""Training: experiments, data and callbacks from Python, the run itself in the compiled part."""

import dataclasses
import numbers
import os
import pathlib
import weakref

import numpy as np

from boolgrad import _core
from boolgrad._data import EXPERIMENTS, experiments
from boolgrad._errors import ArgumentError


def _toml_value(value):
    """A value as TOML."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value).replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text) + '"'
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml_value(one) for one in value) + "]"
    raise ArgumentError(
        "[experiment] expected a bool, a number, a string or a list as the value of a key, "
        f"received {type(value).__name__}"
    )


def _flat(keys, prefix=""):
    """The keys of nested dictionaries with their paths: `training.steps`."""
    for key, value in keys.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _toml(keys):
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in _flat(keys))


def _source(experiment):
    """The arguments of the compiled part that name the experiment."""
    if isinstance(experiment, dict):
        return {"text": _toml(experiment)}
    if isinstance(experiment, os.PathLike):
        return {"file": pathlib.Path(experiment)}
    if not isinstance(experiment, str):
        raise ArgumentError(
            "[train] expected an experiment: a name, a dict, the path of a TOML file, or TOML as "
            f"text, received {type(experiment).__name__}"
        )
    if "\n" in experiment or "=" in experiment:
        return {"text": experiment}
    if experiment.endswith(".toml") or "/" in experiment:
        return {"file": pathlib.Path(experiment)}
    names = experiments()
    if experiment not in names:
        raise ArgumentError(
            f"[train] expected a TOML file or a built-in experiment ({', '.join(names)}), "
            f"received '{experiment}'"
        )
    return {"file": EXPERIMENTS / f"{experiment}.toml"}


def _samples(data, wants_values):
    """The samples of (x, y) for the compiled part."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ArgumentError(
            f"[train] expected a path or (x, y) as data, received {type(data).__name__}"
        )
    x, y = data
    names = [str(name) for name in x.columns] if hasattr(x, "iloc") else []  # of a pandas table
    if wants_values:
        return _core._samples(x, np.ascontiguousarray(y, dtype=np.float32), [], names)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    return _core._samples(x, labels.reshape(np.shape(y)), [str(c) for c in classes], names)


@dataclasses.dataclass
class TrainResult:
    """What a run has left."""

    ending: str
    """`solved`, `finished` (all steps taken), `waited` (patience exhausted) or `stopped`."""
    model: object
    """The trained model: a `Classifier`, a `CircuitModel` or an `Automaton`; None if stopped."""
    metrics: dict
    """The last line of metrics."""
    best: dict | None
    """The line of metrics of the saved model, for classifiers."""
    history: list
    """All lines of metrics since the start or the resume."""
    folder: pathlib.Path
    """The folder of the run, with model, checkpoint and metrics."""
    notices: list
    """Keys without effect, and old names of keys."""


def _save(core):
    """Ends a run that was left before its end, with a checkpoint."""
    core.stop()
    core.finish()


class TrainingRun:
    """A run in progress: an iterator over lines of metrics, which takes the steps between them.

    A run that is left before its end, for example by an exception in the loop, is stopped with a checkpoint: at the
    end of its `with` block or, without one, when nothing refers to it any more.
    """

    def __init__(self, core, plots=False):
        self._core = core
        self._plots = plots
        self._history = []
        self._fresh = core.metrics["step"] == core.steps
        self._result = None
        # Called when the object is collected, and at the end of the program.
        self._saves_if_left = weakref.finalize(self, _save, core)

    def __iter__(self):
        return self

    def __next__(self):
        if self._result is not None:
            raise StopIteration
        try:
            # The first line was logged before the first step.
            while not self._fresh and not self._core.ended:
                # Short, so that Python looks after signals.
                self._fresh = self._core.advance(0.05)
        except KeyboardInterrupt:
            self.stop()
            raise
        if not self._fresh:
            self._finish()
            raise StopIteration
        self._fresh = False
        self._history.append(self._core.metrics)
        return self._history[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._result is None:
            self.stop()

    def stop(self):
        """Ends the run with a checkpoint, from which `train(..., resume=True)` continues."""
        self._core.stop()
        return self._finish()

    def _finish(self):
        if self._result is None:
            self._saves_if_left.detach()
            report = self._core.finish(self._plots)
            model = report["model"] and _core.load(report["model"])
            self._result = TrainResult(
                ending=report["ending"],
                model=model,
                metrics=report["metrics"],
                best=report["best"],
                history=self._history,
                folder=self.folder,
                notices=self._core.notices,
            )
        return self._result

    @property
    def result(self):
        """The `TrainResult`; None while there are steps left."""
        return self._result

    @property
    def steps(self):
        """Number of steps taken."""
        return self._core.steps

    @property
    def total_steps(self):
        """Number of steps of the whole run, unless it ends earlier."""
        return self._core.total_steps

    @property
    def folder(self):
        """The folder of the run."""
        return pathlib.Path(self._core.folder)

    @property
    def experiment(self):
        """The whole experiment as TOML."""
        return self._core.experiment


def train_iter(
    experiment=None,
    *,
    data=None,
    seed=None,
    steps=None,
    epochs=None,
    knockout=None,
    target="",
    memory="",
    overrides=None,
    device="cpu",
    out=None,
    resume=False,
    plots=False,
):
    """Starts a run and returns a `TrainingRun`, an iterator over its metrics.

    The arguments are those of `train`.

    >>> import boolgrad
    >>> run = boolgrad.train_iter("parity", out="runs/parity", seed=1)
    >>> steps = [metrics["step"] for metrics in run]
    >>> steps[0], run.result.ending
    (0, 'solved')
    """
    if experiment is None:
        if not resume or out is None:
            raise ArgumentError("[train] expected an experiment, or resume=True and out, received neither")
        source = {"text": _core._checkpoint_experiment(out), "name": os.path.join(out, "checkpoint")}
    else:
        source = _source(experiment)
    arguments = {
        **source,
        "overrides": [f"{key}={_toml_value(value)}" for key, value in _flat(overrides or {})],
    }
    if data is None or isinstance(data, (str, os.PathLike)):
        arguments["data_path"] = os.fspath(data) if data is not None else ""
    else:
        wants_values = _core._wants_values(**arguments)
        arguments["samples"] = _samples(data, wants_values)
    core = _core._Run(
        **arguments,
        seed=seed,
        steps=steps,
        epochs=epochs,
        knockout=knockout,
        target=os.fspath(target),
        memory=memory,
        device=device,
        folder=out,
        resume=resume,
    )
    return TrainingRun(core, plots)


def train(experiment=None, *, callbacks=(), **arguments):
    """Trains a model and returns a `TrainResult`.

    Args:
        experiment: The name of a built-in experiment, a dict of keys, the path of a TOML file, or
            TOML as text. None to resume that of `out`.
        data: The samples of a classifier: (x, y), or the path of a folder or file. x is an array
            [samples, features], uint8 or float, or images [samples, height, width] or
            [samples, channels, height, width]. y is one class or value per sample.
        seed: Seed of wiring, initialisation and batches.
        steps: Number of updates.
        epochs: Number of passes over the samples, instead of `steps`.
        knockout: Masks a random share of the hidden gates half-way through the run.
        target: The pattern that an automaton grows, a PNG or text bitmap; or the column of a CSV
            file to predict.
        memory: Memory limit for the backward pass of an automaton, such as "200MB".
        overrides: Other keys of the experiment: {"training.learning_rate": 0.1}.
        device: `cpu`, `cuda`, `vulkan`, or one of them with an index.
        out: Folder of the run. By default runs/NAME-SEED.
        resume: Continue from the checkpoint in `out`. The result has the same bits as a run that
            was never stopped.
        plots: Write plots of losses and gates to the folder.
        callbacks: Functions that are called with every line of metrics, a dict. If one returns
            True, the run stops with a checkpoint.

    Ctrl-C stops the run with a checkpoint and raises `KeyboardInterrupt`.

    >>> import boolgrad, numpy as np
    >>> x = np.arange(256)[:, None] >> np.arange(8) & 1
    >>> y = x.sum(axis=1) > 4
    >>> result = boolgrad.train("table", data=(x.astype("uint8"), y), steps=200, out="runs/majority")
    >>> result.model.classes
    ['False', 'True']
    >>> bool((result.model.predict(x) == y).mean() > 0.95)
    True
    """
    if callable(callbacks):
        callbacks = [callbacks]
    with train_iter(experiment, **arguments) as run:
        for metrics in run:
            # Every callback is called, also after one has asked to stop.
            if any([callback(metrics) is True for callback in callbacks]):
                run.stop()
        for callback in callbacks:
            if hasattr(callback, "close"):
                callback.close()
    return run.result
