#include "tests/hostile/relatives.h"

#include <algorithm>
#include <cstring>

#include "tests/hostile/change_lists.h"
#include "tests/support/random_tensor.h"

namespace svengine::tests {

Relative relative_of(const Sample& sample) {
  Relative r;
  for (const SampleInput& in : sample.inputs) {
    const Dims dims = in.value.defined() ? in.value.dims() : in.dims;
    const DType type = in.value.defined() ? in.value.type() : in.is_absent() ? DType::f32 : in.dtype;
    r.inputs.push_back({type, dims, Shape::of(dims), in.low, in.high, in.value, in.value.defined(), in.is_absent()});
  }
  for (const auto& [name, value] : sample.attributes) r.attributes.set(name, value);
  r.outputs = sample.outputs;
  return r;
}

std::vector<Change> changes_of(const OpDef& op, const Sample& sample) {
  std::vector<Change> changes;
  const Relative base = relative_of(sample);
  add_dimension_changes(base, changes);
  add_rank_changes(base, changes);
  add_presence_changes(op, base, changes);
  add_type_changes(base, changes);
  add_value_changes(base, changes);
  add_attribute_changes(op, base, changes);
  add_undeclared_shapes(base, changes);
  return changes;
}

Relative changed(const Relative& sample, const std::vector<Change>& changes, size_t index) {
  Relative r = sample;
  const auto apply = [&](const Change& change) {
    change.apply(r);
    r.what += (r.what.empty() ? "" : "; ") + change.what;
  };
  if (index < changes.size()) {
    apply(changes[index]);
    return r;
  }
  // A fixed sequence: Knuth's multiplicative hash of the index.
  const uint64_t random = (index + 1) * 0x9e3779b97f4a7c15;
  apply(changes[(random >> 40) % changes.size()]);
  apply(changes[(random >> 16) % changes.size()]);
  return r;
}

Result<Tensor> tensor_of(const RelativeInput& input, uint64_t seed) {
  if (input.value.defined()) return input.value;
  SV_ASSIGN(Tensor probe, Tensor::allocate(input.dtype, input.dims));
  return random_tensor_of(input.dtype, input.dims, seed, input.low, input.high);
}

}  // namespace svengine::tests
