#include "boolgrad/backend/plan/gate_order.h"

#include <cstddef>
#include <numeric>

namespace boolgrad {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The gates [begin, end) by the inputs that they read. Each gate is returned once.
class Readers {
 public:
  Readers(const LutWires& wires, std::int64_t begin, std::int64_t end)
      : next_(index(wires.inputs) + 1), used_(index(end - begin)), begin_(begin) {
    const auto first = wires.sources.begin() + begin * 2;
    const auto last = wires.sources.begin() + end * 2;
    for (auto source = first; source != last; ++source) ++next_[index(*source) + 1];
    std::partial_sum(next_.begin(), next_.end(), next_.begin());
    end_.assign(next_.begin() + 1, next_.end());
    gates_.resize(index(end - begin) * 2);
    std::vector<std::size_t> position = next_;
    for (auto source = first; source != last; ++source) {
      gates_[position[index(*source)]++] = static_cast<std::int32_t>(begin + (source - first) / 2);
    }
  }

  /// A gate that reads `input` and was not returned yet; -1 if there is none.
  std::int32_t take(std::int32_t input) {
    for (std::size_t& at = next_[index(input)]; at < end_[index(input)]; ++at) {
      if (take_gate(gates_[at])) return gates_[at];
    }
    return -1;
  }

  bool take_gate(std::int32_t gate) {
    const std::size_t at = index(gate - begin_);
    const bool is_new = !used_[at];
    used_[at] = true;
    return is_new;
  }

 private:
  std::vector<std::size_t> next_, end_;
  std::vector<std::int32_t> gates_;
  std::vector<bool> used_;
  std::int64_t begin_;
};

}  // namespace

std::vector<std::int32_t> order_gates(const LutWires& wires, std::int64_t begin, std::int64_t end) {
  Readers readers(wires, begin, end);
  std::vector<std::int32_t> order;
  order.reserve(index(end - begin));
  for (std::int64_t start = begin; start < end; ++start) {
    auto gate = static_cast<std::int32_t>(start);
    if (!readers.take_gate(gate)) continue;
    std::int32_t came_by = wires.sources[index(gate) * 2];
    while (gate >= 0) {
      order.push_back(gate);
      const std::int32_t a = wires.sources[index(gate) * 2];
      const std::int32_t b = wires.sources[index(gate) * 2 + 1];
      came_by = a == came_by ? b : a;
      gate = readers.take(came_by);
    }
  }
  return order;
}

std::vector<std::int32_t> order_inputs(const LutWires& wires,
                                       const std::vector<std::int32_t>& gates) {
  std::vector<bool> seen(index(wires.inputs));
  std::vector<std::int32_t> order;
  order.reserve(seen.size());
  const auto visit = [&](std::int32_t input) {
    if (!seen[index(input)]) order.push_back(input);
    seen[index(input)] = true;
  };
  std::int32_t came_by = -1;
  for (const std::int32_t gate : gates) {
    const std::int32_t a = wires.sources[index(gate) * 2];
    const std::int32_t b = wires.sources[index(gate) * 2 + 1];
    const bool forward = b != came_by;
    visit(forward ? a : b);
    visit(forward ? b : a);
    came_by = forward ? b : a;
  }
  for (std::int64_t input = 0; input < wires.inputs; ++input) {
    visit(static_cast<std::int32_t>(input));
  }
  return order;
}

}  // namespace boolgrad
