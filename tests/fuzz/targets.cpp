#include "tests/fuzz/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "boolgrad/core/error.h"

namespace boolgrad::fuzz {
namespace {

constexpr Target all_targets[] = {
    {"safetensors", read_safetensors},
    {"model", read_model},
    {"checkpoint", read_checkpoint},
    {"experiment", read_experiment_toml},
    {"overrides", read_overrides},
    {"csv", read_csv},
    {"csv-features", read_csv_features},
    {"truth-table", read_truth_table},
    {"png", read_png},
    {"bitmap", read_bitmap},
    {"idx", read_idx},
    {"cifar", read_cifar},
    {"npy", read_npy},
    {"gif", read_gif},
    {"rule", read_cell_rule},
    {"rule-examples", read_cell_examples},
    {"grid-text", read_grid_text},
    {"netlist", read_netlist_text},
    {"blif", read_blif},
    {"aiger", read_aiger},
    {"html", read_html},
    {"verilog", read_verilog},
    {"passes", simplify_netlist},
    {"tape", differentiate_graph},
};

}  // namespace

std::span<const Target> targets() { return all_targets; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(all_targets, name, &Target::name);
  return found == std::end(all_targets) ? nullptr : found;
}

bool accepts(const Target& target, Bytes bytes) {
  try {
    target.run(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void require(bool holds, std::string_view property) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(property.size()), property.data());
  std::abort();
}

}  // namespace boolgrad::fuzz
