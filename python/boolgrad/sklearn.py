"""Estimators for scikit-learn: networks of logic gates that learn tables.

>>> from sklearn.datasets import load_iris
>>> from boolgrad.sklearn import LogicClassifier
>>> x, y = load_iris(return_X_y=True)
>>> model = LogicClassifier(random_state=0).fit(x, y)
>>> bool(model.score(x, y) > 0.95)
True
>>> model.feature_importances_.shape
(4,)
"""

import pathlib
import tempfile

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from boolgrad import _core
from boolgrad._training import TrainingRun, _toml

# Importances are measured on at most so many training samples.
_IMPORTANCE_SAMPLES = 1000


def _is_category(column):
    """Whether a column of a table holds categories: pandas categories, strings, other objects."""
    import pandas

    return (
        isinstance(column.dtype, pandas.CategoricalDtype)
        or pandas.api.types.is_string_dtype(column.dtype)
        or pandas.api.types.is_object_dtype(column.dtype)
    )


class _Encoder:
    """Numbers of a table with categories: each category is a column of zeros and ones."""

    def __init__(self, table):
        self.columns = []  # (name, categories or None)
        for name in table.columns:
            column = table[name]
            if not _is_category(column):
                self.columns.append((name, None))
                continue
            if column.isna().any():
                raise ValueError(f"Input contains NaN: expected a category in every row of column {name!r}")
            self.columns.append((name, sorted(column.unique(), key=str)))

    def sources(self):
        """The column of the table that each number comes from."""
        counts = [1 if categories is None else len(categories) for _, categories in self.columns]
        return np.repeat(np.arange(len(counts)), counts)

    def encode(self, table):
        parts = []
        for name, categories in self.columns:
            column = table[name]
            if categories is None:
                parts.append(np.asarray(column, dtype=np.float64)[:, None])
                continue
            unknown = sorted({str(c) for c in column.unique()} - {str(c) for c in categories})
            if unknown:
                raise ValueError(
                    f"expected categories of the training data in column {name!r}, received {unknown[0]!r}"
                )
            parts.append(np.stack([np.asarray(column == c, dtype=np.float64) for c in categories], axis=1))
        return np.concatenate(parts, axis=1)


class _LogicEstimator(BaseEstimator):
    def __init__(
        self,
        *,
        hidden=(2000, 2000),
        outputs=960,
        thresholds=15,
        temperature=8.0,
        steps=1000,
        batch_size=100,
        learning_rate=0.05,
        validation_fraction=0.0,
        overrides=None,
        device="cpu",
        random_state=None,
    ):
        self.hidden = hidden
        self.outputs = outputs
        self.thresholds = thresholds
        self.temperature = temperature
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.overrides = overrides
        self.device = device
        self.random_state = random_state

    def _experiment(self, kind):
        """The experiment as a dict."""
        return {
            "name": type(self).__name__,
            "seed": int(check_random_state(self.random_state).randint(1, 2**31 - 1)),
            "task": {"kind": "npy"},
            "data": {"validation": float(self.validation_fraction)},
            "binarise": {"kind": "quantile", "thresholds": self.thresholds},
            "network": {
                "parametrisation": "sigmoid",
                "hidden": list(self.hidden),
                "init": "residual",
                "init_strength": 1,
            },
            "head": {"kind": kind, "outputs": self.outputs, "temperature": self.temperature},
            "training": {
                "steps": self.steps,
                "batch": self.batch_size,
                "learning_rate": self.learning_rate,
                "schedule": "cosine",
                # The model of the best log line is kept: at the end only, unless samples are held out.
                "log_every": 50 if self.validation_fraction > 0 else self.steps,
                "checkpoint_every": 0,
                "stop_when_solved": False,
            },
        }

    def _validated(self, X, **options):
        """X as numbers, and y in `fit`."""
        if not hasattr(X, "iloc"):  # no table of pandas
            if options.get("reset", True):
                self._encoder = None
            return validate_data(self, X, dtype=[np.float64, np.float32, np.uint8], **options)
        # Names and number of columns are those of the table, before categories become numbers.
        is_fit = options.pop("reset", True)
        y = options.pop("y", None)
        validate_data(self, X, reset=is_fit, skip_check_array=True)
        if is_fit:
            self._encoder = _Encoder(X)
        X = check_array(self._encoder.encode(X), **options)
        return X if y is None else (X, y)

    def _train(self, X, y, classes, kind):
        samples = _core._samples(X, y, classes, [])
        with tempfile.TemporaryDirectory(prefix="boolgrad-") as folder:
            core = _core._Run(
                text=_toml(self._experiment(kind)),
                name=type(self).__name__,
                overrides=[
                    f"{key}={_toml({'value': value}).removeprefix('value = ').strip()}"
                    for key, value in (self.overrides or {}).items()
                ],
                samples=samples,
                device=self.device,
                folder=pathlib.Path(folder) / "run",
            )
            with TrainingRun(core) as run:
                self.history_ = list(run)
            self.model_ = run.result.model
        self.n_iter_ = run.steps
        self._set_importances(X)
        return self

    def _set_importances(self, X):
        chosen = X
        if len(X) > _IMPORTANCE_SAMPLES:
            chosen = X[np.linspace(0, len(X) - 1, _IMPORTANCE_SAMPLES).astype(int)]
        by_number = self.model_.importances(chosen)
        if self._encoder is not None:
            by_number = np.bincount(self._encoder.sources(), weights=by_number)
        total = by_number.sum()
        self.feature_importances_ = by_number / total if total > 0 else by_number

    def inspect(self):
        """Gates by kind and layer, and depth: `Classifier.inspect`."""
        check_is_fitted(self)
        return self.model_.inspect()

    def export(self, format, path, **options):
        """Writes the hardened circuit, proven equivalent: `Classifier.export`."""
        check_is_fitted(self)
        return self.model_.export(format, path, **options)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = False
        return tags


