// HTML pages rendered by a browser.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::testing_support {

/// Fails if there is no browser. Call it in SetUp. Ubuntu has Chromium only as a snap, which cannot
/// read the files of tests: there the test is skipped.
inline void require_browser() {
  const bool is_ubuntu = run_tool("grep -qx ID=ubuntu /etc/os-release").code == 0;
  if (is_ubuntu && run_tool("command -v chromium").code != 0) {
    GTEST_SKIP() << "chromium is missing: Ubuntu has it as a snap only";
  }
  require_tool("chromium", "chromium");
}

/// The DOM of a page in Chromium after two seconds of virtual time. `address` is the URL fragment;
/// it may contain letters, digits and = & + @ , .
inline std::string document_of(const std::filesystem::path& page, const std::string& address) {
  const ScratchFolder profile;
  const std::string complaints = (profile / "complaints").string();
  // No sandbox: tests may run as root, and the page is our own.
  const ToolResult result = run_tool(fmt::format(
      "timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--window-size=1200,900 --user-data-dir={} --virtual-time-budget=2000 --dump-dom "
      "'file://{}#{}' 2>{}",
      (profile / "profile").string(), page.string(), address, complaints));
  EXPECT_EQ(result.code, 0) << read_bytes(complaints);
  return result.output;
}

/// The text of the element with an id, with HTML escapes.
inline std::string text_of(const std::string& document, const std::string& id) {
  const std::size_t mark = document.find(fmt::format("id=\"{}\"", id));
  if (mark == std::string::npos) {
    ADD_FAILURE() << "no element " << id << " in " << document.substr(0, 2000);
    return "";
  }
  const std::size_t begin = document.find('>', mark) + 1;
  return document.substr(begin, document.find("</", begin) - begin);
}

/// The dump of a page. Expects that the page reports no error.
inline std::string dumped(const std::filesystem::path& page, const std::string& address) {
  const std::string document = document_of(page, address);
  EXPECT_EQ(text_of(document, "error"), "") << address;
  return text_of(document, "dump");
}

}  // namespace boolgrad::testing_support
