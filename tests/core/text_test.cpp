#include "boolgrad/core/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace boolgrad {
namespace {

TEST(NearestName, FindsTheSmallestEditDistance) {
  const std::vector<std::string> names = {"training.steps", "training.learning_rate", "seed"};
  EXPECT_EQ(nearest_name("training.learnin_rate", names), "training.learning_rate");
  EXPECT_EQ(nearest_name("sed", names), "seed");
  EXPECT_EQ(nearest_name("colour", names), std::nullopt) << "too far from all of them";
  EXPECT_EQ(nearest_name("anything", {}), std::nullopt);
}

TEST(Alternatives, ReadsLikeASentence) {
  EXPECT_EQ(alternatives(std::vector<std::string>{}), "");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("na\xEFve"), "na\\xEFve");
  EXPECT_EQ(printable("\xE2\x80"), "\\xE2\\x80") << "an incomplete character";
  EXPECT_EQ(printable("\xC0\xAF \xED\xA0\x80"), "\\xC0\\xAF \\xED\\xA0\\x80")
      << "overlong, and a surrogate";
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("Grüße", 4), "Gr\u00FC");
}

TEST(Wrapped, BreaksLinesAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 80), "one two three");
  EXPECT_EQ(wrapped("one two three", 8), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 5), "one\n  two\n  three") << "a long word is not broken";
  EXPECT_EQ(wrapped("äöü äöü", 7), "äöü äöü") << "characters, not bytes";
  EXPECT_EQ(wrapped("", 5), "");
}

TEST(FileName, HasNoSeparatorsAndNothingInvisible) {
  EXPECT_EQ(file_name_of("mnist-s"), "mnist-s");
  EXPECT_EQ(file_name_of("Grüße an alle"), "Grüße an alle");
  EXPECT_EQ(file_name_of("../../x"), "-.-..-x");
  EXPECT_EQ(file_name_of(".hidden"), "-hidden");
  EXPECT_EQ(file_name_of("a\\b\nc\x7F"), "a-b-c-");
  EXPECT_EQ(file_name_of("a\u202Eb\u2066c\u200Fd\u0085e"), "a-b-c-d-e");
  EXPECT_EQ(file_name_of(""), "unnamed");
  EXPECT_EQ(file_name_of(std::string(300, 'a')), std::string(100, 'a'));
}

TEST(Bytes, AreParsedInEveryUnit) {
  EXPECT_EQ(parse_bytes("200MB"), 200'000'000U);
  EXPECT_EQ(parse_bytes("1.5 GiB"), 1'610'612'736U);
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("3kb"), 3000U);
  EXPECT_EQ(parse_bytes("0"), 0U);
  for (const char* wrong : {"", "MB", "-1MB", "nan", "inf", "5 XB", "1e30", "12MBs", "1,5MB"}) {
    EXPECT_EQ(parse_bytes(wrong), std::nullopt) << wrong;
  }
}

TEST(Bytes, AreFormattedWithTwoDigits) {
  EXPECT_EQ(bytes_text(12), "12 bytes");
  EXPECT_EQ(bytes_text(1234), "1.2 kB");
  EXPECT_EQ(bytes_text(455'680), "456 kB");
  EXPECT_EQ(bytes_text(188'000'000), "188 MB");
  EXPECT_EQ(bytes_text(9'960'000), "10 MB");
  EXPECT_EQ(bytes_text(2'100'000'000), "2.1 GB");
}

TEST(Printable, StaysOnOneShortLine) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a?b?[31m?");
  EXPECT_EQ(printable("größe"), "größe");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 300U);
}

TEST(Utf8Prefix, EndsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("abc", 5), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("a\u2026b", 4), "a\u2026");
  EXPECT_EQ(utf8_prefix("a\u2026b", 3), "a");
  EXPECT_EQ(utf8_prefix("\u2026", 1), "");
  EXPECT_EQ(printable("\u2026" + std::string(400, 'x')).size(), 300U);
  EXPECT_EQ(printable(std::string(299, 'x') + "\u2026").size(), 299U);
}

}  // namespace
}  // namespace boolgrad
