// A netlist in Python.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad::python {

/// An immutable netlist and, once it was evaluated, its scheduled gates.
class Circuit {
 public:
  explicit Circuit(circuit::Netlist netlist)
      : netlist_(std::make_shared<const circuit::Netlist>(std::move(netlist))) {}

  const circuit::Netlist& netlist() const { return *netlist_; }

  /// Thread-safe.
  const circuit::CircuitRunner& runner() const {
    std::call_once(lazy_->once, [this] { lazy_->runner.emplace(*netlist_); });
    return *lazy_->runner;
  }

 private:
  struct Lazy {
    std::once_flag once;
    std::optional<circuit::CircuitRunner> runner;
  };

  std::shared_ptr<const circuit::Netlist> netlist_;
  std::shared_ptr<Lazy> lazy_ = std::make_shared<Lazy>();
};

}  // namespace boolgrad::python
