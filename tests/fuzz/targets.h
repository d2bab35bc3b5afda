// What is fuzzed: functions of bytes that must not crash, whatever the bytes are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace boolgrad::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// A fuzz target. It may refuse input with a `boolgrad::Error`, and with no other exception. A
/// property that does not hold ends the program.
struct Target {
  std::string_view name;  ///< also that of its corpus
  void (*run)(Bytes bytes);
};

/// All targets.
std::span<const Target> targets();

/// The target of that name, or null.
const Target* find_target(std::string_view name);

/// Runs a target and catches the errors that it may throw. Returns whether the input was accepted.
bool accepts(const Target& target, Bytes bytes);

/// Ends the program with a message unless a property holds.
void require(bool holds, std::string_view property);

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The targets, by what they read.
void read_safetensors(Bytes bytes);
void read_model(Bytes bytes);
void read_checkpoint(Bytes bytes);
void read_experiment_toml(Bytes bytes);
void read_overrides(Bytes bytes);
void read_csv(Bytes bytes);
void read_csv_features(Bytes bytes);
void read_truth_table(Bytes bytes);
void read_png(Bytes bytes);
void read_bitmap(Bytes bytes);
void read_idx(Bytes bytes);
void read_cifar(Bytes bytes);
void read_npy(Bytes bytes);
void read_gif(Bytes bytes);
void read_cell_rule(Bytes bytes);
void read_cell_examples(Bytes bytes);
void read_grid_text(Bytes bytes);
void read_netlist_text(Bytes bytes);
void read_blif(Bytes bytes);
void read_aiger(Bytes bytes);
void read_html(Bytes bytes);
void read_verilog(Bytes bytes);
void simplify_netlist(Bytes bytes);
void differentiate_graph(Bytes bytes);

}  // namespace boolgrad::fuzz
