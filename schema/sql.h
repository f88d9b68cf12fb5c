// The SQL of contract 2, embedded at build time: the commented text of schema/raw.sql
// and schema/derived.sql. Static storage; callable from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::schema {

// PRAGMA application_id of every file that Tutti writes: "Tuti" as big-endian bytes.
inline constexpr int32_t kApplicationId = 0x54757469;
// PRAGMA user_version. Grows by one with every change of a table, a column or a view;
// a reader takes every version up to its own and refuses newer ones by number.
inline constexpr int64_t kSchemaVersion = 2;

std::string_view RawSql();
std::string_view DerivedSql();

}  // namespace tutti::schema
