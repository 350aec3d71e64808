#include "runtime/dataset/tensors.h"

#include <algorithm>
#include <limits>

namespace svengine {
namespace {

class TensorDataSet final : public DataSet {
 public:
  TensorDataSet(int64_t size, std::vector<Field> fields, std::vector<Tensor> tensors, int64_t classes,
                std::vector<std::string> class_names)
      : DataSet(size, std::move(fields), classes, std::move(class_names)), tensors_(std::move(tensors)) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    for (size_t f = 0; f < tensors_.size(); ++f) {
      const size_t bytes = fields()[f].bytes();
      if (bytes) std::memcpy(destination[f], tensors_[f].raw() + static_cast<size_t>(index) * bytes, bytes);
    }
    return {};
  }

  std::vector<Tensor> tensors_;
};

/// memcpy: the tensor may be a mapped file's, and unaligned.
template <class T>
void widen(const Tensor& from, std::span<int64_t> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from.raw() + i * sizeof(T), sizeof(T));
    // Above int64's range is above every number of classes too.
    to[i] = std::is_same_v<T, uint64_t>
                ? static_cast<int64_t>(std::min<uint64_t>(static_cast<uint64_t>(value), std::numeric_limits<int64_t>::max()))
                : static_cast<int64_t>(value);
  }
}

Status widen_any(const Tensor& from, std::span<int64_t> to) {
  switch (from.type()) {
    case DType::u8: widen<uint8_t>(from, to); return {};
    case DType::i8: widen<int8_t>(from, to); return {};
    case DType::u16: widen<uint16_t>(from, to); return {};
    case DType::i16: widen<int16_t>(from, to); return {};
    case DType::u32: widen<uint32_t>(from, to); return {};
    case DType::i32: widen<int32_t>(from, to); return {};
    case DType::u64: widen<uint64_t>(from, to); return {};
    case DType::i64: widen<int64_t>(from, to); return {};
    default: return error("labels are integers, not {}", name_of(from.type()));
  }
}

}  // namespace

Result<DataSetPtr> make_tensor_data_set(const std::vector<FieldTensor>& tensors, int64_t classes,
                                        std::vector<std::string> class_names) {
  if (tensors.empty()) return error("a data set needs a tensor");
  std::vector<Field> fields;
  std::vector<Tensor> storage;
  for (const FieldTensor& t : tensors) {
    const Dims& dims = t.tensor.dims();
    if (dims.empty()) return error("'{}' is one number, not an array of samples", t.name);
    if (dims[0] == 0) return error("'{}' has shape {}: no samples", t.name, to_string(dims));
    const int64_t samples = tensors[0].tensor.dims()[0];
    if (dims[0] != samples)
      return error("'{}' has {} samples and '{}' has {}: they must agree", t.name, dims[0], tensors[0].name, samples);
    for (const Field& f : fields)
      if (f.name == t.name) return error("two tensors are called '{}'", t.name);
    fields.push_back({t.name, t.tensor.type(), Dims(dims.begin() + 1, dims.end())});
    storage.push_back(t.tensor);
  }
  const int64_t size = storage[0].dims()[0];
  return DataSetPtr(
      std::make_shared<TensorDataSet>(size, std::move(fields), std::move(storage), classes, std::move(class_names)));
}

Result<Labels> make_labels(const Tensor& tensor, int64_t classes) {
  const Dims& dims = tensor.dims();
  const bool column = dims.size() == 2 && dims[1] == 1;
  if (dims.size() != 1 && !column) return error("labels have shape {}; needed is one number a sample: rank 1", to_string(dims));
  Labels out;
  SV_ASSIGN(MutableTensor numbers, Tensor::allocate(DType::i64, {dims[0]}));
  const std::span<int64_t> values = numbers.data<int64_t>();
  SV_TRY(widen_any(tensor, values));
  int64_t largest = -1;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t v = values[i];
    if (v < 0 || (classes > 0 && v >= classes))
      return error("sample {} has label {}; labels are 0 to {}", i, v,
                   classes > 0 ? fmt::format("{}", classes - 1) : "the number of classes less 1");
    largest = std::max(largest, v);
  }
  constexpr int64_t kMostClasses = int64_t{1} << 32;
  if (largest >= kMostClasses) return error("a label is {}; more than {} classes are not believed", largest, kMostClasses);
  out.classes = classes > 0 ? classes : largest + 1;
  out.tensor = std::move(numbers);
  return out;
}

}  // namespace svengine
