// The index of a folder of recorded values; beside it lies one value, value_00000.npy, in rows 0 to 2.
#include "validate/compare/recorded.h"

#include <filesystem>

#include "engine/graph/builder.h"
#include "fuzz/support.h"
#include "importers/npy/npy.h"

namespace svengine::fuzz {

void fuzz_recorded(Bytes input) {
  static const std::string folder = [] {
    const std::string path = scratch_folder() + "/recorded";
    std::filesystem::create_directory(path);
    taken(save_npy(Tensor::of<float>({2}, {1, 2}), path + "/value_00000.npy"));
    return path;
  }();
  write_scratch("recorded/index.tsv", input);
  Graph model;
  model.add_output(model.add_input("x", {DType::f32, Shape::of(Dims{2})}));
  const auto recorded = taken(validate::Recorded::open(folder, model));
  if (!recorded) return;
  for (const char* name : {"x", "y", "a b", ""}) {
    if (!(*recorded)->has(name)) continue;
    if (const auto value = taken((*recorded)->value(name))) read_all(*value);
    (*recorded)->release(name);
  }
}

}  // namespace svengine::fuzz
