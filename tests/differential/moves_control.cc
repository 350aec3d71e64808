#include <cstring>

#include "engine/graph/bodies.h"
#include "engine/graph/builder.h"
#include "engine/ops/control/trips_common.h"
#include "tests/differential/moves.h"

namespace svengine::differential {
namespace {

bool any(const Value&) { return true; }

Value* existing_like(GraphMaker& m, DType type, const Dims& dims) {
  return m.existing([&](const Value& v) { return v.type.dtype == type && m.dims(&v) == dims; });
}

/// A bool that is known, given, or computed.
Value* condition(GraphMaker& m) {
  if (m.choose.chance(0.4))
    if (Value* x = m.existing_real())
      return m.add("Less", {m.add("ReduceMean", {x}, make_attributes({{"keepdims", int64_t{0}}})), m.scalar(0.1f)});
  const Tensor truth = Tensor::scalar(m.choose.chance(0.5));
  const Tensor shaped = m.choose.chance(0.8) ? truth : truth.reshaped({1});
  return m.choose.chance(0.3) ? m.constant(shaped) : m.input(shaped);
}

/// Values that are there, for bodies to capture.
std::vector<Value*> some_values(GraphMaker& m) {
  std::vector<Value*> values;
  for (int64_t i = m.choose.between(0, 3); i > 0; --i)
    if (Value* v = m.existing(any)) values.push_back(v);
  return values;
}

/// Random nodes in a body, behind whose inputs come the captured values.
void fill(GraphMaker& body, GraphMaker& around, const std::vector<Value*>& captured) {
  for (const Value* v : captured) body.input(around.tensor(v));
  add_moves(body, static_cast<size_t>(around.choose.between(0, 4)));
}

void set_captured(Attributes& attributes, std::vector<Value*>& inputs, const std::vector<Value*>& captured) {
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  if (!captured.empty()) attributes.set(kCaptured, static_cast<int64_t>(captured.size()));
}

/// What a trip makes of a value that the next one begins with: mostly something new, in a Loop perhaps of another shape.
Value* next_of(GraphMaker& body, const Value* v, bool keeps_shape = false) {
  const DType type = v->type.dtype;
  const Dims dims = body.dims(v);
  Value* next = body.existing([&](const Value& x) { return x.producer() && x.type.dtype == type && body.dims(&x) == dims; });
  if (next && body.choose.chance(0.95)) return next;
  next = !keeps_shape && body.choose.chance(0.3) ? body.existing([&](const Value& x) { return x.type.dtype == type; }) : nullptr;
  return next ? next : existing_like(body, type, dims);
}

/// An input of a body as a file may declare it: its shape, its rank, or neither.
void declare_less(Value* v, Choices& choose) {
  if (choose.chance(0.4)) return;
  v->type.shape = choose.chance(0.5) ? Shape() : Shape(std::vector<Dim>(v->type.shape.dims().size()));
}

std::vector<Value*> some_reals(GraphMaker& m, int64_t least) {
  std::vector<Value*> values;
  for (int64_t i = m.choose.between(least, 2); i > 0; --i) values.push_back(m.some_real());
  return values;
}

/// What the first trip sees of a scanned value; zeros where there is no trip.
Tensor first_slice(const Tensor& t, size_t axis, bool reversed) {
  const int64_t trips = t.dims()[axis];
  if (trips > 0) return ops::slice_of(t, axis, reversed ? trips - 1 : 0).value();
  Dims dims = t.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  MutableTensor zeros = Tensor::allocate(t.type(), std::move(dims)).value();
  std::memset(zeros.raw(), 0, zeros.byte_size());
  return zeros;
}

/// The scanned inputs of a Scan: a value that is there, and perhaps a new one of as many slices.
struct Scanned {
  std::vector<Value*> values;
  std::vector<int64_t> axes, reversed;

  explicit Scanned(GraphMaker& m) {
    Value* x = m.existing([&](const Value& v) { return v.type.dtype == m.real() && !m.dims(&v).empty() && !v.is_constant(); });
    add(m, x ? x : m.real_of_rank(static_cast<size_t>(m.choose.between(1, 3))));
    if (m.choose.chance(0.6)) return;
    const int64_t trips = m.dims(values[0])[static_cast<size_t>(axes[0])];
    Dims dims{m.size(), m.size()};
    const auto at = static_cast<std::ptrdiff_t>(m.choose.below(3));
    dims.insert(dims.begin() + at, trips);
    add(m, m.leaf(m.real(), dims));
    axes.back() = at;
  }

