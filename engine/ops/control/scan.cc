// Scan: a body for every slice of its scanned inputs, along axes and directions of their own; states go from trip to trip and may not
// change shape. What a trip gives besides is stacked along an axis. Opset 8 has a batch in front, each sample with a length of its
// own; `batched` is the canonical form's word for that.
//
//   body: states.., slices.. -> states.., scanned values..
#include "engine/graph/axes.h"
#include "engine/ops/control/body_gradient_common.h"
#include "engine/ops/control/control_common.h"
#include "engine/ops/control/trips_common.h"

namespace svengine::ops {
namespace {

constexpr const char* kBatched = "batched";

/// How a Scan's inputs and outputs are to be read. `first`: the input behind the lengths, which only the batched form has.
struct Plan {
  bool batched = false;
  size_t first = 0, states = 0, scans = 0, outputs = 0;  // outputs: of the body, behind the states
  std::vector<int64_t> in_axes, in_reversed, out_axes, out_reversed;
};

Result<std::vector<int64_t>> list_of(const Attributes& attributes, const char* name, size_t count) {
  std::vector<int64_t> list = attributes.get_ints(name);
  if (list.empty()) list.assign(count, 0);
  if (list.size() != count) return error("{} has {} entries, needs {}", name, list.size(), count);
  return list;
}

Result<Plan> read_plan(const Attributes& attributes, size_t own_inputs, size_t body_outputs) {
  Plan s;
  s.batched = attributes.get_int(kBatched) != 0;
  s.first = s.batched ? 1 : 0;
  const int64_t scans = attributes.get_int("num_scan_inputs");
  if (scans < 1 || static_cast<size_t>(scans) + s.first > own_inputs)
    return error("num_scan_inputs is {}, but there are {} inputs", scans, own_inputs - std::min(own_inputs, s.first));
  s.scans = static_cast<size_t>(scans);
  s.states = own_inputs - s.first - s.scans;
  if (body_outputs < s.states) return error("the body has {} outputs, needs those of {} states", body_outputs, s.states);
  s.outputs = body_outputs - s.states;
  SV_ASSIGN(s.in_axes, list_of(attributes, "scan_input_axes", s.scans));
  SV_ASSIGN(s.in_reversed, list_of(attributes, "scan_input_directions", s.scans));
  SV_ASSIGN(s.out_axes, list_of(attributes, "scan_output_axes", s.outputs));
  SV_ASSIGN(s.out_reversed, list_of(attributes, "scan_output_directions", s.outputs));
  return s;
}

/// Opset 8: `directions` are those of the inputs.
Status canonicalize_scan(CanonicalizeContext& c) {
  if (c.opset() >= 9) return {};
  if (const auto* directions = c.attributes().get<std::vector<int64_t>>("directions"))
    c.attributes().set("scan_input_directions", std::vector<int64_t>(*directions));
  c.attributes().erase("directions");
  c.attributes().set(kBatched, int64_t{1});
  return {};
}

Result<Dim> length_of(InferContext& c, const Plan& s) {
  Dim length;
  for (size_t i = 0; i < s.scans; ++i) {
    const Shape& shape = c.shape(s.first + s.states + i);
    if (!shape.has_rank()) continue;
    const int64_t batch = s.batched ? 1 : 0;
    if (shape.rank() <= batch) return error("scanned input {} is of rank {}, needs {} or more", i, shape.rank(), batch + 1);
    SV_ASSIGN(const int64_t axis, normalise_axis(s.in_axes[i], shape.rank() - batch));
    const Dim& size = shape[static_cast<size_t>(axis + batch)];
    if (known_different(size, length)) return error("scanned input {} has {} slices, an earlier one {}", i, size.value(), length.value());
    if (!length.is_static()) length = size;
  }
  return length;
}

/// From trip to trip a state keeps its shape.
Status check_state(const Type& first, const Type& given, size_t state) {
  const Shape &a = first.shape, &b = given.shape;
  if (!a.has_rank() || !b.has_rank()) return {};
  bool same = a.rank() == b.rank();
  for (size_t d = 0; same && d < a.dims().size(); ++d) same = !known_different(a[d], b[d]);
  if (same) return {};
  return error("state {} is {}, and the body makes {} of it: its shape must stay", state, to_string(first), to_string(given));
}

Status infer_scan(InferContext& c) {
  const size_t own = own_input_count(c);
  const bool batched = c.attributes().get_int(kBatched) != 0;
  SV_ASSIGN(const Graph* body, checked_body(c, "body", own - (batched ? std::min<size_t>(own, 1) : 0), 0));
  SV_ASSIGN(const Plan s, read_plan(c.attributes(), own, body->outputs().size()));
  for (size_t i = s.first; i < own; ++i) {
    if (!c.has_input(i)) return error("{} is absent", c.described(i));
    SV_TRY(check_body_input(*body, i - s.first, c.type(i)));
  }
  SV_ASSIGN(const Dim length, length_of(c, s));
  if (c.output_count() > s.states + s.outputs)
    return error("has {} outputs, but its body gives {}", c.output_count(), s.states + s.outputs);
  for (size_t i = 0; i < c.output_count(); ++i) {
    const Type& given = body->outputs()[i]->type;
    if (i < s.states) {
      if (!s.batched) SV_TRY(check_state(c.type(s.first + i), given, i));
      c.set(i, c.type(s.first + i));
      continue;
    }
    if (!given.shape.has_rank()) {
      c.set(i, given.dtype, Shape());
      continue;
    }
    std::vector<Dim> dims = given.shape.dims();
    SV_ASSIGN(const int64_t axis, normalise_axis(s.out_axes[i - s.states], static_cast<int64_t>(dims.size()) + 1));
    dims.insert(dims.begin() + axis, length);
    if (s.batched) dims.insert(dims.begin(), Dim());
    c.set(i, given.dtype, Shape(std::move(dims)));
  }
  return {};
}

struct Scanned {
  std::vector<Tensor> states;
  std::vector<std::vector<Tensor>> outputs;  // by output, then trip
  std::vector<Type> types = {};              // of the body's outputs; empty: trips have told
};

/// `trips` slices of each scanned input; -1: as many as there are.
Result<Scanned> scan(EvaluateContext& c, const Plan& s, std::vector<Tensor> states, const std::vector<Tensor>& scans, int64_t trips) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < s.scans; ++i) {
    SV_ASSIGN(const int64_t axis, normalise_axis(s.in_axes[i], static_cast<int64_t>(scans[i].dims().size())));
    axes.push_back(static_cast<size_t>(axis));
    const int64_t size = scans[i].dims()[axes[i]];
    if (i == 0 && trips < 0) trips = size;
    if (size < trips || (size != trips && !s.batched)) return error("scanned input {} has {} slices, needs {}", i, size, trips);
  }
  const std::vector<Tensor> captured = captured_inputs(c);
  Scanned out{std::move(states), std::vector<std::vector<Tensor>>(s.outputs)};
  for (int64_t trip = 0; trip < trips; ++trip) {
    std::vector<Tensor> inputs = std::move(out.states);
    for (size_t i = 0; i < s.scans; ++i) {
      SV_ASSIGN(Tensor slice, slice_of(scans[i], axes[i], s.in_reversed[i] ? trips - 1 - trip : trip));
      inputs.push_back(std::move(slice));
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    Result<std::vector<Tensor>> given = c.run_body("body", std::move(inputs));
    if (!given.ok()) return std::move(given).error().in(fmt::format("trip {}", trip));
    out.states.assign(given->begin(), given->begin() + static_cast<std::ptrdiff_t>(s.states));
    for (size_t i = 0; i < s.outputs; ++i) out.outputs[i].push_back(std::move((*given)[s.states + i]));
  }
  if (trips == 0) {
    std::vector<TripInput> first;
    append(first, out.states);
    for (size_t i = 0; i < s.scans; ++i) first.push_back(any_slice_of(scans[i], axes[i]));
    append(first, captured);
    out.types = types_without_trip(**c.attributes().get<Subgraph>("body"), first);
  }
  return out;
}

Result<Tensor> joined(const Graph& body, const Plan& s, size_t output, const Scanned& all) {
  const std::vector<Tensor>& parts = all.outputs[output];
  const Type& type = all.types.empty() ? body.outputs()[s.states + output]->type : all.types[s.states + output];
  const int64_t rank = parts.empty() ? std::max<int64_t>(type.shape.rank(), 0) : static_cast<int64_t>(parts[0].dims().size());
  SV_ASSIGN(const int64_t axis, normalise_axis(s.out_axes[output], rank + 1));
  return stacked(parts, static_cast<size_t>(axis), s.out_reversed[output] != 0, type.dtype, type.shape);
}

/// A whole tensor behind a batch in which this sample is shorter: the rest is 0.
Result<Tensor> padded(const Tensor& t, int64_t length) {
  if (t.dims().empty() || t.dims()[0] == length) return t;
  if (is_handle(t.type())) return error("samples of different lengths of type {} cannot be scanned together", name_of(t.type()));
  Dims dims = t.dims();
  dims[0] = length;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(t.type(), std::move(dims)));
  std::fill_n(std::copy_n(t.raw(), t.byte_size(), out.raw()), out.byte_size() - t.byte_size(), std::byte{0});
  return Tensor(out);
}

