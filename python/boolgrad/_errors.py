"""The exceptions of boolgrad."""


class Error(Exception):
    """A failure of boolgrad or of the system, such as a file that cannot be written."""


class ArgumentError(Error, ValueError):
    """An argument, a file or an experiment that is not valid. The message says what was expected."""


Error.__module__ = ArgumentError.__module__ = "boolgrad"
