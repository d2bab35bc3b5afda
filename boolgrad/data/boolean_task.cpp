#include "boolgrad/data/boolean_task.h"

#include <algorithm>
#include <array>
#include <bit>

#include "boolgrad/core/fail.h"

namespace boolgrad::data {
namespace {

using Number = std::uint64_t;

struct Function {
  TaskKind kind;
  bool two_halves;
  int (*outputs)(int bits);
  Number (*value)(Number x, int bits);
};

constexpr Number low_half(Number x, int bits) { return x & ((Number{1} << (bits / 2)) - 1); }
constexpr Number high_half(Number x, int bits) { return x >> (bits / 2); }

constexpr int as_many(int bits) { return bits; }
constexpr int half(int bits) { return bits / 2; }

constexpr Number reversed(Number x, int bits) {
  Number result = 0;
  for (int i = 0; i < bits; ++i) result |= ((x >> i) & 1) << (bits - 1 - i);
  return result;
}

constexpr std::array functions = {
    Function{TaskKind::multiply, true, as_many,
             [](Number x, int bits) { return low_half(x, bits) * high_half(x, bits); }},
    Function{TaskKind::add, true, [](int bits) { return bits / 2 + 1; },
             [](Number x, int bits) { return low_half(x, bits) + high_half(x, bits); }},
    Function{TaskKind::bitwise_and, true, half,
             [](Number x, int bits) { return low_half(x, bits) & high_half(x, bits); }},
    Function{TaskKind::bitwise_xor, true, half,
             [](Number x, int bits) { return low_half(x, bits) ^ high_half(x, bits); }},
    Function{TaskKind::parity, false, [](int /*bits*/) { return 1; },
             [](Number x, int /*bits*/) { return Number(std::popcount(x)) & 1; }},
    Function{TaskKind::reverse, false, as_many, reversed},
    Function{TaskKind::copy, false, as_many, [](Number x, int /*bits*/) { return x; }},
    Function{TaskKind::gray, false, as_many, [](Number x, int /*bits*/) { return x ^ (x >> 1); }},
    Function{TaskKind::popcount, false,
             [](int bits) { return static_cast<int>(std::bit_width(static_cast<Number>(bits))); },
             [](Number x, int /*bits*/) { return Number(std::popcount(x)); }},
};

const Function& function_of(TaskKind kind) {
  const auto found = std::ranges::find(functions, kind, &Function::kind);
  if (found == functions.end()) {
    fail("task", "expected a Boolean function, received {}", to_string(kind));
  }
  return *found;
}

void check_bits(const Function& function, int bits) {
  if (bits < 1 || bits > max_task_bits) {
    fail("task", "expected {} of 1 to {} bits, received {}", to_string(function.kind),
         max_task_bits, bits);
  }
  if (function.two_halves && bits % 2 != 0) {
    fail("task", "expected an even number of bits for the two halves of {}, received {}",
         to_string(function.kind), bits);
  }
}

/// The bits of `number(c)` for every case c: [bits, cases].
template <class F>
Tensor bits_of(int bits, Number cases, F number) {
  Tensor result({bits, static_cast<std::int64_t>(cases)}, DType::uint8);
  const auto values = result.mutable_values<std::uint8_t>();
  for (Number c = 0; c < cases; ++c) {
    const Number value = number(c);
    for (int i = 0; i < bits; ++i) {
      values[static_cast<Number>(i) * cases + c] = static_cast<std::uint8_t>((value >> i) & 1);
    }
  }
  return result;
}

}  // namespace

BooleanTask boolean_task(TaskKind kind, int bits) {
  const Function& function = function_of(kind);
  check_bits(function, bits);
  const Number cases = Number{1} << bits;
  return {.name = std::string(to_string(kind)),
          .inputs = bits_of(bits, cases, [](Number c) { return c; }),
          .targets = bits_of(function.outputs(bits), cases,
                             [&](Number c) { return function.value(c, bits); })};
}

}  // namespace boolgrad::data
