#include "engine/ops/host_tensor.h"

#include <cstring>
#include <string>

#include "engine/base/limits.h"

namespace svengine::ops {
namespace {

constexpr int64_t kMostStrings = int64_t{1} << 28;

/// Elements before `axis`, and behind it.
int64_t outer_of(const Dims& dims, size_t axis) { return element_count(std::span(dims).first(axis)); }
int64_t inner_of(const Dims& dims, size_t axis) { return element_count(std::span(dims).subspan(axis + 1)); }

/// Either strings or bytes, to be appended to in runs of elements.
class ElementWriter {
 public:
  static Result<ElementWriter> create(DType type, Dims dims) {
    ElementWriter w;
    w.dims_ = dims;
    if (type == DType::string) {
      SV_TRY(check_room_for_strings(dims));
      w.strings_.reserve(static_cast<size_t>(element_count(dims)));
    } else {
      SV_ASSIGN(w.bytes_, Tensor::allocate(type, std::move(dims)));
    }
    return w;
  }

  void append(const Tensor& from, int64_t first, int64_t count) {
    const auto begin = static_cast<size_t>(first), n = static_cast<size_t>(count);
    if (from.type() == DType::string) {
      const auto part = from.strings().subspan(begin, n);
      strings_.insert(strings_.end(), part.begin(), part.end());
      return;
    }
    const size_t element = size_of(from.type());
    if (n) std::memcpy(bytes_.raw() + at_, from.raw() + begin * element, n * element);
    at_ += n * element;
  }

  Tensor finish() && { return bytes_.defined() ? Tensor(bytes_) : Tensor::of_strings(std::move(dims_), std::move(strings_)); }

 private:
  Dims dims_;
  std::vector<std::string> strings_;
  MutableTensor bytes_;
  size_t at_ = 0;
};

}  // namespace

Status check_room_for_strings(std::span<const int64_t> dims) {
  SV_TRY(check_dims(dims));
  const int64_t count = element_count(dims);
  const size_t bytes = static_cast<size_t>(count) * sizeof(std::string);
  if (count > kMostStrings) return unimplemented("{} strings are more than the {} that a tensor may hold", count, kMostStrings);
  if (!take_memory(bytes)) return error("no memory for {} strings{}", count, memory_limit_text(bytes));
  give_back_memory(bytes);  // strings are not counted
  return {};
}

Result<Tensor> sliced(const Tensor& t, size_t axis, int64_t begin, int64_t count) {
  Dims dims = t.dims();
  const int64_t outer = outer_of(dims, axis), inner = inner_of(dims, axis), size = dims[axis];
  dims[axis] = count;
  if (outer == 1 && t.type() == DType::string)
    return Tensor::wrap(DType::string, std::move(dims), t.strings().data() + begin * inner, t.owner());
  if (outer == 1)
    return Tensor::wrap(t.type(), std::move(dims), t.raw() + static_cast<size_t>(begin * inner) * size_of(t.type()), t.owner());
  SV_ASSIGN(ElementWriter out, ElementWriter::create(t.type(), std::move(dims)));
  for (int64_t o = 0; o < outer; ++o) out.append(t, (o * size + begin) * inner, count * inner);
  return std::move(out).finish();
}

Result<Tensor> joined(std::span<const Tensor> parts, size_t axis) {
  if (parts.size() == 1) return parts[0];
  Dims dims = parts[0].dims();
  dims[axis] = 0;
  for (const Tensor& t : parts) dims[axis] += t.dims()[axis];
  SV_TRY(check_dims(dims));
  const int64_t outer = outer_of(dims, axis), inner = inner_of(dims, axis);
  SV_ASSIGN(ElementWriter out, ElementWriter::create(parts[0].type(), std::move(dims)));
  for (int64_t o = 0; o < outer; ++o)
    for (const Tensor& t : parts) out.append(t, o * t.dims()[axis] * inner, t.dims()[axis] * inner);
  return std::move(out).finish();
}

}  // namespace svengine::ops
