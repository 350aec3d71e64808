// Loop: a body again and again, for a number of trips or as long as a condition holds. Values carried from trip to trip may change
// shape. What else a trip gives is stacked along a new dimension 0.
//
//   body: iteration, condition, carried values.. -> condition, carried values.., scanned values..
#include "engine/ops/control/body_gradient_common.h"
#include "engine/ops/control/control_common.h"
#include "engine/ops/control/trips_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kFirstCarried = 2;  // node and body: trip count or iteration, and condition, come before

Status check_loop(const InferContext& c, const Graph& body, size_t carried) {
  SV_TRY(require_dtype(c, 0, DTypeSet{DType::i64}));
  SV_TRY(require_dtype(c, 1, kBool));
  const size_t scanned = body.outputs().size() - 1 - carried;
  if (c.output_count() > carried + scanned)
    return error("has {} outputs, but its body gives {} carried and {} scanned values", c.output_count(), carried, scanned);
  for (size_t i = 0; i < carried; ++i) {
    if (!c.has_input(kFirstCarried + i)) return error("carried value {} has no first value", i);
    SV_TRY(check_body_input(body, kFirstCarried + i, c.type(kFirstCarried + i)));
  }
  return {};
}

Status infer_loop(InferContext& c) {
  const size_t own = own_input_count(c), carried = own > kFirstCarried ? own - kFirstCarried : 0;
  SV_ASSIGN(const Graph* body, checked_body(c, "body", kFirstCarried + carried, 1 + carried));
  SV_TRY(check_loop(c, *body, carried));
  for (size_t i = 0; i < c.output_count(); ++i) {
    const Type& given = body->outputs()[1 + i]->type;
    if (i >= carried) {
      std::vector<Dim> dims{Dim()};
      if (given.shape.has_rank()) dims.insert(dims.end(), given.shape.dims().begin(), given.shape.dims().end());
      c.set(i, given.dtype, given.shape.has_rank() ? Shape(std::move(dims)) : Shape());
      continue;
    }
    // No trip at all gives the first value; an optional one that trips make present is present then.
    const Type& first = c.type(kFirstCarried + i);
    const bool unwraps = first.dtype == DType::optional && first.element && first.element->dtype == given.dtype;
    Result<Type> type = merged(unwraps ? *first.element : first, given);
    if (!type.ok()) return std::move(type).error().in(fmt::format("carried value {}", i));
    c.set(i, std::move(type).value());
  }
  return {};
}

struct Trips {
  int64_t limit = kMostTrips;
  bool counted = false;
  bool going = true;
};

Result<Trips> read_trips(const EvaluateContext& c) {
  Trips trips;
  if (c.has_input(0)) {
    if (c.input(0).count() != 1) return error("M has {} elements, needs one", c.input(0).count());
    trips.limit = c.input(0).data<int64_t>()[0];
    trips.counted = true;
  }
  if (c.has_input(1)) {
    SV_ASSIGN(trips.going, truth_of(c.input(1), "the condition"));
  }
  return trips;
}

