#include "viewer/app/kept_view.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
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

void AddRows(const RowChoices& rows, std::string* text) {
  for (const std::string& key : rows.flipped) AddLine("flipped", key, text);
  for (const auto& [key, levels] : rows.levels) {
    const std::string choice = "levels\t" + std::to_string(levels);
    AddLine(levels == kAllLevels ? "deep" : choice.c_str(), key, text);
  }
  for (const std::string& key : rows.hidden) AddLine("hidden", key, text);
  for (const std::string& key : rows.pinned) {
    if (!rows.badges.contains(key)) AddLine("pinned", key, text);
  }
  for (const RowMove& move : rows.moves) {
    if (IsOneLine(move.key) && (move.before.empty() || IsOneLine(move.before))) {
      *text += "moved\t" + move.key + "\t" + move.before + "\n";
    }
  }
}

// Takes the number at the begin of `text` and the tab behind it, if it has one.
template <typename Number>
std::optional<Number> TakeNumber(std::string_view* text) {
  Number number = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || (rest != end && *rest != '\t')) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(rest - text->data()) + (rest != end ? 1 : 0));
  return number;
}

// "LEVELS\tKEY"
void AddLevels(std::string_view line, RowChoices* rows) {
  const auto levels = TakeNumber<uint32_t>(&line);
  if (levels.value_or(0) > 0 && !line.empty()) rows->levels[std::string(line)] = *levels;
}

void AddRowChoice(std::string_view choice, const std::string& key, RowChoices* rows) {
  if (choice == "flipped") rows->flipped.insert(key);
  if (choice == "deep") rows->levels[key] = kAllLevels;
  if (choice == "levels") AddLevels(key, rows);
  if (choice == "hidden") rows->hidden.insert(key);
  if (choice == "pinned") rows->pinned.push_back(key);
  if (choice == "moved") {
    const size_t tab = key.find('\t');
    if (tab != std::string::npos) rows->moves.push_back({key.substr(0, tab), key.substr(tab + 1)});
  }
}

// What the user typed, so that it stays on its line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

void AddMark(std::string_view line, KeptView* kept) {
  const auto time_ns = TakeNumber<int64_t>(&line);
  if (time_ns.has_value()) kept->marks.push_back({*time_ns, std::string(line)});
}

// "BEGIN\tEND\tSCROLL\tNAME"
void AddView(std::string_view line, KeptView* kept) {
  const auto begin_ns = TakeNumber<int64_t>(&line);
  const auto end_ns = TakeNumber<int64_t>(&line);
  const auto scroll_y = TakeNumber<int64_t>(&line);
  if (!begin_ns || !end_ns || !scroll_y || *begin_ns >= *end_ns || line.empty()) return;
  kept->views.push_back(
      {std::string(line), *begin_ns, *end_ns, static_cast<float>(*scroll_y), RowChoices()});
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

std::string NotesPath(const std::string& layout_file, const std::string& title,
                      const std::string& run) {
  std::error_code error;
  const bool is_run = fs::is_directory(run, error) && fs::equivalent(title, run, error);
  if (is_run && ::access(run.c_str(), W_OK) == 0) return (fs::path(run) / "notes.txt").string();
  const std::string rows = KeptViewPath(layout_file, title);
  return rows.empty() ? "" : fs::path(rows).replace_extension("notes.txt").string();
}

std::string TextOf(const KeptView& kept) {
  std::string text;
  AddRows(kept.rows, &text);
  for (const Mark& mark : kept.marks) {
    const std::string what = mark.text.empty() ? "" : "\t" + OneLine(mark.text);
    text += "mark\t" + std::to_string(mark.time_ns) + what + "\n";
  }
  for (const NamedView& view : kept.views) {
    text += "view\t" + std::to_string(view.begin_ns) + "\t" + std::to_string(view.end_ns) + "\t" +
            std::to_string(std::lround(view.scroll_y)) + "\t" + OneLine(view.name) + "\n";
    AddRows(view.rows, &text);
  }
  return text;
}

KeptView ParseKeptView(std::string_view text) {
  KeptView kept;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || tab + 1 == line.size()) continue;
    const std::string_view choice = std::string_view(line).substr(0, tab);
    const std::string rest = line.substr(tab + 1);
    if (choice == "mark") AddMark(rest, &kept);
    if (choice == "view") AddView(rest, &kept);
    // Rows behind a view are that view's.
    AddRowChoice(choice, rest, kept.views.empty() ? &kept.rows : &kept.views.back().rows);
  }
  std::stable_sort(kept.marks.begin(), kept.marks.end(),
                   [](const Mark& a, const Mark& b) { return a.time_ns < b.time_ns; });
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

KeptView ReadKept(const std::string& rows_path, const std::string& notes_path) {
  KeptView kept = ReadKeptView(notes_path);
  KeptView rows = ReadKeptView(rows_path);
  kept.rows = std::move(rows.rows);
  if (kept.marks.empty()) kept.marks = std::move(rows.marks);  // of a version that had no notes
  return kept;
}

Status WriteKept(const KeptView& kept, const std::string& rows_path,
                 const std::string& notes_path) {
  const Status rows = WriteKeptView({kept.rows, {}, {}}, rows_path);
  const Status notes = WriteKeptView({{}, kept.marks, kept.views}, notes_path);
  return rows.ok() ? notes : rows;
}

}  // namespace tutti::viewer