Status evaluate_batched(EvaluateContext& c, const Graph& body, const Plan& s) {
  const Tensor& leader = c.input(s.first + s.states);
  if (leader.dims().size() < 2) return error("a scanned input is of rank {}, needs a batch and a sequence", leader.dims().size());
  const int64_t batch = leader.dims()[0], longest = leader.dims()[1];
  std::vector<std::vector<Tensor>> by_output(s.states + s.outputs);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Tensor> values;
    for (size_t i = s.first; i < s.first + s.states + s.scans; ++i) {
      if (c.input(i).dims().empty() || c.input(i).dims()[0] != batch)
        return error("{} has another batch than {}", c.node().op().inputs.described(i), batch);
      SV_ASSIGN(Tensor sample, slice_of(c.input(i), 0, b));
      values.push_back(std::move(sample));
    }
    int64_t length = longest;
    if (c.has_input(0)) {
      if (c.input(0).type() != DType::i64 || c.input(0).count() != batch) return error("sequence_lens needs {} lengths of int64", batch);
      length = c.input(0).data<int64_t>()[static_cast<size_t>(b)];
    }
    if (length < 0 || length > longest) return error("sample {} has length {}, but there are {} slices", b, length, longest);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(s.states);
    SV_ASSIGN(Scanned one, scan(c, s, {values.begin(), middle}, {middle, values.end()}, length));
    for (size_t i = 0; i < s.states; ++i) by_output[i].push_back(std::move(one.states[i]));
    for (size_t i = 0; i < s.outputs; ++i) {
      SV_ASSIGN(const Tensor whole, joined(body, s, i, one));
      SV_ASSIGN(Tensor same_length, padded(whole, longest));
      by_output[s.states + i].push_back(std::move(same_length));
    }
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    const Type& type = body.outputs()[i]->type;
    SV_ASSIGN(Tensor all, stacked(by_output[i], 0, false, type.dtype, type.shape));
    c.set(i, std::move(all));
  }
  return {};
}

