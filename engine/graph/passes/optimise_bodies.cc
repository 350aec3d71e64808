// What happens in bodies: constants that they capture become constants of the body (their storage is shared, so weights are packed
// once), captured values that no body of the node reads are no longer inputs, and every body goes through the load stage itself, as far as it
// can be run at all.
#include <algorithm>

#include "engine/graph/bodies.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// A captured value as the node has it and as its bodies have it.
struct Captured {
  Value* given;
  std::vector<Value*> inside;
};

/// Takes away captured values that the bodies can do without, as `unneeded` says; what is left of them is a constant in each body.
template <class Unneeded>
void drop_captured(Graph& graph, Node* node, std::vector<Body>& bodies, Unneeded unneeded) {
  std::vector<Value*> inputs = node->inputs();
  auto captured = static_cast<size_t>(node->attributes.get_int(kCaptured));
  const size_t before = captured;
  for (size_t at = captured; at-- > 0;) {
    const size_t index = inputs.size() - captured + at;
    Captured one{inputs[index], {}};
    for (Body& b : bodies) one.inside.push_back(b.graph.inputs()[b.graph.inputs().size() - captured + at]);
    if (!unneeded(one)) continue;
    const Tensor value = one.given->is_constant() ? one.given->constant() : Tensor::scalar(false);
    for (size_t i = 0; i < bodies.size(); ++i) bodies[i].graph.make_constant(one.inside[i], value);
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(index));
    --captured;
  }
  if (captured == before) return;
  for (Body& b : bodies) b.graph.erase_unused_constants();
  graph.resize_inputs(node, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (node->input(i) != inputs[i]) graph.set_input(node, i, inputs[i]);
  node->attributes.set(kCaptured, static_cast<int64_t>(captured));
}

Status optimise(Graph& graph, Node* node, std::vector<Body> bodies, const PassContext& context) {
  const int64_t count = node->attributes.get_int(kCaptured);
  if (count < 0) return error("{}: attribute 'captured' is {}, needs a number of inputs", describe(*node), count);
  const auto captured = static_cast<size_t>(count);
  if (captured > node->inputs().size()) return error("{}: captures more values than it has inputs", describe(*node));
  if (std::any_of(node->inputs().end() - count, node->inputs().end(), [](const Value* v) { return !v; }))
    return error("{}: a captured value is absent", describe(*node));
  for (const Body& b : bodies)
    if (b.graph.inputs().size() < captured)
      return error("{}: captures more values than it has inputs", describe(*node));
  drop_captured(graph, node, bodies, [](const Captured& one) { return one.given->is_constant(); });
  for (Body& b : bodies) {
    // What cannot be (an index outside of a constant, say) is an error when the body runs: a branch that is never taken does no harm.
    Graph optimised = b.graph.clone();
    Status status = infer_all(optimised);
    if (status.ok()) status = run_pipeline(optimised, context, Stage::load);
    if (status.ok()) b.graph = std::move(optimised);
  }
  drop_captured(graph, node, bodies, [&](const Captured& one) {
    for (size_t i = 0; i < bodies.size(); ++i)
      if (is_needed(bodies[i].graph, one.inside[i])) return false;
    return true;
  });
  set_bodies(*node, std::move(bodies));
  return {};
}

}  // namespace

Status optimise_bodies(Graph& graph, const PassContext& context) {
  for (Node* node : graph.snapshot()) {
    std::vector<Body> bodies = bodies_of(*node);
    if (!bodies.empty()) SV_TRY(optimise(graph, node, std::move(bodies), context));
  }
  return {};
}

}  // namespace svengine
