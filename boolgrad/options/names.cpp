#include "boolgrad/options/names.h"

#include "boolgrad/core/fail.h"

namespace boolgrad {

std::string_view to_string(Parametrisation parametrisation) {
  switch (parametrisation) {
    case Parametrisation::softmax16: return "softmax16";
    case Parametrisation::sigmoid: return "sigmoid";
    case Parametrisation::walsh: return "walsh";
  }
  return "unknown";
}

Parametrisation parametrisation_of(std::string_view where, std::string_view name) {
  for (const auto kind :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    if (name == to_string(kind)) return kind;
  }
  fail(where, "expected softmax16, sigmoid or walsh, received {}", name);
}

std::string_view to_string(HeadKind kind) {
  switch (kind) {
    case HeadKind::classes: return "classes";
    case HeadKind::binary: return "binary";
    case HeadKind::bits: return "bits";
    case HeadKind::regression: return "regression";
  }
  return "unknown";
}

std::string_view to_string(HeadWeights weights) {
  switch (weights) {
    case HeadWeights::ones: return "ones";
    case HeadWeights::powers: return "powers";
  }
  return "unknown";
}

HeadKind head_kind_of(std::string_view where, std::string_view name) {
  for (const HeadKind kind :
       {HeadKind::classes, HeadKind::binary, HeadKind::bits, HeadKind::regression}) {
    if (name == to_string(kind)) return kind;
  }
  fail(where, "expected classes, binary, bits or regression, received {}", name);
}

std::string_view to_string(HardeningKind kind) {
  switch (kind) {
    case HardeningKind::none: return "none";
    case HardeningKind::blend: return "blend";
    case HardeningKind::gates: return "gates";
    case HardeningKind::states: return "states";
    case HardeningKind::straight_through: return "straight_through";
    case HardeningKind::temperature: return "temperature";
    case HardeningKind::noise: return "noise";
    case HardeningKind::freeze: return "freeze";
  }
  return "unknown";
}

}  // namespace boolgrad
