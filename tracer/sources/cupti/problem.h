// What the user is told when the GPU can't be traced: one plain sentence and what to do. Pure.
#pragma once

#include "tracer/sources/cupti/abi.h"

namespace tutti::tracer::cupti {

struct Remedy {
  const char* what;  // ends a sentence: "the GPU is not traced: …"
  const char* advice;
};

Remedy RemedyOf(Result result) noexcept;

}  // namespace tutti::tracer::cupti
