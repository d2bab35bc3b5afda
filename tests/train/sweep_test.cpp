#include "boolgrad/train/sweep/sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/sweep/sweep_report.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

Experiment small(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
name = "small"
[task]
kind = "xor"
bits = 4
[network]
hidden = [32, 16]
arity = 4
[training]
steps = 200
learning_rate = 0.2
loss = "l4"
log_every = 10
checkpoint_every = 30
)",
                          "small", "small", "", overrides);
}

/// An automaton that learns nothing in so few steps.
Experiment tiny_automaton() {
  return parse_experiment(R"(
name = "tiny"
[task]
kind = "checkerboard"
[automaton]
channels = 2
kernels = 2
perceive = [8, 4]
update = [8]
height = 4
width = 4
steps = 3
[network]
parametrisation = "softmax16"
[training]
steps = 20
log_every = 10
)",
                          "tiny", "tiny", "");
}

/// Results without times.
std::string text_of(const std::vector<SweepEntry>& entries) {
  std::string text;
  for (const SweepEntry& entry : entries) {
    text += entry.run.name + ": ";
    if (const auto& result = entry.result) {
      text += fmt::format("{} {} {} {} {} {}", result->steps_to_converge.value_or(-1),
                          result->steps, result->soft_loss, result->hard_loss,
                          result->hard_accuracy, result->bit_accuracy);
    }
    text += entry.error + "\n";
  }
  return text;
}

std::vector<std::string> names_of(const std::vector<SweepRun>& runs) {
  std::vector<std::string> names;
  for (const SweepRun& run : runs) names.push_back(run.name);
  return names;
}

TEST(Sweep, RunsEverySeedWithEveryCombination) {
  const Sweep seeds{.experiment = small(), .first_seed = 5, .seeds = 3};
  EXPECT_EQ(names_of(runs_of(seeds)), (std::vector<std::string>{"seed-5", "seed-6", "seed-7"}));
  const Sweep varied{.experiment = small(),
                     .variations = {parse_variation("training.learning_rate=0.1,0.2"),
                                    parse_variation("network.hidden=[8,8],[32]")},
                     .seeds = 2};
  const std::vector<SweepRun> runs = runs_of(varied);
  ASSERT_EQ(runs.size(), 8U);
  EXPECT_EQ(runs[0].name, "variant-1-seed-1");
  EXPECT_EQ(runs[7].name, "variant-4-seed-2");
  EXPECT_EQ(runs[2].values, (std::vector<std::string>{"0.1", "[32]"}));
  EXPECT_EQ(runs[2].experiment.network.hidden, std::vector<std::int64_t>{32});
  EXPECT_EQ(runs[2].experiment.training.learning_rate, 0.1);
  EXPECT_EQ(runs[7].experiment.seed, 2);
}

TEST(Sweep, ReadsVariations) {
  EXPECT_EQ(parse_variation("a.b=1").values, std::vector<std::string>{"1"});
  EXPECT_EQ(parse_variation("a.b=[1,2],\"x,y\",3").values,
            (std::vector<std::string>{"[1,2]", "\"x,y\"", "3"}));
  for (const char* wrong : {"a.b", "a.b=", "=1", "a.b=1,", "a.b=,1"}) {
    expect_error([&] { parse_variation(wrong); },
                 fmt::format("[sweep] expected a key with values, such as "
                             "training.learning_rate=0.05,0.1, received '{}'",
                             wrong));
  }
}

