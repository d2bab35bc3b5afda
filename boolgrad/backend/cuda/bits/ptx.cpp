#include "boolgrad/backend/cuda/bits/ptx.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <tuple>
#include <vector>

namespace boolgrad::cuda {
namespace {

/// The truth table for `lop3`: bit 4 a + 2 b + c is its value.
unsigned truth_of(BitInner inner, BitOuter outer) {
  constexpr unsigned a = 0xF0;
  constexpr unsigned b = 0xCC;
  constexpr unsigned c = 0xAA;
  unsigned v = 0;
  switch (inner) {
    case BitInner::conjunction: v = a & b; break;
    case BitInner::difference: v = a & ~b; break;
    case BitInner::disjunction: v = a | b; break;
    case BitInner::exclusive_or: v = a ^ b; break;
  }
  switch (outer) {
    case BitOuter::same: break;
    case BitOuter::complement: v = ~v; break;
    case BitOuter::conjunction: v = v & c; break;
    case BitOuter::without: v = v & ~c; break;
    case BitOuter::outside: v = ~v & c; break;
    case BitOuter::neither: v = ~v & ~c; break;
    case BitOuter::exclusive_or: v = v ^ c; break;
    case BitOuter::equal: v = ~(v ^ c); break;
  }
  return v & 0xFF;
}

/// A register by name. Each is written once; the compiler allocates. A guard without a name is
/// always true.
using Register = std::string;

class StepWriter {
 public:
  StepWriter(const BitProgramView& code, const BitLayout& layout, int rows, bool fires)
      : code_(code), layout_(layout), rows_(rows), fires_(fires) {}

  std::string text() {
    read_parameters();
    find_place();
    for (int row = 0; row < rows_; ++row) compute(row);
    return fmt::format(
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry {}(.param .u64 from, .param .u64 to, .param .u64 fire)\n{{\n"
        ".reg .b32 %r<{}>;\n.reg .b64 %d<{}>;\n.reg .pred %p<{}>;\n{}ret;\n}}\n",
        step_kernel, words_ + 1, wides_ + 1, predicates_ + 1, body_);
  }

 private:
  Register word() { return fmt::format("%r{}", words_++); }
  Register wide() { return fmt::format("%d{}", wides_++); }
  Register predicate() { return fmt::format("%p{}", predicates_++); }

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<T>(values)...);
    body_ += ";\n";
  }
  template <class... T>
  void line_if(const Register& guard, fmt::format_string<T...> format, T&&... values) {
    if (!guard.empty()) body_ += fmt::format("@{} ", guard);
    line(format, std::forward<T>(values)...);
  }
  /// Emits an operation with a new result register: `make("add.u32", x, 1)`.
  template <class... T>
  Register make(const char* operation, const T&... operands) {
    Register result = word();
    body_ += fmt::format("{} {}", operation, result);
    ((body_ += fmt::format(", {}", operands)), ...);
    body_ += ";\n";
    return result;
  }
  template <class A, class B>
  Register test(const char* comparison, const A& a, const B& b) {
    Register result = predicate();
    line("setp.{}.u32 {}, {}, {}", comparison, result, a, b);
    return result;
  }
  Register both(const Register& a, const Register& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    Register result = predicate();
    line("and.pred {}, {}, {}", result, a, b);
    return result;
  }
  template <class A, class B>
  Register either(const Register& condition, const A& then, const B& otherwise) {
    Register result = word();
    line("selp.b32 {}, {}, {}, {}", result, then, otherwise, condition);
    return result;
  }
  Register sum(const Register& a, const Register& b) {
    Register result = wide();
    line("add.s64 {}, {}, {}", result, a, b);
    return result;
  }
  Register parameter(const char* name) {
    Register result = wide();
    Register global = wide();
    line("ld.param.u64 {}, [{}]", result, name);
    line("cvta.to.global.u64 {}, {}", global, result);
    return global;
  }
  /// A word of a channel, or 0 if the guard is false.
  Register load(const Register& guard, const Register& at, std::uint32_t channel) {
    Register result = word();
    if (!guard.empty()) line("mov.b32 {}, 0", result);
    line_if(guard, "ld.global.nc.b32 {}, [{}+{}]", result, at, channel_bytes(channel));
    return result;
  }
  std::uint32_t channel_bytes(std::uint32_t channel) const {
    return channel * layout_.channel_words * 4;
  }

