#include "boolgrad/backend/device/network_checks.h"

#include <algorithm>

#include "boolgrad/core/error.h"

namespace boolgrad {

void check_layers(std::string_view backend, std::span<const LutWires> layers,
                  const NetworkPlan& plan) {
  const LutWires& last = layers.back();
  if (plan.has_classes() && (last.gates % plan.classes != 0 || last.arity != 2)) {
    fail(backend, "expected two-input gates in equal groups, received {} gates for {} classes",
         last.gates, plan.classes);
  }
  for (const LutWires& layer : layers) {
    if (plan.parametrisation == Parametrisation::softmax16 && layer.arity != 2) {
      fail(backend, "expected gates of 2 inputs for softmax16, received {}", layer.arity);
    }
  }
}

void check_float32(std::string_view backend, const Tensor& tensor, const char* what) {
  if (tensor.dtype() != DType::float32) {
    fail(backend, "expected {} of float32, received {}", what, to_string(tensor.dtype()));
  }
}

Shape target_shape(std::int64_t outputs, std::int64_t cases, const NetworkPlan& plan) {
  return plan.has_classes() ? Shape{cases} : Shape{outputs, cases};
}

namespace {

/// Labels of classes, or numbers.
void check_targets(std::string_view backend, const Tensor& targets, const NetworkPlan& plan) {
  if (!plan.has_classes()) return check_float32(backend, targets, "targets");
  const auto labels = targets.values<std::int32_t>();
  if (std::ranges::any_of(labels, [&](int l) { return l < 0 || l >= plan.classes; })) {
    fail(backend, "expected labels below {}, received others", plan.classes);
  }
}

}  // namespace

void check_cases(std::string_view backend, const Tensor& inputs, const Tensor& targets,
                 std::int64_t input_count, std::int64_t outputs, const NetworkPlan& plan) {
  check_float32(backend, inputs, "inputs");
  const std::int64_t cases = inputs.rank() == 2 ? inputs.shape()[1] : 0;
  const Shape wanted = target_shape(outputs, cases, plan);
  if (inputs.shape() != Shape{input_count, cases} || targets.shape() != wanted) {
    fail(backend, "expected inputs [{}, cases] and targets {}, received {} and {}", input_count,
         to_string(wanted), to_string(inputs.shape()), to_string(targets.shape()));
  }
  check_targets(backend, targets, plan);
}

void check_samples(std::string_view backend, const BitSamples& samples, const Tensor& targets,
                   std::int64_t inputs, std::int64_t outputs, const NetworkPlan& plan) {
  const Tensor& features = samples.features;
  const bool is_number = features.dtype() == DType::uint8 || features.dtype() == DType::float32;
  if (!is_number || features.rank() != 2) {
    fail(backend, "expected uint8 or float32 features [cases, features], received {} {}",
         to_string(features.dtype()), to_string(features.shape()));
  }
  if (std::ssize(samples.sources) != inputs || std::ssize(samples.levels) != inputs) {
    fail(backend, "expected a source and a level for each of {} inputs, received {} and {}", inputs,
         samples.sources.size(), samples.levels.size());
  }
  const std::int64_t count = features.shape()[1];
  if (std::ranges::any_of(samples.sources, [&](int f) { return f < 0 || f >= count; })) {
    fail(backend, "expected sources below {} features, received others", count);
  }
  if (samples.height > 0 && count % (samples.height * samples.width) != 0) {
    fail(backend, "expected pictures of {}x{} pixels, received {} features", samples.height,
         samples.width, count);
  }
  const Shape wanted = target_shape(outputs, features.shape()[0], plan);
  if (targets.shape() != wanted) {
    fail(backend, "expected targets {}, received {}", to_string(wanted),
         to_string(targets.shape()));
  }
  check_targets(backend, targets, plan);
}

void check_of_layers(std::string_view backend, std::span<const Tensor> tensors,
                     std::span<const Shape> shapes) {
  if (tensors.size() != shapes.size()) {
    fail(backend, "expected {} layers, received {}", shapes.size(), tensors.size());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check_float32(backend, tensors[i], "a layer");
    if (tensors[i].shape() != shapes[i]) {
      fail(backend, "expected {} in layer {}, received {}", to_string(shapes[i]), i,
           to_string(tensors[i].shape()));
    }
  }
}

void check_masks(std::string_view backend, std::span<const Tensor> masks,
                 std::span<const std::int64_t> gates, const Tensor& input_mask,
                 std::int64_t inputs) {
  if (masks.size() != gates.size()) {
    fail(backend, "expected masks of {} layers, received {}", gates.size(), masks.size());
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    check_float32(backend, masks[i], "a mask");
    if (masks[i].size() != gates[i]) {
      fail(backend, "expected a mask of {} gates, received {}", gates[i], masks[i].size());
    }
  }
  check_float32(backend, input_mask, "a mask");
  if (input_mask.size() != inputs) {
    fail(backend, "expected a mask of {} inputs, received {}", inputs, input_mask.size());
  }
}

void check_step(std::string_view backend, const StepCases& step, std::int64_t batch,
                std::int64_t cases, bool has_pictures) {
  if (cases == 0) fail(backend, "expected cases to learn from, received none");
  const std::span<const std::int64_t> picked = step.picked;
  if (picked.empty() ? batch > cases : std::ssize(picked) != batch) {
    fail(backend, "expected {} cases, received {}", batch,
         picked.empty() ? cases : std::ssize(picked));
  }
  for (const std::int64_t one : picked) {
    if (one < 0 || one >= cases) {
      fail(backend, "expected cases below {}, received {}", cases, one);
    }
  }
  if (!step.moves.empty() && (step.moves.size() != picked.size() || !has_pictures)) {
    fail(backend, "expected a move for each of {} pictures picked, received {} of {}",
         picked.size(), step.moves.size(), has_pictures ? "pictures" : "samples that are none");
  }
}

}  // namespace boolgrad
