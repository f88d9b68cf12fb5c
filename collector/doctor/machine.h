// The machine as the checks see it: files of /proc and /sys, and this process's environment.
// Tests put a folder and a map in their place. Immutable; callable from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::collector::doctor {

class Machine {
 public:
  // This one.
  static Machine Current();
  // |root| stands for "/", "" for the real one.
  Machine(std::string root, std::map<std::string, std::string> environment)
      : root_(std::move(root)), environment_(std::move(environment)) {}

  // Contents without the blanks at the end; nothing if the file can't be read.
  std::optional<std::string> Text(const std::string& path) const;
  // The number that a file consists of.
  std::optional<int64_t> Number(const std::string& path) const;
  std::vector<std::string> List(const std::string& path) const;
  bool Has(const std::string& path) const;
  // "" if it is not set.
  std::string Variable(const std::string& name) const;

 private:
  std::string root_;
  std::map<std::string, std::string> environment_;
};

}  // namespace tutti::collector::doctor
