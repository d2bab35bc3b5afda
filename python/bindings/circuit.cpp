#include "circuit.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/passes/mapping.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/core/fail.h"
#include "module.h"

namespace boolgrad::python {
namespace {

nb::list stats_of(const std::vector<circuit::PassStats>& passes) {
  nb::list result;
  for (const circuit::PassStats& pass : passes) {
    nb::dict entry;
    entry["pass"] = pass.pass;
    entry["gates_before"] = pass.gates_before;
    entry["gates"] = pass.gates_after;
    entry["depth_before"] = pass.depth_before;
    entry["depth"] = pass.depth_after;
    result.append(entry);
  }
  return result;
}

nb::object simplify(const Circuit& circuit, const std::optional<std::vector<std::string>>& passes,
                    bool keep_tables, bool return_stats) {
  if (passes && keep_tables) fail("simplify", "expected passes or keep_tables, received both");
  std::vector<circuit::PassStats> stats;
  const auto simplified = [&] {
    const nb::gil_scoped_release no_gil;
    if (passes) return circuit::apply_passes(circuit.netlist(), *passes, &stats);
    circuit::SimplifyParams params;
    params.keeps_tables = keep_tables;
    return circuit::simplify(circuit.netlist(), params, &stats);
  };
  const nb::object result = nb::cast(Circuit(simplified()));
  if (!return_stats) return result;
  return nb::make_tuple(result, stats_of(stats));
}

nb::object evaluate(const Circuit& circuit, nb::handle inputs) {
  const circuit::Netlist& netlist = circuit.netlist();
  const Tensor bits = bits_of(inputs, "evaluate", "inputs");
  const std::int64_t count = std::ssize(netlist.inputs);
  const bool is_row = bits.rank() == 1;
  if ((!is_row && bits.rank() != 2) || bits.shape().back() != count) {
    fail("evaluate", "expected inputs [samples, {}], received shape {}", count,
         to_string(bits.shape()));
  }
  const std::int64_t samples = is_row ? 1 : bits.shape()[0];
  const std::int64_t outputs = std::ssize(netlist.outputs);
  Tensor result(is_row ? Shape{outputs} : Shape{samples, outputs}, DType::uint8);
  if (result.size() > 0) {
    const nb::gil_scoped_release no_gil;
    circuit.runner().run({bits.values<std::uint8_t>(), samples},
                         result.mutable_values<std::uint8_t>());
  }
  return array_of(result);
}

nb::object difference(const Circuit& a, const Circuit& b) {
  std::optional<circuit::Counterexample> found;
  {
    const nb::gil_scoped_release no_gil;
    found = circuit::difference(a.netlist(), b.netlist());
  }
  if (!found) return nb::none();
  std::vector<std::uint8_t> inputs(found->inputs.begin(), found->inputs.end());
  nb::dict result;
  result["inputs"] = array_of(inputs);
  result["output"] = found->output;
  return result;
}

Circuit mapped(const Circuit& circuit, int inputs) {
  const nb::gil_scoped_release no_gil;
  return Circuit(circuit::map_to_luts(circuit.netlist(), {.inputs = inputs}));
}

Circuit read(const std::filesystem::path& path, const std::string& format) {
  const nb::gil_scoped_release no_gil;
  return Circuit(circuit::read_netlist(path, format));
}

void write(const Circuit& circuit, const std::filesystem::path& path, const std::string& format) {
  const nb::gil_scoped_release no_gil;
  circuit::write_netlist(circuit.netlist(), path, format);
}

nb::object content(const Circuit& circuit, const std::string& format) {
  const std::string text = circuit::content_of(circuit.netlist(), format);
  if (format == "aiger") return nb::bytes(text.data(), text.size());
  return nb::str(text.data(), text.size());
}

std::string description(const Circuit& circuit) {
  const circuit::Netlist& netlist = circuit.netlist();
  return fmt::format("Circuit('{}', {} inputs, {} outputs, {} gates, depth {})", netlist.name,
                     netlist.inputs.size(), netlist.outputs.size(), circuit::gate_count(netlist),
                     circuit::depth(netlist));
}

}  // namespace

void bind_circuit(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Circuit>(module, "Circuit", R"(A combinational circuit of look-up tables. Immutable.

>>> import boolgrad
>>> xor = boolgrad.Circuit.from_text('''
... netlist xor
... input a b
... gate n0 0110 a b
... output y n0
... end
... ''')
>>> xor
Circuit('xor', 2 inputs, 1 outputs, 1 gates, depth 1)
>>> xor.evaluate([[0, 1], [1, 1]])
array([[1],
       [0]], dtype=uint8)
)")
      .def_static(
          "from_text",
          [](const std::string& text) { return Circuit(circuit::netlist_from_text(text, "text")); },
          "text"_a, "Reads the text format of boolgrad.")
      .def_static("read", &read, "path"_a, "format"_a = "",
                  "Reads a netlist (.txt), BLIF, AIGER or HTML file. The format is that of the "
                  "extension, or one of `netlist`, `blif`, `aiger`, `aag`, `html`.")
      .def("write", &write, "path"_a, "format"_a = "",
           "Writes a file. The format is that of the extension, or one of `netlist`, `c`, "
           "`verilog`, `blif`, `aiger`, `aag`, `dot`, `html`.")
      .def("to_text", &content, "format"_a = "netlist",
           "The content of a file in this format: bytes for `aiger`, else a string.")
      .def("simplify", &simplify, "passes"_a = nb::none(), nb::kw_only(), "keep_tables"_a = false,
           "return_stats"_a = false,
           "An equivalent circuit with fewer gates. `passes` are names of `pass_names()`; by "
           "default, all passes run until none saves a gate. With `keep_tables`, tables of more "
           "than two inputs are kept. With `return_stats`, returns (circuit, statistics of every "
           "pass).")
      .def("map_to_luts", &mapped, "inputs"_a = 6,
           "An equivalent circuit of look-up tables with at most so many inputs, 2 to 6.")
      .def("evaluate", &evaluate, "inputs"_a.none(),
           "The outputs, uint8 [samples, outputs], for inputs of zeros and ones [samples, inputs].")
      .def("difference", &difference, "other"_a,
           "Proves the circuits equal and returns None, or returns a counterexample: its inputs "
           "and the index of the output that differs. Inputs and outputs are matched by order.")
      .def(
          "equivalent",
          [](const Circuit& a, const Circuit& b) { return difference(a, b).is_none(); }, "other"_a,
          "Whether both circuits compute the same function; proven in both cases.")
      .def_prop_ro(
          "name", [](const Circuit& c) { return c.netlist().name; }, "The name.")
      .def_prop_ro(
          "inputs", [](const Circuit& c) { return c.netlist().inputs; }, "The names of the inputs.")
      .def_prop_ro(
          "outputs", [](const Circuit& c) { return c.netlist().outputs; },
          "The names of the outputs.")
      .def_prop_ro(
          "gates", [](const Circuit& c) { return circuit::gate_count(c.netlist()); },
          "The number of gates. Constants do not count.")
      .def_prop_ro(
          "depth", [](const Circuit& c) { return circuit::depth(c.netlist()); },
          "The number of gates on the longest path.")
      .def("_html", [](const Circuit& c) { return circuit::content_of(c.netlist(), "html"); })
      .def("__repr__", &description)
      .def("__getstate__", [](const Circuit& c) { return circuit::to_text(c.netlist()); })
      .def("__setstate__", [](Circuit& c, const std::string& text) {
        new (&c) Circuit(circuit::netlist_from_text(text, "pickle"));
      });
  module.def("pass_names", &circuit::pass_names,
             "The names of the passes that `Circuit.simplify` accepts, in their usual order.");
}

}  // namespace boolgrad::python
