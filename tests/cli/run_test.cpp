#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/train/learners/initial_model.h"
#include "tests/cli/run_cli.h"
#include "tests/support/gif_reader.h"
#include "tests/support/life_rule.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

train::Experiment life_experiment() {
  return train::parse_experiment("[task]\nkind = 'life'\n[automaton]\nchannels = 1\nsteps = 1",
                                 "life", "life", "");
}

/// Models that were never trained: Life as it is, and a rule for a picture that does nothing
/// useful.
class RunTest : public testing::Test {
 protected:
  RunTest() {
    save_model(life_, train::to_toml(life_experiment()), life_rule().to_file());
    write_bytes(scratch_ / "arrow.txt", "r..\nrg.\n...\n");
    const train::Experiment experiment = train::parse_experiment(
        "[task]\nkind = 'picture'\nfile = 'arrow.txt'\n[automaton]\nchannels = 4\nkernels = 2\n"
        "height = 3\nwidth = 3\nsteps = 6\nstart = 'seed'\nfire_rate = 0.75",
        "arrow", "arrow", scratch_.path());
    save_model(arrow_, train::to_toml(experiment), train::make_rule(experiment).to_file());
  }

  CliResult run(const std::string& model, std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", model});
    return run_cli(words);
  }

  /// The error message of a run of Life.
  std::string complaint(const std::vector<std::string>& words, int code) const {
    const CliResult result = run(life_, words);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.out, "");
    return result.complaint();
  }

  ScratchFolder scratch_;
  std::string life_ = (scratch_ / "life.safetensors").string();
  std::string arrow_ = (scratch_ / "arrow.safetensors").string();
  std::string gif_ = (scratch_ / "animation.gif").string();
  std::string png_ = (scratch_ / "last.png").string();
};

/// Frames of life from the start that the program uses, with `pixels` pixels per cell side.
std::vector<picture::Image> life_frames(std::int64_t height, std::int64_t width, int steps,
                                        std::int64_t pixels, std::uint64_t seed) {
  Tensor state = starts_for(life_experiment(), life_rule(), 1, height, width, seed)
                     .viewed_as({1, height, width});
  std::vector<picture::Image> frames;
  for (int step = 0; step <= steps; ++step) {
    frames.push_back(picture::enlarged(data::pattern_image(state), pixels));
    state = data::life_step(state);
  }
  return frames;
}

