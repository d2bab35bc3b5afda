#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/bits/bit_counts.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include <hwy/highway.h>

#include <algorithm>

#include "boolgrad/backend/cpu/bits/bit_counts.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, min_row_words>;
using Vec = hn::Vec<Words>;

/// Bitwise select: `yes` where `chooses` is 1, otherwise `no`. (Highway's IfVecThenElse may select
/// whole lanes.)
HWY_INLINE Vec Chosen(Vec chooses, Vec yes, Vec no) {
  return hn::Xor(no, hn::And(chooses, hn::Xor(yes, no)));
}

/// A full adder: adds two bits to `sum` and returns the carry.
HWY_INLINE Vec Added(Vec& sum, Vec a, Vec b) {
  const Vec odd = hn::Xor(a, b);
  const Vec carry = Chosen(odd, sum, a);
  sum = hn::Xor(sum, odd);
  return carry;
}

constexpr std::size_t low_planes = 4;

/// Counters of four bits with carry.
struct LowDigits {
  Vec ones, twos, fours, eights;
};

/// Counts the terms of one vector of samples.
struct Column {
  const std::uint64_t* scratch;
  std::size_t row_words;

  HWY_INLINE Vec operator()(const BitTerm& term) const {
    const Words d;
    const Vec flip = hn::Set(d, term.complemented ? ~std::uint64_t{0} : std::uint64_t{0});
    return hn::Xor(hn::Load(d, scratch + term.slot * row_words), flip);
  }
};

HWY_INLINE Vec FourMore(LowDigits& low, const Column& column, const BitTerm* term) {
  const Vec a = Added(low.ones, column(term[0]), column(term[1]));
  const Vec b = Added(low.ones, column(term[2]), column(term[3]));
  return Added(low.twos, a, b);
}

HWY_INLINE Vec EightMore(LowDigits& low, const Column& column, const BitTerm* term) {
  const Vec a = FourMore(low, column, term);
  const Vec b = FourMore(low, column, term + 4);
  return Added(low.fours, a, b);
}

/// Doubles the counts: `low` and the planes above.
HWY_INLINE void Double(LowDigits& low, std::size_t planes, std::size_t row_words,
                       std::uint64_t* counts) {
  const Words d;
  for (std::size_t p = planes; p-- > low_planes + 1;) {
    hn::Store(hn::Load(d, counts + (p - 1) * row_words), d, counts + p * row_words);
  }
  if (planes > low_planes) hn::Store(low.eights, d, counts + low_planes * row_words);
  low = {hn::Zero(d), low.ones, low.twos, low.fours};
}

/// From the largest weight to the smallest: the counts of a list are doubled before the next one.
void CountRows(const std::uint64_t* scratch, std::size_t row_words,
               std::span<const std::vector<BitTerm>> terms, std::size_t planes,
               std::uint64_t* counts) {
  const Words d;
  for (std::size_t i = 0; i < row_words; i += hn::Lanes(d)) {
    const Column column{scratch + i, row_words};
    LowDigits low{hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (std::size_t p = low_planes; p < planes; ++p) {
      hn::Store(hn::Zero(d), d, counts + p * row_words + i);
    }
    for (std::size_t e = terms.size(); e-- > 0;) {
      const std::vector<BitTerm>& own = terms[e];
      for (std::size_t t = 0; t < own.size(); t += term_block) {
        const Vec a = EightMore(low, column, own.data() + t);
        const Vec b = EightMore(low, column, own.data() + t + term_block / 2);
        Vec carry = Added(low.eights, a, b);
        for (std::size_t p = low_planes; p < planes; ++p) {
          std::uint64_t* digit = counts + p * row_words + i;
          const Vec before = hn::Load(d, digit);
          hn::Store(hn::Xor(before, carry), d, digit);
          carry = hn::And(before, carry);
        }
      }
      if (e > 0) Double(low, planes, row_words, counts + i);
    }
    const Vec lowest[low_planes] = {low.ones, low.twos, low.fours, low.eights};
    for (std::size_t p = 0; p < std::min(planes, low_planes); ++p) {
      hn::Store(lowest[p], d, counts + p * row_words + i);
    }
  }
}

/// The mask of samples for which `digits` exceeds `largest`, both numbers of `planes` bits.
HWY_INLINE Vec Above(const std::uint64_t* digits, const std::uint64_t* largest, std::size_t planes,
                     std::size_t row_words) {
  const Words d;
  Vec above = hn::Zero(d);
  for (std::size_t p = 0; p < planes; ++p) {
    const Vec own = hn::Load(d, digits + p * row_words);
    const Vec other = hn::Load(d, largest + p * row_words);
    above = Chosen(hn::Xor(own, other), own, above);
  }
  return above;
}

void FirstLargest(const std::uint64_t* counts, std::size_t classes, std::size_t planes,
                  std::size_t row_words, std::uint64_t* largest, std::size_t index_planes,
                  std::uint64_t* indices) {
  const Words d;
  std::copy_n(counts, planes * row_words, largest);
  std::fill_n(indices, index_planes * row_words, 0);
  for (std::size_t c = 1; c < classes; ++c) {
    const std::uint64_t* own = counts + c * planes * row_words;
    for (std::size_t i = 0; i < row_words; i += hn::Lanes(d)) {
      const Vec above = Above(own + i, largest + i, planes, row_words);
      for (std::size_t p = 0; p < planes; ++p) {
        std::uint64_t* digit = largest + p * row_words + i;
        const Vec taken = hn::Load(d, own + p * row_words + i);
        hn::Store(Chosen(above, taken, hn::Load(d, digit)), d, digit);
      }
      for (std::size_t p = 0; p < index_planes; ++p) {
        std::uint64_t* digit = indices + p * row_words + i;
        const bool set = (c >> p & 1) != 0;
        const Vec before = hn::Load(d, digit);
        hn::Store(set ? hn::Or(before, above) : hn::AndNot(above, before), d, digit);
      }
    }
  }
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(CountRows);
HWY_EXPORT(FirstLargest);

void count_rows(const std::uint64_t* scratch, std::size_t row_words,
                std::span<const std::vector<BitTerm>> terms, std::size_t planes,
                std::uint64_t* counts) {
  HWY_DYNAMIC_DISPATCH(CountRows)(scratch, row_words, terms, planes, counts);
}

void first_largest(const std::uint64_t* counts, std::size_t classes, std::size_t planes,
                   std::size_t row_words, std::uint64_t* largest, std::size_t index_planes,
                   std::uint64_t* indices) {
  HWY_DYNAMIC_DISPATCH(FirstLargest)
  (counts, classes, planes, row_words, largest, index_planes, indices);
}

}  // namespace boolgrad::cpu
#endif
