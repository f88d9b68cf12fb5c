#include "collector/run/git_revision.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "collector/os/files.h"

namespace tutti::collector::run {
namespace {

std::optional<std::string> FirstLine(const std::string& path) {
  const auto text = os::ReadSmallFile(path);
  if (!text.ok() || text->empty()) return std::nullopt;
  return text->substr(0, text->find('\n'));
}

bool IsCommit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string Joined(const std::string& base, const std::string& path) {
  return path.starts_with('/') ? path : base + "/" + path;
}

// The repository's directory for a checkout at |directory|: ".git", or what a file of
// that name points to (worktrees, submodules).
std::optional<std::string> GitDirectory(const std::string& directory) {
  const std::string dot_git = directory + "/.git";
  if (os::Exists(dot_git + "/HEAD")) return dot_git;
  const auto line = FirstLine(dot_git);
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!line || !line->starts_with(kPrefix)) return std::nullopt;
  return Joined(directory, line->substr(kPrefix.size()));
}

std::optional<std::string> PackedRef(const std::string& git_directory, const std::string& ref) {
  const auto text = os::ReadSmallFile(git_directory + "/packed-refs", 16 << 20);
  if (!text.ok()) return std::nullopt;
  const size_t at = text->find(" " + ref + "\n");
  if (at == std::string::npos || at < 40) return std::nullopt;
  const size_t line = text->rfind('\n', at);
  return text->substr(line == std::string::npos ? 0 : line + 1,
                      at - (line == std::string::npos ? 0 : line + 1));
}

std::optional<std::string> ResolveRef(const std::string& git_directory, const std::string& ref) {
  if (const auto commit = FirstLine(git_directory + "/" + ref)) return commit;
  if (const auto commit = PackedRef(git_directory, ref)) return commit;
  const auto common = FirstLine(git_directory + "/commondir");  // of a worktree
  if (!common) return std::nullopt;
  const std::string shared = Joined(git_directory, *common);
  if (const auto commit = FirstLine(shared + "/" + ref)) return commit;
  return PackedRef(shared, ref);
}

}  // namespace

nlohmann::ordered_json GitRevisionJson(const std::string& directory) {
  std::string at = directory;
  std::optional<std::string> git_directory = GitDirectory(at);
  while (!git_directory && at.find('/') != std::string::npos) {
    at.resize(at.rfind('/'));
    git_directory = GitDirectory(at);
  }
  if (!git_directory) return nullptr;
  const auto head = FirstLine(*git_directory + "/HEAD");
  if (!head) return nullptr;
  constexpr std::string_view kRefPrefix = "ref: ";
  constexpr std::string_view kBranchPrefix = "refs/heads/";
  if (!head->starts_with(kRefPrefix)) {
    if (!IsCommit(*head)) return nullptr;
    return {{"commit", *head}, {"branch", nullptr}};
  }
  const std::string ref = head->substr(kRefPrefix.size());
  const auto commit = ResolveRef(*git_directory, ref);
  if (!commit || !IsCommit(*commit)) return nullptr;
  const std::string branch =
      ref.starts_with(kBranchPrefix) ? ref.substr(kBranchPrefix.size()) : ref;
  return {{"commit", *commit}, {"branch", branch}};
}

}  // namespace tutti::collector::run
