// The figures of a run's report as OpenMetrics text, for node-exporter's textfile collector:
// labels are the job, ranks, parts of the step, devices and kinds of findings, never a step or a
// kernel, so that the number of series stays small. One thread.
#pragma once

#include <string>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter::prometheus {

struct MetricsText {
  std::string text;
  int64_t samples = 0;
};

Result<MetricsText> RenderMetrics(schema::Database& analysis);

}  // namespace tutti::exporter::prometheus
