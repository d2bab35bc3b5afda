"""The differentiable ops of boolgrad on arrays: one function per op, and `vjp` for their derivatives.

>>> import numpy as np
>>> from boolgrad import ops
>>> x = np.array([-1.0, 0.0, 2.0])
>>> ops.relu(x)
array([0., 0., 2.])
>>> ops.vjp("relu", x, upstream=np.ones(3))
(array([0., 0., 1.]),)

Options are keyword arguments: `axes` and `keepdims` of reductions, `axis` of softmax and cross_entropy, `low` and
`high` of clip, `alpha` of leaky_relu and focal, `gamma` of focal, `reduction` of losses. The conventions of derivatives
are those of the library: 0 at the kink of `abs` and `relu`, for example.
"""

from boolgrad._core import ops as _ops

#: The names of all ops by family.
FAMILIES = {}
for _name, _family, _count in _ops.table():
    FAMILIES.setdefault(_family, []).append(_name)


def forward(name, *inputs, **options):
    """The result of the op called `name`."""
    return _ops.forward(name, *inputs, **options)


def vjp(name, *inputs, upstream=None, **options):
    """The gradients of all inputs of an op, given that of its output; 1 by default for a scalar output.

    The gradient of integer inputs, such as labels, is None.
    """
    return tuple(_ops.vjp(name, upstream, *inputs, **options))


def _function(name, family, count):
    def op(*inputs, **options):
        return _ops.forward(name, *inputs, **options)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"The op `{name}` ({family}) of {count} input{'s' if count > 1 else ''}."
    return op


__all__ = ["FAMILIES", "forward", "vjp"]
for _name, _family, _count in _ops.table():
    globals()[_name] = _function(_name, _family, _count)
    __all__.append(_name)
