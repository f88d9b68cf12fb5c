// Takes newly published strings out of a segment's table. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/session/segment.h"

namespace tutti::collector::drain {

class StringHarvester {
 public:
  // |segment| must outlive this.
  explicit StringHarvester(const session::Segment& segment)
      : segment_(segment), taken_(segment.plan().shape.string_capacity, false) {}

  // The strings published since the last Keep, as the payload of a kStrings chunk;
  // empty if there are none. Strings whose place in the table makes no sense become "".
  std::string Take();

  // The result of the last Take is safe; without this call Take gives it again.
  void Keep();

 private:
  void Copy(uint32_t index, std::string& payload);

  const session::Segment& segment_;
  std::vector<bool> taken_;
  std::vector<uint32_t> pending_;
  uint32_t first_missing_ = 1;  // all below are taken
};

}  // namespace tutti::collector::drain
