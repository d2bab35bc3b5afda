// A group over MPI, in a library of its own that is opened only by processes that a launcher has
// started: the program works where there is no MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "boolgrad/core/group.h"

namespace boolgrad {
namespace {

// MPI counts in int.
constexpr std::size_t largest_message = std::size_t{1} << 30;

class MpiGroup final : public Group {
 public:
  MpiGroup() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiGroup() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::string transport() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string all(text.data(), static_cast<std::size_t>(length));
    return all.substr(0, all.find_first_of(",\n"));
  }

  // Errors of MPI end the job: its default handler says which call failed.

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

  void broadcast(std::span<std::byte> bytes, int root) override {
    for (; !bytes.empty(); bytes = bytes.subspan(part(bytes.size()))) {
      MPI_Bcast(bytes.data(), count(bytes.size()), MPI_BYTE, root, MPI_COMM_WORLD);
    }
  }

  void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    const std::size_t whole = own.size();
    for (std::size_t begin = 0; begin < whole; begin += largest_message) {
      const std::size_t length = part(whole - begin);
      gathered_.resize(length * static_cast<std::size_t>(size_));
      MPI_Allgather(own.data() + begin, count(length), MPI_BYTE, gathered_.data(), count(length),
                    MPI_BYTE, MPI_COMM_WORLD);
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(size_); ++rank) {
        std::copy_n(gathered_.begin() + static_cast<std::ptrdiff_t>(rank * length), length,
                    all.begin() + static_cast<std::ptrdiff_t>(rank * whole + begin));
      }
    }
  }

  void send_receive(std::span<const std::byte> own, int to, std::span<std::byte> other,
                    int from) override {
    for (std::size_t begin = 0; begin < own.size(); begin += largest_message) {
      const int length = count(own.size() - begin);
      MPI_Sendrecv(own.data() + begin, length, MPI_BYTE, to, 0, other.data() + begin, length,
                   MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }

  void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  static std::size_t part(std::size_t bytes) { return std::min(bytes, largest_message); }
  static int count(std::size_t bytes) { return static_cast<int>(part(bytes)); }

  int rank_ = 0;
  int size_ = 1;
  std::vector<std::byte> gathered_;
};

}  // namespace
}  // namespace boolgrad

extern "C" __attribute__((visibility("default"))) boolgrad::Group* boolgrad_open_mpi_group() {
  return new boolgrad::MpiGroup();
}
