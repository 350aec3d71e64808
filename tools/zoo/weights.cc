#include "tools/zoo/weights.h"

namespace svengine::tool {
namespace {

/// FNV-1a: the random stream of a name.
uint64_t stream_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

template <class Function>
Value* Weights::make(const std::string& name, Dims dims, Function&& function) {
  Result<MutableTensor> tensor = Tensor::allocate(DType::f32, std::move(dims));
  if (!tensor.ok()) {
    if (status_.ok()) status_ = std::move(tensor).error().in(name);
    return nullptr;
  }
  const Random random(seed_, stream_of(name));
  const std::span<float> values = tensor->data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = function(random, i);
  return graph_.add_constant(name, std::move(tensor).value());
}

Value* Weights::normal(const std::string& name, Dims dims, float mean, float deviation) {
  return make(name, std::move(dims), [=](const Random& random, size_t i) { return mean + deviation * random.normal(i); });
}

Value* Weights::uniform(const std::string& name, Dims dims, float low, float high) {
  return make(name, std::move(dims), [=](const Random& random, size_t i) { return low + (high - low) * random.uniform(i); });
}

}  // namespace svengine::tool
