#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/hostile/change_lists.h"

namespace svengine::tests {
namespace {

constexpr int64_t kMostElements = 1 << 16;

constexpr DType kTypes[] = {DType::f32,    DType::u8,      DType::i8,  DType::u16, DType::i16, DType::i32, DType::i64,
                            DType::string, DType::boolean, DType::f16, DType::f64, DType::u32, DType::u64, DType::bf16};

bool small(const Dims& dims) { return check_dims(dims).ok() && element_count(dims) <= kMostElements; }

/// The value of an integer tensor's element i becomes the low bytes of `value`.
void set_integer(MutableTensor& tensor, int64_t i, int64_t value) {
  const size_t size = size_of(tensor.type());
  std::memcpy(tensor.raw() + static_cast<size_t>(i) * size, &value, size);
}

void set_real(MutableTensor& tensor, int64_t i, double value) {
  const auto narrow = static_cast<float>(value);
  if (tensor.type() == DType::f64) std::memcpy(tensor.raw() + i * 8, &value, 8);
  if (tensor.type() == DType::f32) std::memcpy(tensor.raw() + i * 4, &narrow, 4);
}

Tensor filled(DType type, const Dims& dims, const std::function<void(MutableTensor&, int64_t)>& set) {
  MutableTensor t = Tensor::allocate(type, dims).value();
  std::memset(t.raw(), 0, t.byte_size());
  for (int64_t i = 0; i < t.count(); ++i) set(t, i);
  return t;
}

void give(RelativeInput& in, Tensor value) {
  in.dims = value.dims();
  in.declared = Shape::of(in.dims);
  in.dtype = value.type();
  in.value = std::move(value);
}

/// The first `count` elements of a vector, repeated where it has fewer.
Tensor resized(const Tensor& t, int64_t count) {
  MutableTensor out = Tensor::allocate(t.type(), {count}).value();
  const size_t size = size_of(t.type());
  std::memset(out.raw(), 0, out.byte_size());
  for (int64_t i = 0; t.count() > 0 && i < count; ++i)
    std::memcpy(out.raw() + static_cast<size_t>(i) * size, t.raw() + static_cast<size_t>(i % t.count()) * size, size);
  return out;
}

/// Elements one by one, and the length, of a value that the sample gives.
void add_known_value_changes(size_t i, const Tensor& value, std::vector<Change>& changes) {
  const auto add = [&](std::string what, Tensor t) {
    changes.push_back({fmt::format("the value of input {} {}", i, what), [i, t = std::move(t)](Relative& r) {
                         if (i < r.inputs.size()) give(r.inputs[i], t);
                       }});
  };
  for (int64_t e = 0; is_integer(value.type()) && e < std::min<int64_t>(value.count(), 8); ++e)
    for (const int64_t hostile : kHostileIntegers) {
      MutableTensor t = value.aligned_copy().value();
      set_integer(t, e, hostile);
      add(fmt::format("holds {} at {}", hostile, e), std::move(t));
    }
  if (size_of(value.type()) == 0 || value.count() > kMostElements) return;
  add("is empty", resized(value, 0));
  if (value.count() > 0) add("lacks its last element", resized(value, value.count() - 1));
  add("has one element too many", resized(value, value.count() + 1));
  if (value.count() > 0) add("repeats its first element", resized(resized(value, 1), std::max<int64_t>(value.count(), 2)));
  add("has nine elements", resized(value, 9));
}

}  // namespace

void add_type_changes(const Relative& sample, std::vector<Change>& changes) {
  const auto set = [](RelativeInput& in, DType type) {
    in.dtype = type;
    if (in.value.defined() && size_of(type) > 0)
      in.value = filled(type, in.dims, [](MutableTensor& t, int64_t e) { set_integer(t, e, 1); });
    else if (in.value.defined())
      in.constant = false, in.value = {};
  };
  for (const DType type : kTypes) {
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      changes.push_back({fmt::format("input {} is {}", i, name_of(type)), [i, type, set](Relative& r) {
                           if (i < r.inputs.size()) set(r.inputs[i], type);
                         }});
    changes.push_back({fmt::format("every float32 input is {}", name_of(type)), [type, set](Relative& r) {
                         for (RelativeInput& in : r.inputs)
                           if (in.dtype == DType::f32) set(in, type);
                       }});
  }
}

void add_value_changes(const Relative& sample, std::vector<Change>& changes) {
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const RelativeInput& in = sample.inputs[i];
    if (in.value.defined()) {
      add_known_value_changes(i, in.value, changes);
      changes.push_back({fmt::format("the caller gives the value of input {}", i), [i](Relative& r) {
                           if (i < r.inputs.size()) r.inputs[i].constant = false;
                         }});
    }
    const auto fill = [&](std::string what, std::function<void(MutableTensor&, int64_t)> set) {
      changes.push_back({fmt::format("input {} is all {}", i, what), [i, set = std::move(set)](Relative& r) {
                           if (i >= r.inputs.size() || size_of(r.inputs[i].dtype) == 0 || !small(r.inputs[i].dims)) return;
                           r.inputs[i].value = filled(r.inputs[i].dtype, r.inputs[i].dims, set);
                         }});
    };
    if (is_integer(in.dtype))
      for (const int64_t hostile : kHostileIntegers)
        fill(std::to_string(hostile), [hostile](MutableTensor& t, int64_t e) { set_integer(t, e, hostile); });
    if (!is_float(in.dtype)) continue;
    for (const double hostile : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 1e38, 1e-45})
      fill(fmt::format("{}", hostile), [hostile](MutableTensor& t, int64_t e) { set_real(t, e, hostile); });
  }
}

}  // namespace svengine::tests
