#include "boolgrad/cli/op_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::cli {
namespace {

using nlohmann::json;

/// Reads the cases of a file.
class CaseReader {
 public:
  CaseReader(const std::filesystem::path& path, const TensorFile& file)
      : path_(path), file_(file) {}

  std::vector<OpCase> read_all() {
    const json cases = json::parse(file_.metadata.at("cases"), nullptr, false);
    if (!cases.is_object() || cases.empty()) {
      refuse("metadata 'cases' as a JSON object with at least one case",
             cases.is_discarded() ? "invalid JSON"
             : cases.is_object()  ? "an empty one"
                                  : cases.type_name());
    }
    std::vector<OpCase> result;
    for (const auto& [name, options] : cases.items()) {
      case_name_ = name;
      result.push_back(read(options));
    }
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& expected, const std::string& received) const {
    const std::string where = case_name_.empty() ? "" : " in case '" + case_name_ + "'";
    fail("reference values", "{}: expected {}{}, received {}", path_.string(), expected, where,
         received);
  }

  OpCase read(const json& options) {
    OpCase result;
    result.name = case_name_;
    result.op = op_of_case();
    result.options = read_options(options);
    for (std::size_t i = 0; i < input_count(*result.op); ++i) {
      result.inputs.push_back(tensor(fmt::format("in{}", i)));
      result.expected.gradients.push_back(gradient(i, result.inputs.back()));
    }
    const std::string extra = fmt::format("in{}", result.inputs.size());
    if (find(extra) != nullptr) {
      refuse(fmt::format("{} inputs", result.inputs.size()), extra + " as well");
    }
    result.expected.out = tensor("out");
    result.upstream = tensor("gout");
    return result;
  }

  /// The op of the longest matching prefix of the case's name: `gelu.tanh` is gelu_tanh, `add.0` is
  /// add.
  const OpEntry* op_of_case() const {
    std::string beginning = case_name_;
    while (true) {
      std::string joined = beginning;
      std::ranges::replace(joined, '.', '_');
      if (const OpEntry* op = find_op(joined)) return op;
      const std::size_t dot = beginning.rfind('.');
      if (dot == std::string::npos) break;
      beginning.resize(dot);
    }
    refuse("a case named after an op", "'" + case_name_ + "'");
  }

  const Tensor* find(const std::string& name) const {
    const auto found = file_.tensors.find(case_name_ + "/" + name);
    return found == file_.tensors.end() ? nullptr : &found->second;
  }

  const Tensor& tensor(const std::string& name) const {
    const Tensor* found = find(name);
    if (found == nullptr) refuse("tensor '" + name + "'", "none");
    return *found;
  }

  Tensor gradient(std::size_t i, const Tensor& input) const {
    const std::string name = fmt::format("grad{}", i);
    const Tensor* found = find(name);
    if (found == nullptr) return {};
    if (!is_floating(input.dtype())) refuse("no " + name + " of an integer input", "one");
    return *found;
  }

  OpOptions read_options(const json& options) {
    if (!options.is_object()) refuse("options as a JSON object", options.type_name());
    OpOptions result;
    for (const auto& [name, value] : options.items()) read_option(result, name, value);
    return result;
  }

  void read_option(OpOptions& result, const std::string& name, const json& value) {
    if (name == "axis" || name == "axes") {
      result.axes = axes(name, value);
      if (value.is_number_integer()) result.axis = result.axes->front();
    } else if (name == "keepdims") {
      if (!value.is_boolean()) refuse("keepdims true or false", value.type_name());
      result.keepdims = value.get<bool>();
    } else if (name == "min" || name == "low") {
      result.low = number(name, value);
    } else if (name == "max" || name == "high") {
      result.high = number(name, value);
    } else if (name == "alpha") {
      result.alpha = number(name, value);
      result.focal.alpha = result.alpha;
    } else if (name == "gamma") {
      result.focal.gamma = number(name, value);
    } else if (name == "reduction") {
      result.focal.reduction = reduction(value);
      result.reduction = result.focal.reduction;
    } else {
      refuse("a known option", "'" + name + "'");
    }
  }

  double number(const std::string& name, const json& value) const {
    if (!value.is_number()) refuse("a number as " + name, value.type_name());
    return value.get<double>();
  }

  Reduction reduction(const json& value) const {
    if (value == "sum") return Reduction::sum;
    if (value == "mean") return Reduction::mean;
    refuse("reduction 'sum' or 'mean'",
           value.is_string() ? "'" + value.get<std::string>() + "'" : value.type_name());
  }

  // Never copies a value: copying a deeply nested one would overflow the stack.
  std::optional<Axes> axes(const std::string& name, const json& value) const {
    if (value.is_null()) return std::nullopt;
    if (!value.is_array()) return Axes{axis(name, value)};
    Axes result;
    for (const json& element : value) result.push_back(axis(name, element));
    return result;
  }

  std::int64_t axis(const std::string& name, const json& value) const {
    if (!value.is_number_integer()) refuse(name + " of whole numbers", value.type_name());
    return value.get<std::int64_t>();
  }

  const std::filesystem::path& path_;
  const TensorFile& file_;
  std::string case_name_;
};

Tensor rounded(const Tensor& tensor, DType dtype) {
  return is_floating(tensor.dtype()) ? cast(tensor, dtype) : tensor;
}

}  // namespace

bool holds_op_cases(const TensorFile& file) {
  return file.metadata.contains("cases") &&
         std::ranges::any_of(file.tensors,
                             [](const auto& named) { return named.first.ends_with("/in0"); });
}

std::vector<OpCase> read_op_cases(const std::filesystem::path& path, const TensorFile& file) {
  return CaseReader(path, file).read_all();
}

OpCase rounded_to(const OpCase& of, DType dtype) {
  OpCase result = of;
  for (Tensor& input : result.inputs) input = rounded(input, dtype);
  result.upstream = rounded(of.upstream, dtype);
  return result;
}

OpValues compute(const OpCase& of) {
  std::vector<Tensor> inputs = of.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (of.expected.gradients[i].defined()) inputs[i] = parameter(inputs[i]);
  }
  OpValues result;
  result.out = of.op->apply(inputs, of.options);
  result.gradients.resize(inputs.size());
  const GradOptions upstream{.upstream = of.upstream.viewed_as(result.out.shape()),
                             .keep_graph = true};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!needs_grad(inputs[i])) continue;
    // An op whose derivative is 0 everywhere may not be recorded.
    result.gradients[i] = needs_grad(result.out)
                              ? grad(result.out, inputs[i], upstream)
                              : Tensor::zeros(inputs[i].shape(), inputs[i].dtype());
  }
  return result;
}

std::size_t input_count(const OpEntry& op) { return op.shapes == OpShapes::one ? 1 : 2; }

double relative_error(const Tensor& value, const Tensor& reference) {
  if (value.size() != reference.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  double difference = 0;
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const double wanted = reference.at(i);
    const double error = std::abs(value.at(i) - wanted);
    if (std::isnan(error)) return error;
    largest = std::max(largest, std::abs(wanted));
    difference = std::max(difference, error);
  }
  return largest > 0 ? difference / largest : difference;
}

}  // namespace boolgrad::cli
