#include "boolgrad/circuit/passes/best_forms.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace boolgrad {
namespace {

constexpr std::size_t functions = std::size_t{1} << 15;
constexpr std::size_t most_forms = 4;
constexpr std::int8_t unknown = -1;

using Renaming = std::array<std::uint8_t, 16>;

/// What every permutation and complement of variables makes of the 16 cases.
std::vector<Renaming> all_renamings() {
  std::vector<Renaming> result;
  std::array<unsigned, 4> order{0, 1, 2, 3};
  do {
    for (unsigned flips = 0; flips < 16; ++flips) {
      Renaming renaming{};
      for (unsigned i = 0; i < 16; ++i) {
        unsigned from = flips;
        for (unsigned j = 0; j < 4; ++j) from ^= (i >> j & 1) << order[j];
        renaming[i] = static_cast<std::uint8_t>(from);
      }
      result.push_back(renaming);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

SmallTruth renamed(SmallTruth f, const Renaming& renaming) {
  unsigned result = 0;
  for (unsigned i = 0; i < 16; ++i) result |= (unsigned{f} >> renaming[i] & 1) << i;
  return static_cast<SmallTruth>(result);
}

SmallTruth complement_of(SmallTruth f) { return static_cast<SmallTruth>(~f); }

SmallTruth value_of(const Form& form) {
  const int value = form.exclusive ? form.g ^ form.h : form.g & form.h;
  return static_cast<SmallTruth>(form.complemented ? ~value : value);
}

/// The form as one of a function that is 0 where all variables are.
Form normal(Form form) {
  if (BestForms::is_complemented(value_of(form))) form.complemented = !form.complemented;
  return form;
}

}  // namespace

const BestForms& BestForms::get() {
  static const BestForms forms;
  return forms;
}

BestForms::BestForms() : costs_(functions, unknown), forms_(functions) {
  std::vector<std::vector<SmallTruth>> representatives{{small_variables[0]}};
  std::vector<std::vector<SmallTruth>> all(1);
  costs_[index_of(0)] = 0;
  for (const SmallTruth f : small_variables) {
    costs_[index_of(f)] = 0;
    all[0].push_back(f);
  }
  std::size_t known = 1 + all[0].size();
  for (int cost = 1; known < functions; ++cost) {
    find_of_cost(cost, representatives, all);
    known += all.back().size();
  }
}

/// Joins what costs i and j for i + j + 1 = cost; of the first one of each class is enough.
void BestForms::find_of_cost(int cost, std::vector<std::vector<SmallTruth>>& representatives,
                             std::vector<std::vector<SmallTruth>>& all) {
  std::vector<SmallTruth> new_representatives;
  std::vector<SmallTruth> new_functions;
  const auto try_form = [&](const Form& form) {
    const Form own = normal(form);
    const SmallTruth f = value_of(own);
    if (add(f, own, cost, new_functions)) new_representatives.push_back(f);
  };
  for (int i = 0; 2 * i <= cost - 1; ++i) {
    for (const SmallTruth g : representatives[static_cast<std::size_t>(i)]) {
      for (const SmallTruth h : all[static_cast<std::size_t>(cost - 1 - i)]) {
        try_form({g, h, true});
        try_form({g, h});
        try_form({g, complement_of(h)});
        try_form({complement_of(g), h});
        try_form({complement_of(g), complement_of(h)});
      }
    }
  }
  representatives.push_back(std::move(new_representatives));
  all.push_back(std::move(new_functions));
}

/// Adds a form to f and to all that are f by other names; tells whether f was unknown.
bool BestForms::add(SmallTruth f, const Form& form, int cost, std::vector<SmallTruth>& all) {
  static const std::vector<Renaming> renamings = all_renamings();
  const bool is_new = costs_[index_of(f)] == unknown;
  if (!is_new && costs_[index_of(f)] != cost) return false;
  const std::vector<Form>& known = forms_[index_of(f)];
  if (known.size() >= most_forms || std::ranges::find(known, form) != known.end()) return false;
  for (const Renaming& renaming : renamings) {
    const Form other = normal(
        {renamed(form.g, renaming), renamed(form.h, renaming), form.exclusive, form.complemented});
    const SmallTruth value = value_of(other);
    if (costs_[index_of(value)] == unknown) {
      costs_[index_of(value)] = static_cast<std::int8_t>(cost);
      all.push_back(value);
    }
    std::vector<Form>& own = forms_[index_of(value)];
    if (own.size() < most_forms && std::ranges::find(own, other) == own.end()) {
      own.push_back(other);
    }
  }
  return is_new;
}

}  // namespace boolgrad