TEST_F(RunTest, RecordsEveryStepOfLife) {
  const CliResult result = run(life_, {"--size", "20x30", "--steps", "12", "--seed", "7", "--gif",
                                       gif_, "--png", png_, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<picture::Image> expected = life_frames(20, 30, 12, 11, 7);
  const Shown animation = shown(gif_);
  ASSERT_EQ(animation.frames.size(), 13U);
  for (std::size_t i = 0; i < animation.frames.size(); ++i) {
    EXPECT_TRUE(animation.frames[i] == expected[i]) << "frame " << i;
  }
  EXPECT_TRUE(picture::read_png(png_) == expected.back());
  EXPECT_GT(animation.hundredths.back(), 5 * animation.hundredths[1]) << "a pause at the end";
  EXPECT_EQ(animation.frames[0].width, 330);

  const json answer = result.json();
  EXPECT_EQ(answer["model"], life_);
  EXPECT_EQ(answer["height"], 20);
  EXPECT_EQ(answer["width"], 30);
  EXPECT_EQ(answer["steps"], 12);
  EXPECT_EQ(answer["fire_rate"], 1.0);
  EXPECT_TRUE(answer["wrong_bits"].is_null());
  EXPECT_GT(answer["cell_updates_per_second"], 0.0);
  EXPECT_EQ(answer["gif"], gif_);
  EXPECT_EQ(answer["png"], png_);
  EXPECT_TRUE(result.out.starts_with(life_ + ": 20x30 cells, 12 steps\n  speed       "))
      << result.out;
}

TEST_F(RunTest, LongAnimationsSkipStepsButNotTheLast) {
  const CliResult result = run(life_, {"--size", "5x5", "--steps", "1001", "--gif", gif_});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<picture::Image> all = life_frames(5, 5, 1001, 64, 1001);
  const Shown animation = shown(gif_);
  ASSERT_EQ(animation.frames.size(), 168U) << "every sixth, and the last";
  EXPECT_TRUE(animation.frames[3] == all[18]);
  EXPECT_TRUE(animation.frames.back() == all.back());
}

TEST_F(RunTest, SaysThatStatesAreLeftOut) {
  const CliResult few = run(life_, {"--size", "5x5", "--steps", "200", "--gif", gif_});
  EXPECT_EQ(few.out.find("frames"), std::string::npos) << few.out;
  const CliResult many = run(life_, {"--size", "5x5", "--steps", "601", "--gif", gif_, "--json"});
  EXPECT_NE(many.out.find("  frames      every 4th; --every 1 shows all states\n"),
            std::string::npos)
      << many.out;
  EXPECT_EQ(many.json()["steps_per_frame"], 4);
  const CliResult all = run(life_, {"--size", "5x5", "--steps", "601", "--gif", gif_, "--every",
                                    "1", "--quiet", "--json"});
  EXPECT_EQ(all.json()["steps_per_frame"], 1);
  EXPECT_EQ(shown(gif_).frames.size(), 602U);
}

TEST_F(RunTest, AnimatesWhatIsAskedFor) {
  const CliResult result =
      run(life_, {"--size", "6x7", "--steps", "50", "--seed", "3", "--gif", gif_, "--png", png_,
                  "--last", "12", "--every", "5", "--fps", "10", "--scale", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<picture::Image> all = life_frames(6, 7, 50, 3, 3);
  const Shown animation = shown(gif_);
  ASSERT_EQ(animation.frames.size(), 4U) << "after 38, 43, 48 and 50 steps";
  EXPECT_TRUE(animation.frames[0] == all[38]);
  EXPECT_TRUE(animation.frames[1] == all[43]);
  EXPECT_TRUE(animation.frames[2] == all[48]);
  EXPECT_TRUE(animation.frames[3] == all[50]);
  EXPECT_EQ(animation.hundredths[1], 10);
  EXPECT_EQ(animation.frames[0].width, 21);
  EXPECT_TRUE(picture::read_png(png_) == all[50]) << "the scale holds for the picture too";
  EXPECT_EQ(result.out.find("frames"), std::string::npos) << "as asked: " << result.out;
}

/// A program `ffmpeg` that keeps what it reads, or fails.
class VideoTest : public RunTest {
 protected:
  VideoTest() : path_(std::getenv("PATH")) {
    fs::create_directories(scratch_ / "bin");
    setenv("PATH", ((scratch_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  ~VideoTest() override { setenv("PATH", path_.c_str(), 1); }

  void install(const std::string& script) {
    const fs::path program = scratch_ / "bin/ffmpeg";
    write_bytes(program, "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
  }

  std::string path_;
  std::string mp4_ = (scratch_ / "out.mp4").string();
};

TEST_F(VideoTest, SendsFramesToFfmpeg) {
  install("for last; do :; done\necho \"$*\" > '" + (scratch_ / "words").string() +
          "'\ncat > \"$last\"\n");
  const CliResult result = run(life_, {"--size", "4x5", "--steps", "3", "--seed", "7", "--mp4",
                                       mp4_, "--scale", "2", "--fps", "5", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["mp4"], mp4_);
  EXPECT_NE(result.out.find("  mp4         " + mp4_ + "\n"), std::string::npos) << result.out;
  const std::string words = testing_support::read_bytes(scratch_ / "words");
  EXPECT_NE(words.find("-pixel_format rgb24 -video_size 10x8 -framerate 5 "), std::string::npos)
      << words;
  // The first frame is shown for half a second, the last for two.
  std::string expected;
  const std::vector<picture::Image> all = life_frames(4, 5, 3, 2, 7);
  for (const auto& [frame, times] : {std::pair{0, 3}, {1, 1}, {2, 1}, {3, 10}}) {
    for (int i = 0; i < times; ++i) {
      for (const picture::Colour c : all[static_cast<std::size_t>(frame)].pixels) {
        expected +=
            {static_cast<char>(c.red), static_cast<char>(c.green), static_cast<char>(c.blue)};
      }
    }
  }
  EXPECT_TRUE(testing_support::read_bytes(mp4_) == expected);
}

TEST_F(VideoTest, SaysWhyThereIsNone) {
  install("echo 'no such encoder' >&2\nexit 3\n");
  EXPECT_EQ(complaint({"--size", "64x64", "--mp4", mp4_}, 1),
            "[mp4] cannot write " + mp4_ + ": ffmpeg ended with exit code 3 (no such encoder)");
  EXPECT_FALSE(fs::exists(mp4_));
  for (const auto& file : fs::directory_iterator(scratch_.path())) {
    EXPECT_NE(file.path().extension(), ".tmp") << file.path();
  }
  setenv("PATH", (scratch_ / "none").c_str(), 1);
  EXPECT_EQ(complaint({"--mp4", mp4_}, 1),
            "[mp4] writing a video needs ffmpeg, which is not in PATH");
}

TEST_F(RunTest, AppliesDamageAtTheGivenPlaceAndTime) {
  // No cell fires, so that only damage changes the state.
  const CliResult result = run(life_, {"--size", "8x10", "--steps", "4", "--async", "0", "--damage",
                                       "2x4@step3", "--damage", "1x2+7+8@step1", "--gif", gif_});
  EXPECT_EQ(result.code, 0) << result.err;
  const Shown animation = shown(gif_);
  ASSERT_EQ(animation.frames.size(), 5U);
  const auto cell = [&](std::size_t frame, std::int64_t y, std::int64_t x) {
    const std::int64_t pixels = animation.frames[frame].width / 10;
    return animation.frames[frame].at(x * pixels, y * pixels) == picture::white;
  };
  int struck = 0;
  for (std::int64_t y = 0; y < 8; ++y) {
    for (std::int64_t x = 0; x < 10; ++x) {
      const bool corner = y == 7 && x >= 8;
      const bool middle = y >= 3 && y < 5 && x >= 3 && x < 7;
      for (std::size_t frame = 0; frame < 5; ++frame) {
        const bool dead = (corner && frame >= 1) || (middle && frame >= 3);
        EXPECT_EQ(cell(frame, y, x), cell(0, y, x) && !dead) << frame << ": " << y << ", " << x;
        struck += cell(0, y, x) && dead ? 1 : 0;
      }
    }
  }
  EXPECT_GT(struck, 0) << "the damage must show";
}

TEST_F(RunTest, DefaultsComeFromTheExperiment) {
  json answer = run(life_, {"--json", "--quiet"}).json();
  EXPECT_EQ(answer["height"], 64);
  EXPECT_EQ(answer["width"], 64);
  EXPECT_EQ(answer["steps"], 100);
  answer = run(arrow_, {"--json", "--quiet"}).json();
  EXPECT_EQ(answer["height"], 3);
  EXPECT_EQ(answer["steps"], 6);
  EXPECT_EQ(answer["fire_rate"], 0.75);
  EXPECT_TRUE(answer["wrong_bits"].is_number_integer());
  EXPECT_EQ(run(arrow_, {"--size", "9x12", "--json", "--quiet"}).json()["steps"], 6)
      << "a picture does not grow with the grid";

  const train::Experiment noise = train::parse_experiment(
      "[task]\nkind = 'checkerboard'\n[automaton]\nheight = 6\nwidth = 8\nsteps = 7\nchannels = 2",
      "noise", "noise", "");
  const std::string path = (scratch_ / "noise.safetensors").string();
  save_model(path, train::to_toml(noise), train::make_rule(noise).to_file());
  EXPECT_EQ(run(path, {"--json", "--quiet"}).json()["steps"], 7);
  EXPECT_EQ(run(path, {"--size", "15x8", "--json", "--quiet"}).json()["steps"], 18);
  EXPECT_EQ(run(path, {"--size", "3x3", "--json", "--quiet"}).json()["steps"], 7);
}

TEST_F(RunTest, CountsBitErrors) {
  const CliResult start = run(arrow_, {"--steps", "0", "--json"});
  // The target has three bits. The seed has one of them, green, and two others, red and blue.
  EXPECT_EQ(start.json()["wrong_bits"], 4);
  EXPECT_NE(start.out.find("  bit errors  4 of 27\n"), std::string::npos) << start.out;
  const CliResult small = run(arrow_, {"--size", "2x2", "--json"});
  EXPECT_EQ(small.code, 0) << small.err;
  EXPECT_TRUE(small.json()["wrong_bits"].is_null());
  EXPECT_NE(small.out.find("  bit errors  unknown: [target] expected a grid of at least 3x3 "
                           "cells for the picture, received 2x2\n"),
            std::string::npos)
      << small.out;
  fs::remove(scratch_ / "arrow.txt");
  EXPECT_EQ(run(arrow_, {}).code, 0) << "a model runs without its picture";
}

TEST_F(RunTest, ShowsTheLastStateWithoutATerminal) {
  const CliResult result = run(arrow_, {"--show", "--steps", "0", "--size", "3x5"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("..........\n....##....\n..........\n" + arrow_))
      << result.out;
  const CliResult wide = run(life_, {"--show", "--steps", "1", "--size", "20x300"});
  EXPECT_EQ(wide.out.find('\n'), 80U) << "as wide as can be read";
}

TEST_F(RunTest, NeedsNoExperiment) {
  const std::string path = (scratch_ / "bare.safetensors").string();
  save_safetensors(path, life_rule().to_file());
  const CliResult result = run(path, {"--json", "--size", "5x5", "--steps", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.json()["wrong_bits"].is_null());
}

TEST_F(RunTest, RejectsModelsOtherThanAutomata) {
  const std::string path = (scratch_ / "circuit.safetensors").string();
  const train::Experiment copy = train::parse_experiment("[task]\nbits = 2", "copy", "copy", "");
  save_model(path, train::to_toml(copy), train::make_network(copy, 2, 2).to_file());
  const CliResult circuit = run(path, {});
  EXPECT_EQ(circuit.code, 1);
  EXPECT_EQ(circuit.complaint(), "[run] " + path + ": expected an automaton, received a circuit");
  save_model(path, train::to_toml(copy), life_rule().to_file());
  EXPECT_EQ(run(path, {}).complaint(),
            "[run] " + path + ": expected the experiment of an automaton, received copy");
  const train::Experiment wide =
      train::parse_experiment("[task]\nkind = 'checkerboard'", "wide", "wide", "");
  save_model(path, train::to_toml(wide), life_rule().to_file());
  EXPECT_EQ(run(path, {}).complaint(),
            "[run] " + path + ": expected 8 channels, as in its experiment, received 1");
}

TEST_F(RunTest, ReportsInvalidOptions) {
  for (const char* size : {"64", "64x", "axb", "-1x5", "6x6x6", "99999999999x2"}) {
    EXPECT_EQ(
        complaint({"--size", size}, 2),
        std::string("[run] expected --size HEIGHTxWIDTH in cells, such as 64x64, received '") +
            size + "'");
  }
  EXPECT_EQ(complaint({"--size", "2x9"}, 1),
            "[grid] expected at least 3x3 cells with periodic borders, received 2x9");
  EXPECT_EQ(complaint({"--size", "0x9"}, 1), "[run] expected 1 to 268435456 cells, received 0x9");
  EXPECT_EQ(complaint({"--size", "16385x16384"}, 1),
            "[run] expected 1 to 268435456 cells, received 16385x16384");
  for (const char* damage : {"3x3", "3x3@5", "3x3+1@step5", "3@step5", "3x3@step"}) {
    EXPECT_EQ(complaint({"--damage", damage}, 2),
              std::string("[run] expected --damage HEIGHTxWIDTH[+ROW+COLUMN]@stepN, such as "
                          "10x10@step20 or 4x8+0+3@step5, received '") +
                  damage + "'");
  }
  EXPECT_EQ(complaint({"--damage", "3x3@step101"}, 2),
            "[run] expected damage at step 0 to 100, received '3x3@step101'");
  EXPECT_EQ(complaint({"--damage", "3x3+62+0@step1"}, 1),
            "[damage] expected a rectangle inside 64x64 cells, received 3x3 at row 62, column "
            "0");
  EXPECT_EQ(complaint({"--async", "1.5"}, 2), "[run] expected --async from 0 to 1, received 1.5");
  EXPECT_EQ(complaint({"--async", "nan"}, 2), "[run] expected --async from 0 to 1, received nan");
  EXPECT_EQ(complaint({"--steps", "-1"}, 2),
            "[run] expected --steps from 0 to 1000000000, received -1");
  EXPECT_EQ(complaint({"--seed", "-1"}, 2), "[run] expected --seed of at least 0, received -1");
  EXPECT_EQ(complaint({"--every", "2"}, 2),
            "[run] --every and --last are for --gif, --mp4 and --show, received none");
  EXPECT_EQ(complaint({"--fps", "2", "--png", png_}, 2),
            "[run] --fps is for --gif and --mp4, received neither");
  EXPECT_EQ(complaint({"--scale", "2"}, 2),
            "[run] --scale is for --gif, --mp4 and --png, received none");
  EXPECT_EQ(complaint({"--gif", gif_, "--every", "0"}, 1),
            "[animation] expected every from 1 to 1000000000, received 0");
  EXPECT_EQ(complaint({"--gif", gif_, "--last", "-3"}, 1),
            "[animation] expected last from 1 to 1000000000, received -3");
  EXPECT_EQ(complaint({"--gif", gif_, "--scale", "999"}, 1),
            "[animation] expected scale from 1 to 256, received 999");
  EXPECT_EQ(complaint({"--gif", gif_, "--fps", "nan"}, 1),
            "[animation] expected fps from 0.1 to 100, received nan");
  EXPECT_EQ(complaint({"--gif", gif_, "--steps", "20000", "--every", "1"}, 1),
            "[animation] expected at most 10000 frames, received 20001: choose a larger every");
  EXPECT_EQ(complaint({"--show", "--quiet"}, 2), "[run] expected --show or --quiet, received both");
  EXPECT_EQ(run_cli({"run"}).code, 2);
}

TEST_F(RunTest, ChecksOutputFilesBeforeTheRun) {
  // A run of so many steps would not finish.
  const std::vector<std::string> endless = {"--steps", "1000000000"};
  const auto with = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> words = endless;
    words.insert(words.end(), {option, value});
    return complaint(words, 1);
  };
  const std::string nowhere = (scratch_ / "none/animation").string();
  EXPECT_EQ(with("--gif", nowhere),
            "[gif] cannot create " + nowhere + ": No such file or directory");
  EXPECT_EQ(with("--png", nowhere),
            "[png] cannot create " + nowhere + ": No such file or directory");
  EXPECT_EQ(complaint({"--size", "3x20000", "--png", png_}, 1),
            "[png] expected at most 16384 by 16384 pixels, received 20000 by 3");
  EXPECT_FALSE(fs::exists(png_));
}

}  // namespace
}  // namespace boolgrad
