// Files of circuits, and passes on any circuit.
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/formats/verilog_reader.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/error.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/targets.h"
#include "tests/support/random_words.h"

namespace boolgrad::fuzz {
namespace {

using circuit::Netlist;

/// The outputs of a netlist for 64 samples that depend on the number of inputs only.
std::vector<std::uint64_t> outputs_of(const Netlist& netlist) {
  return circuit::evaluate(netlist, random_words(netlist.inputs.size(), netlist.inputs.size()));
}

/// Writing a netlist and reading it again gives the same function. Names may change: a format need
/// not allow all of them.
template <class Write, class Read>
Netlist require_round_trip(const Netlist& netlist, const Write& write, const Read& read) {
  const std::string written = write(netlist);
  std::optional<Netlist> again;
  try {
    again = read(written, std::string("written"));
  } catch (const Error&) {
    require(false, "a netlist that was written can be read");
  }
  require(again->inputs.size() == netlist.inputs.size(), "a written netlist has the same inputs");
  require(outputs_of(*again) == outputs_of(netlist), "a written netlist has the same function");
  return *again;
}

std::string binary_aiger(const Netlist& netlist) {
  return circuit::to_aiger(netlist, circuit::AigerFormat::binary);
}

std::string ascii_aiger(const Netlist& netlist) {
  return circuit::to_aiger(netlist, circuit::AigerFormat::ascii);
}

/// A netlist of up to 10 inputs and 40 gates.
Netlist generated_netlist(ByteSource& source) {
  Netlist netlist;
  netlist.name = "generated";
  const std::size_t inputs = 1 + source.below(10);
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("in{}", i));
  const std::size_t gates = source.below(41);
  for (std::size_t g = 0; g < gates; ++g) {
    circuit::NetlistGate gate;
    gate.arity = static_cast<std::uint8_t>(source.below(circuit::NetlistGate::max_inputs + 1));
    for (std::size_t j = 0; j < gate.arity; ++j) {
      gate.inputs[j] = static_cast<circuit::Net>(source.below(netlist.gate(g)));
    }
    gate.truth = source.word();
    if (gate.arity < circuit::NetlistGate::max_inputs) {
      gate.truth &= (std::uint64_t{1} << (1U << gate.arity)) - 1;
    }
    netlist.gates.push_back(gate);
  }
  const std::size_t outputs = 1 + source.below(6);
  for (std::size_t o = 0; o < outputs; ++o) {
    netlist.outputs.push_back(fmt::format("out{}", o));
    netlist.output_nets.push_back(static_cast<circuit::Net>(source.below(netlist.gate(gates))));
  }
  return circuit::checked(std::move(netlist));
}

/// The same, computed by a program of bit operations.
std::vector<std::uint64_t> outputs_of_runner(const Netlist& netlist) {
  const std::size_t inputs = netlist.inputs.size();
  return circuit::CircuitRunner(netlist)
      .run({.features = static_cast<std::int64_t>(inputs),
            .samples = 64,
            .words = random_words(inputs, inputs)})
      .words;
}

}  // namespace

void read_netlist_text(Bytes bytes) {
  const Netlist netlist = circuit::netlist_from_text(text_of(bytes), "input.txt");
  const Netlist again = require_round_trip(netlist, circuit::to_text, circuit::netlist_from_text);
  require(again.inputs == netlist.inputs && again.outputs == netlist.outputs &&
              again.state == netlist.state,
          "the text format keeps names and state");
}

void read_blif(Bytes bytes) {
  const Netlist netlist = circuit::netlist_from_blif(text_of(bytes), "input.blif");
  require_round_trip(netlist, circuit::to_blif, circuit::netlist_from_blif);
}

void read_aiger(Bytes bytes) {
  const Netlist netlist = circuit::netlist_from_aiger(text_of(bytes), "input.aig");
  require_round_trip(netlist, binary_aiger, circuit::netlist_from_aiger);
  require_round_trip(netlist, ascii_aiger, circuit::netlist_from_aiger);
}

void read_verilog(Bytes bytes) {
  const Netlist netlist = circuit::netlist_from_verilog(text_of(bytes), "input.v");
  require_round_trip(netlist, std::mem_fn(&Netlist::to_verilog), circuit::netlist_from_verilog);
}

void read_html(Bytes bytes) { circuit::netlist_from_html(text_of(bytes), "input.html"); }

void simplify_netlist(Bytes bytes) {
  ByteSource source(bytes);
  const Netlist netlist = generated_netlist(source);
  const std::vector<std::uint64_t> expected = outputs_of(netlist);
  require(outputs_of_runner(netlist) == expected, "bit operations compute the netlist");
  const Netlist small = circuit::simplify(netlist);
  require(outputs_of(circuit::checked(small)) == expected, "passes preserve the function");
  require(outputs_of_runner(small) == expected, "bit operations compute the simplified netlist");
  require_round_trip(small, circuit::to_text, circuit::netlist_from_text);
  require_round_trip(small, circuit::to_blif, circuit::netlist_from_blif);
  require_round_trip(small, binary_aiger, circuit::netlist_from_aiger);
  require_round_trip(small, ascii_aiger, circuit::netlist_from_aiger);
  require_round_trip(small, std::mem_fn(&Netlist::to_verilog), circuit::netlist_from_verilog);
}

}  // namespace boolgrad::fuzz