_PARAMETERS = """
    Parameters
    ----------
    hidden : tuple of int
        Gates per hidden layer.
    outputs : int
        Gates of the last layer, which vote. Rounded up to a multiple of the number of classes.
    thresholds : int
        Thresholds per feature, at quantiles of the training data.
    temperature : float
        Divides the sums of the votes before the softmax.
    steps : int
        Number of updates.
    batch_size : int
        Samples per update.
    learning_rate : float
        The initial learning rate, which follows a cosine schedule.
    validation_fraction : float
        Share of the training samples that is held out to choose the best model of the run.
    overrides : dict
        Other keys of the experiment: {"network.arity": 4}.
    device : str
        `cpu`, `cuda`, `vulkan`, or one of them with an index.
    random_state : int, RandomState instance or None
        Seed of wiring, initialisation and batches.

    Attributes
    ----------
    model_ : boolgrad.Classifier
        The trained model, which can be inspected and exported.
    feature_importances_ : array of shape (n_features_in_,)
        How often the answer changes if an input bit of the feature is flipped, scaled to a sum of 1.
    history_ : list of dict
        The metrics of the run.
"""


class LogicClassifier(ClassifierMixin, _LogicEstimator):
    __doc__ = (
        "A classifier made of logic gates. Predictions run the hardened circuit on packed bits.\n"
        + _PARAMETERS
    )

    def fit(self, X, y):
        """Trains on samples X [n_samples, n_features], an array or a table of pandas, and classes y."""
        X, y = self._validated(X, y=y)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"expected at least 2 classes, received 1 class: {self.classes_[0]!r}")
        return self._train(X, labels.astype(np.int32), [str(c) for c in self.classes_], "classes")

    def predict(self, X):
        """Classes of samples."""
        check_is_fitted(self)
        return self.classes_[self.model_.predict(self._validated(X, reset=False))]

    def predict_proba(self, X):
        """Class probabilities [n_samples, n_classes] of the hardened circuit."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._validated(X, reset=False))


class LogicRegressor(RegressorMixin, _LogicEstimator):
    __doc__ = (
        "A regressor made of logic gates: the value is proportional to the number of outputs that are 1.\n"
        + _PARAMETERS
    )

    def fit(self, X, y):
        """Trains on samples X [n_samples, n_features], an array or a table of pandas, and values y."""
        X, y = self._validated(X, y=y, ensure_min_samples=2)
        y = column_or_1d(y, warn=True, dtype=np.float64)
        check_consistent_length(X, y)
        check_array(y[:, None], input_name="y")
        return self._train(X, y.astype(np.float32), [], "regression")

    def predict(self, X):
        """Values of samples."""
        check_is_fitted(self)
        return self.model_.predict(self._validated(X, reset=False))
