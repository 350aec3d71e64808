#include <algorithm>
#include <numeric>

#include "engine/graph/builder.h"
#include "tests/differential/moves.h"

namespace svengine::differential {
namespace {

Value* real_tensor(GraphMaker& m) {
  Value* x = m.existing_real();
  return x ? x : m.real_of_rank(static_cast<size_t>(m.choose.between(1, 4)));
}

/// Dims of as many elements: neighbours joined, or a dimension cut in two.
Dims regrouped(GraphMaker& m, Dims dims) {
  for (int i = 0; i < 2; ++i) {
    if (dims.size() > 1 && m.choose.chance(0.5)) {
      const size_t at = m.choose.below(dims.size() - 1);
      dims[at] *= dims[at + 1];
      dims.erase(dims.begin() + static_cast<int64_t>(at) + 1);
    } else if (!dims.empty() && dims.size() < 5) {
      const size_t at = m.choose.below(dims.size());
      const int64_t factor = m.choose.of<int64_t>({1, 2, 3, 4});
      if (dims[at] % factor) continue;
      dims[at] /= factor;
      dims.insert(dims.begin() + static_cast<int64_t>(at), factor);
    }
  }
  return dims;
}

/// A Reshape whose shape is computed from the value's own: exporters' way to write Flatten.
void flatten_by_shape(GraphMaker& m, Value* x) {
  Value* shape = m.add("Shape", {x});
  if (!shape) return;
  Value* first = m.add("Gather", {shape, m.constant(Tensor::of<int64_t>({1}, {0}))});
  if (!first) return;
  m.add("Reshape",
        {x, m.add("Concat", {first, m.constant(Tensor::of<int64_t>({1}, {-1}))}, make_attributes({{"axis", int64_t{0}}}))});
}

}  // namespace

void add_transpose(GraphMaker& m) {
  Value* x = real_tensor(m);
  std::vector<int64_t> order(m.dims(x).size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[m.choose.below(i + 1)]);
  Attributes a;
  if (m.choose.chance(0.9)) a.set("perm", order);
  Value* y = m.add("Transpose", {x}, a);
  if (!y || order.empty() || m.choose.chance(0.6)) return;
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  if (m.choose.chance(0.4)) y = m.add("Relu", {y});
  m.add("Transpose", {y}, make_attributes({{"perm", m.choose.chance(0.8) ? back : order}}));
}

void add_reshape(GraphMaker& m) {
  Value* x = real_tensor(m);
  const Dims dims = m.dims(x);
  switch (m.choose.below(6)) {
    case 0:
      flatten_by_shape(m, x);
      return;
    case 1:
      m.add("Flatten", {x}, make_attributes({{"axis", m.choose.between(0, static_cast<int64_t>(dims.size()))}}));
      return;
    case 2:
      m.add("Unsqueeze", {x, m.integers({m.choose.between(0, static_cast<int64_t>(dims.size()))})});
      return;
    case 3:
      m.add("Squeeze", {x});
      return;
    case 4:
      m.add("Expand", {x, m.integers(m.choose.chance(0.5) ? m.broadcast_of(dims) : Dims{m.size(), 1})});
      return;
    default:
      break;
  }
  Dims to = regrouped(m, dims);
  if (!to.empty() && m.choose.chance(0.3)) to[m.choose.below(to.size())] = -1;
  m.add("Reshape", {x, m.integers(to)});
}

void add_concat(GraphMaker& m) {
  Value* x = m.choose.chance(0.6) ? m.real_of_rank(4) : real_tensor(m);
  const Dims dims = m.dims(x);
  if (dims.empty()) return;
  const size_t axis = dims.size() > 1 && m.choose.chance(0.6) ? 1 : m.choose.below(dims.size());
  const auto fits = [&](const Value& v) {
    Dims other = m.dims(&v);
    if (v.type.dtype != m.real() || other.size() != dims.size()) return false;
    other[axis] = dims[axis];
    return other == dims;
  };
  std::vector<Value*> inputs{x};
  for (int64_t i = m.choose.between(0, 3); i > 0; --i) {
    Value* other = m.choose.chance(0.7) ? m.existing(fits) : nullptr;
    Dims shape = dims;
    shape[axis] = axis == 1 ? m.channels() : m.size();
    inputs.push_back(other ? other : m.leaf(m.real(), shape));
  }
  m.add("Concat", inputs, make_attributes({{"axis", static_cast<int64_t>(axis)}}));
}

void add_split(GraphMaker& m) {
  Value* x = m.choose.chance(0.6) ? m.real_of_rank(4) : real_tensor(m);
  const Dims dims = m.dims(x);
  if (dims.empty()) return;
  const size_t axis = dims.size() > 1 && m.choose.chance(0.6) ? 1 : m.choose.below(dims.size());
  const int64_t first =
      m.choose.chance(0.4) && dims[axis] >= 16 ? m.choose.of<int64_t>({8, 16}) : m.choose.between(0, dims[axis]);
  Node* parts =
      m.node("Split", {x, m.integers({first, dims[axis] - first})}, make_attributes({{"axis", static_cast<int64_t>(axis)}}), 2);
  if (!parts || m.choose.chance(0.5)) return;
  Value* second = m.choose.chance(0.5) ? m.add("Relu", {parts->output(1)}) : parts->output(1);
  if (second) m.add("Concat", {second, parts->output(0)}, make_attributes({{"axis", static_cast<int64_t>(axis)}}));
}

void add_slice(GraphMaker& m) {
  Value* x = real_tensor(m);
  const Dims dims = m.dims(x);
  if (dims.empty()) return;
  const auto axis = static_cast<int64_t>(m.choose.below(dims.size()));
  const int64_t size = dims[static_cast<size_t>(axis)], step = m.choose.of<int64_t>({1, 1, 1, 2, -1, -2});
  int64_t start = m.choose.between(-size - 1, size + 1),
          end = m.choose.chance(0.2) ? INT64_MAX : m.choose.between(-size - 1, size + 1);
  if (step < 0) std::swap(start, end);
  m.add("Slice", {x, m.integers({start}), m.integers({end}), m.integers({axis}), m.integers({step})});
}

void add_pad(GraphMaker& m) {
  Value* x = real_tensor(m);
  const size_t rank = m.dims(x).size();
  std::vector<int64_t> pads;
  for (size_t i = 0; i < 2 * rank; ++i) pads.push_back(m.choose.chance(0.5) ? 0 : m.choose.between(-1, 3));
  Attributes a;
  if (m.choose.chance(0.4)) a.set("mode", m.choose.of<std::string>({"reflect", "edge", "wrap"}));
  std::vector<Value*> inputs{x, m.integers(pads)};
  if (m.choose.chance(0.5)) inputs.push_back(m.scalar(0.75f));
  m.add("Pad", inputs, a);
}

void add_reduce(GraphMaker& m) {
  Value* x = real_tensor(m);
  const auto rank = static_cast<int64_t>(m.dims(x).size());
  const char* op =
      m.choose.of<const char*>({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceProd",
                                "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin", "Softmax", "LogSoftmax", "CumSum"});
  const std::string_view name = op;
  if (name.ends_with("oftmax") || name.starts_with("Arg")) {
    m.add(op, {x}, make_attributes({{"axis", m.choose.between(-rank, std::max<int64_t>(rank - 1, -rank))}}));
    return;
  }
  if (name == "CumSum") {
    m.add(op, {x, m.known(Tensor::scalar<int64_t>(m.choose.between(-rank, std::max<int64_t>(rank - 1, -rank))))});
    return;
  }
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    if (m.choose.chance(0.4)) axes.push_back(m.choose.chance(0.5) ? i : i - rank);
  std::vector<Value*> inputs{x};
  if (m.choose.chance(0.85)) inputs.push_back(m.integers(axes));
  Attributes a = make_attributes({{"keepdims", static_cast<int64_t>(m.choose.chance(0.6))}});
  if (m.choose.chance(0.1)) a.set("noop_with_empty_axes", int64_t{1});
  m.add(op, inputs, a);
}

void add_resize(GraphMaker& m) {
  Value* x = m.real_of_rank(4);
  Dims dims = m.dims(x);
  const bool by_size = m.choose.chance(0.5);
  Attributes a;
  a.set("mode", m.choose.of<std::string>({"nearest", "linear", "cubic"}));
  a.set("coordinate_transformation_mode",
        m.choose.of<std::string>({"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}));
  if (by_size) {
    dims[2] = m.choose.between(1, 12), dims[3] = m.choose.between(1, 12);
    m.add("Resize", {x, nullptr, nullptr, m.integers(dims)}, a);
    return;
  }
  const float scale = m.choose.of({0.5f, 2.0f, 1.0f, 0.6f, 3.0f});
  m.add("Resize", {x, nullptr, m.constant(Tensor::of<float>({4}, {1, 1, scale, 2}))}, a);
}

}  // namespace svengine::differential
