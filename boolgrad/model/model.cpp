#include "boolgrad/model/model.h"

#include <system_error>
#include <utility>

#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/model/tensor_checks.h"

namespace boolgrad {
namespace {

std::int64_t count_off(const Tensor& mask) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < mask.size(); ++i) count += mask.at(i) == 0 ? 1 : 0;
  return count;
}

void check_exponents(const std::vector<std::int32_t>& exponents, std::int64_t outputs,
                     const std::string& source) {
  if (!exponents.empty() && std::ssize(exponents) != outputs) {
    fail("classifier", "{}: expected {} exponents of weights, received {}", source, outputs,
         exponents.size());
  }
  for (const std::int32_t exponent : exponents) {
    if (exponent < 0 || exponent > max_weight_exponent) {
      fail("classifier", "{}: expected exponents of weights from 0 to {}, received {}", source,
           max_weight_exponent, exponent);
    }
  }
}

void check_fits(const Classifier& classifier, const logic::Network& network,
                const std::string& source) {
  const std::int64_t groups = classifier.head.groups();
  if (classifier.thresholds.bits() != network.inputs() || groups < 1 ||
      network.outputs() % groups != 0) {
    fail("classifier",
         "{}: expected a network of {} inputs and a multiple of {} outputs, received {} and {}",
         source, classifier.thresholds.bits(), groups, network.inputs(), network.outputs());
  }
  check_exponents(classifier.head.exponents, network.outputs(), source);
}

}  // namespace

Model::Model(logic::Network network, std::optional<Classifier> classifier)
    : trained_(std::move(network)), classifier_(std::move(classifier)) {}
Model::Model(automata::Rule rule) : trained_(std::move(rule)) {}

std::vector<Tensor> Model::parameters() const {
  std::vector<Tensor> result = is_automaton() ? rule().parameters() : network().parameters();
  if (classifier_ && classifier_->threshold_offsets.defined()) {
    result.push_back(classifier_->threshold_offsets);
  }
  if (classifier_ && classifier_->weight_exponents.defined()) {
    result.push_back(classifier_->weight_exponents);
  }
  return result;
}

Parametrisation Model::parametrisation() const {
  return is_automaton() ? rule().update().parametrisation() : network().parametrisation();
}

std::vector<Tensor> Model::masks() const {
  return is_automaton() ? masks_of(rule()) : masks_of(network());
}

std::vector<Tensor> Model::tables(const std::vector<Tensor>& logits) const {
  return is_automaton() ? rule().tables(logits) : network().tables(logits);
}

std::int64_t Model::masked_count() const {
  std::int64_t count = is_automaton() ? 0 : count_off(network().input_mask());
  for (const Tensor& mask : masks()) count += count_off(mask);
  return count;
}

std::vector<std::vector<bool>> Model::active_gates() const {
  return is_automaton() ? boolgrad::active_gates(rule()) : boolgrad::active_gates(network());
}

Inspection Model::inspect() const {
  return is_automaton() ? boolgrad::inspect(rule()) : boolgrad::inspect(network());
}

TensorFile Model::to_file() const {
  TensorFile file = is_automaton() ? rule().to_file() : network().to_file();
  if (classifier_) classifier_->save(file);
  return file;
}

void Model::restore(const TensorFile& file) {
  if (is_automaton()) {
    trained_ = automata::Rule::from_file(file);
    return;
  }
  trained_ = logic::Network::from_file(file);
  if (classifier_ && Classifier::is_in(file)) classifier_ = Classifier::from_file(file);
}

Model Model::from_file(const TensorFile& file, const std::string& source) {
  if (automata::Rule::is_in(file)) return Model(automata::Rule::from_file(file));
  Model model(logic::Network::from_file(file));
  if (Classifier::is_in(file)) {
    model.classifier_ = Classifier::from_file(file);
    check_fits(*model.classifier_, model.network(), source);
  }
  return model;
}

void save_model(const std::filesystem::path& path, const std::string& experiment_toml,
                TensorFile model) {
  model.metadata[experiment_metadata_key] = experiment_toml;
  save_safetensors(path, model);
}

std::filesystem::path model_path(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  for (const char* name : {model_file, checkpoint_file}) {
    if (std::filesystem::exists(path / name, ignored)) return path / name;
  }
  fail("load", "{}: no {} or {} in this folder", path.string(), model_file, checkpoint_file);
}

LoadedModel load_model(const std::filesystem::path& path) {
  const std::filesystem::path file = model_path(path);
  std::error_code ignored;
  if (circuit::has_readable_extension(file) && std::filesystem::exists(file, ignored)) {
    fail("load", "{}: expected a model or the folder of a run, received a circuit",
         printable(path.string()));
  }
  return model_in(load_safetensors(file), file);
}

namespace {

/// The message of an error with the file it is about: `[mask] FILE: expected ...`.
std::string named(const std::string& message, const std::string& source) {
  const std::size_t end = message.find("] ");
  if (message.find(source) != std::string::npos || end == std::string::npos) return message;
  return message.substr(0, end + 2) + source + ": " + message.substr(end + 2);
}

Model checked_model(const TensorFile& file, const std::string& source) {
  check_tensors(file, "load", source);
  try {
    return Model::from_file(file, source);
  } catch (const Error& error) {
    throw Error(named(error.what(), source));
  }
}

}  // namespace

LoadedModel model_in(const TensorFile& file, const std::filesystem::path& path) {
  std::optional<ModelSpec> spec;
  const auto found = file.metadata.find(experiment_metadata_key);
  if (found != file.metadata.end()) {
    spec = parse_model_spec(found->second, path.string(), path.stem().string());
  }
  return {std::move(spec), checked_model(file, path.string())};
}

}  // namespace boolgrad
