// An independent checker of refutations: it shares no code with the SAT solver or the library.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boolgrad::testing_support {

/// Checks steps in DRAT without deletions against a formula in DIMACS CNF. Every clause must follow
/// from those before it by unit propagation, and the last one must be empty.
class ProofChecker {
 public:
  /// Empty if the steps refute the formula, else the reason why not.
  static std::string fault(const std::string& formula, const std::string& steps) {
    ProofChecker checker;
    std::istringstream lines(formula);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('p') || line.starts_with('c')) continue;
      checker.add(clause_in(line));
    }
    bool is_empty = false;
    std::size_t number = 0;
    lines = std::istringstream(steps);
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const std::vector<int> clause = clause_in(line);
      if (!checker.follows(clause)) return "step " + std::to_string(number) + " does not follow";
      checker.add(clause);
      is_empty = clause.empty();
    }
    return is_empty ? "" : "the last step is not the empty clause";
  }

 private:
  static std::vector<int> clause_in(const std::string& line) {
    std::istringstream text(line);
    std::vector<int> clause;
    for (int literal = 0; text >> literal && literal != 0;) clause.push_back(literal);
    return clause;
  }

  int value(int literal) const {
    const auto found = values_.find(std::abs(literal));
    if (found == values_.end() || found->second == 0) return 0;
    return literal > 0 ? found->second : -found->second;
  }

  void assign(int literal) {
    values_[std::abs(literal)] = literal > 0 ? 1 : -1;
    trail_.push_back(literal);
  }

  /// Adds a clause and what it implies on its own. The literals that are not false come first.
  void add(std::vector<int> clause) {
    if (contradiction_) return;
    std::size_t open = 0;
    for (int& literal : clause) {
      if (value(literal) >= 0) std::swap(literal, clause[open++]);
    }
    const int first = clause.empty() ? 0 : clause.front();
    if (clause.size() >= 2) {
      for (const std::size_t i : {0U, 1U}) watches_[clause[i]].push_back(clauses_.size());
      clauses_.push_back(std::move(clause));
    }
    if (open == 0) {
      contradiction_ = true;
    } else if (open == 1 && value(first) == 0) {
      assign(first);
      contradiction_ = !propagate();
    }
  }

  /// Whether the complement of a clause leads to a contradiction.
  bool follows(const std::vector<int>& clause) {
    if (contradiction_) return true;
    const std::size_t before = trail_.size();
    bool refuted = false;
    for (const int literal : clause) {
      if (value(literal) > 0) refuted = true;
      if (value(literal) == 0) assign(-literal);
    }
    refuted = refuted || !propagate();
    for (; trail_.size() > before; trail_.pop_back()) values_[std::abs(trail_.back())] = 0;
    next_ = before;
    return refuted;
  }

  /// Assigns what unit clauses imply. Returns whether no clause became false.
  bool propagate() {
    while (next_ < trail_.size()) {
      const int falsified = -trail_[next_++];
      std::vector<std::size_t> watching = std::exchange(watches_[falsified], {});
      for (std::size_t i = 0; i < watching.size(); ++i) {
        if (visit(watching[i], falsified)) continue;
        std::vector<std::size_t>& kept = watches_[falsified];
        kept.insert(kept.end(), watching.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    watching.end());
        return false;
      }
    }
    return true;
  }

  /// Finds another literal for a clause to watch, or assigns its last one. Returns false if all its
  /// literals are false.
  bool visit(std::size_t index, int falsified) {
    std::vector<int>& clause = clauses_[index];
    if (clause[0] == falsified) std::swap(clause[0], clause[1]);
    if (value(clause[0]) <= 0) {
      for (std::size_t j = 2; j < clause.size(); ++j) {
        if (value(clause[j]) < 0) continue;
        std::swap(clause[1], clause[j]);
        watches_[clause[1]].push_back(index);
        return true;
      }
    }
    watches_[falsified].push_back(index);
    if (value(clause[0]) == 0) assign(clause[0]);
    return value(clause[0]) > 0;
  }

  std::vector<std::vector<int>> clauses_;  ///< a clause watches its first two literals
  std::unordered_map<int, std::vector<std::size_t>> watches_;
  std::unordered_map<int, int> values_;  ///< of variables: 1, -1, or 0 if it has none
  std::vector<int> trail_;               ///< the literals that are true
  std::size_t next_ = 0;                 ///< in the trail, to propagate
  bool contradiction_ = false;
};

}  // namespace boolgrad::testing_support
