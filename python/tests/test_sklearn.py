import pickle

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import boolgrad  # noqa: E402
from boolgrad.sklearn import LogicClassifier, LogicRegressor  # noqa: E402


@parametrize_with_checks([LogicClassifier(), LogicRegressor()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.92), (load_wine, 0.94), (load_breast_cancer, 0.94)])
def test_accuracy(load, least):
    x, y = load(return_X_y=True)
    assert cross_val_score(LogicClassifier(random_state=0), x, y, cv=3).mean() > least


def test_regression():
    x, y = load_diabetes(return_X_y=True)
    scores = cross_val_score(LogicRegressor(random_state=0), x, y, cv=3)
    assert scores.mean() > 0.35


def test_fitted_attributes(tmp_path):
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogicClassifier(random_state=0, steps=300).fit(x, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert set(model.predict(x)) <= set(names)
    assert model.n_features_in_ == 4 and model.n_iter_ == 300 and len(model.history_) == 2
    assert isinstance(model.model_, boolgrad.Classifier)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[2:].sum() > 0.5  # petals tell the species
    np.testing.assert_array_equal(model.predict_proba(x).argmax(axis=1), model.model_.predict(x))
    report = model.export("verilog", tmp_path / "iris.v")
    assert report["proven"] and "module circuit_LogicClassifier_classifier" in (tmp_path / "iris.v").read_text()
    assert model.inspect()["gates"] == sum(model.hidden) + model.outputs


def test_same_seed_same_model():
    x, y = load_iris(return_X_y=True)
    a, b, c = (LogicClassifier(random_state=s, steps=50).fit(x, y) for s in (1, 1, 2))
    assert a.model_.to_netlist().to_text() == b.model_.to_netlist().to_text()
    assert a.model_.to_netlist().to_text() != c.model_.to_netlist().to_text()


def test_pickle_and_search():
    x, y = load_iris(return_X_y=True)
    search = GridSearchCV(LogicClassifier(random_state=0, hidden=(100,), outputs=60), {"steps": [50, 200]}, cv=2)
    search.fit(x, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(x), search.predict(x))
    assert clone(search.best_estimator_).get_params()["hidden"] == (100,)


def test_tables_with_categories():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({
        "size": rng.normal(size=300),
        "colour": pandas.Categorical(rng.choice(["red", "green", "blue"], size=300)),
        "shape": rng.choice(["round", "square"], size=300),
        "sold": rng.integers(0, 2, size=300).astype(bool),
    })
    y = (table["colour"] == "red") ^ (table["shape"] == "round")
    model = LogicClassifier(random_state=0, steps=300).fit(table, y)
    assert model.score(table, y) > 0.98
    assert model.feature_names_in_.tolist() == ["size", "colour", "shape", "sold"]
    assert model.n_features_in_ == 4 and model.feature_importances_.shape == (4,)
    assert model.feature_importances_[1:3].sum() > 0.8
    shuffled = table.sample(frac=1, random_state=0)
    np.testing.assert_array_equal(model.predict(shuffled), y[shuffled.index])
    unknown = table.assign(shape="oval")
    with pytest.raises(ValueError, match="expected categories of the training data in column 'shape', received 'oval'"):
        model.predict(unknown)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(table.assign(shape=None), y)
    pickle.loads(pickle.dumps(model)).predict(table)
    x, y = load_iris(return_X_y=True)  # again, on an array
    assert model.fit(x, y).feature_importances_.shape == (4,) and model.score(x, y) > 0.9


def test_options_and_errors():
    x, y = load_iris(return_X_y=True)
    model = LogicClassifier(random_state=0, hidden=(64, 64), outputs=30, thresholds=3, steps=20, batch_size=10,
                            validation_fraction=0.2, overrides={"network.arity": 4}).fit(x, y)
    assert model.inspect()["gates"] == 64 + 64 + 30
    assert "arity = 4" in model.model_.experiment and "validation = 0.2" in model.model_.experiment
    with pytest.raises(ValueError, match="unknown key 'nothing'"):
        LogicClassifier(overrides={"nothing": 1}).fit(x, y)
    with pytest.raises(ValueError, match="training.steps"):
        LogicClassifier(steps=0).fit(x, y)
    with pytest.raises(ValueError, match="NaN"):
        LogicClassifier().fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
