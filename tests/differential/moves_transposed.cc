// What exporters of channels-last networks write: operators between Transposes, and others beside them that read the same.
#include <algorithm>
#include <numeric>

#include "engine/graph/builder.h"
#include "tests/differential/moves.h"

namespace svengine::differential {
namespace {

using Step = Value* (*)(GraphMaker&, Value*);

int64_t axis_of(GraphMaker& m, const Value* x) {
  const auto rank = static_cast<int64_t>(m.dims(x).size());
  return m.choose.between(-rank, rank - 1);
}

std::vector<int64_t> some_axes(GraphMaker& m, const Value* x) {
  std::vector<int64_t> axes;
  const auto rank = static_cast<int64_t>(m.dims(x).size());
  for (int64_t i = 0; i < rank; ++i)
    if (m.choose.chance(0.4)) axes.push_back(m.choose.chance(0.5) ? i : i - rank);
  return axes;
}

Value* transposed(GraphMaker& m, Value* x, const std::vector<int64_t>& perm) {
  return m.add("Transpose", {x}, make_attributes({{"perm", perm}}));
}

Value* to_unary(GraphMaker& m, Value* x) {
  const auto as = [&](DType type) { return make_attributes({{"to", static_cast<int64_t>(type)}}); };
  switch (m.choose.below(4)) {
    case 0: return m.add("Cast", {m.add("Cast", {x}, as(m.choose.of({DType::f16, DType::f64, DType::i32})))}, as(m.real()));
    case 1: return m.add("Clip", {x, m.scalar(-1), m.choose.chance(0.5) ? m.scalar(1.5f) : nullptr});
    default: return m.add(m.choose.of<const char*>({"Relu", "Tanh", "Neg", "Identity", "LeakyRelu"}), {x});
  }
}

Value* operand_for(GraphMaker& m, const Value* x) {
  if (m.choose.chance(0.3)) {
    Value* other = m.existing([&](const Value& v) { return v.type.dtype == m.real() && m.dims(&v) == m.dims(x); });
    if (other) return other;
  }
  const Dims dims = m.choose.chance(0.4) && !m.dims(x).empty() ? Dims{m.dims(x).back()} : m.broadcast_of(m.dims(x));
  return m.leaf(m.real(), dims);
}

Value* to_binary(GraphMaker& m, Value* x) {
  Value* other = operand_for(m, x);
  if (m.choose.chance(0.15)) return m.add("PRelu", {x, other});
  if (m.choose.chance(0.2)) return m.add("Where", {m.add("Greater", {x, other}), operand_for(m, x), x});
  const char* op = m.choose.of<const char*>({"Add", "Mul", "Sub", "Max", "Sum"});
  return m.choose.chance(0.7) ? m.add(op, {x, other}) : m.add(op, {other, x});
}

Value* to_joined(GraphMaker& m, Value* x) {
  const int64_t axis = axis_of(m, x), at = axis < 0 ? axis + static_cast<int64_t>(m.dims(x).size()) : axis;
  Dims dims = m.dims(x);
  if (m.choose.chance(0.5)) {
    const int64_t first = m.choose.between(0, dims[static_cast<size_t>(at)]);
    Node* parts = m.node("Split", {x, m.integers({first, dims[static_cast<size_t>(at)] - first})}, make_attributes({{"axis", axis}}), 2);
    if (!parts) return nullptr;
    return m.choose.chance(0.5) ? parts->output(1) : m.add("Concat", {parts->output(1), x, parts->output(0)}, make_attributes({{"axis", axis}}));
  }
  dims[static_cast<size_t>(at)] = m.size();
  return m.add("Concat", {x, m.choose.chance(0.5) ? x : m.leaf(m.real(), dims)}, make_attributes({{"axis", axis}}));
}

Value* to_cut(GraphMaker& m, Value* x) {
  const auto rank = m.dims(x).size();
  const Dims starts{m.choose.between(-3, 3), m.choose.between(0, 1)}, ends{m.choose.between(1, 6), INT64_MAX};
  const size_t count = rank > 1 && m.choose.chance(0.5) ? 2 : 1;
  std::vector<Value*> inputs{x, m.integers({starts.begin(), starts.begin() + static_cast<int64_t>(count)}),
                             m.integers({ends.begin(), ends.begin() + static_cast<int64_t>(count)})};
  if (m.choose.chance(0.6)) {
    std::vector<int64_t> axes{axis_of(m, x)};
    if (count == 2) axes.push_back((axes[0] + 1 + static_cast<int64_t>(rank)) % static_cast<int64_t>(rank));
    inputs.push_back(m.integers(axes));
  }
  return m.add("Slice", inputs);
}

Value* to_padded(GraphMaker& m, Value* x) {
  const bool all = m.choose.chance(0.6);
  const std::vector<int64_t> axes = all ? std::vector<int64_t>(m.dims(x).size()) : std::vector<int64_t>{axis_of(m, x)};
  std::vector<int64_t> pads;
  for (size_t i = 0; i < 2 * axes.size(); ++i) pads.push_back(m.choose.between(0, 2));
  std::vector<Value*> inputs{x, m.integers(pads)};
  if (!all) inputs.insert(inputs.end(), {nullptr, m.integers(axes)});
  return m.add("Pad", inputs, make_attributes({{"mode", m.choose.of<std::string>({"constant", "constant", "edge", "reflect"})}}));
}

Value* to_reduced(GraphMaker& m, Value* x) {
  const Attributes keep = make_attributes({{"keepdims", static_cast<int64_t>(m.choose.chance(0.6))}});
  if (m.choose.chance(0.2)) {
    Attributes a = keep;
    a.set("axis", axis_of(m, x));
    return m.add("Cast", {m.add("ArgMax", {x}, a)}, make_attributes({{"to", static_cast<int64_t>(m.real())}}));
  }
  std::vector<Value*> inputs{x};
  if (m.choose.chance(0.9)) inputs.push_back(m.integers(some_axes(m, x)));
  return m.add(m.choose.of<const char*>({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"}), inputs, keep);
}

Value* to_softmax(GraphMaker& m, Value* x) {
  return m.add(m.choose.of<const char*>({"Softmax", "LogSoftmax", "Hardmax"}), {x}, make_attributes({{"axis", axis_of(m, x)}}));
}

Value* to_view(GraphMaker& m, Value* x) {
  if (m.choose.chance(0.3)) return m.add("Squeeze", {x});
  if (m.choose.chance(0.3)) return m.add("Squeeze", {m.add("Unsqueeze", {x, m.integers({axis_of(m, x)})}), m.integers({axis_of(m, x)})});
  const auto rank = static_cast<int64_t>(m.dims(x).size());
  return rank < 6 ? m.add("Unsqueeze", {x, m.integers({m.choose.between(-rank - 1, rank)})}) : x;
}

Value* to_larger(GraphMaker& m, Value* x) {
  Dims dims = m.dims(x);
  if (m.choose.chance(0.3)) {
    for (int64_t& d : dims) d = m.choose.of<int64_t>({1, 1, 2});
    return m.add("Tile", {x, m.integers(dims)});
  }
  if (m.choose.chance(0.3)) {
    for (int64_t& d : dims) d = d == 1 ? m.size() : 1;
    return m.add("Expand", {x, m.integers(dims)});
  }
  for (int64_t& d : dims) d = m.choose.chance(0.6) ? std::max<int64_t>(d, 1) : m.choose.between(1, 9);
  Attributes a = make_attributes({{"mode", m.choose.of<std::string>({"nearest", "linear"})}});
  std::vector<int64_t> axes(dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (m.choose.chance(0.5)) {
    std::rotate(axes.begin(), axes.begin() + 1, axes.end());
    std::rotate(dims.begin(), dims.begin() + 1, dims.end());
    a.set("axes", axes);
  }
  return m.add("Resize", {x, nullptr, nullptr, m.integers(dims)}, a);
}

Value* to_quantised(GraphMaker& m, Value* x) {
  const int64_t axis = axis_of(m, x);
  const Attributes a = make_attributes({{"axis", axis}});
  const Dims dims = m.dims(x);
  const int64_t length = dims[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis)];
  Value* scale = m.leaf(DType::f32, m.choose.chance(0.6) ? Dims{length} : Dims{}, 0.05, 0.2);
  Value* zero = m.leaf(DType::i8, m.dims(scale), -9, 9);
  return m.add("DequantizeLinear", {m.add("QuantizeLinear", {x, scale, zero}, a), scale, zero}, a);
}

constexpr Step kSteps[] = {to_unary, to_binary, to_binary, to_joined, to_cut, to_padded, to_reduced, to_softmax, to_view, to_larger, to_quantised};

std::vector<int64_t> some_order(GraphMaker& m, size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2 && m.choose.chance(0.3)) std::rotate(order.begin() + 1, order.begin() + 2, order.end());          // channels to the end
  else if (rank > 2 && m.choose.chance(0.4)) std::rotate(order.begin() + 1, order.end() - 1, order.end());       // and back
  else for (size_t i = rank; i-- > 1;) std::swap(order[i], order[m.choose.below(i + 1)]);
  return order;
}

}  // namespace

void add_between_transposes(GraphMaker& m) {
  Value* x = m.choose.chance(0.7) ? m.existing([&](const Value& v) { return v.type.dtype == m.real() && m.dims(&v).size() > 1; }) : nullptr;
  if (!x) x = m.real_of_rank(static_cast<size_t>(m.choose.between(2, 5)));
  const std::vector<int64_t> order = some_order(m, m.dims(x).size());
  Value* y = transposed(m, x, order);
  for (int64_t i = m.choose.between(1, 4); y && i > 0; --i) {
    if (m.dims(y).empty()) return;
    y = kSteps[m.choose.below(std::size(kSteps))](m, y);
    if (y && m.choose.chance(0.1)) transposed(m, y, some_order(m, m.dims(y).size()));
  }
  if (!y) return;
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const bool fits = m.dims(y).size() == back.size() && m.choose.chance(0.8);
  y = transposed(m, y, fits ? back : some_order(m, m.dims(y).size()));
  if (y && m.choose.chance(0.2) && m.dims(y).size() > 1) m.add("MatMul", {y, m.weight({m.dims(y).back(), m.size()})});
}

}  // namespace svengine::differential
