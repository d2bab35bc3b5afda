// Common parts of `boolgrad predict` for classifiers and circuits.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/model/unlabelled_samples.h"

namespace boolgrad::cli {

struct PredictArguments {
  std::string model;
  std::string data;
  std::string out;
  std::int64_t top = 1;
  bool scores = false;
  bool skips_bad_rows = false;
  bool has_bits = false;  ///< for circuits: a column per bit
};

/// A field of a CSV file, in quotes if it needs them.
std::string csv_field(const std::string& text);

/// Prints the samples that were refused. Throws if there are some and they are not to be left out,
/// or if no sample is left.
void check_samples(const PredictArguments& arguments, const UnlabelledSamples& samples,
                   const CommonOptions& common);

/// Writes a table of predictions to the file, or prints it.
void write_table(const PredictArguments& arguments, const UnlabelledSamples& samples,
                 const std::string& table, const CommonOptions& common);

/// The part of the JSON that does not depend on what was predicted.
nlohmann::json json_of_samples(const PredictArguments& arguments, const UnlabelledSamples& samples);

/// Runs a circuit on rows of inputs.
void predict_circuit(const PredictArguments& arguments, const circuit::Netlist& netlist,
                     const CommonOptions& common);

}  // namespace boolgrad::cli
