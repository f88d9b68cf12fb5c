#include "viewer/app/kept_view.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/output_file.h"

namespace tutti::viewer {
namespace {

namespace fs = std::filesystem;

// Keys are paths made of host names and numbers; whatever else is in one must not end a line.
bool IsOneLine(const std::string& key) {
  return key.find_first_of("\t\n\r") == std::string::npos && !key.empty();
}

void AddLine(const char* choice, const std::string& key, std::string* text) {
  if (IsOneLine(key)) *text += std::string(choice) + "\t" + key + "\n";
}

void AddChoice(std::string_view choice, const std::string& key, KeptView* kept) {
  if (choice == "flipped") kept->rows.flipped.insert(key);
  if (choice == "deep") kept->rows.deep.insert(key);
  if (choice == "hidden") kept->rows.hidden.insert(key);
  if (choice == "pinned") kept->rows.pinned.push_back(key);
  if (choice == "moved") {
    const size_t tab = key.find('\t');
    if (tab != std::string::npos) {
      kept->rows.moves.push_back({key.substr(0, tab), key.substr(tab + 1)});
    }
  }
  int64_t time_ns = 0;
  const char* end = key.data() + key.size();
  const auto parsed = std::from_chars(key.data(), end, time_ns);
  if (choice == "mark" && parsed.ec == std::errc() && parsed.ptr == end) {
    kept->marks.push_back(time_ns);
  }
}

}  // namespace

std::string KeptViewPath(const std::string& layout_file, const std::string& run) {
  if (layout_file.empty()) return "";
  std::error_code error;
  const std::string name = fs::absolute(run, error).lexically_normal().string();
  std::ostringstream hash;
  hash << std::hex << XXH3_64bits(name.data(), name.size());
  return (fs::path(layout_file).parent_path() / "rows" / (hash.str() + ".txt")).string();
}

std::string TextOf(const KeptView& kept) {
  std::string text;
  for (const std::string& key : kept.rows.flipped) AddLine("flipped", key, &text);
  for (const std::string& key : kept.rows.deep) AddLine("deep", key, &text);
  for (const std::string& key : kept.rows.hidden) AddLine("hidden", key, &text);
  for (const std::string& key : kept.rows.pinned) {
    if (!kept.rows.badges.contains(key)) AddLine("pinned", key, &text);
  }
  for (const RowMove& move : kept.rows.moves) {
    if (IsOneLine(move.key) && (move.before.empty() || IsOneLine(move.before))) {
      text += "moved\t" + move.key + "\t" + move.before + "\n";
    }
  }
  for (const int64_t mark : kept.marks) AddLine("mark", std::to_string(mark), &text);
  return text;
}

KeptView ParseKeptView(std::string_view text) {
  KeptView kept;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || tab + 1 == line.size()) continue;
    AddChoice(std::string_view(line).substr(0, tab), line.substr(tab + 1), &kept);
  }
  std::sort(kept.marks.begin(), kept.marks.end());
  return kept;
}

KeptView ReadKeptView(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!path.empty() && file) text << file.rdbuf();
  return ParseKeptView(text.str());
}

Status WriteKeptView(const KeptView& kept, const std::string& path) {
  const std::string text = TextOf(kept);
  std::error_code error;
  if (path.empty() || (text.empty() && !fs::exists(path, error))) return OkStatus();
  TUTTI_RETURN_IF_ERROR(MakeFolder(fs::path(path).parent_path().string()));
  TUTTI_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, true));
  file.Write(text);
  return file.Finish();
}

}  // namespace tutti::viewer
