// Seven gates learn to add two-bit numbers.
//
// Only the wires of a ripple-carry adder are given: a half adder for the low bits, a full adder for
// the high ones. What each gate computes is learned by gradient descent from the sixteen sums. A
// soft gate is a truth table of probabilities, evaluated by interpolation between its entries;
// rounding the tables at the end gives real logic.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/random.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

using boolgrad::Tensor;

namespace {

constexpr int gates = 7;
constexpr int cases = 16;
constexpr int steps = 400;
constexpr float learning_rate = 1.0F;

// A gate by the number that its truth table spells: f(0,0) f(0,1) f(1,0) f(1,1).
constexpr std::array<const char*, 16> gate_names = {
    "FALSE",   "A AND B",    "A AND NOT B", "A",        "NOT A AND B", "B",
    "A XOR B", "A OR B",     "A NOR B",     "A XNOR B", "NOT B",       "A OR NOT B",
    "NOT A",   "NOT A OR B", "A NAND B",    "TRUE"};

// Bit `bit` of `number(i)` for every case i, one sample a case.
template <class Number>
Tensor bits(int bit, Number number) {
  std::vector<float> values;
  for (int i = 0; i < cases; ++i) values.push_back(static_cast<float>(number(i) >> bit & 1));
  return Tensor::of(values);
}

int first(int i) { return i / 4; }
int second(int i) { return i % 4; }
int wanted(int i) { return first(i) + second(i); }

// Entry f(p,q) of the table weighs as much as (a, b) is (p, q): multilinear interpolation.
Tensor soft_gate(const Tensor& table, const Tensor& a, const Tensor& b) {
  const Tensor one = Tensor::ones({}, a.dtype());
  const Tensor not_a = subtract(one, a);
  const Tensor not_b = subtract(one, b);
  const std::array corners = {multiply(not_a, not_b), multiply(not_a, b), multiply(a, not_b),
                              multiply(a, b)};
  return matmul(table, boolgrad::stack(corners));
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
  return boolgrad::stack(std::array{sum0, sum1, carry1});
}

std::vector<Tensor> train() {
  std::vector<Tensor> logits;
  for (std::uint32_t gate = 0; gate < gates; ++gate) {
    std::vector<float> start;
    for (std::uint64_t entry = 0; entry < 4; ++entry) {
      start.push_back(
          static_cast<float>(boolgrad::random_normal({.seed = 1, .stream = gate, .index = entry})));
    }
    logits.push_back(boolgrad::parameter(Tensor::of(start)));
  }
  const Tensor target =
      boolgrad::stack(std::array{bits(0, wanted), bits(1, wanted), bits(2, wanted)});

  std::vector<Tensor> tables(gates);
  for (int step = 0; step <= steps; ++step) {
    for (std::size_t gate = 0; gate < gates; ++gate) tables[gate] = sigmoid(logits[gate]);
    const Tensor loss = sum_of_squares(add_two_bits(tables), target);
    if (step % 50 == 0) fmt::print("  step {:3}  loss {:8.4f}\n", step, loss.item());

    backward(loss);
    for (Tensor& parameter : logits) {
      const Tensor slope = gradient(parameter);
      const auto values = parameter.mutable_values<float>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] -= learning_rate * slope.values<float>()[i];
      }
      clear_gradient(parameter);
    }
  }
  return tables;
}

// The table rounded to zeros and ones.
Tensor harden(const Tensor& table) {
  std::vector<float> entries;
  for (const float entry : table.values<float>()) entries.push_back(entry > 0.5F ? 1.0F : 0.0F);
  return Tensor::of(entries);
}

}  // namespace

int main() {
  fmt::print("Training 7 soft gates to add two-bit numbers:\n");
  std::vector<Tensor> tables = train();

  fmt::print("\nRounded, the gates are:\n");
  for (std::size_t gate = 0; gate < gates; ++gate) {
    tables[gate] = harden(tables[gate]);
    std::size_t index = 0;
    for (const float entry : tables[gate].values<float>())
      index = 2 * index + (entry > 0.5F ? 1 : 0);
    fmt::print("  gate {}  {}\n", gate, gate_names[index]);
  }

  const Tensor sums = add_two_bits(tables);
  fmt::print("\n   a    b   wanted  learned\n");
  int correct = 0;
  for (int i = 0; i < cases; ++i) {
    int learned = 0;
    for (int bit = 0; bit < 3; ++bit) {
      learned += static_cast<int>(sums.at(bit * cases + i)) << bit;
    }
    if (learned == wanted(i)) ++correct;
    fmt::print("  {:02b} + {:02b} =  {:03b}     {:03b}{}\n", first(i), second(i), wanted(i),
               learned, learned == wanted(i) ? "" : "  wrong");
  }
  if (correct < cases) {
    fmt::print("{} of {} cases wrong\n", cases - correct, cases);
    return 1;
  }
  fmt::print("all {} cases right\n", cases);
}
