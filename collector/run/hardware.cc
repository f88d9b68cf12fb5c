#include "collector/run/hardware.h"

#include <sched.h>
#include <sys/utsname.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "collector/os/files.h"
#include "collector/os/proc.h"

namespace tutti::collector::run {
namespace {

// The text after "NAME<blanks>:<blanks>" in the first such line.
std::string FieldIn(const std::string& text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string::npos) return "";
  const size_t colon = text.find(':', at);
  if (colon == std::string::npos) return "";
  const size_t begin = text.find_first_not_of(" \t", colon + 1);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string TextOf(const std::string& path) {
  auto text = os::ReadSmallFile(path);
  return text.ok() ? *text : std::string();
}

// As the NVIDIA driver tells it without being asked through its library.
std::vector<std::string> GpuNames() {
  const std::string directory = "/proc/driver/nvidia/gpus";
  std::vector<std::string> names;
  for (const std::string& gpu : os::ListDirectory(directory)) {
    names.push_back(FieldIn(TextOf(directory + "/" + gpu + "/information"), "Model"));
  }
  return names;
}

}  // namespace

nlohmann::ordered_json HardwareJson() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof(allowed), &allowed);
  utsname system{};
  ::uname(&system);
  const auto memory_kib = os::NumberAfter(TextOf("/proc/meminfo"), "MemTotal");
  nlohmann::ordered_json json;
  json["cpu"] = FieldIn(TextOf("/proc/cpuinfo"), "model name");
  json["cpus"] = CPU_COUNT(&allowed);
  json["memory_bytes"] =
      memory_kib ? nlohmann::ordered_json(*memory_kib * 1024) : nlohmann::ordered_json(nullptr);
  json["kernel"] = system.release;
  json["gpus"] = GpuNames();
  return json;
}

}  // namespace tutti::collector::run
