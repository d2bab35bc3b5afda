// Predictions and the folders of runs on the command line.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "boolgrad/picture/png.h"
#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class PredictCli : public testing::Test {
 protected:
  /// Trains on flowers whose kind depends on their length, one kind with a comma in its name.
  void SetUp() override {
    std::string text = "length,width,colour,kind\n";
    for (int i = 0; i < 120; ++i) {
      const int length = i * 37 % 101;
      text += fmt::format("{},{},{},{}\n", length, i * 53 % 97, i % 2 == 0 ? "red" : "blue",
                          length > 60 ? "lily" : "\"rose, wild\"");
    }
    write_bytes(scratch_ / "flowers.csv", text);
    const CliResult trained =
        run_cli({"train", "table", "--data", (scratch_ / "flowers.csv").string(), "--out", run_});
    ASSERT_EQ(trained.code, 0) << trained.err;
  }

  CliResult predict(const std::string& text, std::vector<std::string> more = {}) const {
    write_bytes(scratch_ / "new.csv", text);
    more.insert(more.begin(), {"predict", run_, "--data", (scratch_ / "new.csv").string()});
    return run_cli(more);
  }

  ScratchFolder scratch_;
  std::string run_ = (scratch_ / "run").string();
};

TEST_F(PredictCli, NamesClassesOfRowsInAnyOrderOfColumns) {
  const CliResult result = predict("id,colour,width,length\n7,red,5,90\n8,blue,5,10\n", {"--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("line,prediction,probability\n2,lily,")) << result.out;
  EXPECT_NE(result.out.find("\n3,\"rose, wild\","), std::string::npos) << result.out;
  EXPECT_EQ(result.json()["predictions"], (json{"lily", "rose, wild"}));
  EXPECT_EQ(result.json()["refused"], json::array());
}

TEST_F(PredictCli, LeavesOutLinesWithMistakesIfAskedTo) {
  const std::string out = (scratch_ / "out.csv").string();
  const std::string text =
      "length,width,colour\n90,5,green\n90,x,red\n90,5\n10,5,\"red\n10,5,red\n";
  const CliResult refused = predict(text, {"-o", out, "--quiet"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.complaint(),
            "[predict] " + (scratch_ / "new.csv").string() +
                ": 4 of 5 samples cannot be used; --skip-bad-rows predicts the others");
  EXPECT_FALSE(fs::exists(out));
  const CliResult result = predict(text, {"-o", out, "--json", "--skip-bad-rows"});
  ASSERT_EQ(result.code, 0);
  EXPECT_EQ(result.err,
            "note: line 2 cannot be used: expected a category of the training data in column "
            "'colour', received 'green'\n"
            "note: line 3 cannot be used: expected a number in column 'width', received 'x'\n"
            "note: line 4 cannot be used: expected 3 values, received 2\n"
            "note: line 5 cannot be used: missing closing quote\n");
  EXPECT_NE(result.out.find("1 predictions, 4 left out"), std::string::npos) << result.out;
  EXPECT_TRUE(read_bytes(out).starts_with("line,prediction,probability\n6,\"rose, wild\","));
  EXPECT_EQ(result.json()["refused"].size(), 4U);
}

TEST_F(PredictCli, GivesProbabilitiesOfAllClasses) {
  const CliResult result = predict("length,width,colour\n90,5,red\n", {"--top", "2", "--scores"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(
      result.out.starts_with("line,prediction,probability,prediction_2,probability_2,"
                             "lily,\"rose, wild\"\n2,lily,"))
      << result.out;
}

TEST_F(PredictCli, RefusesWhatItCannotPredict) {
  EXPECT_EQ(predict("length,width,colour\n90,5,red\n", {"--top", "3"}).complaint(),
            "[predict] expected --top from 1 to 2, the classes, received 3");
  EXPECT_EQ(predict("length,colour\n90,red\n").complaint(),
            "[csv] " + (scratch_ / "new.csv").string() +
                ": no column 'width'; the columns are length, colour");
  const CliResult none = predict("length,width,colour\nx,5,red\n", {"--quiet"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.complaint(), "[predict] " + (scratch_ / "new.csv").string() +
                                  ": no sample can be used; the first reason: "
                                  "expected a number in column 'length', received 'x'");
  EXPECT_EQ(run_cli({"predict", scratch_.path().string(), "--data", "x.csv"}).complaint(),
            "[load] " + scratch_.path().string() +
                ": no model.safetensors or checkpoint.safetensors in this folder");
  const CliResult bits = predict("length,width,colour\n90,5,red\n", {"--bits"});
  EXPECT_EQ(bits.code, 2);
  EXPECT_EQ(bits.complaint(), "[predict] --bits is for circuits, not for classifiers");
}

TEST_F(PredictCli, ReadsTheStandardInput) {
  const std::string command =
      fmt::format("printf 'length,width,colour\\n90,5,red\\n' | {} predict {} --data - -o {}",
                  BOOLGRAD_CLI, run_, (scratch_ / "out.csv").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(read_bytes(scratch_ / "out.csv").starts_with("line,prediction,probability\n2,lily,"));
}

/// The four files of a data set of images: bright ones are of class 1.
void write_images(const fs::path& folder) {
  fs::create_directories(folder);
  for (const std::string prefix : {"train", "t10k"}) {
    std::string images("\0\0\x08\x03\0\0\0\x28\0\0\0\x04\0\0\0\x04", 16);
    std::string labels("\0\0\x08\x01\0\0\0\x28", 8);
    for (int i = 0; i < 40; ++i) {
      images += std::string(16, static_cast<char>(i % 2 == 0 ? 10 + i : 200 + i));
      labels += static_cast<char>(i % 2);
    }
    write_bytes(folder / (prefix + "-images-idx3-ubyte"), images);
    write_bytes(folder / (prefix + "-labels-idx1-ubyte"), labels);
  }
}

TEST(PredictImages, ReadsPicturesArraysAndDataSets) {
  const ScratchFolder scratch;
  write_images(scratch / "data");
  write_bytes(scratch / "images.toml",
              "[task]\nkind = 'idx'\n[head]\noutputs = 20\n[training]\nepochs = 5\nbatch = 20\n"
              "learning_rate = 0.3\n");
  const std::string run = (scratch / "run").string();
  ASSERT_EQ(run_cli({"train", (scratch / "images.toml").string(), "--data",
                     (scratch / "data").string(), "--out", run})
                .code,
            0);
  const auto predictions = [&](const fs::path& path) {
    const CliResult result =
        run_cli({"predict", run, "--data", path.string(), "--json", "--skip-bad-rows"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  };

  fs::create_directories(scratch / "pictures");
  write_png(scratch / "pictures/a.png", picture::filled_image(4, 4, picture::white));
  write_png(scratch / "pictures/b.png", picture::filled_image(4, 4, picture::black));
  write_png(scratch / "pictures/c.png", picture::filled_image(5, 4, picture::black));
  const json pictures = predictions(scratch / "pictures");
  EXPECT_EQ(pictures["predictions"], (json{"1", "0"}));
  EXPECT_EQ(pictures["refused"],
            (json{{{"file", "c.png"}, {"reason", "expected 4x4 pixels, received 5x4"}}}));
  EXPECT_EQ(predictions(scratch / "pictures/a.png")["predictions"], json{"1"});
  EXPECT_EQ(predictions(scratch / "data/t10k-images-idx3-ubyte")["samples"], 40);

  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4, 4), }" +
                             std::string(55, ' ') + "\n";
  write_bytes(scratch / "x.npy", std::string("\x93NUMPY\x01\0", 8) +
                                     static_cast<char>(header.size()) + '\0' + header +
                                     std::string(16, '\x05') + std::string(16, '\xF0'));
  EXPECT_EQ(predictions(scratch / "x.npy")["predictions"], (json{"0", "1"}));
}

// ---------------------------------------------------------------------------------------------
// Folders of runs

TEST(TrainFolders, AreNotOverwrittenByOtherSettings) {
  const ScratchFolder scratch;
  const std::string out = (scratch / "run").string();
  ASSERT_EQ(run_cli({"train", "and", "--out", out, "--steps", "3"}).code, 0);
  EXPECT_EQ(run_cli({"train", "and", "--out", out, "--steps", "3"}).code, 0) << "the same again";
  const CliResult other = run_cli({"train", "and", "--out", out, "--steps", "4"});
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.complaint(), "[train] " + out +
                                   " has a run with other settings (training.steps = 3): expected "
                                   "another --out, or --overwrite");
  EXPECT_EQ(run_cli({"train", "and", "--out", out, "--steps", "4", "--overwrite"}).code, 0);
  EXPECT_EQ(run_cli({"train", "and", "--out", out, "--overwrite", "--resume"}).complaint(),
            "[train] expected --resume or --overwrite, received both");
}

/// Runs the program in a folder.
int run_in(const fs::path& folder, const std::string& arguments) {
  const std::string command =
      fmt::format("cd {} && {} {} > out 2> err", folder.string(), BOOLGRAD_CLI, arguments);
  return std::system(command.c_str());
}

TEST(TrainFolders, AreNamedAfterTheirDataAndNumbered) {
  const ScratchFolder scratch;
  std::string text = "x,y,kind\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("{},{},{}\n", i, i * 7 % 5, i < 10 ? "a" : "b");
  write_bytes(scratch / "my flowers.csv", text);
  ASSERT_EQ(run_in(scratch.path(), "train table --data 'my flowers.csv' --epochs 1"), 0);
  EXPECT_TRUE(fs::exists(scratch / "runs/my flowers-1/model.safetensors"));
  ASSERT_EQ(run_in(scratch.path(), "train table --data 'my flowers.csv' --epochs 2"), 0);
  EXPECT_TRUE(fs::exists(scratch / "runs/my flowers-1-2/model.safetensors"));
  EXPECT_NE(read_bytes(scratch / "err")
                .find("note: runs/my flowers-1 has a run with other settings; "
                      "this one is in runs/my flowers-1-2\n"),
            std::string::npos);
  ASSERT_EQ(run_in(scratch.path(), "train table --data 'my flowers.csv' --epochs 2"), 0);
  EXPECT_FALSE(fs::exists(scratch / "runs/my flowers-1-3"));

  write_bytes(scratch / "bar.txt", "....\n.##.\n....\n....\n");
  ASSERT_EQ(
      run_in(scratch.path(), "train letter-g --target bar.txt --steps 1 --set search.members=1"), 0)
      << read_bytes(scratch / "err");
  EXPECT_TRUE(fs::exists(scratch / "runs/bar-1/model.safetensors"));
}

TEST(TrainFolders, AreRefusedWhileAnotherProcessTrainsThere) {
  const ScratchFolder scratch;
  const std::string out = (scratch / "run").string();
  const std::vector<std::string> words = {
      BOOLGRAD_CLI, "train",  "multiply", "--quiet",
      "--out",      out,      "--set",    "training.stop_when_solved=false",
      "--steps",    "1000000"};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t process = 0;
  ASSERT_EQ(posix_spawn(&process, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  for (int i = 0; i < 1000 && !fs::exists(out + "/metrics.jsonl"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<std::string> again(words.begin() + 1, words.end());
  const CliResult second = run_cli(again);
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(second.complaint().starts_with(
      fmt::format("[train] {} is in use by process {} on ", out, process)))
      << second.err;
  kill(process, SIGHUP);  // as a closed terminal
  EXPECT_EQ(testing_support::wait_for(process), 0);
  EXPECT_TRUE(fs::exists(out + "/checkpoint.safetensors"));
}

TEST(TrainList, NamesEveryBuiltInExperiment) {
  const CliResult result = run_cli({"train", "--list", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("add                 Adds two four-bit numbers"), std::string::npos);
  EXPECT_GT(result.json()["experiments"].size(), 30U);
}

TEST(FileSizeLimit, EndsARunWithAMessage) {
  const ScratchFolder scratch;
  const std::string command =
      fmt::format("ulimit -f 1; {} train multiply --steps 1 --quiet --out {} 2> {}", BOOLGRAD_CLI,
                  (scratch / "run").string(), (scratch / "err").string());
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(read_bytes(scratch / "err").ends_with(": File too large\n"))
      << read_bytes(scratch / "err");
}

}  // namespace
}  // namespace boolgrad
