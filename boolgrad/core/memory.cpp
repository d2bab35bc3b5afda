#include "boolgrad/core/memory.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>

namespace boolgrad {
namespace {

/// A number in a file; none if there is no such file, or `max` instead of a number.
std::optional<std::size_t> number_in(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

std::optional<std::size_t> available_in_system() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  std::string unit;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> available_memory() {
  std::optional<std::size_t> available = available_in_system();
  // Version 2 and version 1 of control groups, as a container sees its own.
  constexpr std::array<std::pair<const char*, const char*>, 2> limits = {
      {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
       {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}};
  for (const auto& [limit_file, used_file] : limits) {
    const std::optional<std::size_t> limit = number_in(limit_file);
    if (!limit) continue;
    const std::size_t used = number_in(used_file).value_or(0);
    const std::size_t left = *limit > used ? *limit - used : 0;
    available = std::min(available.value_or(left), left);
  }
  return available;
}

}  // namespace boolgrad
