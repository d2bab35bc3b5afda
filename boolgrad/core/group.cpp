#include "boolgrad/core/group.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

constexpr const char* where = "mpi";
constexpr const char* library_name = "libboolgrad_mpi.so";

class SingleProcess final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string transport() const override { return "none"; }
  void barrier() override {}
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    std::memcpy(all.data(), own.data(), own.size());
  }
  void send_receive(std::span<const std::byte> own, int /*to*/, std::span<std::byte> other,
                    int /*from*/) override {
    std::memcpy(other.data(), own.data(), own.size());
  }
  void abort(int code) override { std::_Exit(code); }
};

using OpenMpiGroup = Group* (*)();

/// What opens a group, from the library in the program's folder, among installed libraries or of
/// the system; or why there is none.
struct Opener {
  OpenMpiGroup open = nullptr;
  std::string why_not;
};

Opener find_opener() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  Opener opener{.why_not = fmt::format("no {}: boolgrad was built without MPI", library_name)};
  for (const fs::path& path :
       {program / library_name, program / BOOLGRAD_LIBRARIES_FROM_PROGRAM / library_name}) {
    if (!fs::exists(path, ignored)) continue;
    // Open MPI's components look for symbols of the libraries that are open.
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      opener.open = reinterpret_cast<OpenMpiGroup>(dlsym(library, "boolgrad_open_mpi_group"));
    }
    if (opener.open != nullptr) break;
    opener.why_not = dlerror();
  }
  return opener;
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  }
  return hash;
}

template <class T>
void sum_in_tree(Group& group, std::span<T> values) {
  const auto size = static_cast<unsigned>(group.size());
  if ((size & (size - 1)) != 0) {
    fail(where, "expected 1, 2, 4, 8, ... ranks, received {}", group.size());
  }
  std::vector<T> other(values.size());
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const int partner = group.rank() ^ distance;
    group.send_receive(std::as_bytes(values), partner, std::as_writable_bytes(std::span(other)),
                       partner);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other[i];
  }
}

}  // namespace

Group& single_process() {
  static SingleProcess group;
  return group;
}

bool is_started_as_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

std::unique_ptr<Group> open_group() {
  if (!is_started_as_rank()) return std::make_unique<SingleProcess>();
  const Opener opener = find_opener();
  if (opener.open == nullptr) {
    fail(where, "expected MPI for a process that was started as a rank, received {}",
         opener.why_not);
  }
  return std::unique_ptr<Group>(opener.open());
}

std::string why_no_mpi() {
  const Opener opener = find_opener();
  return opener.open != nullptr ? "" : opener.why_not;
}

int rank_on_this_machine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* text = std::getenv(name)) return std::max(0, std::atoi(text));
  }
  return 0;
}

bool any_rank(Group& group, bool own) {
  if (group.size() == 1) return own;
  const std::array mine{static_cast<std::byte>(own)};
  std::vector<std::byte> all(static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all);
  for (const std::byte one : all) {
    if (one != std::byte{0}) return true;
  }
  return false;
}

std::string text_of_first(Group& group, std::string_view text) {
  std::uint64_t length = text.size();
  group.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  std::string result(group.is_first() ? text : std::string_view());
  result.resize(length);
  group.broadcast(std::as_writable_bytes(std::span(result)), 0);
  return result;
}

void check_same_on_ranks(Group& group, std::string_view what, std::string_view text) {
  const std::uint64_t own = hash_of(text);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) {
      fail(where, "expected the same {} on all ranks, received one on rank 0 and one on rank {}",
           what, rank);
    }
  }
}

void sum_over_ranks(Group& group, std::span<float> values) { sum_in_tree(group, values); }
void sum_over_ranks(Group& group, std::span<double> values) { sum_in_tree(group, values); }

}  // namespace boolgrad
