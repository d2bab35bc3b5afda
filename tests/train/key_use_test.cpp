// No option is silently ignored: a key that an experiment does not use is rejected or gives a
// notice, and a key that it uses changes the results of a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/model/model.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/train/experiment/experiment_keys.h"
#include "boolgrad/train/learners/automaton_learner.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/generated_data.h"
#include "tests/support/light_pictures.h"
#include "tests/support/messages.h"
#include "tests/support/npy_file.h"
#include "tests/support/scratch.h"
#include "tests/train/key_rows.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

using key_rows::all_rows;
using key_rows::Overrides;
using key_rows::Row;
using key_rows::Watched;

constexpr data::TaskFamily families[] = {data::TaskFamily::circuit, data::TaskFamily::automaton,
                                         data::TaskFamily::classifier};

bool reads(const KeyUse& use, data::TaskFamily family) {
  switch (family) {
    case data::TaskFamily::circuit: return use.circuit;
    case data::TaskFamily::automaton: return use.automaton;
    case data::TaskFamily::classifier: return use.classifier;
  }
  return false;
}

/// The folder that DATA stands for.
void write_data(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "images");
  std::filesystem::create_directories(folder / "fewer");
  testing_support::write_pictures(folder / "images", "train", 80);
  testing_support::write_pictures(folder / "fewer", "train", 60);
  testing_support::write_scores(folder / "teacher.npy", 80, 4);
  testing_support::write_flowers(folder / "flowers.csv", 90);
  std::string gaps = "length,width,kind\n";
  for (int i = 0; i < 60; ++i) {
    gaps += fmt::format("{},{},{}\n", i * 37 % 61, i % 5 == 0 ? "" : std::to_string(i * 7 % 31),
                        i * 37 % 61 > 30 ? "lily" : "rose");
  }
  write_bytes(folder / "gaps.csv", gaps);
  write_bytes(folder / "a.csv", "a,b,out1,out2\n0,0,0,0\n1,0,1,0\n0,1,1,0\n1,1,0,1\n");
  write_bytes(folder / "b.csv", "a,b,out1,out2\n0,0,1,0\n1,0,0,0\n0,1,0,1\n1,1,1,1\n");
  std::string seen(18, '\0');
  seen[4] = 1;
  write_bytes(folder / "seen.npy", testing_support::npy("|u1", "(2, 3, 3)", seen));
  seen[9 + 4] = 1;
  write_bytes(folder / "other.npy", testing_support::npy("|u1", "(2, 3, 3)", seen));
  picture::Image cross = picture::filled_image(4, 4, picture::white);
  for (std::int64_t i = 0; i < 4; ++i) cross.at(i, i) = picture::black;
  picture::write_png(folder / "cross.png", cross);
  write_bytes(folder / "dark.txt", "....\n....\n....\n....\n");
  write_bytes(folder / "light.txt", "####\n####\n####\n####\n");
  write_bytes(folder / "copy.net",
              "netlist copy\ninput a\ninput b\ninput c\ninput d\noutput w a\noutput x b\n"
              "output y c\noutput z d\nend\n");
  std::string robots = "netlist robots\n";
  for (int i = 0; i < 17; ++i) robots += fmt::format("input x{}\n", i);
  for (int i = 0; i < 12; ++i) robots += fmt::format("output y{} x{}\n", i, i);
  write_bytes(folder / "robots.net", robots + "end\n");
}

// ---------------------------------------------------------------------------------------------
// Results of a run

std::string bytes_of(const TensorFile& file) {
  std::string text;
  for (const auto& [name, tensor] : file.tensors) {
    // Saved copies matter only where they are used.
    if (name.starts_with("best.") || name.starts_with("promise.")) continue;
    text += name + to_string(tensor.shape());
    text.append(static_cast<const char*>(tensor.data()), tensor.bytes());
  }
  return text;
}