Status evaluate_loop(EvaluateContext& c) {
  SV_ASSIGN(Trips trips, read_trips(c));
  const Graph& body = **c.attributes().get<Subgraph>("body");
  const size_t own = own_input_count(c), carried_count = own > kFirstCarried ? own - kFirstCarried : 0;
  std::vector<Tensor> carried;
  for (size_t i = 0; i < carried_count; ++i) carried.push_back(c.take_input(kFirstCarried + i));
  const std::vector<Tensor> captured = captured_inputs(c);
  std::vector<std::vector<Tensor>> scanned(body.outputs().size() - 1 - carried_count);
  for (int64_t trip = 0; trips.going && trip < trips.limit; ++trip) {
    std::vector<Tensor> inputs{single(Tensor::scalar(trip), body, 0), single(Tensor::scalar(true), body, 1)};
    for (size_t i = 0; i < carried_count; ++i) {
      const bool wraps = body.inputs()[kFirstCarried + i]->type.dtype == DType::optional && carried[i].type() != DType::optional;
      inputs.push_back(wraps ? Tensor::of_items(DType::optional, {std::move(carried[i])}) : std::move(carried[i]));
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    Result<std::vector<Tensor>> outputs = c.run_body("body", std::move(inputs));
    if (!outputs.ok()) return std::move(outputs).error().in(fmt::format("trip {}", trip));
    SV_ASSIGN(trips.going, truth_of((*outputs)[0], "the body's condition"));
    for (size_t i = 0; i < carried_count; ++i) carried[i] = std::move((*outputs)[1 + i]);
    for (size_t i = 0; i < scanned.size(); ++i) scanned[i].push_back(std::move((*outputs)[1 + carried_count + i]));
    if (trips.going && !trips.counted && trip + 1 == trips.limit)
      return unimplemented("makes more than {} trips; its condition seems never to become false", trips.limit);
  }
  std::vector<Type> types;  // of what no trip has given
  if (!scanned.empty() && scanned[0].empty()) {
    std::vector<TripInput> first;
    append(first, {single(Tensor::scalar<int64_t>(0), body, 0), single(Tensor::scalar(true), body, 1)});
    append(first, carried);
    append(first, captured);
    types = types_without_trip(body, first);
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (i < carried_count) {
      const bool unwraps = carried[i].type() == DType::optional && c.node().output(i)->type.dtype != DType::optional;
      if (unwraps && carried[i].items().empty()) return error("carried value {} is absent, and no trip gives one", i);
      c.set(i, unwraps ? carried[i].items()[0] : std::move(carried[i]));
      continue;
    }
    const Type& type = types.empty() ? body.outputs()[1 + i]->type : types[1 + i];
    Result<Tensor> all = stacked(scanned[i - carried_count], 0, false, type.dtype, type.shape);
    if (!all.ok()) return std::move(all).error().in(fmt::format("scanned value {}", i - carried_count));
    c.set(i, std::move(all).value());
  }
  return {};
}

Cost cost_loop(const Node& node) {
  Cost cost = cost_of_body(node, "body");
  const Value* count = node.input(0);
  if (!count || !count->is_constant() || count->constant().count() != 1) return cost;
  const auto trips = static_cast<double>(count->constant().as_int64s().empty() ? 1 : count->constant().as_int64s()[0]);
  return {cost.flops * trips, cost.bytes * trips};
}

/// As of a Scan over what each trip began with: the number of the trip and the carried values, which must keep their shapes.
Status loop_gradient(GradientContext& c) {
  RepeatedBody loop;
  loop.captured = captured_count(c.attributes());
  const size_t own = c.node().inputs().size() - loop.captured, carried = own > kFirstCarried ? own - kFirstCarried : 0;
  std::vector<size_t> kept{0};
  for (size_t i = 0; i < carried; ++i) kept.push_back(kFirstCarried + i);
  SV_ASSIGN(const std::vector<Value*> before, keep_body_inputs(c, kept));
  loop.body = c.attributes().get<Subgraph>("body")->get();
  loop.inputs.push_back({.slices = {before[0]}});
  loop.inputs.push_back({.value = single(Tensor::scalar(true), *loop.body, 1)});
  loop.outputs.push_back({});
  for (size_t i = 0; i < carried; ++i) {
    const auto at = static_cast<int>(i);
    loop.inputs.push_back({.slices = {before[1 + i]}, .state = at, .node_input = static_cast<int>(kFirstCarried) + at});
    loop.outputs.push_back({.state = at});
    loop.node_outputs.push_back(at);
  }
  const size_t scanned = loop.body->outputs().size() - 1 - carried - before.size();
  for (size_t i = 0; i < scanned; ++i) loop.outputs.push_back({.gradient = {c.output_gradient(carried + i)}});
  return differentiate_repeated(c, loop);
}

}  // namespace

OpDef define_loop() {
  return {
      .name = "Loop",
      .inputs = "M?, cond?, v_initial?...",
      .outputs = {1, kVariadic},
      .attributes = {{"body", AttributeKind::kGraph, true}, internal_attribute(kCaptured, AttributeKind::kInt)},
      .infer = infer_loop,
      .evaluate = evaluate_loop,
      .cost = cost_loop,
      .gradient = loop_gradient,
      .samples = R"((int64[]{3}, bool[]{1}, float32[2, 3]) {body = graph "body" {
  input %i: int64[]
  input %going: bool[]
  input %carried: float32[2, 3]
  output %going
  output %carried
  output %carried
}} 2)"
                 R"((int64[]{0}, bool[]{1}, float32[4]) {body = graph "body" {
  input %i: int64[]
  input %going: bool[]
  input %carried: float32[4]
  output %going
  output %carried
  output %carried
}})",
  };
}

}  // namespace svengine::ops