  std::uint32_t last() const { return layout_.words - 1; }
  /// Unused bits in the last word of a row.
  std::uint32_t unused() const { return layout_.words * 32 - layout_.width; }

  void read_parameters() {
    from_ = parameter("from");
    to_ = parameter("to");
    fire_ = parameter("fire");
  }

  void find_place() {
    const auto rows = static_cast<std::uint32_t>(rows_);
    const std::uint32_t bands = (layout_.height + rows - 1) / rows;
    const Register index = word();
    const Register thread = make("mov.u32", "%tid.x");
    const Register block = make("mov.u32", "%ctaid.x");
    const Register threads = make("mov.u32", "%ntid.x");
    line("mad.lo.u32 {}, {}, {}, {}", index, block, threads, thread);
    const Register beyond = test("ge", index, layout_.batch * bands * layout_.words);
    line_if(beyond, "ret");
    w_ = make("rem.u32", index, layout_.words);
    const Register band = make("div.u32", index, layout_.words);
    y_ = make("mul.lo.u32", make("rem.u32", band, bands), rows);
    item_row_ = make("mul.lo.u32", make("div.u32", band, bands), layout_.height);
    look_at_row_ends();
  }

  void look_at_row_ends() {
    is_first_ = test("eq", w_, 0);
    is_last_ = test("eq", w_, last());
    not_first_ = test("ne", w_, 0);
    not_last_ = test("ne", w_, last());
    mask_ = either(is_last_, layout_.last_word_mask(), ~0U);
    unused_if_first_ = either(is_first_, unused(), 0);
    unused_if_last_ = either(is_last_, unused(), 0);
    to_left_ = wide();
    to_right_ = wide();
    line("selp.b64 {}, {}, -4, {}", to_left_, last() * 4, is_first_);
    line("selp.b64 {}, -{}, 4, {}", to_right_, last() * 4, is_last_);
  }

  /// A row of the grid, relative to the thread's first one.
  struct Row {
    Register offset;  ///< of its word within a channel
    Register own;     ///< addresses in the first channel: of the word and of its neighbours
    Register left;
    Register right;
    Register there;  ///< false outside the grid with a zero border
  };

  /// Whether row `k` is inside the grid for every thread.
  bool surely_inside(int k) const {
    return k == 0 || (k < rows_ && layout_.height % static_cast<std::uint32_t>(rows_) == 0);
  }

  const Row& row(int k) {
    const auto [found, added] = row_of_.try_emplace(k);
    if (!added) return found->second;
    Row made;
    Register y = y_;
    if (k < 0) {
      const Register above = make("sub.u32", y_, 1);
      y = layout_.periodic ? either(test("eq", y_, 0), layout_.height - 1, above) : above;
      if (!layout_.periodic) made.there = test("ne", y_, 0);
    } else if (k > 0 && surely_inside(k)) {
      y = make("add.u32", y_, k);
    } else if (k > 0) {
      const Register below = make("add.u32", y_, k);
      const Register inside = test("lt", below, layout_.height);
      y = layout_.periodic ? either(inside, below, make("sub.u32", below, layout_.height)) : below;
      if (!layout_.periodic) made.there = inside;
    }
    const Register at = word();
    line("mad.lo.u32 {}, {}, {}, {}", at, make("add.u32", item_row_, y), layout_.pitch, w_);
    made.offset = wide();
    line("mul.wide.u32 {}, {}, 4", made.offset, at);
    made.own = sum(from_, made.offset);
    made.left = sum(made.own, to_left_);
    made.right = sum(made.own, to_right_);
    return found->second = made;
  }

