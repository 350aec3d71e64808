#include "engine/base/tensor.h"

#include "engine/base/limits.h"

namespace svengine {

Result<MutableTensor> Tensor::allocate(DType type, Dims dims) {
  SV_TRY(check_dims(dims));
  if (size_of(type) == 0) return error("a tensor of {} has no storage here", name_of(type));
  const size_t bytes = static_cast<size_t>(element_count(dims)) * size_of(type);
  std::shared_ptr<std::byte> memory = allocate_aligned(bytes);
  if (!memory) return error("no memory for a {} tensor of shape {}{}", name_of(type), to_string(dims), memory_limit_text(bytes));
  std::byte* const data = memory.get();
  return MutableTensor::wrap(type, std::move(dims), data, std::move(memory));
}

Tensor Tensor::of_bytes(DType type, Dims dims, std::span<const std::byte> bytes) {
  std::shared_ptr<std::byte> memory = allocate_beyond_limit(bytes.size());
  std::byte* const data = memory.get();
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  return wrap(type, std::move(dims), data, std::move(memory));
}

Tensor Tensor::wrap(DType type, Dims dims, const void* data, std::shared_ptr<const void> owner) {
  Tensor t;
  t.type_ = type;
  t.dims_ = std::move(dims);
  t.data_ = static_cast<const std::byte*>(data);
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::of_strings(Dims dims, std::vector<std::string> values) {
  assert(element_count(dims) == static_cast<int64_t>(values.size()));
  const auto owner = std::make_shared<const std::vector<std::string>>(std::move(values));
  return wrap(DType::string, std::move(dims), owner->data(), owner);
}

Tensor Tensor::of_items(DType kind, std::vector<Tensor> items) {
  const auto owner = std::make_shared<const std::vector<Tensor>>(std::move(items));
  return wrap(kind, {}, owner.get(), owner);
}

Tensor Tensor::reshaped(Dims dims) const {
  assert(element_count(dims) == count());
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

Result<MutableTensor> Tensor::aligned_copy() const {
  SV_ASSIGN(MutableTensor copy, allocate(type_, dims_));
  if (byte_size()) std::memcpy(copy.raw(), raw(), byte_size());
  return copy;
}

std::vector<int64_t> Tensor::as_int64s() const {
  if (type_ != DType::i64 && type_ != DType::i32) return {};
  std::vector<int64_t> out(static_cast<size_t>(count()));
  for (size_t i = 0; i < out.size(); ++i) {
    if (type_ == DType::i64) {
      std::memcpy(&out[i], data_ + i * 8, 8);
    } else {
      int32_t narrow;
      std::memcpy(&narrow, data_ + i * 4, 4);
      out[i] = narrow;
    }
  }
  return out;
}

}  // namespace svengine
