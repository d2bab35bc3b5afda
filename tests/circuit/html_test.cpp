#include "boolgrad/circuit/formats/html.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/data/automaton_task.h"
#include "tests/support/browser.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/page_text.h"

namespace boolgrad::circuit {
namespace {

using testing_support::document_of;
using testing_support::dumped;
using testing_support::require_browser;
using testing_support::ScratchFolder;
using testing_support::text_of;
using testing_support::write_bytes;

class HtmlTest : public testing::Test {
 protected:
  void SetUp() override { require_browser(); }

  /// Writes a page to disk. `script` runs after the page's own scripts.
  std::filesystem::path page(const Netlist& netlist, const HtmlOptions& options = {},
                             const std::string& script = "") const {
    std::string html = to_html(netlist, options);
    const std::string at_the_end = "</body>";
    if (!script.empty()) {
      html.insert(html.find(at_the_end),
                  "<pre id=\"seen\"></pre>\n<script>\n" + script + "\n</script>\n");
    }
    write_bytes(scratch_ / "page.html", html);
    return scratch_ / "page.html";
  }

  ScratchFolder scratch_;
};

// ---------------------------------------------------------------------------------------------
// Circuits

TEST_F(HtmlTest, AgreesWithTheNetlist) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Netlist netlist = random_netlist({.inputs = 9, .gates = 80, .outputs = 12}, seed);
    EXPECT_EQ(dumped(page(netlist), "dump"), table_text(netlist)) << seed;
  }
}

TEST_F(HtmlTest, AgreesForEveryTableOfUpToThreeInputs) {
  Netlist netlist = random_netlist({.inputs = 3, .gates = 0, .outputs = 0}, 0);
  const auto add = [&](std::uint64_t truth, std::uint8_t arity) {
    netlist.gates.push_back({.truth = truth, .inputs = {0, 1, 2}, .arity = arity});
    netlist.outputs.push_back(fmt::format("y{}", netlist.outputs.size()));
    netlist.output_nets.push_back(netlist.gate(netlist.gates.size() - 1));
  };
  for (std::uint8_t arity = 0; arity < 4; ++arity) {
    for (std::uint64_t truth = 0; truth < 1ULL << (1U << arity); ++truth) add(truth, arity);
  }
  EXPECT_EQ(dumped(page(netlist), "dump"), table_text(netlist));
}

TEST_F(HtmlTest, EvaluatesTheRequestedCases) {
  const Netlist netlist = random_netlist({.inputs = 70, .gates = 200, .outputs = 40}, 5);
  std::string address = "dump&cases=";
  std::string expected;
  for (std::uint64_t sample = 0; sample < 40; ++sample) {
    std::string line;
    std::vector<std::uint64_t> inputs = random_words(70, sample);
    for (std::uint64_t& word : inputs) line += (word &= 1) != 0 ? '1' : '0';
    address += (sample > 0 ? "," : "") + line;
    expected += (sample > 0 ? "\n" : "") + line + ' ';
    for (const std::uint64_t word : evaluate(netlist, inputs)) {
      expected += (word & 1) != 0 ? '1' : '0';
    }
  }
  EXPECT_EQ(dumped(page(netlist), address), expected);
}

Netlist adder() {
  Netlist netlist;
  netlist.name = "adder";
  netlist.inputs = {"a", "b", "c"};
  netlist.outputs = {"sum", "carry"};
  netlist.gates = {{.truth = 0b10010110, .inputs = {0, 1, 2}, .arity = 3},
                   {.truth = 0b11101000, .inputs = {0, 1, 2}, .arity = 3}};
  netlist.output_nets = {3, 4};
  return checked(netlist);
}

TEST_F(HtmlTest, SwitchesChangeTheOutputs) {
  // The output digits, most significant first, after each user action.
  const std::string script = R"(
const seen = [];
const look = () => seen.push([...document.querySelectorAll('#outputs strong')].map(
    (digit) => digit.textContent).join('') + '=' +
    document.querySelector('#outputs output').textContent);
const switches = document.querySelectorAll('#inputs button');
look();
switches[0].click(); look();
switches[2].click(); look();
document.getElementById('ones').click(); look();
const field = document.querySelector('#inputs input');
const type = (text) => { field.value = text; field.dispatchEvent(new Event('change')); look(); };
type('0b100'); type('6'); type('8');
seen.push(document.getElementById('error').textContent);
document.getElementById('zeros').click();
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'})); look();
document.querySelectorAll('#table tbody tr')[7].click(); look();
seen.push(document.querySelectorAll('#table tbody tr').length);
document.getElementById('seen').textContent = seen.join('\n');
)";
  const std::string document = document_of(page(adder(), {}, script), "");
  EXPECT_EQ(text_of(document, "seen"),
            "00=0\n01=1\n10=2\n11=3\n01=1\n10=2\n10=2\n"
            "expected x from 0 to 7, received '8'\n01=1\n11=3\n8");
  EXPECT_EQ(text_of(document, "counts"), "2 gates, depth 1");
}

