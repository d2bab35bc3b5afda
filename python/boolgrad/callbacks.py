"""Callbacks of `boolgrad.train`: functions of a line of metrics."""

import numbers
import sys
import time


class Progress:
    """Prints every line of metrics.

    >>> import boolgrad
    >>> result = boolgrad.train("copy", steps=20, callbacks=[boolgrad.callbacks.Progress()])
    """

    def __init__(self, file=None):
        self._file = file  # None: standard error

    def __call__(self, metrics):
        print(
            f"step {metrics['step']:>7}  soft loss {metrics['soft_loss']:<12.6g}"
            f"hard loss {metrics['hard_loss']:<12.6g}hard accuracy {100 * metrics['hard_accuracy']:.1f} %",
            file=self._file or sys.stderr,
        )


class TensorBoard:
    """Writes all metrics for TensorBoard. Needs the package tensorboard."""

    def __init__(self, folder):
        try:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise ImportError("TensorBoard needs the package tensorboard: pip install tensorboard") from error
        self._event = Event
        self._summary = Summary
        self._writer = EventFileWriter(str(folder))

    def __call__(self, metrics):
        values = [
            self._summary.Value(tag=name, simple_value=value)
            for name, value in metrics.items()
            if name != "step" and isinstance(value, numbers.Real)
        ]
        self._writer.add_event(
            self._event(wall_time=time.time(), step=metrics["step"], summary=self._summary(value=values))
        )

    def close(self):
        """Writes what is left."""
        self._writer.close()
