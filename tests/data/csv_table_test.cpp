#include "boolgrad/data/csv_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::data {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

class CsvTable : public ::testing::Test {
 protected:
  Table read(const std::string& text, const TableOptions& options = {}) {
    write_bytes(path_, text);
    return read_table(path_, options);
  }
  void refuses(const std::string& text, const std::string& message,
               const TableOptions& options = {}) {
    expect_error([&] { read(text, options); }, "[csv] " + path_.string() + message);
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "robots.csv";
};

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
  return values;
}

TEST_F(CsvTable, ReadsNumbersAndCategories) {
  const Table table = read("age,colour,kind\n3.5,red,b\n-1e2,\"dark, blue\",a\n\n2,red,b\n");
  EXPECT_EQ(table.format.target, "kind");
  EXPECT_EQ(table.format.classes, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(table.format.columns.size(), 2U);
  EXPECT_EQ(table.format.columns[1].categories, (std::vector<std::string>{"dark, blue", "red"}));
  EXPECT_EQ(values_of(table.samples.features),
            (std::vector<double>{3.5, 0, 1, -100, 1, 0, 2, 0, 1}));
  EXPECT_EQ(values_of(table.samples.labels), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(feature_names(table.format, 3),
            (std::vector<std::string>{"age", "colour = dark, blue", "colour = red"}));
}

TEST_F(CsvTable, CanTreatNumbersAsCategoriesAndTargetsAsValues) {
  const Table table =
      read("y,size\n1.5,10\n2,9\n3,10\n", {.target = "y", .categories = {"size"}, .values = true});
  EXPECT_TRUE(table.format.classes.empty());
  EXPECT_EQ(table.format.columns[0].categories, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(values_of(table.samples.labels), (std::vector<double>{1.5, 2, 3}));
}

TEST_F(CsvTable, ReadsAnotherFileInTheSameFormat) {
  const DataFormat format = read("a,b,y\n1,u,0\n2,v,1\n").format;
  write_bytes(path_, "y,other,b,a\n1,x,v,7\n");
  const SampleSet samples = read_table_as(path_, format);
  EXPECT_EQ(values_of(samples.features), (std::vector<double>{7, 0, 1}));
  EXPECT_EQ(values_of(samples.labels), (std::vector<double>{1}));
}

TEST_F(CsvTable, ErrorsNameTheLine) {
  refuses("a,y\n1,0\n2,1\nthree,0\n", ":4: expected a number in column 'a', received 'three'");
  refuses("a,y\n1,0\n,1\n", ":3: expected a number in column 'a', received ''");
  refuses("a,y\n1,0\n2\n", ":3: expected 2 values, received 1");
  refuses("a,y\n\"1,0\n", ":2: missing closing quote");
  refuses("a,y\n\"1\"x,0\n", ":2: expected a comma after a quoted field, received 'x'");
  refuses("a,a\n1,0\n", ":1: expected distinct, non-empty column names, received 'a'");
  refuses("a,y\n", ":1: expected at least one sample, received none");
  refuses("", ":1: expected a header line, received an empty file");
  refuses("a,y\n1,0\n", ": no column 'z'; the columns are a, y", {.target = "z"});
  refuses("y\n1\n", ": expected other columns than the target 'y', received none");
}

TEST_F(CsvTable, RejectsUnknownCategoriesAndClasses) {
  const DataFormat format = read("a,b,y\n1,u,0\n2,v,1\n").format;
  const auto refuses_as = [&](const std::string& text, const std::string& message) {
    write_bytes(path_, text);
    expect_error([&] { read_table_as(path_, format); }, "[csv] " + path_.string() + message);
  };
  refuses_as("a,b,y\n1,u,2\n",
             ":2: expected a class of the training data in column 'y', received '2'");
  refuses_as("a,b,y\n1,w,1\n",
             ":2: expected a category of the training data in column 'b', received 'w'");
  refuses_as("a,y\n1,1\n", ": no column 'b'; the columns are a, y");
}

}  // namespace
}  // namespace boolgrad::data
