// Strings of one process: those that its tracer interned (by index in the segment's
// table) and the collector's own. A string becomes a row when a row first refers to it,
// so what is only meant for the manifest never reaches the file. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/convert/row_output.h"

namespace tutti::collector::convert {

class StringTable {
 public:
  // |capacity|: entries of the tracer's table, index 0 included. Own strings get ids
  // from it upwards.
  StringTable(uint32_t capacity, RowOutput& rows);

  // The tracer's string |index| is |bytes|. Defining it again changes nothing.
  void Define(uint32_t index, std::string_view bytes);

  // The id that a row uses for a tracer's string; 0 for none. A string that is not
  // defined yet gets its row when it is, or a placeholder from WriteMissing.
  int64_t IdOf(uint32_t index);

  // Text of a tracer's string; "" for none and while it is not defined. Valid as long
  // as the table.
  std::string_view TextOf(uint32_t index) const;

  // The id of a text of the collector's own.
  int64_t Intern(std::string_view text);

  // Placeholder rows for referenced strings that were never defined; how many.
  int64_t WriteMissing();

  // References to indices outside the table.
  int64_t invalid_references() const { return invalid_references_; }
  uint32_t capacity() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  struct Entry {
    std::string text;
    bool defined = false;
    bool referenced = false;  // a row holds this id
    bool written = false;
    uint32_t same_as = 0;  // an earlier index with the same text
  };
  void WriteRow(int64_t id, std::string_view text);

  RowOutput& rows_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, uint32_t> index_of_text_;
  std::unordered_map<std::string, int64_t> own_;
  int64_t next_own_id_;
  int64_t invalid_references_ = 0;
};

}  // namespace tutti::collector::convert
