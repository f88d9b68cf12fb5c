// A rank's trace made of SQL. For tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "schema/database.h"
#include "schema/testing/scratch.h"
#include "schema/writer.h"

namespace tutti::exporter::testing {

class TraceTest : public ::testing::Test {
 protected:
  // A finished rank file with the rows that |sql| inserts.
  std::string MakeTrace(const std::string& sql, const std::string& name = "rank-00000.sqlite") {
    const std::string path = scratch_.Path(name);
    {
      auto writer = schema::TraceWriter::Create(path);
      EXPECT_TRUE(writer.ok()) << writer.status().message();
      EXPECT_TRUE((*writer)->Finalize().ok());
    }
    auto database = schema::Database::OpenTrusted(path);
    EXPECT_TRUE(database.ok());
    const Status filled = database->Execute(sql);
    EXPECT_TRUE(filled.ok()) << filled.message();
    return path;
  }

  schema::testing::Scratch scratch_;
};

}  // namespace tutti::exporter::testing
