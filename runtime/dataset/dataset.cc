#include "runtime/dataset/dataset.h"

#include <exception>

namespace svengine {

std::string to_string(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& f : fields)
    text += fmt::format("{}{} {}[{}]", text.empty() ? "" : ", ", f.name, name_of(f.type), to_string(f.dims));
  return text;
}

Status DataSet::read(int64_t index, std::span<std::byte* const> destination) const {
  if (index < 0 || index >= size_) return error("sample {} does not exist: there are {}", index, size_);
  if (destination.size() != fields_.size())
    return error("{} destinations are given; a sample has {} tensors", destination.size(), fields_.size());
  try {
    return read_sample(index, destination);
  } catch (const std::exception& thrown) {
    return error("cannot be read: {}", thrown.what());
  } catch (...) {
    return error("cannot be read: an exception of unknown type");
  }
}

}  // namespace svengine
