// Range: start, start + delta, ... before limit. The number of elements depends on the values, so all three are known when
// the node is planned, and so is the result.
#include <cmath>

#include "engine/ops/infer_util.h"
#include "engine/ops/samples.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kTypes{DType::f32, DType::f64, DType::i16, DType::i32, DType::i64};
constexpr const char* kNames[] = {"start", "limit", "delta"};

template <class T>
T first_of(const Tensor& t) {
  T value;
  std::memcpy(&value, t.raw(), sizeof(T));
  return value;
}

template <class T>
Result<int64_t> count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const double step = static_cast<double>(first_of<T>(delta));
  if (step == 0) return error("delta is 0");
  const double n = std::ceil((static_cast<double>(first_of<T>(limit)) - static_cast<double>(first_of<T>(start))) / step);
  if (!(n < 0x1p48)) return error("start, limit and delta give {} elements, more than 2^48", n);
  return n > 0 ? static_cast<int64_t>(n) : 0;
}

Result<int64_t> count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  switch (start.type()) {
    case DType::f32: return count_of<float>(start, limit, delta);
    case DType::f64: return count_of<double>(start, limit, delta);
    case DType::i16: return count_of<int16_t>(start, limit, delta);
    case DType::i32: return count_of<int32_t>(start, limit, delta);
    default: return count_of<int64_t>(start, limit, delta);
  }
}

Status infer(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, i, kNames[i], kTypes));
    SV_TRY(require_single(c, i, kNames[i]));
  }
  SV_TRY(require_same_dtypes(c));
  const Tensor *start = c.constant(0), *limit = c.constant(1), *delta = c.constant(2);
  if (!start || !limit || !delta) {
    c.set(0, c.dtype(0), unknown_dims(1));
    return {};
  }
  SV_ASSIGN(const int64_t n, count_of(*start, *limit, *delta));
  c.set(0, c.dtype(0), Shape{Dim(n)});
  return {};
}

template <class T>
void lower_as(LowerContext& c) {
  const T start = first_of<T>(*c.constant(0)), delta = first_of<T>(*c.constant(2));
  std::vector<T> values(static_cast<size_t>(c.out_dims()[0]));
  for (size_t i = 0; i < values.size(); ++i) {
    // Integers wrap on the way to a sum that fits.
    if constexpr (std::is_integral_v<T>) values[i] = static_cast<T>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(delta));
    else values[i] = start + static_cast<T>(i) * delta;
  }
  emit_known(c, values);
}

Status lower(LowerContext& c) {
  for (size_t i = 0; i < 3; ++i)
    if (!c.constant(i)) return error("input {} ({}) is not known when the node is planned", i, kNames[i]);
  switch (c.out_type().dtype) {
    case DType::f32: lower_as<float>(c); break;
    case DType::f64: lower_as<double>(c); break;
    case DType::i16: lower_as<int16_t>(c); break;
    case DType::i32: lower_as<int32_t>(c); break;
    default: lower_as<int64_t>(c); break;
  }
  return {};
}

}  // namespace

OpDef define_range() {
  return {
      .name = "Range",
      .since = 11,
      .inputs = {3, 3},
      .infer = infer,
      .lower = lower,
      .cost = movement_cost,
      .shape_inputs = {0, 1, 2},
      .samples = {{.inputs = {fixed(Tensor::scalar<int64_t>(0)), fixed(Tensor::scalar<int64_t>(19)), fixed(Tensor::scalar<int64_t>(1))}},
                  {.inputs = {fixed(Tensor::scalar<int32_t>(10)), fixed(Tensor::scalar<int32_t>(4)), fixed(Tensor::scalar<int32_t>(-2))}},
                  {.inputs = {fixed(Tensor::scalar(1.0f)), fixed(Tensor::scalar(5.0f)), fixed(Tensor::scalar(0.75f))}}},
  };
}

}  // namespace svengine::ops