std::string after_training(const Experiment& experiment) {
  Trainer trainer(experiment);
  while (trainer.steps() < trainer.experiment().training.steps) {
    EXPECT_TRUE(trainer.step().finite);
  }
  const Evaluation evaluation = trainer.evaluate();
  return fmt::format("{} {} {}\n", evaluation.soft_loss, evaluation.hard_loss,
                     evaluation.hard_accuracy) +
         bytes_of(trainer.state());
}

std::string after_run(const Experiment& experiment) {
  const ScratchFolder folder;
  const RunReport report = run_experiment(experiment, {.folder = folder.path()});
  std::string text;
  std::ifstream metrics(folder / metrics_file);
  for (std::string line; std::getline(metrics, line);) {
    nlohmann::json entry = nlohmann::json::parse(line);
    entry.erase("seconds");
    entry.erase("learning_rate");  // its effect shows in the model
    text += entry.dump() + "\n";
  }
  return text + bytes_of(load_safetensors(report.model));
}

std::string outcome(const Experiment& experiment, Watched watched) {
  switch (watched) {
    case Watched::training: return after_training(experiment);
    case Watched::run: return after_run(experiment);
    case Watched::memory: {
      const Memory memory = training_memory(experiment, make_rule(experiment)).memory;
      return fmt::format("{} {}", static_cast<int>(memory.policy), memory.every);
    }
  }
  return "";
}

/// Keys that do not change the results of a run.
const std::vector<std::pair<std::string, std::string>> labels = {
    {"name", "what reports, plots and JSON call the run"},
    {"data.encoding", "the spelling of names in a CSV file"}};

class KeyUseTest : public testing::Test {
 protected:
  KeyUseTest() { write_data(data_.path()); }

  std::string filled(std::string text) const {
    for (std::size_t at = text.find("DATA"); at != std::string::npos; at = text.find("DATA")) {
      text.replace(at, 4, data_.path().string());
    }
    return text;
  }

  Experiment experiment_of(const Row& row, const std::string& value) const {
    Overrides overrides;
    for (const std::string& one : row.with) overrides.push_back(filled(one));
    overrides.push_back(row.key + "=" + filled(value));
    return parse_experiment(filled(row.base), "test", "test", "", overrides);
  }

  /// One experiment of each kind, with defaults.
  static Experiment base_of(data::TaskFamily family) {
    const std::string& text = family == data::TaskFamily::circuit     ? key_rows::circuit
                              : family == data::TaskFamily::automaton ? key_rows::automaton
                                                                      : key_rows::classifier;
    return parse_experiment(text, "test", "test", "");
  }

  void expect_differences(data::TaskFamily family) const {
    for (const Row& row : all_rows()) {
      const Experiment first = experiment_of(row, row.first);
      if (first.family() != family) continue;
      const Experiment second = experiment_of(row, row.second);
      SCOPED_TRACE(row.key + " of " + std::string(to_string(family)));
      EXPECT_FALSE(no_effect(second, row.key).has_value());
      const std::string expected = outcome(first, row.watched);
      EXPECT_TRUE(outcome(second, row.watched) != expected) << "makes no difference";
      EXPECT_TRUE(outcome(first, row.watched) == expected) << "is not the same twice";
    }
  }

  ScratchFolder data_;
};

TEST_F(KeyUseTest, EveryKeyHasAUse) {
  for (const std::string& key : experiment_keys()) {
    const KeyUse& use = use_of(key);
    EXPECT_TRUE(use.circuit || use.automaton || use.classifier) << key;
    EXPECT_EQ(use.needs.empty(), use.is_met == nullptr) << key;
  }
  expect_error([] { use_of("physics.speed"); },
               "[experiment] key without an entry in the table of uses: physics.speed");
}

TEST_F(KeyUseTest, EveryKeyIsTestedForEveryKindOfExperimentThatUsesIt) {
  std::set<std::pair<std::string, data::TaskFamily>> covered;
  for (const Row& row : all_rows()) {
    covered.emplace(row.key, experiment_of(row, row.first).family());
  }
  for (const auto& [key, shows] : labels) {
    for (const data::TaskFamily family : families) {
      if (reads(use_of(key), family)) covered.emplace(key, family);
    }
  }
  for (const std::string& key : experiment_keys()) {
    for (const data::TaskFamily family : families) {
      const bool is_read = reads(use_of(key), family);
      EXPECT_EQ(covered.contains({key, family}), is_read) << key << " of " << to_string(family);
    }
  }
}