TEST_F(HtmlTest, ReportsInvalidAddresses) {
  EXPECT_EQ(text_of(document_of(page(adder()), "inputs=01"), "error"),
            "expected 3 digits 0 or 1, the first input first, received '01'");
  const std::string document = document_of(page(harden(life_rule())), "size=2x9");
  EXPECT_EQ(text_of(document, "error"), "expected rows from 3 to 1024, received '2'");
  EXPECT_NE(document.find("64 by 64 cells after 0 steps"), std::string::npos)
      << "the viewer still works";
}

TEST_F(HtmlTest, EscapesAnyName) {
  Netlist netlist = adder();
  netlist.name = "</title></script><script>document.body.id='broken'</script>@script@ & \"ü\"";
  netlist.inputs = {"</script>", "<!--", "%\n '"};
  netlist.outputs = {"<b>&amp;", "@model@"};
  const std::string html = to_html(netlist);
  EXPECT_EQ(netlist_from_html(html, "page.html"), netlist);
  const std::string document = document_of(page(netlist), "dump");
  EXPECT_EQ(text_of(document, "dump"), table_text(netlist));
  EXPECT_EQ(document.find("id=\"broken\""), std::string::npos);
  EXPECT_NE(document.find("<h1>&lt;/title&gt;&lt;/script&gt;&lt;script&gt;document.body.id='broken'"
                          "&lt;/script&gt;@script@ &amp; \"ü\"</h1>"),
            std::string::npos);
  EXPECT_NE(document.find("<small>&lt;/script&gt;</small>"), std::string::npos);
  EXPECT_NE(document.find("<small>&lt;b&gt;&amp;amp;</small>"), std::string::npos);
}

TEST(Html, HasNoExternalReferences) {
  for (const Netlist& netlist : {adder(), harden(life_rule())}) {
    const std::string html = to_html(netlist);
    for (const char* reference : {"http:", "https:", "src=", "@import", "url(", "fetch("}) {
      EXPECT_EQ(html.find(reference), std::string::npos) << reference;
    }
  }
}

TEST(Html, RoundTrips) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Netlist circuit = random_netlist({}, seed);
    EXPECT_EQ(netlist_from_html(to_html(circuit), "a.html"), circuit);
    const Netlist automaton = random_automaton(2, Border::zero, seed);
    EXPECT_EQ(netlist_from_html(to_html(automaton), "a.html"), automaton);
  }
}

TEST(Html, RejectsOtherFiles) {
  expect_error(
      [] { netlist_from_html("<p>", "a.html"); },
      "[html] a.html: expected an HTML file written by boolgrad, received one without a model");
  const std::string opening = R"(<script id="model" type="application/json">)";
  expect_error(
      [&] { netlist_from_html(opening + "{}", "a.html"); },
      "[html] a.html: expected an HTML file written by boolgrad, received one without a model");
  for (const char* data : {"{", "{}", "[]", R"({"netlist": 3})"}) {
    expect_error([&] { netlist_from_html(opening + data + "</script>", "a.html"); },
                 "[html] a.html: expected a netlist in the model of the page, received none");
  }
}

TEST(Html, RejectsInvalidOptions) {
  expect_error(
      [] {
        to_html(adder(), {.inputs = {{"a", 2}}});
      },
      "[html] expected numbers of 3 bits in total for x, received 2");
  const Netlist life = harden(life_rule());
  expect_error([&] { to_html(life, {.automaton = {.height = 0}}); },
               "[html] expected at least one cell, received 0x64");
  expect_error([&] { to_html(life, {.automaton = {.fire_rate = 1.5}}); },
               "[html] expected a fire rate from 0 to 1, received 1.5");
  expect_error([&] { to_html(life, {.automaton = {.states = 3}}); },
               "[html] expected 2 states, or one more than the 1 channels, received 3");
  const Tensor target = Tensor::zeros({2, 4, 4}, DType::uint8);
  expect_error(
      [&] { to_html(life, {.automaton = {.target = target}}); },
      "[html] expected a target of uint8 [1 to 1, height, width], received uint8 [2, 4, 4]");
}

