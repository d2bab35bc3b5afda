#include "boolgrad/data/truth_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::data {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

class TruthTable : public ::testing::Test {
 protected:
  BooleanTask read(const std::string& text, std::int64_t outputs = 0) {
    write_bytes(path_, text);
    return read_truth_table(path_, outputs);
  }
  void refuses(const std::string& text, const std::string& message, std::int64_t outputs = 0) {
    expect_error([&] { read(text, outputs); }, "[truth_table] " + path_.string() + message);
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "majority.csv";
};

std::vector<std::uint8_t> values_of(const Tensor& tensor) {
  const auto values = tensor.values<std::uint8_t>();
  return {values.begin(), values.end()};
}

TEST_F(TruthTable, OutputsAreColumnsNamedOut) {
  const BooleanTask task = read("a,out_or,b,out_and\n0,0,0,0\n0,1,1,0\n1,1,1,1\n");
  EXPECT_EQ(task.name, "majority");
  EXPECT_EQ(task.inputs.shape(), (Shape{2, 3}));
  EXPECT_EQ(task.targets.shape(), (Shape{2, 3}));
  EXPECT_EQ(values_of(task.inputs), (std::vector<std::uint8_t>{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(values_of(task.targets), (std::vector<std::uint8_t>{0, 1, 1, 0, 0, 1}));
}

TEST_F(TruthTable, OutputsCanBeTheLastColumns) {
  const BooleanTask task = read("a,b,sum,carry\n1,1,0,1\n", 2);
  EXPECT_EQ(values_of(task.inputs), (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(values_of(task.targets), (std::vector<std::uint8_t>{0, 1}));
}

TEST_F(TruthTable, ReadsWhatOtherProgramsWrite) {
  const BooleanTask task = read("\xEF\xBB\xBF a , out\r\n\r\n 0 ,\t1\r\n1,0");
  EXPECT_EQ(values_of(task.inputs), (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(values_of(task.targets), (std::vector<std::uint8_t>{1, 0}));
}

TEST_F(TruthTable, ErrorsNameTheLine) {
  refuses("a,out\n0,1\n1,2\n", ":3: expected 0 or 1 in column 'out', received '2'");
  refuses("a,out\n0\n", ":2: expected 2 values, received 1");
  refuses("a,out\n0,\n", ":2: expected 0 or 1 in column 'out', received ''");
  refuses("a,b\n0,1\n", ":1: expected a column whose name starts with 'out', received none");
  refuses("out\n1\n", ":1: expected at least one input column, received outputs only");
  refuses("a,b\n0,1\n", ":1: expected fewer outputs than the 2 columns, received 2", 2);
  refuses("", ":0: expected a header line, received an empty file");
  refuses("a,out\n\n", ":2: expected at least one case, received none");
  refuses("a,out\n" + std::string(70'000, '1'),
          ":2: expected a line of at most 65536 bytes, received 70000");
}

TEST_F(TruthTable, RejectsDuplicateCases) {
  refuses("a,out\n0,1\n1,1\n0,0\n",
          ":4: expected outputs 1 as in line 2 for the same inputs, received 0");
  refuses("a,out\n0,1\n1,1\n1,1\n", ":4: expected distinct cases, received that of line 3 again");
}

TEST_F(TruthTable, ReportsAMissingFile) {
  expect_error([&] { read_truth_table(folder_ / "none.csv"); },
               "[truth_table] cannot read " + (folder_ / "none.csv").string() +
                   ": No such file or directory");
  expect_error([&] { read_truth_table(folder_.path()); },
               "[truth_table] cannot read " + folder_.path().string() + ": Is a directory");
}

}  // namespace
}  // namespace boolgrad::data
