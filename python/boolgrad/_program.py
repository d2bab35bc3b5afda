"""The command `boolgrad`: the program that the package contains."""

import os
import sys

from boolgrad._data import PROGRAM


def main():
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
