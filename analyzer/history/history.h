// The façade of histories, for the command line:
//
//   AddLaunch(path, *ToStored(launch, "v1.2", now_ns));
//   std::vector<Trend> trends = FindTrends(*ReadHistory(path), *compare::FindMetric("step_time"));
#pragma once

#include "analyzer/history/render.h"  // IWYU pragma: export
#include "analyzer/history/store.h"   // IWYU pragma: export
#include "analyzer/history/trend.h"   // IWYU pragma: export
