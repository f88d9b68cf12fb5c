#include "collector/drain/drainer.h"

#include <memory>
#include <utility>

#include "collector/drain/drain_loop.h"
#include "collector/drain/isolation.h"

namespace tutti::collector::drain {

int RunDrainer(const DrainerSettings& settings, os::FileDescriptor channel) {
  Isolate(settings.spool_path);
  return DrainLoop(settings, std::move(channel)).Run();
}

}  // namespace tutti::collector::drain
