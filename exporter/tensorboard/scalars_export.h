// The steps of a run as TensorBoard scalars, from the derived tables: one run of TensorBoard for
// each rank ("rank-00007") and one for all ("all-ranks").
//
//   tag                               a rank                 all ranks
//   step/time_ms                      step_ns                mean
//   step/period_ms                    -                      step_period_ns
//   breakdown_ms/PART                 the part               mean: the parts add up
//   overlap/frac, comm_ms, exposed_ms step_overlap           sums; frac is the ratio of the sums
//   throughput/samples_per_s, tokens_per_s   by its step_ns  of all ranks by step_period_ns
//   memory/DEVICE_peak_bytes          most in its window     most of any rank
//
// The memory is that of memory_timeline, whose spans may reach beyond a step's window. Steps have
// the program's numbers, or dense ones where it used a number twice. One thread.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter::tensorboard {

struct WrittenFile {
  std::string path;
  int64_t scalars = 0;
};

// Into |folder|, which is made. Ranks without steps get no file.
Result<std::vector<WrittenFile>> WriteScalars(schema::Database& analysis, const std::string& folder,
                                              bool replace);

}  // namespace tutti::exporter::tensorboard
