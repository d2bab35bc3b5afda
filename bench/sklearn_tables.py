#!/usr/bin/env python3
"""Compares LogicClassifier with estimators of scikit-learn on its bundled tables.

    build/python/bin/python bench/sklearn_tables.py

Prints a Markdown table: mean accuracy of five-fold cross-validation, size of the models, and predictions per second on
one core. Needs the Python package (make python) and scikit-learn.
"""

import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boolgrad
from boolgrad.sklearn import LogicClassifier

PEERS = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "random forest": RandomForestClassifier(random_state=0),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
    "LogicClassifier": LogicClassifier(random_state=0),
}


def predictions_per_second(model, x):
    """The best of five runs over at least 20,000 samples."""
    many = np.tile(x, (20_000 // len(x) + 1, 1))
    best = 0
    for _ in range(5):
        start = time.perf_counter()
        model.predict(many)
        best = max(best, len(many) / (time.perf_counter() - start))
    return best


def main():
    warnings.simplefilter("ignore")
    boolgrad.set_thread_count(1)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    print("| table | " + " | ".join(PEERS) + " | gates | simplified | predictions per second, forest / logic |")
    print("|---" * (len(PEERS) + 4) + "|")
    for name in ("iris", "wine", "breast_cancer", "digits"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        accuracies = [cross_val_score(model, x, y, cv=folds).mean() for model in PEERS.values()]
        logic = PEERS["LogicClassifier"].fit(x, y)
        forest = PEERS["random forest"].fit(x, y)
        trained = logic.model_.to_netlist()
        cells = [f"{100 * accuracy:.1f} %" for accuracy in accuracies]
        cells += [f"{trained.gates:,}", f"{trained.simplify().gates:,}"]
        cells += [f"{predictions_per_second(forest, x):,.0f} / {predictions_per_second(logic, x):,.0f}"]
        print(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