// ---------------------------------------------------------------------------------------------
// Automata

constexpr std::uint32_t start_stream = 21;
constexpr std::uint32_t fire_stream = 22;
constexpr std::uint64_t seed = (std::uint64_t{5} << 32) + 3;  // both words of the key are used

struct GridRun {
  std::int64_t height;
  std::int64_t width;
  std::int64_t steps;
  double fire_rate = 1;
};

/// The final state of the simulator.
std::string simulated(const automata::Rule& rule, const GridRun& run) {
  automata::BitGrid state = automata::BitGrid::from(
      automata::random_starts({rule.channels(), 1, run.height, run.width}, seed, start_stream));
  automata::BitAutomaton automaton(rule);
  for (std::int64_t step = 0; step < run.steps; ++step) {
    if (run.fire_rate < 1) {
      const automata::BitGrid fires = automata::BitGrid::from(
          automata::fire_masks({1, run.height, run.width, 1}, run.fire_rate, seed, fire_stream,
                               static_cast<std::uint32_t>(step)));
      automaton.step(state, &fires);
    } else {
      automaton.step(state);
    }
  }
  return state_text(state);
}

HtmlOptions same_random_numbers() {
  return {.automaton = {.seed = seed, .start_stream = start_stream, .fire_stream = fire_stream}};
}

std::string address_of(const GridRun& run) {
  return fmt::format("size={}x{}&steps={}&async={}&dump", run.height, run.width, run.steps,
                     run.fire_rate);
}

TEST_F(HtmlTest, RunsLifeLikeTheSimulator) {
  const Netlist netlist = simplify(harden(life_rule()));
  for (const GridRun& run :
       {GridRun{40, 50, 50}, GridRun{3, 3, 50}, GridRun{5, 64, 50}, GridRun{40, 50, 50, 0.6}}) {
    EXPECT_EQ(dumped(page(netlist, same_random_numbers()), address_of(run)),
              simulated(life_rule(), run))
        << run.height << "x" << run.width << " at " << run.fire_rate;
  }
}

TEST_F(HtmlTest, RunsAnyChannelsBordersAndSizes) {
  for (const Border border : {Border::zero, Border::periodic}) {
    const automata::Rule rule = automata::Rule::make(
        {.channels = 3, .kernels = 2, .perceive = {8, 4}, .update = {24}}, border,
        Parametrisation::softmax16, DType::float32, {logic::Initialisation::gaussian, 1}, 7);
    const Netlist netlist = harden(rule);
    for (const GridRun& run : {GridRun{6, 33, 50}, GridRun{9, 96, 50, 0.75}}) {
      EXPECT_EQ(dumped(page(netlist, same_random_numbers()), address_of(run)), simulated(rule, run))
          << to_string(border) << " " << run.width;
    }
  }
}

/// Reads the canvas as text: # for dark cells of a light page.
const char* const reading_cells = R"(
const byId = (id) => document.getElementById(id);
const seen = [];
const side = 5;
function look() {
  const canvas = byId('cells');
  const cell = canvas.width / side;
  const context = canvas.getContext('2d');
  for (let y = 0; y < side; ++y) {
    let row = '';
    for (let x = 0; x < side; ++x) {
      const [red] = context.getImageData((x + 0.5) * cell, (y + 0.5) * cell, 1, 1).data;
      row += red < 128 ? '#' : '.';
    }
    seen.push(row);
  }
  seen.push(`step ${byId('steps').textContent}`);
}
function point(type, y, x, buttons = 1) {
  const box = byId('cells').getBoundingClientRect();
  byId('cells').dispatchEvent(new PointerEvent(type, {
    clientX: box.left + (x + 0.5) * box.width / side, buttons,
    clientY: box.top + (y + 0.5) * box.height / side, bubbles: true}));
}
function drag(y, x, toY, toX, buttons) {
  point('pointerdown', y, x, buttons);
  point('pointermove', toY, toX, buttons);
  point('pointerup', toY, toX, 0);
  point('pointerleave', toY, toX, 0);
}
const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', {key}));
const tell = () => { byId('seen').textContent = seen.join('\n'); };
)";