  void add(GraphMaker& m, Value* v) {
    values.push_back(v);
    axes.push_back(static_cast<int64_t>(m.choose.below(m.dims(v).size())));
    reversed.push_back(m.choose.chance(0.3));
  }
};

}  // namespace

void capture_added(const GraphMaker& body, size_t first, GraphMaker& around, std::vector<Value*>& captured) {
  const std::vector<Value*>& inputs = body.graph().inputs();
  for (size_t i = first; i < inputs.size(); ++i) captured.push_back(around.leaf(body.tensor(inputs[i])));
}

void add_branch(GraphMaker& m) {
  if (m.depth() >= kDeepestBody) return;
  std::vector<Value*> inputs{condition(m)}, captured = some_values(m), given, other;
  GraphMaker yes(m), no(m);
  fill(yes, m, captured);
  capture_added(yes, captured.size(), m, captured);
  fill(no, m, captured);
  capture_added(no, captured.size(), m, captured);
  for (size_t i = yes.graph().inputs().size(); i < captured.size(); ++i) yes.input(m.tensor(captured[i]));
  for (int64_t i = m.choose.between(1, 2); i > 0; --i) {
    Value* a = yes.existing(any);
    if (!a) return;
    Value* b = m.choose.chance(0.8) ? existing_like(no, a->type.dtype, yes.dims(a)) : nullptr;
    if (!b) b = no.existing([&](const Value& v) { return v.type.dtype == a->type.dtype; });
    if (!b) return;
    given.push_back(a), other.push_back(b);
  }
  const Subgraph then_branch = yes.take_body(given), else_branch = no.take_body(other);
  if (!then_branch || !else_branch) return;
  Attributes attributes = make_attributes({{"then_branch", then_branch}, {"else_branch", else_branch}});
  set_captured(attributes, inputs, captured);
  m.node("If", std::move(inputs), std::move(attributes), given.size());
}

void add_loop(GraphMaker& m) {
  if (m.depth() >= kDeepestBody) return;
  const Tensor trips = Tensor::scalar(m.choose.between(0, 3));
  std::vector<Value*> inputs(2), captured = some_values(m);
  if (m.choose.chance(0.85)) inputs[0] = m.choose.chance(0.5) ? m.constant(trips) : m.input(trips);
  if (m.choose.chance(0.4)) inputs[1] = condition(m);
  GraphMaker body(m);
  body.input(Tensor::scalar(int64_t{0}));
  Value* going = body.input(Tensor::scalar(true));
  std::vector<Value*> carried;
  for (Value* v : some_reals(m, 0)) inputs.push_back(v), carried.push_back(body.input(m.tensor(v)));
  fill(body, m, captured);
  Value* computed = m.choose.chance(0.3) ? condition(body) : nullptr;
  capture_added(body, 2 + carried.size() + captured.size(), m, captured);
  std::vector<Value*> results{computed ? computed : going};
  for (const Value* v : carried) results.push_back(next_of(body, v));
  for (int64_t i = m.choose.between(carried.empty() ? 1 : 0, 2); i > 0; --i) results.push_back(body.existing(any));
  for (Value* v : carried) declare_less(v, m.choose);
  Attributes attributes = make_attributes({{"body", body.take_body(results)}});
  if (!*attributes.get<Subgraph>("body")) return;
  set_captured(attributes, inputs, captured);
  m.node("Loop", std::move(inputs), std::move(attributes), results.size() - 1);
}

void add_scan(GraphMaker& m) {
  if (m.depth() >= kDeepestBody) return;
  const Scanned scanned(m);
  std::vector<Value*> inputs = some_reals(m, 0), captured = some_values(m), own, results;
  GraphMaker body(m);
  for (const Value* v : inputs) own.push_back(body.input(m.tensor(v)));
  const size_t states = inputs.size();
  for (size_t i = 0; i < scanned.values.size(); ++i) {
    own.push_back(body.input(first_slice(m.tensor(scanned.values[i]), static_cast<size_t>(scanned.axes[i]), scanned.reversed[i] != 0)));
    inputs.push_back(scanned.values[i]);
  }
  fill(body, m, captured);
  capture_added(body, own.size() + captured.size(), m, captured);
  for (size_t i = 0; i < states; ++i) results.push_back(next_of(body, own[i], true));
  std::vector<int64_t> out_axes, out_reversed;
  for (int64_t i = m.choose.between(states ? 0 : 1, 2); i > 0; --i) {
    results.push_back(body.existing(any));
    out_axes.push_back(static_cast<int64_t>(m.choose.below(body.dims(results.back()).size() + 1)));
    out_reversed.push_back(m.choose.chance(0.3));
  }
  for (Value* v : own) declare_less(v, m.choose);
  Attributes attributes = make_attributes({{"body", body.take_body(results)},
                                           {"num_scan_inputs", static_cast<int64_t>(scanned.values.size())},
                                           {"scan_input_axes", scanned.axes},
                                           {"scan_input_directions", scanned.reversed}});
  if (!*attributes.get<Subgraph>("body")) return;
  if (!out_axes.empty()) attributes.set("scan_output_axes", out_axes), attributes.set("scan_output_directions", out_reversed);
  set_captured(attributes, inputs, captured);
  m.node("Scan", std::move(inputs), std::move(attributes), results.size());
}

}  // namespace svengine::differential
