import copy
import pickle

import numpy as np
import pytest

import boolgrad
from boolgrad import Circuit

HALF_ADDER = """netlist half_adder
input a
input b
gate n0 0110 a b
gate n1 0001 a b
output sum n0
output carry n1
end
"""

ALL_CASES = np.arange(256)[:, None] >> np.arange(8) & 1


def test_properties():
    circuit = Circuit.from_text(HALF_ADDER)
    assert (circuit.name, circuit.inputs, circuit.outputs) == ("half_adder", ["a", "b"], ["sum", "carry"])
    assert (circuit.gates, circuit.depth) == (2, 1)
    assert circuit.to_text() == HALF_ADDER
    assert repr(circuit) == "Circuit('half_adder', 2 inputs, 2 outputs, 2 gates, depth 1)"


def test_evaluate():
    circuit = Circuit.from_text(HALF_ADDER)
    inputs = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    expected = [[0, 0], [1, 0], [1, 0], [0, 1]]
    for x in (inputs, inputs.astype(bool), inputs.astype(np.float32), np.asfortranarray(inputs, dtype=np.uint8)):
        np.testing.assert_array_equal(circuit.evaluate(x), expected)
    np.testing.assert_array_equal(circuit.evaluate([1, 1]), [0, 1])
    for bad, message in [
        (np.zeros((2, 3)), r"expected inputs \[samples, 2\], received shape \[2, 3\]"),
        (np.full((1, 2), 2), "expected zeros and ones as inputs, received 2"),
        (np.full((1, 2), 0.5), "expected zeros and ones as inputs, received 0.5"),
        (np.full((1, 2), np.nan), "expected zeros and ones as inputs, received nan"),
    ]:
        with pytest.raises(ValueError, match=message):
            circuit.evaluate(bad)


def test_simplify_proves_and_counts(adder):
    trained = adder.to_netlist()
    small, stats = trained.simplify(return_stats=True)
    assert small.gates < trained.gates / 10
    assert stats[0]["gates_before"] == trained.gates and stats[-1]["gates"] == small.gates
    assert small.equivalent(trained) and trained.difference(small) is None
    np.testing.assert_array_equal(small.evaluate(ALL_CASES), trained.evaluate(ALL_CASES))
    kept = trained.simplify(keep_tables=True)
    assert kept.equivalent(trained)
    some = trained.simplify(["constant propagation", "dangling gates"])
    assert some.equivalent(trained) and some.gates <= trained.gates
    mapped = small.map_to_luts(4)
    assert mapped.equivalent(small) and mapped.gates < small.gates
    with pytest.raises(ValueError, match="expected the pass constant propagation, .*received 'magic'"):
        trained.simplify(["magic"])
    with pytest.raises(ValueError, match="expected passes or keep_tables, received both"):
        trained.simplify(["dangling gates"], keep_tables=True)
    assert boolgrad.pass_names()[0] == "constant propagation"


def test_a_counterexample():
    a = Circuit.from_text(HALF_ADDER)
    b = Circuit.from_text(HALF_ADDER.replace("0001", "0111"))
    found = a.difference(b)
    assert not a.equivalent(b)
    assert found["output"] == 1
    assert a.evaluate(found["inputs"])[1] != b.evaluate(found["inputs"])[1]
    with pytest.raises(ValueError, match="inputs"):
        a.difference(Circuit.from_text("netlist one\ninput a\noutput y a\nend\n"))


@pytest.mark.parametrize("name", ["a.txt", "a.blif", "a.aig", "a.aag", "a.v", "a.html"])
def test_formats_that_are_read_back(adder, name):
    circuit = adder.to_netlist().simplify()
    circuit.write(name)
    again = Circuit.read(name)
    assert again.equivalent(circuit)
    assert (len(again.inputs), len(again.outputs)) == (8, 5)


@pytest.mark.parametrize(
    ("name", "text"), [("a.h", "add_eval"), ("a.dot", "digraph"), ("a.bin", "")])
def test_formats_that_are_only_written(adder, tmp_path, name, text):
    circuit = adder.to_netlist().simplify()
    if name == "a.bin":
        with pytest.raises(ValueError, match="expected a format or a file that ends in"):
            circuit.write(name)
        circuit.write(name, "aag")
        assert Circuit.read(name, "aag").equivalent(circuit)
        return
    circuit.write(name)
    assert text in (tmp_path / name).read_text()
    with pytest.raises(ValueError, match="which is only written"):
        Circuit.read(name)


def test_contents():
    circuit = Circuit.from_text(HALF_ADDER)
    assert circuit.to_text("blif").startswith(".model half_adder")
    assert isinstance(circuit.to_text("aiger"), bytes)
    assert "half_adder" in circuit.to_text("verilog")
    with pytest.raises(ValueError, match="expected the format netlist, c, .*received 'gif'"):
        circuit.to_text("gif")


def test_files_that_cannot_be_read():
    with pytest.raises(boolgrad.Error, match="cannot read missing.txt: No such file") as caught:
        Circuit.read("missing.txt")
    assert not isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match=r"\[netlist\] text:3: expected"):
        Circuit.from_text("netlist a\ninput x\ngate y 01\nend\n")


def test_pickle_and_copies():
    circuit = Circuit.from_text(HALF_ADDER)
    for other in (pickle.loads(pickle.dumps(circuit)), copy.deepcopy(circuit)):
        assert other.to_text() == HALF_ADDER


def test_notebook():
    page = Circuit.from_text(HALF_ADDER)._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "half_adder" in page and "<script" not in page
