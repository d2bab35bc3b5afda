// The HTML viewer of a classifier gives the predictions of the hardened classifier.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/circuit/formats/netlist_files.h"
#include "tests/cli/run_cli.h"
#include "tests/support/browser.h"
#include "tests/support/page_text.h"

namespace boolgrad {
namespace {

using testing_support::document_of;
using testing_support::dumped;
using testing_support::read_bytes;
using testing_support::require_browser;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::text_of;
using testing_support::write_bytes;

class ClassifierViewer : public testing::Test {
 protected:
  void SetUp() override { require_browser(); }

  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

  ScratchFolder scratch_;
};

TEST_F(ClassifierViewer, HasFieldsOfColumnsAndNamesOfClasses) {
  std::string text = "length,width,colour,kind\n";
  for (int i = 0; i < 120; ++i) {
    const int length = i * 37 % 101;
    text += fmt::format("{},{},{},{}\n", length, i * 53 % 97, i % 2 == 0 ? "red" : "blue",
                        length > 60 ? "lily" : "\"rose <wild>\"");
  }
  write_bytes(file("flowers.csv"), text);
  ASSERT_EQ(run_cli({"train", "table", "--data", file("flowers.csv"), "--out", file("run")}).code,
            0);
  ASSERT_EQ(run_cli({"export", file("run"), "-o", file("a.html")}).code, 0);
  // The circuit in the page has the head, as in other formats.
  EXPECT_EQ(run_cli({"equal", file("run"), file("a.html")}).code, 0);
  const auto predictions =
      run_cli({"predict", file("run"), "--data", file("flowers.csv"), "--json"});
  ASSERT_EQ(predictions.code, 0) << predictions.err;
  for (const int i : {0, 1, 2, 3, 60}) {
    const std::string dump =
        dumped(file("a.html"), fmt::format("features={},{},{}&dump", i * 37 % 101, i * 53 % 97,
                                           i % 2 == 0 ? "0,1" : "1,0"));
    const std::string expected = predictions.json()["predictions"][static_cast<std::size_t>(i)];
    const std::string shown = expected == "lily" ? "lily" : "rose &lt;wild&gt;";
    EXPECT_EQ(dump.substr(0, dump.find('\n')), shown) << i;
  }
  const std::string document = document_of(file("a.html"), "features=90,5,1,0");
  EXPECT_EQ(text_of(document, "prediction"), "lily");
  EXPECT_NE(document.find("aria-label=\"length\""), std::string::npos);
  EXPECT_NE(document.find("<option value=\"0\">blue</option><option value=\"1\">red</option>"),
            std::string::npos);
  EXPECT_NE(text_of(document_of(file("a.html"), "features=1,2"), "error")
                .find("expected 4 numbers for features, received 2"),
            std::string::npos);
}

TEST_F(ClassifierViewer, HasADrawingPadForImages) {
  // Images of 3x3 pixels: a bright row or a bright column.
  write_bytes(file("images.toml"),
              "[task]\nkind = \"idx\"\n[network]\nhidden = [64]\n[head]\noutputs = 32\n"
              "[training]\nsteps = 200\n");
  std::string images = std::string("\0\0\x08\x03\0\0\0\x3c\0\0\0\x03\0\0\0\x03", 16);
  std::string labels = std::string("\0\0\x08\x01\0\0\0\x3c", 8);
  for (int i = 0; i < 60; ++i) {
    const bool is_row = i % 2 == 0;
    for (int pixel = 0; pixel < 9; ++pixel) {
      const bool bright = (is_row ? pixel / 3 : pixel % 3) == i / 2 % 3;
      images += static_cast<char>(bright ? 200 + i % 50 : i * 7 % 60);
    }
    labels += static_cast<char>(is_row ? 0 : 1);
  }
  for (const std::string part : {"train", "t10k"}) {
    write_bytes(file(part + "-images-idx3-ubyte"), images);
    write_bytes(file(part + "-labels-idx1-ubyte"), labels);
  }
  const auto trained = run_cli({"train", file("images.toml"), "--data", scratch_.path().string(),
                                "--out", file("run"), "--quiet"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(run_cli({"export", file("run"), "-o", file("a.html")}).code, 0);
  const auto predictions =
      run_cli({"predict", file("run"), "--data", file("train-images-idx3-ubyte"), "--json"});
  ASSERT_EQ(predictions.code, 0) << predictions.err;
  const nlohmann::json expected = predictions.json()["predictions"];
  for (const std::size_t i : {0U, 1U, 2U, 3U}) {
    std::string features;
    for (std::size_t pixel = 0; pixel < 9; ++pixel) {
      features +=
          fmt::format("{}{}", pixel == 0 ? "" : ",",
                      static_cast<int>(static_cast<unsigned char>(images[16 + 9 * i + pixel])));
    }
    const std::string dump = dumped(file("a.html"), "features=" + features + "&dump");
    EXPECT_EQ(dump.substr(0, dump.find('\n')), expected[i].get<std::string>()) << i;
  }
  const std::string document = document_of(file("a.html"), "");
  EXPECT_EQ(document.find("id=\"pad-card\" aria-labelledby=\"pad-title\" hidden"),
            std::string::npos);
  EXPECT_NE(document.find("<canvas id=\"pad\" role=\"img\" aria-label=\"Drawing pad\" width=\"3\""),
            std::string::npos)
      << document.substr(document.find("<canvas id=\"pad\""), 200);
}

}  // namespace
}  // namespace boolgrad
