"""Train Boolean structure with gradients: logic-gate networks, cellular automata, Boolean geometry.

>>> import boolgrad
>>> result = boolgrad.train("add", out="runs/add", seed=1)
>>> result.ending
'solved'
>>> result.model
CircuitModel('add', 8 inputs, 5 outputs, 5 layers)
>>> report = result.model.export("verilog", "runs/add/add.v")
>>> report["proven"]
True
"""

from boolgrad import callbacks, geometry, ops
from boolgrad._core import (
    Automaton,
    Circuit,
    CircuitModel,
    Classifier,
    build_info,
    devices,
    experiment_keys,
    load,
    pass_names,
    set_thread_count,
    thread_count,
)
from boolgrad._core import __version__ as __version__
from boolgrad._data import experiments
from boolgrad._errors import ArgumentError, Error
from boolgrad._notebook import add_to as _add_to_notebooks
from boolgrad._pickle import add_to as _add_to_pickle
from boolgrad._training import TrainingRun, TrainResult, train, train_iter

_add_to_notebooks(Automaton, Circuit, CircuitModel)
_add_to_pickle(Automaton, CircuitModel, Classifier)

__all__ = [
    "ArgumentError",
    "Automaton",
    "Circuit",
    "CircuitModel",
    "Classifier",
    "Error",
    "TrainResult",
    "TrainingRun",
    "build_info",
    "callbacks",
    "devices",
    "experiment_keys",
    "experiments",
    "geometry",
    "load",
    "ops",
    "pass_names",
    "set_thread_count",
    "thread_count",
    "train",
    "train_iter",
]
