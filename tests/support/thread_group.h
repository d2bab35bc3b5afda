// A group whose ranks are threads of this process, for tests without MPI.
#pragma once

#include <barrier>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "boolgrad/core/group.h"

namespace boolgrad::testing_support {

/// What the ranks share.
struct SharedMemory {
  explicit SharedMemory(int size) : sent(static_cast<std::size_t>(size)), wait(size) {}

  std::vector<std::span<const std::byte>> sent;
  std::barrier<> wait;
};

class ThreadGroup final : public Group {
 public:
  ThreadGroup(SharedMemory& memory, int rank) : memory_(memory), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(memory_.sent.size()); }
  std::string transport() const override { return "threads"; }

  void barrier() override { memory_.wait.arrive_and_wait(); }

  void broadcast(std::span<std::byte> bytes, int root) override {
    exchange(bytes, [&] { copy(memory_.sent[static_cast<std::size_t>(root)], bytes); });
  }

  void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    exchange(own, [&] {
      for (std::size_t i = 0; i < memory_.sent.size(); ++i) {
        copy(memory_.sent[i], all.subspan(i * own.size()));
      }
    });
  }

  void send_receive(std::span<const std::byte> own, int /*to*/, std::span<std::byte> other,
                    int from) override {
    exchange(own, [&] { copy(memory_.sent[static_cast<std::size_t>(from)], other); });
  }

  void abort(int code) override { std::_Exit(code); }

 private:
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (!from.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), from.size());
  }

  /// All ranks show their bytes, read those of others, and take them back.
  void exchange(std::span<const std::byte> own, const std::function<void()>& read) {
    memory_.sent[static_cast<std::size_t>(rank_)] = own;
    barrier();
    read();
    barrier();
  }

  SharedMemory& memory_;
  int rank_;
};

/// Calls `work` as every rank of a group of `size`.
inline void run_as_ranks(int size, const std::function<void(Group&)>& work) {
  SharedMemory memory(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadGroup group(memory, rank);
      work(group);
    });
  }
}

}  // namespace boolgrad::testing_support
