#include "boolgrad/train/run/run_folder.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <system_error>

#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/folder_lock.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/model.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/report.h"
#include "boolgrad/train/run/run.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

/// The settings in one of the files of a run.
std::string text_of_settings_in(const fs::path& path) {
  if (path.filename() == settings_file) return file_content("train", path);
  const TensorFile file = load_safetensors(path);
  const auto found = file.metadata.find(experiment_metadata_key);
  return found == file.metadata.end() ? "" : found->second;
}

/// The file that says what ran in a folder. Folders of older versions have no settings of their
/// own.
std::optional<fs::path> described_by(const fs::path& folder) {
  for (const char* name : {settings_file, checkpoint_file, model_file}) {
    std::error_code ignored;
    if (fs::exists(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

/// New settings of a folder, which replace those that are there when they are committed.
class Settings {
 public:
  Settings(const fs::path& folder, const Experiment& experiment)
      : file_("train", folder / settings_file) {
    const std::string text = to_toml(experiment);
    file_.write(text.data(), text.size());
  }
  void commit() { file_.commit(); }

 private:
  Replacement file_;
};

/// `base`, then `base`-2 and so on.
fs::path numbered(const fs::path& base, std::int64_t number) {
  fs::path folder = base;
  if (number > 1) folder += fmt::format("-{}", number);
  return folder;
}

}  // namespace

fs::path default_run_folder(const Experiment& experiment) {
  return fs::path("runs") / fmt::format("{}-{}", file_name_of(experiment.name), experiment.seed);
}

void make_run_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail("train", "cannot create the folder {}: {}", folder.string(), error.message());
  }
  const Replacement writable("train", folder / checkpoint_file);
}

std::optional<std::string> other_run_in(const fs::path& folder, const Experiment& experiment) {
  const std::optional<fs::path> path = described_by(folder);
  if (!path) return std::nullopt;
  try {
    const std::string earlier =
        to_toml(parse_experiment(text_of_settings_in(*path), path->string(), "", ""));
    const std::string now = to_toml(experiment);
    if (earlier == now) return std::nullopt;
    return first_difference(earlier, now).first;
  } catch (const Error&) {
    return "";  // of another version, or damaged
  }
}

void claim_run_folder(const fs::path& folder, const Experiment& experiment, bool overwrite) {
  const std::optional<std::string> other = other_run_in(folder, experiment);
  if (other && !overwrite) {
    fail("train", "{} has a run with other settings{}: choose another folder or overwrite it",
         folder.string(), other->empty() ? "" : fmt::format(" ({})", printable(*other)));
  }
  remove_temporary_files(folder);
  Settings settings(folder, experiment);  // a full disk shows here, before anything is removed
  // The model first and the settings last: whatever is left if this is interrupted belongs
  // together.
  for (const char* name : {model_file, losses_file, gates_file, checkpoint_file, metrics_file}) {
    std::error_code error;
    fs::remove(folder / name, error);
    if (error) {
      fail("train", "cannot remove {}: {}", (folder / name).string(), error.message());
    }
  }
  settings.commit();  // syncs the folder, removals included
}

void write_settings(const fs::path& folder, const Experiment& experiment) {
  Settings(folder, experiment).commit();
}

fs::path free_run_folder(const fs::path& base, const Experiment& experiment) {
  for (std::int64_t number = 1;; ++number) {
    fs::path folder = numbered(base, number);
    if (!other_run_in(folder, experiment)) return folder;
  }
}

fs::path resumable_run_folder(const fs::path& base, const Experiment& experiment) {
  for (std::int64_t number = 1;; ++number) {
    fs::path folder = numbered(base, number);
    const fs::path checkpoint = folder / checkpoint_file;
    std::error_code ignored;
    if (!fs::exists(folder, ignored)) return base;
    if (!fs::exists(checkpoint, ignored)) continue;
    try {
      check_resumable(load_checkpoint(checkpoint).experiment, experiment, checkpoint.string());
      return folder;
    } catch (const Error&) {
      continue;  // of another run
    }
  }
}

}  // namespace boolgrad::train