  /// The cells at distance `dx` from those of the word in row `k`.
  Register cells(std::uint32_t channel, int k, int dx) {
    const auto key = std::tuple(channel, k, dx);
    if (const auto found = cells_.find(key); found != cells_.end()) return found->second;
    const Row& in = row(k);
    if (dx == 0) return cells_[key] = load(in.there, in.own, channel);
    const Register own = cells(channel, k, 0);
    return cells_[key] = dx < 0 ? from_left(own, channel, in) : from_right(own, channel, in);
  }

  Register from_left(const Register& own, std::uint32_t channel, const Row& in) {
    if (!layout_.periodic) {
      const Register left = load(both(in.there, not_first_), in.left, channel);
      return make("shf.l.wrap.b32", left, own, 1);
    }
    Register left = load({}, in.left, channel);
    // Moves the last cell of the row to the top bit of the word.
    if (unused() > 0) left = make("shl.b32", left, unused_if_first_);
    return make("shf.l.wrap.b32", left, own, 1);
  }

  Register from_right(const Register& own, std::uint32_t channel, const Row& in) {
    if (!layout_.periodic) {
      const Register right = load(both(in.there, not_last_), in.right, channel);
      return make("shf.r.wrap.b32", own, right, 1);
    }
    const Register right = load({}, in.right, channel);
    if (unused() == 0) return make("shf.r.wrap.b32", own, right, 1);
    // Moves the first cell of the row behind the last one.
    const Register first = make("shr.u32", make("shl.b32", right, 31), unused_if_last_);
    return make("or.b32", make("shr.u32", own, 1), first);
  }

  void compute(int k) {
    std::vector<Register> slots(code_.slots);
    for (const BitPort& port : code_.inputs) {
      const auto position = static_cast<int>(port.index % 9);
      slots[port.slot] = cells(port.index / 9, k + position / 3 - 1, position % 3 - 1);
    }
    const BitStep* step = code_.steps.data();
    for (const BitRun& run : code_.runs) {
      for (std::uint32_t i = 0; i < run.count; ++i, ++step) {
        // Unused operands may be any register.
        const Register c = run.outer >= BitOuter::conjunction ? slots[step->c] : slots[step->a];
        slots[step->out] =
            make("lop3.b32", slots[step->a], slots[step->b], c, truth_of(run.inner, run.outer));
      }
    }
    const Register there =
        surely_inside(k) ? Register{} : test("lt", make("add.u32", y_, k), layout_.height);
    const Register to = sum(to_, row(k).offset);
    const Register fire = fires_ ? load(there, sum(fire_, row(k).offset), 0) : Register{};
    for (const BitPort& port : code_.outputs) {
      const Register value = slots[port.slot];
      store(port.index, port.complemented ? make("not.b32", value) : value, k, fire, to, there);
    }
    for (const BitConstant& constant : code_.constants) {
      store(constant.output, make("mov.b32", constant.value ? "-1" : "0"), k, fire, to, there);
    }
  }

  void store(std::uint32_t channel, const Register& next, int k, const Register& fire,
             const Register& to, const Register& there) {
    Register value = next;
    if (fires_) {
      constexpr unsigned first_chooses = 0xCA;
      const Register before = load(there, row(k).own, channel);
      value = make("lop3.b32", fire, next, before, first_chooses);
    }
    if (unused() > 0) value = make("and.b32", value, mask_);
    line_if(there, "st.global.b32 [{}+{}], {}", to, channel_bytes(channel), value);
  }

  const BitProgramView& code_;
  const BitLayout& layout_;
  int rows_;
  bool fires_;
  std::string body_;
  int words_ = 0;
  int wides_ = 0;
  int predicates_ = 0;

  Register from_, to_, fire_, to_left_, to_right_;
  Register is_first_, is_last_, not_first_, not_last_;
  Register w_, y_, item_row_, mask_, unused_if_first_, unused_if_last_;
  std::map<int, Row> row_of_;
  std::map<std::tuple<std::uint32_t, int, int>, Register> cells_;
};

}  // namespace

std::string step_ptx(const BitProgramView& code, const BitLayout& layout, int rows, bool fires) {
  return StepWriter(code, layout, rows, fires).text();
}

}  // namespace boolgrad::cuda