TEST(Sweep, RejectsInvalidVariations) {
  const auto varied = [](const std::vector<std::string>& texts, std::int64_t seeds = 1) {
    return [texts, seeds] {
      Sweep sweep{.experiment = small(), .seeds = seeds};
      for (const std::string& text : texts) sweep.variations.push_back(parse_variation(text));
      runs_of(sweep);
    };
  };
  expect_error(varied({}, 0), "[sweep] expected at least 1 seed, received 0");
  expect_error(varied({"seed=1,2"}),
               "[sweep] seed cannot be varied: give a range of seeds instead");
  expect_error(varied({"training.steps=1", "training.steps=2"}),
               "[sweep] expected distinct keys to vary, received training.steps twice");
  expect_error(varied({"training.steps=1,1"}),
               "[sweep] expected distinct values of training.steps, received a duplicate");
  expect_error(varied({"training.step=1"}),
               "[experiment] --vary: unknown key 'training.step', did you mean 'training.steps'?");
  expect_error(varied({"training.steps=few"}),
               "[experiment] --vary: expected training.steps to be an integer from 1 to "
               "4294967295, received 'few'");
  expect_error(varied({"training.steps=1,2"}, 60'000),
               "[sweep] expected at most 100000 runs, received 120000");
}

TEST(Sweep, GivesTheSameForAnyNumberOfJobs) {
  const int threads = thread_count();
  const Sweep sweep{.experiment = small(), .seeds = 5};
  std::vector<std::string> texts;
  for (const int jobs : {1, 3, 16}) {
    const ScratchFolder scratch;
    texts.push_back(text_of(run_sweep(sweep, {.folder = scratch / "sweep", .jobs = jobs})));
    EXPECT_EQ(thread_count(), threads);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST(Sweep, ReportsConvergence) {
  const ScratchFolder scratch;
  const Sweep sweep{
      .experiment = small(), .variations = {parse_variation("training.steps=1,200")}, .seeds = 2};
  const std::vector<SweepEntry> entries = run_sweep(sweep, {.folder = scratch / "sweep"});
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_FALSE(entries[0].result->converged()) << "after one step";
  EXPECT_GT(entries[0].result->hard_loss, 0);
  for (const std::size_t i : {2U, 3U}) {
    ASSERT_TRUE(entries[i].result->converged());
    EXPECT_EQ(*entries[i].result->steps_to_converge, entries[i].result->steps) << "stopped there";
    EXPECT_EQ(entries[i].result->hard_loss, 0);
    EXPECT_TRUE(fs::exists(scratch / "sweep" / entries[i].run.name / model_file));
  }
}

TEST(Sweep, ConvergenceDoesNotDependOnFurtherTraining) {
  const ScratchFolder scratch;
  const Sweep stops{.experiment = small(), .seeds = 2};
  const Sweep goes_on{.experiment = small({"training.stop_when_solved=false"}), .seeds = 2};
  const auto first = run_sweep(stops, {.folder = scratch / "stops"});
  const auto second = run_sweep(goes_on, {.folder = scratch / "goes_on"});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(second[i].result->steps, 200);
    ASSERT_TRUE(second[i].result->converged());
    EXPECT_EQ(*first[i].result->steps_to_converge, *second[i].result->steps_to_converge);
  }
}

TEST(Sweep, ResumesAfterAnInterruption) {
  const ScratchFolder scratch;
  const Sweep sweep{.experiment = small({"training.stop_when_solved=false"}), .seeds = 4};
  const auto whole = run_sweep(sweep, {.folder = scratch / "whole", .jobs = 2});
  // Stopped several times between log points.
  std::vector<SweepEntry> last;
  int starts = 0;
  for (bool done = false; !done && starts < 100; ++starts) {
    std::atomic<int> asked = 0;
    last = run_sweep(
        sweep, {.folder = scratch / "parts", .jobs = 2, .stop = [&] { return ++asked > 137; }});
    done = true;
    for (const SweepEntry& entry : last) done = done && entry.result.has_value();
  }
  EXPECT_GT(starts, 3);
  EXPECT_EQ(text_of(last), text_of(whole));
  // Nothing is left to do.
  bool stepped = false;
  const auto again = run_sweep(
      sweep, {.folder = scratch / "parts", .watch = [&](const SweepProgress&) { stepped = true; }});
  EXPECT_FALSE(stepped);
  EXPECT_EQ(text_of(again), text_of(whole));
}

TEST(Sweep, AcceptsMoreSeedsButNoOtherSweep) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "sweep";
  Sweep sweep{.experiment = small(), .seeds = 1};
  run_sweep(sweep, {.folder = folder});
  sweep.seeds = 3;
  EXPECT_EQ(run_sweep(sweep, {.folder = folder}).size(), 3U);
  EXPECT_TRUE(fs::exists(folder / "seed-3"));
  sweep.experiment = small({"training.learning_rate=0.1"});
  expect_error([&] { run_sweep(sweep, {.folder = folder}); },
               fmt::format("[sweep] {}: the sweep in this folder was started with "
                           "training.learning_rate = 0.2, received training.learning_rate = 0.1",
                           folder.string()));
  sweep.experiment = small();
  sweep.variations = {parse_variation("training.steps=1,2")};
  expect_error([&] { run_sweep(sweep, {.folder = folder}); },
               fmt::format("[sweep] {}: the sweep in this folder was started with other variations",
                           folder.string()));
  write_bytes(folder / sweep_file, "{");
  expect_error(
      [&] { run_sweep(sweep, {.folder = folder}); },
      fmt::format("[sweep] {}: not the description of a sweep", (folder / sweep_file).string()));
  expect_error([&] { run_sweep(sweep, {.folder = folder / "seed-1"}); },
               fmt::format("[sweep] {}: expected the folder of a sweep, received that of a run",
                           (folder / "seed-1").string()));
}

TEST(Sweep, KeysMayHaveOldNames) {
  EXPECT_EQ(parse_variation("training.warm_up=1,2").key, "training.warmup_steps");
  const ScratchFolder scratch;
  const fs::path folder = scratch / "sweep";
  const Sweep sweep{.experiment = small({"training.steps=3"}),
                    .variations = {parse_variation("training.warmup_steps=1,2")}};
  const auto first = run_sweep(sweep, {.folder = folder});
  // The description as an earlier version wrote it.
  std::string description = read_bytes(folder / sweep_file);
  for (const auto& [old_name, name] :
       {std::pair<std::string, std::string>{"warm_up", "warmup_steps"},
        {"refit = ", "local_search = "}}) {
    std::size_t at = description.find(name);
    EXPECT_NE(at, std::string::npos) << name;
    for (; at != std::string::npos; at = description.find(name, at)) {
      description.replace(at, name.size(), old_name);
    }
  }
  write_bytes(folder / sweep_file, description);
  const auto second = run_sweep(sweep, {.folder = folder});
  ASSERT_EQ(second.size(), first.size());
  EXPECT_EQ(second[1].result->soft_loss, first[1].result->soft_loss);
}

TEST(Sweep, FinishesARunAgainIfItsResultIsMissing) {
  const ScratchFolder scratch;
  const Sweep sweep{.experiment = small(), .seeds = 1};
  const auto first = run_sweep(sweep, {.folder = scratch / "sweep"});
  for (const char* damage : {"", "{\"steps\": 1}", "[]"}) {
    write_bytes(scratch / "sweep/seed-1" / result_file, damage);
    EXPECT_EQ(text_of(run_sweep(sweep, {.folder = scratch / "sweep"})), text_of(first));
  }
}

TEST(Sweep, AFailedRunDoesNotStopTheOthers) {
  const ScratchFolder scratch;
  const Sweep sweep{.experiment = small(), .seeds = 3};
  fs::create_directories(scratch / "sweep");
  write_bytes(scratch / "sweep/seed-2", "a file where a folder should be");
  const auto entries = run_sweep(sweep, {.folder = scratch / "sweep", .jobs = 2});
  EXPECT_TRUE(entries[0].result && entries[2].result);
  EXPECT_FALSE(entries[1].result);
  EXPECT_NE(entries[1].error.find("seed-2"), std::string::npos) << entries[1].error;
}

TEST(Sweep, ReportsItsProgress) {
  const ScratchFolder scratch;
  const Sweep sweep{.experiment = tiny_automaton(), .seeds = 3};
  std::int64_t max_running = 0;
  SweepProgress last;
  run_sweep(sweep, {.folder = scratch / "sweep", .jobs = 2, .watch = [&](const SweepProgress& now) {
                      last = now;
                      max_running =
                          std::max(max_running, static_cast<std::int64_t>(now.running.size()));
                    }});
  EXPECT_EQ(last.done, 3);
  EXPECT_EQ(last.runs, 3);
  EXPECT_EQ(last.converged, 0);
  EXPECT_GE(max_running, 1);
  EXPECT_LE(max_running, 2);
}

TEST(SweepReport, WritesATableAndPlots) {
  const ScratchFolder scratch;
  const Sweep sweep{.experiment = small(),
                    .variations = {parse_variation("training.steps=1,200"),
                                   parse_variation("network.hidden=[32,16]")},
                    .seeds = 2};
  const auto entries = run_sweep(sweep, {.folder = scratch / "sweep"});
  const SweepFiles files = write_sweep_report(scratch / "sweep", sweep, entries);
  const std::string table = read_bytes(files.table);
  EXPECT_TRUE(
      table.starts_with("seed,training.steps,network.hidden,converged,steps_to_converge,"
                        "steps,soft_loss,hard_loss,hard_accuracy,bit_accuracy,seconds,"
                        "folder,error\n1,1,\"[32,16]\",0,,1,"))
      << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
  EXPECT_TRUE(fs::exists(files.converged));
  EXPECT_TRUE(fs::exists(files.losses));
  const std::vector<SweepVariant> variants = variants_of(entries);
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].converged(), 0);
  EXPECT_EQ(variants[0].median(), std::nullopt);
  EXPECT_EQ(variants[1].converged(), 2);
  EXPECT_EQ(variants[1].runs, 2);
  EXPECT_EQ(variant_text(sweep, variants[1].values), "steps = 200, hidden = [32,16]");
}

TEST(SweepReport, ComputesTheMedian) {
  EXPECT_EQ((SweepVariant{{}, 4, {10, 20, 70}}.median()), 20);
  EXPECT_EQ((SweepVariant{{}, 4, {10, 20, 30, 70}}.median()), 25);
}

TEST(Sweep, RejectsAVariationWithoutEffect) {
  Sweep sweep{.experiment = small(), .variations = {{"hardening.noise", {"1", "2"}}}};
  expect_error([&] { runs_of(sweep); },
               "[sweep] --vary: hardening.noise has no effect without hardening.kind = noise");
  sweep.variations.push_back({"hardening.kind", {"none", "noise"}});
  EXPECT_EQ(runs_of(sweep).size(), 4U);
}

}  // namespace
}  // namespace boolgrad::train