TEST_F(HtmlTest, DrawsErasesAndSteps) {
  const std::string script = std::string(reading_cells) + R"(
drag(2, 1, 2, 3); look();
byId('step').click(); look();
press('n'); look();
drag(2, 2, 2, 2, 2); look();
press('d'); drag(2, 2, 2, 2); press('e'); drag(2, 1, 2, 1); look();
press('x'); byId('hole').value = 3; drag(1, 3, 1, 3); look();
byId('restart').click(); look();
tell();
)";
  const Netlist netlist = harden(life_rule());
  EXPECT_EQ(text_of(document_of(page(netlist, {}, script), "size=5x5&start=empty"), "seen"),
            ".....\n.....\n.###.\n.....\n.....\nstep 0\n"
            ".....\n..#..\n..#..\n..#..\n.....\nstep 1\n"
            ".....\n.....\n.###.\n.....\n.....\nstep 2\n"
            ".....\n.....\n.#.#.\n.....\n.....\nstep 2\n"
            ".....\n.....\n..##.\n.....\n.....\nstep 2\n"
            ".....\n.....\n.....\n.....\n.....\nstep 2\n"
            ".....\n.....\n.....\n.....\n.....\nstep 0");
}

TEST_F(HtmlTest, DamagesResizesAndRestarts) {
  const std::string script = std::string(reading_cells) + R"(
byId('brush').value = 15; drag(2, 2, 2, 2); look();
byId('hole').value = 2; byId('random-hole').click(); look();
byId('clear').click(); look();
byId('height').value = 9; byId('width').value = 12; byId('start').value = 'seed';
byId('grid').requestSubmit();
seen.push(byId('cells').getAttribute('aria-label'));
seen.push(`${byId('cells').height * 12} ${byId('cells').width * 9}`);
tell();
)";
  const Netlist netlist = harden(life_rule());
  const std::string text =
      text_of(document_of(page(netlist, {}, script), "size=5x5&start=empty"), "seen");
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 20U) << text;
  std::string full;
  std::string struck;
  std::string empty;
  for (std::size_t y = 0; y < 5; ++y) {
    full += lines[y];
    struck += lines[6 + y];
    empty += lines[12 + y];
  }
  EXPECT_EQ(full, std::string(25, '#'));
  EXPECT_EQ(std::count(struck.begin(), struck.end(), '.'), 4) << text;
  EXPECT_EQ(struck.find("..", struck.find('.')), struck.find('.')) << "a square: " << text;
  EXPECT_EQ(empty, std::string(25, '.'));
  EXPECT_EQ(lines[18], "9 by 12 cells after 0 steps");
  const std::size_t blank = lines[19].find(' ');
  EXPECT_EQ(lines[19].substr(0, blank), lines[19].substr(blank + 1)) << "cells are squares";
}

TEST_F(HtmlTest, PlaysAndPauses) {
  // A headless browser renders no frames in virtual time, so a timer requests them.
  const std::string script = std::string(reading_cells) + R"(
window.requestAnimationFrame = (frame) => setTimeout(() => frame(performance.now()), 16);
const steps = () => Number(byId('steps').textContent);
press(' ');
setTimeout(() => {
  byId('play').click();
  const stopped = steps();
  seen.push(stopped >= 5 && stopped <= 12 ? 'played' : `${stopped} steps`);
  setTimeout(() => {
    seen.push(steps() === stopped ? 'paused' : 'went on');
    tell();
  }, 300);
}, 1000);
)";
  const Netlist netlist = harden(life_rule());
  EXPECT_EQ(text_of(document_of(page(netlist, {}, script), "size=5x5"), "seen"), "played\npaused");
}

TEST_F(HtmlTest, ShowsChannelsAndTheTarget) {
  // The script reads channel 1 of four; the target has three cells in channel 0.
  const Netlist netlist = random_automaton(4, Border::zero, 3);
  Tensor target = Tensor::zeros({1, 1, 3}, DType::uint8);
  for (std::uint8_t& bit : target.mutable_values<std::uint8_t>()) bit = 1;
  const std::string script = std::string(reading_cells) + R"(
seen.push(byId('errors').textContent);
drag(2, 1, 2, 2); seen.push(byId('errors').textContent);
drag(2, 3, 2, 3); seen.push(byId('errors').textContent);
press(']'); look(); drag(0, 0, 0, 4); look();
byId('channels').querySelectorAll('button')[0].click(); look();
tell();
)";
  const HtmlOptions options{.automaton = {.target = target}};
  EXPECT_EQ(text_of(document_of(page(netlist, options, script), "size=5x5&start=empty"), "seen"),
            "3 of 25 bits differ\n1 of 25 bits differ\nAll bits match.\n"
            ".....\n.....\n.....\n.....\n.....\nstep 0\n"
            "#####\n.....\n.....\n.....\n.....\nstep 0\n"
            ".....\n.....\n.###.\n.....\n.....\nstep 0");
}

}  // namespace
}  // namespace boolgrad::circuit
