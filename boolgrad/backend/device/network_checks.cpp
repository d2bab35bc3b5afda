#include "boolgrad/backend/device/network_checks.h"

#include <algorithm>

#include "boolgrad/core/fail.h"

namespace boolgrad {
namespace {

constexpr int max_arity = 6;

void check_head(std::string_view backend, const Head& head, std::int64_t outputs) {
  const std::int64_t groups = head.groups();
  if (groups < 1 || outputs % groups != 0) {
    fail(backend, "expected outputs in {} equal groups, received {}", groups, outputs);
  }
  if (head.kind == HeadKind::regression && !(head.low < head.high)) {
    fail(backend, "expected a regression range with low < high, received {} to {}", head.low,
         head.high);
  }
  if (head.kind != HeadKind::regression && !(head.temperature > 0)) {
    fail(backend, "expected a temperature above 0, received {}", head.temperature);
  }
  if (!head.exponents.empty() && std::ssize(head.exponents) != outputs) {
    fail(backend, "expected {} exponents, received {}", outputs, head.exponents.size());
  }
}

/// Checks the labels of a classification, or the dtype of other targets.
void check_targets(std::string_view backend, const Tensor& targets, const NetworkSpec& spec) {
  if (!spec.head || spec.head->kind == HeadKind::regression) {
    return check_float32(backend, targets, "targets");
  }
  const std::int64_t classes = spec.head->kind == HeadKind::binary ? 2 : spec.head->classes;
  const auto labels = targets.values<std::int32_t>();
  const auto invalid = std::ranges::find_if(labels, [&](int l) { return l < 0 || l >= classes; });
  if (invalid != labels.end()) {
    fail(backend, "expected labels from 0 to {}, received {}", classes - 1, *invalid);
  }
}

void check_soft_targets(std::string_view backend, const FeatureSamples& samples,
                        const NetworkSpec& spec) {
  const Tensor& targets = samples.soft_targets;
  if (!targets.defined()) return;
  if (!spec.head || spec.head->kind != HeadKind::classes) {
    fail(backend, "expected soft targets only with a head of classes");
  }
  check_float32(backend, targets, "soft targets");
  const Shape wanted{samples.features.shape()[0], spec.head->classes};
  if (targets.shape() != wanted) {
    fail(backend, "expected soft targets {}, received {}", to_string(wanted),
         to_string(targets.shape()));
  }
}

void check_hardening(std::string_view backend, const NetworkStepArguments& step,
                     std::span<const std::int64_t> tables) {
  if (step.hardening.kind == HardeningKind::states) {
    fail(backend,
         "expected hardening of tables or logits, received states, which needs an automaton");
  }
  if (step.hardening.kind != HardeningKind::freeze || !(step.hardening.share > 0)) return;
  if (step.frozen.size() != tables.size()) {
    fail(backend, "expected frozen gates of {} layers, received {}", tables.size(),
         step.frozen.size());
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    check_float32(backend, step.frozen[i], "frozen gates");
    if (step.frozen[i].size() != tables[i]) {
      fail(backend, "expected {} frozen flags in layer {}, received {}", tables[i], i,
           step.frozen[i].size());
    }
  }
}

}  // namespace

void check_layers(std::string_view backend, std::span<const LutWires> layers,
                  const NetworkSpec& spec) {
  if (layers.empty()) fail(backend, "expected at least one layer, received none");
  if (std::ranges::all_of(layers, &LutWires::pools)) {
    fail(backend, "expected at least one layer of gates, received only pooling");
  }
  for (const LutWires& layer : layers) {
    if (!layer.pools && spec.parametrisation == Parametrisation::softmax16 && layer.arity != 2) {
      fail(backend, "expected gates of 2 inputs for softmax16, received {}", layer.arity);
    }
    if (layer.arity < 1 || layer.arity > max_arity) {
      fail(backend, "expected gates of 1 to {} inputs, received {}", max_arity, layer.arity);
    }
    if (layer.first_wins) {
      fail(backend,
           "pooling that gives the gradient to the first maximum is supported on cpu only");
    }
  }
  if (spec.head) check_head(backend, *spec.head, layers.back().gates);
}

void check_float32(std::string_view backend, const Tensor& tensor, const char* what) {
  if (tensor.dtype() != DType::float32) {
    fail(backend, "expected {} of float32, received {}", what, to_string(tensor.dtype()));
  }
}

Shape target_shape(std::int64_t outputs, std::int64_t samples, const NetworkSpec& spec) {
  return spec.head ? Shape{samples} : Shape{outputs, samples};
}

void check_cases(std::string_view backend, const Tensor& inputs, const Tensor& targets,
                 std::int64_t input_count, std::int64_t outputs, const NetworkSpec& spec) {
  check_float32(backend, inputs, "inputs");
  const std::int64_t samples = inputs.rank() == 2 ? inputs.shape()[1] : 0;
  const Shape wanted = target_shape(outputs, samples, spec);
  if (inputs.shape() != Shape{input_count, samples} || targets.shape() != wanted) {
    fail(backend, "expected inputs [{}, samples] and targets {}, received {} and {}", input_count,
         to_string(wanted), to_string(inputs.shape()), to_string(targets.shape()));
  }
  check_targets(backend, targets, spec);
}

void check_samples(std::string_view backend, const FeatureSamples& samples, const Tensor& targets,
                   std::int64_t inputs, std::int64_t outputs, const NetworkSpec& spec) {
  const Tensor& features = samples.features;
  const bool is_number = features.dtype() == DType::uint8 || features.dtype() == DType::float32;
  if (!is_number || features.rank() != 2) {
    fail(backend, "expected uint8 or float32 features [samples, features], received {} {}",
         to_string(features.dtype()), to_string(features.shape()));
  }
  if (std::ssize(samples.sources) != inputs || std::ssize(samples.thresholds) != inputs) {
    fail(backend, "expected one source and one threshold per input ({}), received {} and {}",
         inputs, samples.sources.size(), samples.thresholds.size());
  }
  const std::int64_t count = features.shape()[1];
  const auto invalid =
      std::ranges::find_if(samples.sources, [&](int f) { return f < 0 || f >= count; });
  if (invalid != samples.sources.end()) {
    fail(backend, "expected sources below {} features, received {}", count, *invalid);
  }
  if (samples.height > 0 && count % (samples.height * samples.width) != 0) {
    fail(backend, "expected images of {}x{} pixels, received {} features", samples.height,
         samples.width, count);
  }
  if (samples.learns_thresholds() &&
      (std::ssize(samples.ranges) != inputs || !(samples.width_share > 0) ||
       std::ranges::any_of(samples.ranges, [](float range) { return !(range > 0); }))) {
    fail(backend,
         "expected one positive range per threshold ({}) and a positive width, received {} ranges "
         "and a width of {}",
         inputs, samples.ranges.size(), samples.width_share);
  }
  const Shape wanted = target_shape(outputs, features.shape()[0], spec);
  if (targets.shape() != wanted) {
    fail(backend, "expected targets {}, received {}", to_string(wanted),
         to_string(targets.shape()));
  }
  check_targets(backend, targets, spec);
  check_soft_targets(backend, samples, spec);
}

void check_of_layers(std::string_view backend, std::span<const Tensor> tensors,
                     std::span<const Shape> shapes) {
  if (tensors.size() != shapes.size()) {
    fail(backend, "expected {} parameters, received {}", shapes.size(), tensors.size());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check_float32(backend, tensors[i], "a parameter");
    if (tensors[i].shape() != shapes[i]) {
      fail(backend, "expected shape {} of parameter {}, received {}", to_string(shapes[i]), i,
           to_string(tensors[i].shape()));
    }
  }
}

void check_masks(std::string_view backend, std::span<const Tensor> masks,
                 std::span<const std::int64_t> tables, const Tensor& input_mask,
                 std::int64_t inputs) {
  if (masks.size() != tables.size()) {
    fail(backend, "expected masks of {} layers, received {}", tables.size(), masks.size());
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    check_float32(backend, masks[i], "a mask");
    if (masks[i].size() != tables[i]) {
      fail(backend, "expected a mask of {} gates, received {}", tables[i], masks[i].size());
    }
  }
  check_float32(backend, input_mask, "a mask");
  if (input_mask.size() != inputs) {
    fail(backend, "expected a mask of {} inputs, received {}", inputs, input_mask.size());
  }
}

void check_candidates(std::string_view backend, std::size_t layer, const CandidateWires& own,
                      const CandidateWires& given) {
  if (own.count == 0) {
    fail(backend, "expected a layer with learned wires, received layer {}", layer);
  }
  if (own.positions != given.positions || own.has_outside != given.has_outside) {
    fail(backend, "expected candidates shared by {} gates, received candidates shared by {} gates",
         own.positions, given.positions);
  }
  if (own.inputs == given.inputs && own.slots == given.slots && own.count == given.count) return;
  fail(backend,
       "expected {} candidates out of {} inputs for each of {} gate inputs, received {} out of {} "
       "for each of {}",
       own.count, own.inputs, own.slots, given.count, given.inputs, given.slots);
}

void check_step(std::string_view backend, const NetworkStepArguments& step, std::int64_t batch,
                const StepData& data, std::span<const std::int64_t> tables) {
  if (data.samples == 0) fail(backend, "expected training samples, received none");
  const std::span<const std::int64_t> chosen = step.samples;
  if (chosen.empty() ? batch > data.samples : std::ssize(chosen) != batch) {
    fail(backend, "expected {} samples, received {}", batch,
         chosen.empty() ? data.samples : std::ssize(chosen));
  }
  for (const std::int64_t one : chosen) {
    if (one < 0 || one >= data.samples) {
      fail(backend, "expected sample indices below {}, received {}", data.samples, one);
    }
  }
  if (!step.transforms.empty() && !data.has_images) {
    fail(backend, "expected images for transforms, received other samples");
  }
  if (!step.transforms.empty() && step.transforms.size() != chosen.size()) {
    fail(backend, "expected one transform per image ({}), received {}", chosen.size(),
         step.transforms.size());
  }
  check_hardening(backend, step, tables);
  if (!(step.wire_temperature > 0)) {
    fail(backend, "expected a wire temperature above 0, received {}", step.wire_temperature);
  }
  if (step.head_temperature && !(*step.head_temperature > 0)) {
    fail(backend, "expected a temperature above 0, received {}", *step.head_temperature);
  }
}

}  // namespace boolgrad
