#include "schema/run_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

namespace tutti::schema {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part";

// The number that `text` is, all of it.
std::optional<int64_t> NumberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// What stands between prefix and suffix; nullopt if `text` has not both.
std::optional<std::string_view> Between(std::string_view prefix, std::string_view text,
                                        std::string_view suffix) {
  if (text.size() < prefix.size() + suffix.size()) return std::nullopt;
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return std::nullopt;
  return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

std::optional<int64_t> AttemptOf(const std::string& folder_name) {
  const auto number = Between("attempt-", folder_name, "");
  return number ? NumberIn(*number) : std::nullopt;
}

Status AddRanksIn(const fs::path& folder, int64_t attempt, std::vector<RankFile>& ranks) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::optional<RankFile> file = RankFileFromName(entry.path().string());
    if (!file.has_value()) continue;
    file->attempt = attempt;
    ranks.push_back(*std::move(file));
  }
  return error ? IoError(folder.string() + ": " + error.message()) : OkStatus();
}

void DropFinishedParts(std::vector<RankFile>& ranks) {
  std::set<std::string> finished;
  for (const RankFile& file : ranks) {
    if (!file.is_part) finished.insert(file.path);
  }
  std::erase_if(ranks, [&](const RankFile& file) {
    return file.is_part && finished.contains(file.path.substr(0, file.path.size() - kPart.size()));
  });
}

}  // namespace

std::optional<RankFile> RankFileFromName(const std::string& path) {
  RankFile file;
  file.path = path;
  std::string name = fs::path(path).filename().string();
  if (name.ends_with(kPart)) {
    file.is_part = true;
    name.resize(name.size() - kPart.size());
  }
  const auto number = Between("rank-", name, ".sqlite");
  if (number) file.rank = NumberIn(*number);
  if (!file.rank) return std::nullopt;
  file.attempt = AttemptOf(fs::path(path).parent_path().filename().string()).value_or(0);
  return file;
}

Result<RunFileSet> FindRunFiles(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return NotFoundError(folder + ": no such folder");
  RunFileSet files;
  TUTTI_RETURN_IF_ERROR(AddRanksIn(folder, 0, files.ranks));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::optional<int64_t> attempt = AttemptOf(entry.path().filename().string());
    std::error_code no_folder;
    if (attempt && entry.is_directory(no_folder)) {
      TUTTI_RETURN_IF_ERROR(AddRanksIn(entry.path(), *attempt, files.ranks));
    }
  }
  if (error) return IoError(folder + ": " + error.message());
  DropFinishedParts(files.ranks);
  std::sort(files.ranks.begin(), files.ranks.end(), [](const RankFile& a, const RankFile& b) {
    return std::tie(a.rank, a.attempt, a.path) < std::tie(b.rank, b.attempt, b.path);
  });
  const fs::path derived = fs::path(folder) / "run.sqlite";
  if (fs::exists(derived, error)) files.derived = derived.string();
  if (files.ranks.empty() && files.derived.empty()) {
    return NotFoundError(folder + ": no trace in this folder (rank-*.sqlite)");
  }
  return files;
}

}  // namespace tutti::schema
