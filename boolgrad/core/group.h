// Processes that train together, on one machine or on many.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace boolgrad {

/// A group of processes, the ranks. Every member calls the same functions in the same order, from
/// one thread.
class Group {
 public:
  Group() = default;
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// The number of this process, from 0.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// What carries the messages: `Open MPI 4.1.4`.
  virtual std::string transport() const = 0;

  /// Waits for all ranks.
  virtual void barrier() = 0;
  /// Copies the bytes of rank `root` to all others.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Joins equally many bytes of every rank, in the order of the ranks.
  virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  /// Sends bytes to `to` and receives as many from `from`.
  virtual void send_receive(std::span<const std::byte> own, int to, std::span<std::byte> other,
                            int from) = 0;
  /// Ends all ranks.
  [[noreturn]] virtual void abort(int code) = 0;

  /// The rank that writes files and messages.
  bool is_first() const { return rank() == 0; }
};

/// The group of this process alone.
Group& single_process();

/// Whether a launcher, such as mpirun, has started this process as a rank.
bool is_started_as_rank();

/// The group of the ranks that a launcher has started; of this process alone if there is no
/// launcher. MPI is opened at run time. Throws if this boolgrad was built without MPI, or if its
/// libraries are not found.
std::unique_ptr<Group> open_group();

/// Why there is no MPI; empty if there is.
std::string why_no_mpi();

/// The number of this process among those of the launcher on the same machine; 0 without a
/// launcher.
int rank_on_this_machine();

/// Whether `own` is true on any rank.
bool any_rank(Group& group, bool own);

/// The text of the first rank.
std::string text_of_first(Group& group, std::string_view text);

/// Throws on every rank, the same message, if `text` differs between ranks. `what` names it.
void check_same_on_ranks(Group& group, std::string_view what, std::string_view text);

/// Adds up the values of all ranks, on all ranks: pairs of neighbours first, then pairs of pairs.
/// The order is part of the result, so equal inputs give equal bits. The size of the group must be
/// a power of two.
void sum_over_ranks(Group& group, std::span<float> values);
void sum_over_ranks(Group& group, std::span<double> values);

}  // namespace boolgrad