Status evaluate_scan(EvaluateContext& c) {
  const Graph& body = **c.attributes().get<Subgraph>("body");
  SV_ASSIGN(const Plan s, read_plan(c.attributes(), own_input_count(c), body.outputs().size()));
  if (s.batched) return evaluate_batched(c, body, s);
  std::vector<Tensor> states, scans;
  for (size_t i = 0; i < s.states; ++i) states.push_back(c.take_input(i));
  for (size_t i = 0; i < s.scans; ++i) scans.push_back(c.input(s.states + i));
  SV_ASSIGN(Scanned all, scan(c, s, std::move(states), scans, -1));
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (i < s.states) {
      c.set(i, std::move(all.states[i]));
      continue;
    }
    Result<Tensor> out = joined(body, s, i - s.states, all);
    if (!out.ok()) return std::move(out).error().in(fmt::format("scanned value {}", i - s.states));
    c.set(i, std::move(out).value());
  }
  return {};
}

Status scan_gradient(GradientContext& c) {
  const size_t captured = captured_count(c.attributes()), own = c.node().inputs().size() - captured;
  SV_ASSIGN(const Plan s, read_plan(c.attributes(), own, (*c.attributes().get<Subgraph>("body"))->outputs().size()));
  if (s.batched) return error("the form of opset 8, with a batch in front, has no gradient; export the model with opset 9 or newer");
  std::vector<size_t> states(s.states);
  for (size_t i = 0; i < s.states; ++i) states[i] = i;
  SV_ASSIGN(const std::vector<Value*> before, keep_body_inputs(c, states));
  RepeatedBody loop;
  loop.body = c.attributes().get<Subgraph>("body")->get();
  loop.captured = captured;
  for (size_t i = 0; i < s.states + s.scans; ++i) {
    const auto at = static_cast<int>(i);
    if (i < s.states) {
      loop.inputs.push_back({.slices = {before[i]}, .state = at, .node_input = at});
      loop.outputs.push_back({.state = at});
      loop.node_outputs.push_back(at);
    } else {
      loop.inputs.push_back({.slices = {c.input(i), s.in_axes[i - s.states], s.in_reversed[i - s.states] != 0}, .node_input = at});
    }
  }
  for (size_t i = 0; i < s.outputs; ++i)
    loop.outputs.push_back({.gradient = {c.output_gradient(s.states + i), s.out_axes[i], s.out_reversed[i] != 0}});
  return differentiate_repeated(c, loop);
}

}  // namespace

OpDef define_scan() {
  const auto ints = AttributeKind::kInts;
  return {
      .name = "Scan",
      .since = 8,
      .inputs = "initial_state_and_scan_inputs?...",
      .outputs = {1, kVariadic},
      .attributes = {{"body", AttributeKind::kGraph, true},
                     {"num_scan_inputs", AttributeKind::kInt, true},
                     {"scan_input_axes", ints},
                     {"scan_input_directions", ints},
                     {"scan_output_axes", ints},
                     {"scan_output_directions", ints},
                     {"directions", ints},
                     internal_attribute(kBatched, AttributeKind::kInt),
                     internal_attribute(kCaptured, AttributeKind::kInt)},
      .canonicalize = canonicalize_scan,
      .infer = infer_scan,
      .evaluate = evaluate_scan,
      .cost = [](const Node& node) { return cost_of_body(node, "body"); },
      .gradient = scan_gradient,
      .samples = R"((float32[3], float32[4, 3]) {body = graph "body" {
  input %state: float32[3]
  input %slice: float32[3]
  output %slice
  output %slice
}, num_scan_inputs = 1} 2)"
                 R"((float32[3], float32[3, 5]) {body = graph "body" {
  input %state: float32[3]
  input %slice: float32[3]
  output %slice
  output %slice
}, num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1], scan_output_axes = [1], scan_output_directions = [1]} 2)",
  };
}

}  // namespace svengine::ops
