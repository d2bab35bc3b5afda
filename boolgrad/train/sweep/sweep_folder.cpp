#include "boolgrad/train/sweep/sweep_folder.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/folder_lock.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/keys.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/run/run_folder.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* where = "sweep";
constexpr const char* manifest_file = "manifest.json";
constexpr const char* failure_file = "error.txt";

/// Everything that identifies a sweep: all but its seeds.
json identity_of(const Sweep& sweep) {
  Experiment experiment = sweep.experiment;
  experiment.seed = 0;
  json variations = json::array();
  for (const Variation& variation : sweep.variations) {
    variations.push_back({{"key", variation.key}, {"values", variation.values}});
  }
  return {{"experiment", to_toml(experiment)}, {"variations", std::move(variations)}};
}

/// The description in a file, with present names of keys.
json saved_identity(const fs::path& path) {
  json saved = json::parse(file_content(where, path), nullptr, false);
  try {
    const Experiment experiment =
        parse_experiment(saved.at("experiment").get<std::string>(), path.string(), "", "");
    saved["experiment"] = to_toml(experiment);
    for (json& variation : saved.at("variations")) {
      variation["key"] = current_key(variation.at("key").get<std::string>());
    }
  } catch (const json::exception&) {
    fail(where, "{}: not the description of a sweep", path.string());
  }
  return saved;
}

void check_same_sweep(const fs::path& path, const json& wanted) {
  const json saved = saved_identity(path);
  const std::string folder = path.parent_path().string();
  if (saved["experiment"] != wanted["experiment"]) {
    const auto [before, now] = first_difference(saved["experiment"].get<std::string>(),
                                                wanted["experiment"].get<std::string>());
    fail(where, "{}: the sweep in this folder was started with {}, received {}", folder,
         printable(before), printable(now));
  }
  if (saved != wanted) {
    fail(where, "{}: the sweep in this folder was started with other variations", folder);
  }
}

}  // namespace

void check_sweep_folder(const Sweep& sweep, const fs::path& folder) {
  if (fs::exists(folder / sweep_file)) {
    check_same_sweep(folder / sweep_file, identity_of(sweep));
  } else if (fs::exists(folder / checkpoint_file) || fs::exists(folder / settings_file)) {
    fail(where, "{}: expected the folder of a sweep, received that of a run", folder.string());
  }
}

void describe_sweep(const Sweep& sweep, const fs::path& folder) {
  if (!fs::exists(folder / sweep_file)) {
    write_file(where, folder / sweep_file, identity_of(sweep).dump(2) + "\n");
  }
}

bool has_manifest(const fs::path& folder) { return fs::exists(folder / manifest_file); }

void write_manifest(const Sweep& sweep, const fs::path& folder) {
  const std::vector<SweepRun> runs = runs_of(sweep);
  check_sweep_folder(sweep, folder);
  make_run_folder(folder);
  const FolderLock lock(where, folder);
  describe_sweep(sweep, folder);
  json tasks = json::array();
  for (const SweepRun& run : runs) {
    tasks.push_back({{"run", run.name}, {"seed", run.experiment.seed}, {"values", run.values}});
  }
  const json manifest = {
      {"first_seed", sweep.first_seed}, {"seeds", sweep.seeds}, {"tasks", std::move(tasks)}};
  write_file(where, folder / manifest_file, manifest.dump(2) + "\n");
}

Sweep read_manifest(const fs::path& folder) {
  const auto object_in = [&](const char* name) {
    return json::parse(file_content(where, folder / name), nullptr, false);
  };
  const json identity = object_in(sweep_file);
  const json manifest = object_in(manifest_file);
  try {
    Sweep sweep{.experiment = parse_experiment(identity.at("experiment").get<std::string>(),
                                               (folder / sweep_file).string(), "", ""),
                .first_seed = manifest.at("first_seed").get<std::int64_t>(),
                .seeds = manifest.at("seeds").get<std::int64_t>()};
    for (const json& variation : identity.at("variations")) {
      sweep.variations.push_back({current_key(variation.at("key").get<std::string>()),
                                  variation.at("values").get<std::vector<std::string>>()});
    }
    return sweep;
  } catch (const json::exception&) {
    fail(where, "{}: expected the folder of `boolgrad sweep --manifest`, received other files",
         folder.string());
  }
}

void save_result(const fs::path& run_folder, const SweepResult& result) {
  const json object = {
      {"steps_to_converge", result.converged() ? json(*result.steps_to_converge) : json()},
      {"steps", result.steps},
      {"soft_loss", result.soft_loss},
      {"hard_loss", result.hard_loss},
      {"hard_accuracy", result.hard_accuracy},
      {"bit_accuracy", result.bit_accuracy},
      {"seconds", result.seconds},
      {"validated", result.validated}};
  write_file(where, run_folder / result_file, object.dump(2) + "\n");
  std::error_code ignored;
  fs::remove(run_folder / failure_file, ignored);
}

void save_failure(const fs::path& run_folder, const std::string& error) {
  write_file(where, run_folder / failure_file, error + "\n");
}

std::optional<SweepResult> load_result(const fs::path& run_folder) {
  std::ifstream file(run_folder / result_file);
  const json object = json::parse(file, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  try {
    SweepResult result{.steps_to_converge = std::nullopt,
                       .steps = object.at("steps").get<std::int64_t>(),
                       .soft_loss = object.at("soft_loss").get<double>(),
                       .hard_loss = object.at("hard_loss").get<double>(),
                       .hard_accuracy = object.at("hard_accuracy").get<double>(),
                       .bit_accuracy = object.at("bit_accuracy").get<double>(),
                       .seconds = object.at("seconds").get<double>(),
                       .validated = object.value("validated", false)};
    const json& converged = object.at("steps_to_converge");
    if (!converged.is_null()) result.steps_to_converge = converged.get<std::int64_t>();
    return result;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string load_failure(const fs::path& run_folder) {
  std::ifstream file(run_folder / failure_file);
  std::string error;
  std::getline(file, error);
  return error;
}

std::vector<SweepEntry> collect_sweep(const fs::path& folder) {
  std::vector<SweepEntry> entries;
  for (SweepRun& run : runs_of(read_manifest(folder))) {
    const fs::path run_folder = folder / run.name;
    SweepEntry entry{.run = std::move(run), .result = load_result(run_folder)};
    if (!entry.result) entry.error = load_failure(run_folder);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace boolgrad::train
