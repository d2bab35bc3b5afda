// Seven gates learn to add two-bit numbers.
//
// Only the wires of a ripple-carry adder are given: a half adder for the low bits, a full adder for
// the high bits. What each gate computes is learned by gradient descent from the sixteen sums. A
// soft gate is a truth table of probabilities, interpolated between its entries; rounding the
// tables at the end gives real logic.
#include <boolgrad/boolgrad.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace bg = boolgrad;
using bg::Tensor;

namespace {

constexpr int gates = 7;
constexpr int cases = 16;
constexpr int steps = 400;
constexpr float learning_rate = 1.0F;

// Bit `bit` of `number(i)` for every case i, one sample per case.
template <class Number>
Tensor bits(int bit, Number number) {
  std::vector<float> values;
  for (int i = 0; i < cases; ++i) values.push_back(static_cast<float>(number(i) >> bit & 1));
  return Tensor::of(values);
}

int first(int i) { return i / 4; }
int second(int i) { return i % 4; }
int expected(int i) { return first(i) + second(i); }

// Entry i of the table is the output where a is bit 0 of i and b is bit 1.
Tensor soft_gate(const Tensor& table, const Tensor& a, const Tensor& b) {
  const std::array corners = {(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b};
  return matmul(table, bg::stack(corners));
}

// The three bits of the sum, [bit][case].
Tensor add_two_bits(const std::vector<Tensor>& tables) {
  const Tensor a0 = bits(0, first), a1 = bits(1, first);
  const Tensor b0 = bits(0, second), b1 = bits(1, second);
  const Tensor sum0 = soft_gate(tables[0], a0, b0);
  const Tensor carry0 = soft_gate(tables[1], a0, b0);
  const Tensor half = soft_gate(tables[2], a1, b1);
  const Tensor sum1 = soft_gate(tables[3], half, carry0);
  const Tensor both = soft_gate(tables[4], a1, b1);
  const Tensor rippled = soft_gate(tables[5], half, carry0);
  const Tensor carry1 = soft_gate(tables[6], both, rippled);
  return bg::stack(std::array{sum0, sum1, carry1});
}

std::vector<Tensor> tables_of(const std::vector<Tensor>& logits) {
  std::vector<Tensor> tables;
  for (const Tensor& of_gate : logits) tables.push_back(sigmoid(of_gate));
  return tables;
}

std::vector<Tensor> train() {
  std::vector<Tensor> logits;
  for (std::uint32_t gate = 0; gate < gates; ++gate) {
    std::vector<float> start;
    for (std::uint64_t entry = 0; entry < 4; ++entry) {
      start.push_back(
          static_cast<float>(bg::random_normal({.seed = 1, .stream = gate, .index = entry})));
    }
    logits.push_back(bg::parameter(Tensor::of(start)));
  }
  const Tensor target =
      bg::stack(std::array{bits(0, expected), bits(1, expected), bits(2, expected)});

  for (int step = 0; step <= steps; ++step) {
    const Tensor loss = sum_of_squares(add_two_bits(tables_of(logits)), target);
    if (step % 50 == 0) std::printf("  step %3d  loss %8.4f\n", step, loss.item());
    const std::vector<Tensor> slopes = grad(loss, logits);
    for (std::size_t gate = 0; gate < gates; ++gate) {
      const auto values = logits[gate].mutable_values<float>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] -= learning_rate * slopes[gate].values<float>()[i];
      }
    }
  }
  return tables_of(logits);
}

// The table rounded to zeros and ones.
Tensor harden(const Tensor& table) {
  std::vector<float> entries;
  for (const float entry : table.values<float>()) entries.push_back(entry > 0.5F ? 1.0F : 0.0F);
  return Tensor::of(entries);
}

// The name of a gate with this table.
std::string_view name_of(const Tensor& table) {
  for (const bg::logic::Gate& gate : bg::logic::gates) {
    bool equal = true;
    for (int i = 0; i < 4; ++i) equal &= gate.entry(i) == (table.at(i) > 0.5);
    if (equal) return gate.name;
  }
  return "unknown";
}

}  // namespace

int main() {
  std::printf("Training 7 soft gates to add two-bit numbers:\n");
  std::vector<Tensor> tables = train();

  std::printf("\nRounded, the gates are:\n");
  for (std::size_t gate = 0; gate < gates; ++gate) {
    tables[gate] = harden(tables[gate]);
    const std::string_view name = name_of(tables[gate]);
    std::printf("  gate %zu  %.*s\n", gate, static_cast<int>(name.size()), name.data());
  }

  const Tensor sums = add_two_bits(tables);
  int errors = 0;
  for (int i = 0; i < cases; ++i) {
    int learned = 0;
    for (int bit = 0; bit < 3; ++bit) {
      learned += static_cast<int>(sums.at(bit * cases + i)) << bit;
    }
    if (learned == expected(i)) continue;
    std::printf("  %d + %d: expected %d, received %d\n", first(i), second(i), expected(i), learned);
    ++errors;
  }
  std::printf("\n%d of %d sums correct\n", cases - errors, cases);
  return errors == 0 ? 0 : 1;
}
