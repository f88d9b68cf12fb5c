#include "collector/doctor/machine.h"

#include <charconv>

#include "collector/os/files.h"
#include "collector/supervise/environment.h"

namespace tutti::collector::doctor {

Machine Machine::Current() {
  std::map<std::string, std::string> environment;
  for (const std::string& entry : supervise::CurrentEnvironment()) {
    const size_t equals = entry.find('=');
    if (equals != std::string::npos) {
      environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return {"", std::move(environment)};
}

std::optional<std::string> Machine::Text(const std::string& path) const {
  Result<std::string> text = os::ReadSmallFile(root_ + path);
  if (!text.ok()) return std::nullopt;
  text->erase(text->find_last_not_of(" \t\n") + 1);
  return *std::move(text);
}

std::optional<int64_t> Machine::Number(const std::string& path) const {
  const std::optional<std::string> text = Text(path);
  if (!text) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

std::vector<std::string> Machine::List(const std::string& path) const {
  return os::ListDirectory(root_ + path);
}

bool Machine::Has(const std::string& path) const { return os::Exists(root_ + path); }

std::string Machine::Variable(const std::string& name) const {
  const auto found = environment_.find(name);
  return found == environment_.end() ? "" : found->second;
}

}  // namespace tutti::collector::doctor