TEST_F(KeyUseTest, KeysOfOtherExperimentsAreRejectedAsOverrides) {
  for (const data::TaskFamily family : families) {
    const Experiment base = base_of(family);
    for (const ExperimentKey& key : experiment_key_table()) {
      if (reads(use_of(key.path), family)) continue;
      const Overrides overrides = {key.path + "=" + key.write(base)};
      expect_error(
          [&] { with_overrides(base, overrides, "--set"); },
          fmt::format("[experiment] --set: {} has no effect on {}", key.path, to_string(family)));
    }
  }
}

TEST_F(KeyUseTest, KeysWithoutEffectInAFileGiveANotice) {
  for (const data::TaskFamily family : families) {
    const Experiment base = base_of(family);
    write_bytes(data_ / "all.toml", to_toml(base));
    std::vector<std::string> notices;
    read_experiment(data_ / "all.toml", {}, &notices);
    std::vector<std::string> expected;
    for (const std::string& key : experiment_keys()) {
      const KeyUse& use = use_of(key);
      if (!reads(use, family)) {
        expected.push_back(fmt::format("{} has no effect on {}", key, to_string(family)));
      } else if (use.is_met != nullptr && !use.is_met(base)) {
        expected.push_back(fmt::format("{} has no effect without {}", key, use.needs));
      }
    }
    std::ranges::sort(expected);
    std::ranges::sort(notices);
    EXPECT_EQ(notices, expected) << to_string(family);
    EXPECT_GT(notices.size(), 20U);
  }
  write_bytes(data_ / "one.toml", "[task]\nkind = 'monk1'\n[automaton]\nchannels = 2\n");
  std::vector<std::string> notices;
  read_experiment(data_ / "one.toml", {}, &notices);
  EXPECT_EQ(notices, std::vector<std::string>{"automaton.channels has no effect on a classifier"});
}

TEST_F(KeyUseTest, AnOverrideThatNeedsAnotherKeyGivesANotice) {
  write_bytes(data_ / "plain.toml", key_rows::circuit);
  std::vector<std::string> notices;
  read_experiment(data_ / "plain.toml", Overrides{"hardening.noise=2"}, &notices);
  EXPECT_EQ(notices, std::vector<std::string>{
                         "hardening.noise has no effect without hardening.kind = noise"});
  read_experiment(data_ / "plain.toml", Overrides{"hardening.noise=2", "hardening.kind=noise"},
                  &notices);
  EXPECT_EQ(notices, std::vector<std::string>{});
}

TEST_F(KeyUseTest, AnOverrideThatReplacesAKeyOfTheFileGivesNoNotice) {
  write_bytes(data_ / "steps.toml", "[task]\nkind = 'monk1'\n[training]\nsteps = 9\n");
  std::vector<std::string> notices;
  read_experiment(data_ / "steps.toml", Overrides{"training.epochs=2"}, &notices);
  EXPECT_EQ(notices, std::vector<std::string>{});
  read_experiment(data_ / "steps.toml", Overrides{"training.epochs=2", "training.steps=8"},
                  &notices);
  EXPECT_EQ(notices,
            std::vector<std::string>{"training.steps has no effect without training.epochs = 0"});
}

TEST_F(KeyUseTest, KeysOfCircuitsMakeADifference) { expect_differences(data::TaskFamily::circuit); }
TEST_F(KeyUseTest, KeysOfAutomataMakeADifference) {
  expect_differences(data::TaskFamily::automaton);
}
TEST_F(KeyUseTest, KeysOfClassifiersMakeADifference) {
  expect_differences(data::TaskFamily::classifier);
}

}  // namespace
}  // namespace boolgrad::train
