#include "viewer/model/category.h"

namespace tutti::viewer {

std::string_view CategoryName(Category category) {
  switch (category) {
    case Category::kCompute:
      return "compute";
    case Category::kCommunication:
      return "communication";
    case Category::kCopy:
      return "copy";
    case Category::kHost:
      return "host";
    case Category::kLoader:
      return "data loader";
    case Category::kOptimizer:
      return "optimizer";
    case Category::kRuntime:
      return "runtime call";
    case Category::kWait:
      return "wait";
    case Category::kStep:
      return "step";
  }
  return "";
}

Category CategoryOfKernel(std::string_view analyzed) {
  if (analyzed.starts_with("comm_")) return Category::kCommunication;
  if (analyzed == "copy" || analyzed == "fill") return Category::kCopy;
  if (analyzed == "optimizer") return Category::kOptimizer;
  return Category::kCompute;
}

}  // namespace tutti::viewer
