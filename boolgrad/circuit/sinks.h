// Sinks that hardened logic is emitted into: netlists and bit circuits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/gate_sink.h"

namespace boolgrad {

/// Adds gates to a netlist as they come, with nothing simplified. A signal is a net; the inputs of
/// the netlist must be there first.
class NetlistSink final : public GateSink {
 public:
  explicit NetlistSink(Netlist& netlist) : netlist_(netlist) {}

  Signal constant(bool value) override;
  Signal gate(std::span<const Signal> inputs, std::uint64_t truth) override;

 private:
  Netlist& netlist_;
  std::array<std::optional<Net>, 2> constants_;
};

/// Adds gates through a builder: constants, wires and inverters go into the gates that read them. A
/// signal is the code of one of the builder's literals.
class FoldingNetlistSink final : public GateSink {
 public:
  explicit FoldingNetlistSink(NetlistBuilder& builder) : builder_(builder) {}

  Signal constant(bool value) override { return BitLiteral(0, value).code(); }
  Signal gate(std::span<const Signal> inputs, std::uint64_t truth) override;

 private:
  NetlistBuilder& builder_;
};

/// Adds gates to a circuit, which simplifies them. A signal is the code of a literal.
class BitCircuitSink final : public GateSink {
 public:
  explicit BitCircuitSink(BitCircuit& circuit) : circuit_(circuit) {}

  Signal constant(bool value) override { return circuit_.constant(value).code(); }
  Signal gate(std::span<const Signal> inputs, std::uint64_t truth) override;

 private:
  BitCircuit& circuit_;
};

}  // namespace boolgrad
