#include "tracer/testing/child.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <stdexcept>

namespace tutti::tracer::testing {
namespace {

std::vector<std::string> ChangedEnvironment(const Environment& changes) {
  std::map<std::string, std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const size_t equals = text.find('=');
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : changes) variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) environment.push_back(name + "=" + value);
  }
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Environment TracedEnvironment(const std::string& library, const std::string& session) {
  if (library.empty()) return {{"TUTTI_SESSION", session}};
  return {{"LD_PRELOAD", library},
          {"NVTX_INJECTION64_PATH", library},
          {"CUDA_INJECTION64_PATH", library},
          {"TUTTI_SESSION", session}};
}

pid_t StartChild(const std::vector<std::string>& argv, const Environment& changes,
                 int output_file) {
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment = ChangedEnvironment(changes);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output_file >= 0) {
    posix_spawn_file_actions_adddup2(&actions, output_file, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_file, STDERR_FILENO);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0].c_str(), &actions, nullptr,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("can't start " + argv[0]);
  return child;
}

ChildResult RunChild(const std::vector<std::string>& argv, const Environment& changes) {
  const int output_file = memfd_create("output", MFD_CLOEXEC);
  const pid_t child = StartChild(argv, changes, output_file);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  ChildResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output.resize(static_cast<size_t>(lseek(output_file, 0, SEEK_END)));
  if (pread(output_file, result.output.data(), result.output.size(), 0) < 0) {
    result.output.clear();
  }
  close(output_file);
  return result;
}

}  // namespace tutti::tracer::testing
