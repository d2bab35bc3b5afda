"""What arrays are accepted, and what is said about the others."""

import ctypes

import numpy as np
import pytest

from boolgrad import _core, ops
from conftest import resident_bytes


def test_dtypes_and_layouts_give_the_same_result(classifier):
    x = np.random.default_rng(1).integers(-100, 100, size=(50, 5))
    expected = classifier.predict(x.astype(np.float32))
    assert len(np.unique(expected)) == 2
    wide = np.zeros((50, 10))
    wide[:, ::2] = x
    for other in [
        x.astype(np.float64), x.astype(np.float16), x.astype(np.int8), x.astype(np.int16), x.astype(np.int32), x,
        np.asfortranarray(x), wide[:, ::2], x[::-1][::-1], x.tolist(), memoryview(x.astype(np.float32)),
    ]:
        np.testing.assert_array_equal(classifier.predict(other), expected)


def test_contiguous_arrays_are_not_copied():
    # A gigabyte that was never touched is not resident; a copy would be.
    x = np.zeros((1 << 20, 1024), dtype=np.uint8)
    before = resident_bytes()
    with pytest.raises(ValueError, match="expected one label per sample"):
        _core._samples(x, np.zeros(3), ["a", "b"], [])
    assert resident_bytes() - before < 100e6


def test_results_share_memory_with_other_libraries(adder):
    result = adder.predict(np.zeros((4, 8), dtype=np.uint8))
    assert result.dtype == np.uint8 and result.flags["C_CONTIGUOUS"] and result.flags["WRITEABLE"]
    other = np.from_dlpack(result)
    other[0, 0] = 7
    assert result[0, 0] == 7


def test_torch_tensors(classifier):
    torch = pytest.importorskip("torch")
    x = torch.randn(20, 5)
    expected = classifier.predict(x.numpy())
    np.testing.assert_array_equal(classifier.predict(x), expected)
    np.testing.assert_array_equal(classifier.predict(x.t().contiguous().t()), expected)
    result = ops.add(x, x)
    shared = torch.from_dlpack(result)
    shared[0, 0] = 3
    assert result[0, 0] == 3
    np.testing.assert_array_equal(classifier.predict(x.requires_grad_()), expected)
    with pytest.raises(ValueError, match="received bfloat16"):
        classifier.predict(torch.zeros(3, 5, dtype=torch.bfloat16))


def test_jax_arrays(classifier):
    jax = pytest.importorskip("jax")
    x = jax.random.normal(jax.random.key(0), (20, 5))
    np.testing.assert_array_equal(classifier.predict(x), classifier.predict(np.asarray(x)))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((3, 5), dtype=complex), "received complex128"),
        (np.zeros((3, 5), dtype=np.uint64), "received uint64"),
        (np.zeros((3, 5), dtype=np.longdouble), "received ndarray of dtype float128"),
        (np.array([["a"] * 5]), "received ndarray of dtype <U1"),
        (np.array([[object()] * 5]), "received ndarray of dtype object"),
        (np.zeros((3, 5), dtype=">f4"), "expected an array"),
        ("text", "expected an array as samples, received str"),
        (None, "expected an array as samples, received NoneType"),
        ({}, "expected an array as samples, received dict"),
        ([[1, 2], [3]], "expected an array as samples, received list"),
        (np.zeros(5), r"expected samples \[samples, features\], received shape \[5\]"),
        (np.zeros((3, 4)), r"expected samples \[samples, 5\], received \[3, 4\]"),
        (np.zeros((3, 0)), r"expected samples \[samples, 5\], received \[3, 0\]"),
        ([[0, 0, 0, 0, 0], [0, 0, float("nan"), 0, 0]], "received NaN in sample 1, feature 2"),
    ],
)
def test_bad_arrays(classifier, x, message):
    for function in (classifier.predict, classifier.predict_proba, classifier.predict_soft):
        with pytest.raises(ValueError, match=message):
            function(x)


def test_no_samples(classifier, adder):
    assert classifier.predict(np.zeros((0, 5))).shape == (0,)
    assert classifier.predict_proba(np.zeros((0, 5))).shape == (0, 2)
    assert classifier.predict_soft(np.zeros((0, 5))).shape == (0, 2)
    assert adder.predict(np.zeros((0, 8))).shape == (0, 5)
    with pytest.raises(ValueError, match="expected at least one sample"):
        classifier.importances(np.zeros((0, 5)))


# --- Capsules of DLPack, as a library with GPUs would make them.


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class OnAnotherDevice:
    """An array that claims to be on a device of this DLPack type and index."""

    capsule_name = b"dltensor"

    def __init__(self, device):
        self.values = np.zeros((3, 5), dtype=np.float32)
        self.shape = (ctypes.c_int64 * 2)(3, 5)
        tensor = _DLTensor(self.values.ctypes.data, _Device(*device), 2, _DataType(2, 32, 1), self.shape, None, 0)
        self.managed = _Managed(tensor, None, None)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), self.capsule_name, None)

    def __dlpack_device__(self):
        return (self.managed.tensor.device.type, self.managed.tensor.device.id)


@pytest.mark.parametrize(("device", "name"), [((2, 0), "cuda:0"), ((2, 3), "cuda:3"), ((8, 0), "metal")])
def test_arrays_on_another_device(classifier, device, name):
    with pytest.raises(ValueError, match=f"expected an array on the CPU as samples, received one on {name}"):
        classifier.predict(OnAnotherDevice(device))


def test_arrays_by_dlpack_alone(classifier):
    np.testing.assert_array_equal(
        classifier.predict(OnAnotherDevice((1, 0))), classifier.predict(np.zeros((3, 5))))


def test_a_capsule_that_was_used(classifier):
    array = OnAnotherDevice((1, 0))
    array.capsule_name = b"used_dltensor"  # as consumers rename it
    with pytest.raises(ValueError, match="expected an array as samples, received OnAnotherDevice"):
        classifier.predict(array)
