#include "boolgrad/model/layer_kinds.h"

#include "boolgrad/automata/perception_layer.h"
#include "boolgrad/logic/layers/convolution_layer.h"
#include "boolgrad/logic/layers/group_sum_layer.h"
#include "boolgrad/logic/layers/lut_layer.h"
#include "boolgrad/logic/layers/selection_layer.h"
#include "boolgrad/logic/layers/threshold_layer.h"

namespace boolgrad {

const std::array<const logic::LayerKind*, 6>& layer_kinds() {
  static const std::array<const logic::LayerKind*, 6> kinds = {
      &logic::selection_layer_kind,   &logic::lut_layer_kind,
      &logic::convolution_layer_kind, &automata::perception_layer_kind,
      &logic::group_sum_layer_kind,   &logic::threshold_layer_kind};
  return kinds;
}

}  // namespace boolgrad
