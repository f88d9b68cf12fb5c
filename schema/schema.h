// What the command line uses of the schema stage: a run as one database, and the schema
// as text. (Stages that store or analyze include the headers that they need.)
#pragma once

#include "schema/catalog.h"    // IWYU pragma: export
#include "schema/database.h"   // IWYU pragma: export
#include "schema/migration.h"  // IWYU pragma: export
#include "schema/reference.h"  // IWYU pragma: export
#include "schema/run_view.h"   // IWYU pragma: export
#include "schema/sql.h"        // IWYU pragma: export
#include "schema/statement.h"  // IWYU pragma: export
#include "schema/value.h"      // IWYU pragma: export
