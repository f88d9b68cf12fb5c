#include "collector/campaign/side.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "collector/campaign/child_process.h"
#include "collector/os/files.h"

namespace tutti::collector::campaign {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHere = "{}";

// FNV-1a: tells a rebuilt program from the one that was measured. Nothing is secured by it.
class Fingerprint {
 public:
  void Add(std::string_view bytes) {
    for (const char byte : bytes) {
      hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    }
  }
  std::string InHex() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return text.data();
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

Result<std::string> HashOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Fingerprint fingerprint;
  std::vector<char> piece(1 << 20);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    fingerprint.Add({piece.data(), static_cast<size_t>(file.gcount())});
  }
  if (!file.eof()) return IoError(path + ": can't be read");
  return fingerprint.InHex();
}

Result<Side> ProgramSide(Side side) {
  if (::access(side.path.c_str(), X_OK) != 0) {
    return UsageError(side.text +
                      ": a file that can't be run; give a program, a folder, a git "
                      "revision, or sh:COMMAND");
  }
  TUTTI_ASSIGN_OR_RETURN(side.identity, HashOfFile(side.path));
  return side;
}

// A commit and a hash of what differs from it, as far as git knows; else nothing.
void IdentifyFolder(Side& side) {
  const auto commit = OutputOf({"git", "rev-parse", "--verify", "--quiet", "HEAD"}, side.path);
  if (!commit.ok()) return;
  side.commit = *commit;
  side.identity = *commit;
  const auto changes = OutputOf({"git", "diff", "--no-ext-diff", "--binary", "HEAD"}, side.path);
  if (!changes.ok() || changes->empty()) return;
  Fingerprint fingerprint;
  fingerprint.Add(*changes);
  side.identity += "+" + fingerprint.InHex();
}

Result<Side> RevisionSide(Side side) {
  const auto top = OutputOf({"git", "rev-parse", "--show-toplevel"}, "");
  if (!top.ok()) {
    return UsageError(side.text + ": there is no such file or folder, and no git repository here");
  }
  side.repository = *top;
  const auto commit = OutputOf(
      {"git", "rev-parse", "--verify", "--quiet", "--end-of-options", side.text + "^{commit}"}, "");
  if (!commit.ok())
    return UsageError(side.text + ": there is no such file, folder or git revision");
  side.commit = *commit;
  side.identity = *commit;
  return side;
}

std::string Replaced(std::string word, const std::string& path) {
  for (size_t at = word.find(kHere); at != std::string::npos;
       at = word.find(kHere, at + path.size())) {
    word.replace(at, kHere.size(), path);
  }
  return word;
}

}  // namespace

Result<Side> ResolveSide(const std::string& text) {
  Side side;
  side.text = text;
  if (text.starts_with("sh:")) {
    side.kind = SideKind::kShell;
    side.text = text.substr(3);
    side.identity = side.text;
    if (side.text.empty()) return UsageError("sh: a command must follow");
    return side;
  }
  const bool is_revision = text.starts_with("git:");
  if (is_revision) side.text = text.substr(4);
  std::error_code error;
  const fs::file_status status = fs::status(text, error);
  if (!is_revision && fs::exists(status)) {
    side.path = fs::absolute(text, error).lexically_normal().string();
    side.kind = fs::is_directory(status) ? SideKind::kFolder : SideKind::kProgram;
    if (side.kind == SideKind::kProgram) return ProgramSide(std::move(side));
    IdentifyFolder(side);
    return side;
  }
  side.kind = SideKind::kRevision;
  return RevisionSide(std::move(side));
}

Status CheckOut(Side& side, const std::string& folder, const std::string& log) {
  if (side.kind != SideKind::kRevision) return OkStatus();
  std::error_code error;
  side.path = fs::absolute(folder, error).string();
  const auto there = OutputOf({"git", "rev-parse", "--verify", "--quiet", "HEAD"}, side.path);
  if (os::Exists(folder + "/.git") && there.ok() && *there == side.commit) return OkStatus();
  os::RemoveTree(folder);
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(fs::path(side.path).parent_path().string(), 0777));
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{"git", "clone", "--quiet", "--shared", "--no-checkout",
                                 side.repository, side.path},
        std::vector<std::string>{"git", "-C", side.path, "checkout", "--quiet", "--detach",
                                 side.commit}}) {
    TUTTI_ASSIGN_OR_RETURN(const ChildOutcome outcome, RunChild({.argv = argv, .log = log}));
    if (outcome.interrupted) return UnavailableError("interrupted while checking out " + side.text);
    if (outcome.ok()) continue;
    return BadDataError(side.text + " can't be checked out: git " + outcome.InWords() + ", see " +
                        log);
  }
  return OkStatus();
}

Result<Invocation> CommandOf(const Side& side, const std::vector<std::string>& command) {
  Invocation invocation;
  bool names_side = false;
  for (const std::string& word : command) {
    names_side = names_side || word.find(kHere) != std::string::npos;
    invocation.argv.push_back(side.path.empty() ? word : Replaced(word, side.path));
  }
  switch (side.kind) {
    case SideKind::kProgram:
      if (!names_side) invocation.argv.insert(invocation.argv.begin(), side.path);
      break;
    case SideKind::kFolder:
    case SideKind::kRevision:
      invocation.directory = side.path;
      if (command.empty()) {
        return UsageError("what is to be run in " + side.text +
                          "? Give a command behind \"--\", or --workload");
      }
      break;
    case SideKind::kShell:
      // `env` lets assignments stand before the program.
      invocation.argv.insert(invocation.argv.begin(),
                             {"/bin/sh", "-c", "exec env " + side.text + " \"$@\"", "sh"});
      break;
  }
  return invocation;
}

}  // namespace tutti::collector::campaign
