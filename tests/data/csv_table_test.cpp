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
  refuses("a,y\n1,0\n2,1\nthree,0\n",
          ":4: expected a number in column 'a', received 'three', but a number in line 2; --set "
          "data.categories=a reads categories");
  refuses("a,y\n1,0\n,1\n",
          ":3: expected a value in column 'a', received none; --missing drop, mean or category "
          "accepts missing values");
  refuses("a,y\n1,0\nNA,1\n",
          ":3: expected a value in column 'a', received 'NA'; --missing drop, mean or category "
          "accepts missing values");
  refuses("a,y\n1,0\n2,\n",
          ":3: expected a value in column 'y', received none, the target; --missing drop leaves "
          "such lines out");
  refuses("a,y\n1,0\n2\n", ":3: expected 2 values, received 1");
  refuses("a,y\n\"1,0\n", ":2: missing closing quote");
  refuses("a,y\n\"1\"x,0\n", ":2: expected a comma after a quoted field, received 'x'");
  refuses("a,a\n1,0\n", ":1: expected distinct, non-empty column names, received 'a'");
  refuses("a,y\n", ":1: expected at least one sample, received none");
  refuses("", ":1: expected a header line, received an empty file");
  refuses("a,y\n1,0\n", ": no column 'z'; the columns are a, y", {.target = "z"});
  refuses("y\n1\n", ": expected other columns than the target 'y', received none");
}

TEST_F(CsvTable, DetectsTheSeparator) {
  for (const char separator : {',', ';', '\t'}) {
    std::string text = "a,b,y\n1,\"u,;\t\",0\n2,v,1\n";
    bool quoted = false;
    for (char& letter : text) {
      if (letter == '"') quoted = !quoted;
      if (letter == ',' && !quoted) letter = separator;
    }
    const Table table = read(text);
    EXPECT_EQ(values_of(table.samples.features), (std::vector<double>{1, 1, 0, 2, 0, 1}));
    EXPECT_EQ(table.format.columns[1].categories, (std::vector<std::string>{"u,;\t", "v"}));
  }
  EXPECT_EQ(values_of(read("a;y\n1,5;0\n-2;1\n").samples.features), (std::vector<double>{1.5, -2}))
      << "a decimal comma";
  refuses("a;y\n\"1\"x;0\n", ":2: expected a semicolon after a quoted field, received 'x'");
}

TEST_F(CsvTable, ReadsLineBreaksInQuotesAndAMark) {
  const Table table = read(
      "\xEF\xBB\xBF"
      "a,y\n\"two\nlines\",0\n\"one\",1\r\n\"one\",1");
  EXPECT_EQ(table.format.columns[0].name, "a");
  EXPECT_EQ(table.format.columns[0].categories, (std::vector<std::string>{"one", "two\nlines"}));
  refuses("a,y\n\"two\nlines\",0\n\"one\"\n", ":4: expected 2 values, received 1");
}

TEST_F(CsvTable, ReadsFilesWithoutAHeader) {
  refuses("1,2,0\n3,4,1\n",
          ":1: expected the names of the columns, received numbers, such as '1'; --no-header reads "
          "files without names");
  EXPECT_EQ(read("1,2\n3,4\n", {.header = HeaderKind::present}).format.target, "2");
  const Table table = read("1,2,0\n3,4,1\n", {.target = "column2", .header = HeaderKind::absent});
  EXPECT_EQ(values_of(table.samples.features), (std::vector<double>{1, 0, 3, 1}));
  EXPECT_EQ(values_of(table.samples.labels), (std::vector<double>{0, 1}));
  EXPECT_FALSE(table.format.csv.has_header);
  write_bytes(path_, "5,9,1\n");
  EXPECT_EQ(values_of(read_features_as(path_, table.format).features), (std::vector<double>{5, 1}));
  write_bytes(path_, "6,0\n");
  EXPECT_EQ(values_of(read_features_as(path_, table.format).features), (std::vector<double>{6, 0}))
      << "without the target";
}

