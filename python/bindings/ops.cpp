#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/ops/op_table.h"
#include "module.h"

namespace boolgrad::python {
namespace {

const OpEntry& op_called(const std::string& name) {
  const OpEntry* op = find_op(name);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const OpEntry& entry : op_table()) names.emplace_back(entry.name);
    const auto nearest = nearest_name(name, names);
    fail("ops", "unknown op '{}'{}", printable(name),
         nearest ? fmt::format(", did you mean '{}'?", *nearest) : "");
  }
  return *op;
}

std::vector<Tensor> inputs_of(const OpEntry& op, const nb::args& arrays) {
  const std::size_t wanted = op.shapes == OpShapes::one ? 1 : 2;
  if (arrays.size() != wanted) {
    fail(op.name, "expected {} arrays, received {}", wanted, arrays.size());
  }
  std::vector<Tensor> inputs;
  for (const nb::handle array : arrays) inputs.push_back(tensor_of(array, op.name, "input"));
  return inputs;
}

template <class T>
T value_of(nb::handle value, std::string_view op, std::string_view name) {
  T result;
  if (!nb::try_cast(value, result)) {
    fail(op, "expected a value of another type for {}, received {}", name,
         nb::cast<std::string>(nb::repr(value)));
  }
  return result;
}

OpOptions options_of(const OpEntry& op, const nb::dict& options) {
  OpOptions result;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (name == "axes") result.axes = value_of<std::vector<std::int64_t>>(value, op.name, name);
    else if (name == "axis") result.axis = value_of<std::int64_t>(value, op.name, name);
    else if (name == "keepdims") result.keepdims = value_of<bool>(value, op.name, name);
    else if (name == "low") result.low = value_of<double>(value, op.name, name);
    else if (name == "high") result.high = value_of<double>(value, op.name, name);
    else if (name == "alpha" && op.name == "focal")
      result.focal.alpha = value_of<double>(value, op.name, name);
    else if (name == "alpha") result.alpha = value_of<double>(value, op.name, name);
    else if (name == "gamma") result.focal.gamma = value_of<double>(value, op.name, name);
    else if (name == "reduction") {
      const auto kind = value_of<std::string>(value, op.name, name);
      if (kind != "sum" && kind != "mean") {
        fail(op.name, "expected the reduction sum or mean, received {}", printable(kind));
      }
      result.reduction = kind == "sum" ? Reduction::sum : Reduction::mean;
      result.focal.reduction = *result.reduction;
    } else {
      fail(op.name,
           "expected the options axes, axis, keepdims, low, high, alpha, gamma or reduction, "
           "received {}",
           printable(name));
    }
  }
  return result;
}

nb::object forward(const std::string& name, const nb::args& arrays, const nb::dict& options) {
  const OpEntry& op = op_called(name);
  const std::vector<Tensor> inputs = inputs_of(op, arrays);
  const OpOptions how = options_of(op, options);
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    const NoGrad off_the_tape;
    result = op.apply(inputs, how);
  }
  // An op may return its input, whose memory belongs to the caller.
  for (const Tensor& input : inputs) {
    if (result.data() == input.data()) result = result.clone();
  }
  return array_of(result);
}

nb::list vjp(const std::string& name, nb::handle upstream, const nb::args& arrays,
             const nb::dict& options) {
  const OpEntry& op = op_called(name);
  const std::vector<Tensor> inputs = inputs_of(op, arrays);
  const OpOptions how = options_of(op, options);
  const Tensor gradient = upstream.is_none() ? Tensor() : tensor_of(upstream, op.name, "upstream");
  std::vector<Tensor> gradients;
  {
    const nb::gil_scoped_release no_gil;
    std::vector<Tensor> tracked = inputs;
    std::vector<Tensor> parameters;
    for (Tensor& input : tracked) {
      if (is_floating(input.dtype())) parameters.push_back(input = parameter(input));
    }
    const Tensor output = op.apply(tracked, how);
    gradients = grad(output, parameters, {.upstream = gradient});
  }
  nb::list result;
  std::size_t next = 0;
  for (const Tensor& input : inputs) {
    if (is_floating(input.dtype())) result.append(array_of(gradients[next++].clone()));
    else result.append(nb::none());
  }
  return result;
}

}  // namespace

void bind_ops(nb::module_& package) {
  using nb::literals::operator""_a;
  nb::module_ module = package.def_submodule("ops");
  module.def("forward", [](const std::string& name, const nb::args& arrays,
                           const nb::kwargs& options) { return forward(name, arrays, options); });
  module.def(
      "vjp",
      [](const std::string& name, const nb::object& upstream, const nb::args& arrays,
         const nb::kwargs& options) { return vjp(name, upstream, arrays, options); },
      "name"_a, "upstream"_a.none(), "arrays"_a, "options"_a);
  module.def("table", [] {
    nb::list result;
    for (const OpEntry& op : op_table()) {
      result.append(nb::make_tuple(std::string(op.name), std::string(op.family),
                                   op.shapes == OpShapes::one ? 1 : 2));
    }
    return result;
  });
}

}  // namespace boolgrad::python
