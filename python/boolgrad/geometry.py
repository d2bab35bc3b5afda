"""Areas of unions of disks, with exact gradients, and the time of impact of two disks.

A disk is (x, y, radius). Arrays are [..., disks, 3]: leading axes are a batch. With `grad`, a function
returns (value, gradient), where the gradient is that of each value with respect to its own disks.
"""

from boolgrad._core import geometry as _geometry


def disk_union_area(disks, grad=False):
    """The area of the union of each set of disks [..., n, 3]: [...].

    >>> import numpy as np
    >>> from boolgrad import geometry
    >>> area, gradient = geometry.disk_union_area([[0, 0, 1.0], [3, 0, 2.0]], grad=True)
    >>> bool(np.isclose(area, 5 * np.pi))
    True
    >>> gradient.shape
    (2, 3)
    """
    return _geometry.disk_union_area(disks, grad)


def disk_pair_area(disks, grad=False):
    """The area of the union of each pair of disks [..., 2, 3], exact on both sides of a tangency and at it."""
    return _geometry.disk_pair_area(disks, grad)


def disk_pair_strata(disks):
    """How each pair of disks lies: 0 disjoint, 1 intersecting, 2 one inside the other."""
    return _geometry.disk_pair_strata(disks)


def smoothed_union_area(disks, *, temperature=0.1, sharpness=100.0, cell=1.0, grad=False):
    """The smoothed area of the union of each set of disks, the usual surrogate at changes of topology."""
    return _geometry.smoothed_union_area(disks, temperature, sharpness, cell, grad)


def time_of_impact(disks, direction=(1.0, 0.0), grad=False):
    """When the second disk of each pair touches the first if it moves in `direction`; infinite if it never does.

    >>> from boolgrad import geometry
    >>> float(geometry.time_of_impact([[5, 0, 1.0], [0, 0, 1.0]]))
    3.0
    """
    return _geometry.time_of_impact(disks, tuple(direction), grad)


def fit_union_area(disks, free, target, *, method="hybrid", max_steps=200, tolerance=1e-12):
    """Moves disks [n, 3] where `free`, of the same shape, is not 0, until the area of their union is `target`.

    Returns a dict: `disks`, `areas` before every step and after the last, the relative `error`, and whether the fit
    `converged` or got `stuck` at a zero gradient. `method` is `exact`, `smoothed` or `hybrid`.
    """
    return _geometry.fit_union_area(
        disks, free, target, method=method, max_steps=max_steps, tolerance=tolerance
    )
