#include "boolgrad/model/layer_kinds.h"

#include "boolgrad/automata/perception_layer.h"
#include "boolgrad/logic/layers/group_sum_layer.h"
#include "boolgrad/logic/layers/lut_layer.h"
#include "boolgrad/logic/layers/threshold_layer.h"

namespace boolgrad {

const std::array<const LayerKind*, 4>& layer_kinds() {
  static const std::array<const LayerKind*, 4> kinds = {
      &lut_layer_kind, &perception_layer_kind, &group_sum_layer_kind, &threshold_layer_kind};
  return kinds;
}

}  // namespace boolgrad
