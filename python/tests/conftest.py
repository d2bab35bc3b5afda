import os

import numpy as np
import pytest

import boolgrad


@pytest.fixture(autouse=True)
def in_scratch_folder(tmp_path, monkeypatch):
    """Every test has a folder of its own as working folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Trains an experiment once per session."""
    results = {}

    def train(name, **arguments):
        if name not in results:
            folder = tmp_path_factory.mktemp(name)
            results[name] = boolgrad.train(name, out=folder, **arguments)
        return results[name]

    return train


@pytest.fixture(scope="session")
def adder(trained):
    return trained("add", seed=1).model


@pytest.fixture(scope="session")
def checkerboard(trained):
    return trained("checkerboard", seed=1).model


def flowers(count=400, seed=0):
    """Two classes of points and their names, not separable by one feature."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 5)).astype(np.float32)
    return x, np.where(x[:, 0] + x[:, 1] > 0, "rose", "daisy")


@pytest.fixture(scope="session")
def classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flowers")
    return boolgrad.train("table", data=flowers(), steps=200, seed=1, out=folder).model


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
