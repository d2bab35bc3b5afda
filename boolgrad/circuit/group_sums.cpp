#include "boolgrad/circuit/group_sums.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/sinks.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/gate_arithmetic.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "group_sums";

/// Copies the gates of a netlist to a builder and returns the literals of its outputs.
std::vector<logic::Signal> copied(const Netlist& netlist, NetlistBuilder& builder) {
  std::vector<BitLiteral> literals;
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) literals.push_back(builder.input(i));
  for (const NetlistGate& gate : netlist.gates) {
    TableGate table{stretched(gate.truth, gate.arity), {}, false};
    for (const Net net : gate.sources()) table.inputs.push_back(literals[net]);
    literals.push_back(builder.add(table));
  }
  std::vector<logic::Signal> outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(literals[net].code());
  return outputs;
}

/// The netlist with outputs `names`, emitted by `head(group sums, sink)`.
template <class Head>
Netlist with_head(const Netlist& netlist, std::int64_t classes, std::vector<std::string> names,
                  std::span<const std::int32_t> exponents, logic::AdderGates adders,
                  const Head& head) {
  Netlist like;
  like.name = netlist.name;
  like.inputs = netlist.inputs;
  like.outputs = std::move(names);
  NetlistBuilder builder(like);
  FoldingNetlistSink sink(builder);
  const std::vector<logic::Signal> bits = copied(netlist, builder);
  std::vector<BitLiteral> outputs;
  for (const logic::Signal signal :
       head(logic::emit_group_sums(bits, classes, sink, exponents, adders), sink)) {
    outputs.push_back(BitLiteral::from_code(signal));
  }
  return builder.finish(outputs);
}

void check(const Netlist& netlist, std::int64_t classes, std::int64_t least_classes,
           std::span<const std::int32_t> exponents = {}) {
  if (netlist.state) fail(where, "expected a circuit, received the rule of an automaton");
  const std::int64_t outputs = std::ssize(netlist.outputs);
  if (classes < least_classes || outputs == 0 || outputs % classes != 0) {
    fail(where, "expected at least {} classes that divide {} outputs, received {}", least_classes,
         outputs, classes);
  }
  if (!exponents.empty() && std::ssize(exponents) != outputs) {
    fail(where, "expected {} exponents, received {}", outputs, exponents.size());
  }
}

/// The largest sum of each group.
std::vector<std::uint64_t> largest_sums(const Netlist& netlist, std::int64_t groups,
                                        std::span<const std::int32_t> exponents) {
  const std::size_t size = netlist.outputs.size() / static_cast<std::size_t>(groups);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(groups), exponents.empty() ? size : 0);
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    sums[i / size] += std::uint64_t{1} << exponents[i];
  }
  return sums;
}

std::vector<std::string> numbered(std::string_view prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return names;
}

}  // namespace

Netlist with_group_sums(const Netlist& netlist, std::int64_t classes,
                        std::span<const std::int32_t> exponents, logic::AdderGates adders) {
  check(netlist, classes, 1, exponents);
  const std::vector<std::uint64_t> largest = largest_sums(netlist, classes, exponents);
  std::vector<std::string> names;
  for (std::size_t c = 0; c < largest.size(); ++c) {
    for (std::string& name :
         numbered(fmt::format("sum{}_", c), static_cast<std::size_t>(std::bit_width(largest[c])))) {
      names.push_back(std::move(name));
    }
  }
  return with_head(netlist, classes, std::move(names), exponents, adders,
                   [](const std::vector<logic::SignalNumber>& sums, logic::GateSink&) {
                     std::vector<logic::Signal> digits;
                     for (const logic::SignalNumber& sum : sums) {
                       digits.insert(digits.end(), sum.begin(), sum.end());
                     }
                     return digits;
                   });
}

Netlist with_thresholds(const Netlist& netlist, std::int64_t classes, std::int64_t least) {
  check(netlist, classes, 1);
  if (least < 1) fail(where, "expected a threshold of 1 or more, received {}", least);
  return with_head(netlist, classes, numbered("above", static_cast<std::size_t>(classes)), {},
                   logic::AdderGates::tables,
                   [&](const std::vector<logic::SignalNumber>& sums, logic::GateSink& sink) {
                     const logic::SignalNumber below =
                         logic::emit_number(static_cast<std::uint64_t>(least - 1), sink);
                     std::vector<logic::Signal> outputs;
                     for (const logic::SignalNumber& sum : sums) {
                       outputs.push_back(logic::emit_greater(sum, below, sink));
                     }
                     return outputs;
                   });
}

Netlist with_votes(const Netlist& netlist, std::int64_t groups, std::int64_t classes,
                   std::span<const std::int32_t> exponents, logic::AdderGates adders) {
  check(netlist, groups, 1, exponents);
  constexpr std::int64_t max_groups = 32;
  if (groups > max_groups || classes < 1 || classes > std::int64_t{1} << groups) {
    fail(where, "expected 1 to 2^{} classes, at most 2^{}, received {}", groups, max_groups,
         classes);
  }
  const std::vector<std::uint64_t> largest = largest_sums(netlist, groups, exponents);
  return with_head(
      netlist, groups, numbered("class_", static_cast<std::size_t>(groups)), exponents, adders,
      [&](const std::vector<logic::SignalNumber>& sums, logic::GateSink& sink) {
        logic::SignalNumber number;
        for (std::size_t g = 0; g < sums.size(); ++g) {
          const logic::SignalNumber half = logic::emit_number(largest[g] / 2, sink);
          number.push_back(logic::emit_greater(sums[g], half, sink));
        }
        if (classes == std::int64_t{1} << groups) return number;
        const logic::SignalNumber last =
            logic::emit_number(static_cast<std::uint64_t>(classes - 1), sink);
        return logic::emit_select(logic::emit_greater(number, last, sink), number, last, sink);
      });
}

Netlist with_argmax(const Netlist& netlist, std::int64_t classes,
                    std::span<const std::int32_t> exponents, logic::AdderGates adders) {
  check(netlist, classes, 2, exponents);
  const auto digits =
      static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(classes - 1)));
  return with_head(netlist, classes, numbered("class_", digits), exponents, adders,
                   logic::emit_argmax);
}

}  // namespace boolgrad::circuit
