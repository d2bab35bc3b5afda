"""The files that come with the package: the program and the built-in experiments."""

import pathlib

FOLDER = pathlib.Path(__file__).parent
PROGRAM = FOLDER / "bin" / "boolgrad"
EXPERIMENTS = FOLDER / "share" / "boolgrad" / "experiments"


def experiments():
    """The names of the built-in experiments.

    >>> import boolgrad
    >>> "checkerboard" in boolgrad.experiments()
    True
    """
    return sorted(path.stem for path in EXPERIMENTS.glob("*.toml"))
