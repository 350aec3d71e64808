// Byte 0 says what the file is taken for.
#include "fuzz/support.h"
#include "importers/onnx/tensor_file.h"

namespace svengine::fuzz {
namespace {

void read_deep(const Tensor& value) {
  if (value.type() == DType::sequence || value.type() == DType::optional || value.type() == DType::map) {
    for (const Tensor& item : value.items()) read_deep(item);
  } else {
    read_all(value);
  }
}

}  // namespace

void fuzz_tensor(Bytes input) {
  Reader reader(input);
  constexpr DType kKinds[] = {DType::f32, DType::sequence, DType::optional, DType::map};
  const DType kind = kKinds[reader.below(std::size(kKinds))];
  const MemoryFile file(reader.rest());
  if (const auto value = taken(load_value_proto(file.path(), kind))) read_deep(*value);
  const auto named = taken(load_tensor_proto(file.path()));
  if (!named) return;
  read_all(named->tensor);
  const std::string path = scratch_folder() + "/tensor.pb";
  if (!taken(save_tensor_proto(named->tensor, named->name, path))) return;
  const auto again = load_tensor_proto(path);
  if (!again.ok()) finding("what was written cannot be read: " + again.error().message());
  if (again->tensor.type() != named->tensor.type() || again->tensor.dims() != named->tensor.dims()) finding("written as another tensor");
}

}  // namespace svengine::fuzz