TEST_F(CsvTable, FillsOrDropsMissingValues) {
  const std::string text = "a,b,y\n1,u,0\n,u,1\n5,,0\nn/a,v,1\n";
  Table mean = read(text, {.missing = MissingValues::mean});
  choose_fills(mean.format, mean.samples);
  fill_missing(mean.samples, mean.format);
  EXPECT_EQ(values_of(mean.samples.features),
            (std::vector<double>{1, 1, 0, 3, 1, 0, 5, 1, 0, 3, 0, 1}));
  EXPECT_EQ(mean.format.columns[0].fill, "3");
  EXPECT_EQ(mean.format.columns[1].fill, "u");
  Table category = read(text, {.missing = MissingValues::category});
  choose_fills(category.format, category.samples);
  EXPECT_EQ(category.format.columns[1].categories, (std::vector<std::string>{"missing", "u", "v"}));
  const Table drop = read(text, {.missing = MissingValues::drop});
  EXPECT_EQ(values_of(drop.samples.features), (std::vector<double>{1, 1}));
  EXPECT_EQ(drop.dropped, 3);

  // Other files are read as the first one.
  write_bytes(path_, "a,b,y\n,v,1\n7,,0\n");
  EXPECT_EQ(values_of(read_table_as(path_, mean.format).features),
            (std::vector<double>{3, 0, 1, 7, 1, 0}));
  EXPECT_EQ(values_of(read_features_as(path_, category.format).features),
            (std::vector<double>{3, 0, 0, 1, 7, 1, 0, 0}));
  const FeatureTable refused = read_features_as(path_, drop.format);
  ASSERT_EQ(refused.refused.size(), 2U);
  EXPECT_EQ(refused.refused[0].reason, "expected a value in column 'a', received none");
  expect_error([&] { read_table_as(path_, drop.format); },
               "[csv] " + path_.string() + ": a value is missing in every line");
}

TEST_F(CsvTable, FillsFromTheTrainingSamplesAlone) {
  Table table =
      read("a,b,y\n1,u,0\n3,v,1\n,,0\n90,w,0\n80,w,1\n", {.missing = MissingValues::mean});
  choose_fills(table.format, picked_samples(table.samples, {0, 1, 2}));
  EXPECT_EQ(table.format.columns[0].fill, "2");
  EXPECT_EQ(table.format.columns[1].fill, "u");
  SampleSet other = picked_samples(table.samples, {2, 3});
  fill_missing(other, table.format);
  EXPECT_EQ(values_of(other.features), (std::vector<double>{2, 1, 0, 0, 90, 0, 0, 1}));

  Table without = read("a,y\n,0\n,1\n4,0\n", {.missing = MissingValues::mean});
  expect_error(
      [&] {
        choose_fills(without.format, picked_samples(without.samples, {0, 1}));
      },
      "[csv] expected values in column 'a' of the training samples, received none");
}

TEST_F(CsvTable, ReadsLatin1IfAsked) {
  const std::string text = "city,y\nK\xF6ln,0\nBonn,1\n";
  refuses(text,
          ":2: expected UTF-8, received the byte 0xF6; --encoding latin1 reads files of many older "
          "programs");
  const Table table = read(text, {.encoding = TextEncoding::latin1});
  EXPECT_EQ(table.format.columns[0].categories, (std::vector<std::string>{"Bonn", "Köln"}));
  refuses(
      "\xFF\xFE"
      "a,y\n",
      ": expected UTF-8, received UTF-16: save the file as UTF-8");
}

TEST_F(CsvTable, RefusesDatesWithAHint) {
  const std::string hint =
      ": write dates as numbers, such as days, leave the column out with --set data.ignore=day, or "
      "read every date as a category with --set data.categories=day";
  for (const char* date : {"2024-01-31", "31.1.2024", "1/31/24", "2024-01-31 12:30:00"}) {
    const std::string text = std::string("day,x,y\n") + date + ",1,0\n" + date + ",2,1\n";
    refuses(text, std::string(":2: expected numbers or categories in column 'day', received the "
                              "date '") +
                      date + "'" + hint);
    EXPECT_EQ(read(text, {.ignored = {"day"}}).format.columns.size(), 1U);
    EXPECT_EQ(read(text, {.categories = {"day"}}).format.columns[0].categories.size(), 1U);
  }
  EXPECT_EQ(read("version,y\n1.2.3.4,0\n1.2.3.5,1\n").format.columns[0].categories.size(), 2U);
}

TEST_F(CsvTable, CountsTheNumbersOfATarget) {
  write_bytes(path_, "a,y\n1,2.5\n2,3\n3,2.5\n");
  EXPECT_EQ(distinct_numbers(path_, {}), 2U);
  EXPECT_EQ(target_name(path_, {}), "y");
  write_bytes(path_, "a,y\n1,2.5\n2,three\n");
  EXPECT_EQ(distinct_numbers(path_, {}), std::nullopt);
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
