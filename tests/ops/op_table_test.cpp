// Properties of every op in the table: derivatives agree with central differences, results do not
// depend on the number of threads, precisions agree.
#include "boolgrad/ops/op_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/op_cases.h"

namespace boolgrad {
namespace {

std::string shapes_text(const OpCase& op_case) {
  std::string text;
  for (const Shape& shape : op_case.shapes) text += to_string(shape) + " ";
  return text;
}

class EveryOp : public testing::TestWithParam<std::string> {
 protected:
  const OpEntry& op() const { return *find_op(GetParam()); }
};

TEST_P(EveryOp, AgreesWithCentralDifferencesOnRandomShapes) {
  EXPECT_TRUE(rc::check(GetParam() + " passes gradcheck", [&](std::uint64_t seed) {
    const OpCase op_case = random_case(op(), seed);
    const std::vector<Tensor> inputs = case_inputs(op(), op_case, DType::float64, seed);
    const GradcheckResult result = gradcheck(
        [&](std::span<const Tensor> in) { return op().apply(in, op_case.options); }, inputs);
    RC_LOG() << shapes_text(op_case) << result.describe();
    RC_ASSERT(result.pass);
  }));
}

/// Output and gradients of one evaluation.
std::vector<Tensor> evaluate(const OpEntry& op, const OpCase& op_case, std::vector<Tensor> inputs) {
  std::vector<Tensor> leaves;
  for (Tensor& input : inputs) {
    if (!is_floating(input.dtype())) continue;
    input = parameter(input);
    leaves.push_back(input);
  }
  const Tensor output = op.apply(inputs, op_case.options);
  const Tensor upstream = random_tensor(output.shape(), output.dtype(), 99);
  std::vector<Tensor> results = grad(output, leaves, {.upstream = upstream});
  results.insert(results.begin(), output.detach());
  return results;
}

/// Shapes large enough that every op splits into several tasks.
std::vector<OpCase> large_cases(const OpEntry& op) {
  switch (op.shapes) {
    case OpShapes::one: {
      std::vector<OpCase> cases{{{{300, 401}}, {}}, {{{70001, 3}}, {}}, {{{3, 70001}}, {}}};
      if (op.family != "reduction" && op.name != "softmax") return cases;
      std::vector<OpCase> by_axis;
      for (const OpCase& base : cases) {
        by_axis.push_back(base);
        for (const std::int64_t axis : {0, 1}) {
          OpCase with_axis = base;
          with_axis.options.axis = axis;
          with_axis.options.axes = Axes{axis};
          by_axis.push_back(with_axis);
        }
      }
      return by_axis;
    }
    case OpShapes::broadcast:
      return {{{{300, 401}, {300, 401}}, {}},
              {{{300, 401}, {401}}, {}},
              {{{300, 401}, {300, 1}}, {}},
              {{{}, {300, 401}}, {}},
              {{{70001, 3}, {3}}, {}},
              {{{70001, 1}, {70001, 3}}, {}},
              {{{40, 1, 50, 7}, {60, 50, 1}}, {}}};
    case OpShapes::equal: return {{{{300, 401}, {300, 401}}, {}}};
    case OpShapes::matrices:
      return {{{{300, 200}, {200, 310}}, {}},
              {{{300, 401}, {401}}, {}},
              {{{401}, {401, 300}}, {}},
              {{{70001}, {70001}}, {}},
              {{{5, 60, 70}, {70, 80}}, {}}};
    case OpShapes::channels: return {{{{300, 401}, {401}}, {}}, {{{300, 401}, {1}}, {}}};
    case OpShapes::labels: {
      OpCase by_row{{{3000, 40}, {3000}}, {}};
      OpCase by_column{{{40, 3000}, {3000}}, {}};
      by_column.options.axis = 0;
      return {by_row, by_column};
    }
  }
  return {};
}

TEST_P(EveryOp, GivesTheSameBitsForAnyNumberOfThreads) {
  const int before = thread_count();
  for (const OpCase& op_case : large_cases(op())) {
    for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
      const std::vector<Tensor> inputs = case_inputs(op(), op_case, dtype, 5);
      set_thread_count(1);
      const std::vector<Tensor> alone = evaluate(op(), op_case, inputs);
      for (const int threads : {2, 7}) {
        set_thread_count(threads);
        const std::vector<Tensor> together = evaluate(op(), op_case, inputs);
        for (std::size_t i = 0; i < alone.size(); ++i) {
          EXPECT_TRUE(same_bits(alone[i], together[i]))
              << shapes_text(op_case) << to_string(dtype) << " tensor " << i << " on " << threads;
        }
      }
    }
  }
  set_thread_count(before);
}

double largest(const Tensor& x) {
  double result = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) result = std::max(result, std::abs(x.at(i)));
  return result;
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  const double size = std::max(largest(expected), 1e-30);
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(actual.at(i) - expected.at(i)) / size;
    if (!(error <= tolerance)) {
      FAIL() << what << " element " << i << ": " << actual.at(i) << " against " << expected.at(i);
    }
  }
}

// Large shapes take other code paths than the small ones of gradcheck. Here float64 is compared
// with the narrower types, whose vectors and tails differ.
TEST_P(EveryOp, PrecisionsAgreeOnLargeShapes) {
  for (const OpCase& op_case : large_cases(op())) {
    for (const auto& [dtype, tolerance] :
         {std::pair{DType::float32, 1e-5}, std::pair{DType::float16, 4e-3}}) {
      const std::vector<Tensor> narrow = case_inputs(op(), op_case, dtype, 5);
      std::vector<Tensor> wide;
      for (const Tensor& input : narrow) {
        wide.push_back(is_floating(input.dtype()) ? cast(input, DType::float64) : input);
      }
      const std::vector<Tensor> actual = evaluate(op(), op_case, narrow);
      std::vector<Tensor> leaves;
      for (Tensor& input : wide) {
        if (is_floating(input.dtype())) leaves.push_back(input = parameter(input));
      }
      const Tensor output = op().apply(wide, op_case.options);
      const Tensor upstream = cast(random_tensor(output.shape(), dtype, 99), DType::float64);
      std::vector<Tensor> expected = grad(output, leaves, {.upstream = upstream});
      expected.insert(expected.begin(), output.detach());
      // A float16 sum of a hundred thousand terms may leave the range of the type.
      if (dtype == DType::float16 && largest(expected[0]) > Float16::largest) continue;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        if (dtype == DType::float16 && largest(expected[i]) > Float16::largest) continue;
        expect_close(
            actual[i], expected[i], tolerance,
            shapes_text(op_case) + std::string(to_string(dtype)) + " tensor " + std::to_string(i));
      }
    }
  }
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpEntry& op : op_table()) names.emplace_back(op.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOp, testing::ValuesIn(op_names()),
                         [](const auto& test) { return test.param; });

TEST(OpTable, ListsEachOpOnceInOneOfSixFamilies) {
  const std::set<std::string_view> families{"arithmetic",  "matrix",     "reduction",
                                            "elementwise", "activation", "loss"};
  std::set<std::string_view> names;
  for (const OpEntry& op : op_table()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_TRUE(families.contains(op.family)) << op.family;
    EXPECT_EQ(find_op(op.name), &op);
  }
  EXPECT_GE(names.size(), 30U);
  EXPECT_EQ(find_op("no_such_op"), nullptr);
}

}  // namespace
}  // namespace boolgrad
