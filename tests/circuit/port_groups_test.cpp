#include "boolgrad/circuit/formats/port_groups.h"

#include <gtest/gtest.h>

#include "boolgrad/circuit/formats/reserved_words.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

std::string titles(const std::vector<std::string>& names) {
  std::string text;
  for (const PortGroup& group : port_groups(names)) text += group.title() + " ";
  return text;
}

TEST(PortGroups, AreBusesWhereAllBitsAreThere) {
  EXPECT_EQ(titles({"a[0]", "a[1]", "c", "b[1]", "b[0]"}), "a[1:0] c b[1:0] ");
  EXPECT_EQ(titles({"a[1]", "a[2]"}), "a[1] a[2] ");
  EXPECT_EQ(titles({"a", "a[0]"}), "a a[0] ");
  EXPECT_EQ(titles({"a[00]", "a[]", "[0]", "a[x]"}), "a[00] a[] [0] a[x] ");
  EXPECT_EQ(titles({"a[99999999999999999999]"}), "a[99999999999999999999] ");
  EXPECT_EQ(titles({}), "");
  const std::vector<std::string> names{"b[1]", "x", "b[0]"};
  EXPECT_EQ(port_groups(names)[0].positions, (std::vector<std::size_t>{2, 0}));
}

TEST(Identifiers, AreNoKeywords) {
  EXPECT_NO_THROW(check_identifier("export", "my_adder4"));
  expect_error([] { check_identifier("export", "4adder"); },
               "[export] expected a name of at most 64 letters, digits and underscores that does "
               "not begin with a digit, received '4adder'");
  expect_error([] { check_identifier("export", "a-b"); },
               "[export] expected a name of at most 64 letters, digits and underscores that does "
               "not begin with a digit, received 'a-b'");
  for (const char* word : {"module", "int", "logic", "while"}) {
    expect_error([&] { check_identifier("export", word); },
                 std::string("[export] expected a name that is no keyword of C or Verilog, "
                             "received '") +
                     word + "'");
  }
}

}  // namespace
}  // namespace boolgrad::circuit
