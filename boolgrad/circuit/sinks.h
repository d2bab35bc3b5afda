// Sinks for hardened logic: netlists and bit circuits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/gate_sink.h"

namespace boolgrad::circuit {

/// Adds gates to a netlist without simplification. A signal is a net. The inputs of the netlist
/// must exist before.
class NetlistSink final : public logic::GateSink {
 public:
  explicit NetlistSink(Netlist& netlist) : netlist_(netlist) {}

  logic::Signal constant(bool value) override;
  logic::Signal gate(std::span<const logic::Signal> inputs, std::uint64_t truth) override;

 private:
  Netlist& netlist_;
  std::array<std::optional<Net>, 2> constants_;
};

/// Adds gates through a builder and absorbs constants, buffers and inverters into their readers. A
/// signal is the code of a literal of the builder.
class FoldingNetlistSink final : public logic::GateSink {
 public:
  explicit FoldingNetlistSink(NetlistBuilder& builder) : builder_(builder) {}

  logic::Signal constant(bool value) override { return BitLiteral(0, value).code(); }
  logic::Signal gate(std::span<const logic::Signal> inputs, std::uint64_t truth) override;

 private:
  NetlistBuilder& builder_;
};

/// Adds gates to a bit circuit, which simplifies them. A signal is the code of a literal.
class BitCircuitSink final : public logic::GateSink {
 public:
  explicit BitCircuitSink(BitCircuit& circuit) : circuit_(circuit) {}

  logic::Signal constant(bool value) override { return circuit_.constant(value).code(); }
  logic::Signal gate(std::span<const logic::Signal> inputs, std::uint64_t truth) override;

 private:
  BitCircuit& circuit_;
};

}  // namespace boolgrad::circuit
