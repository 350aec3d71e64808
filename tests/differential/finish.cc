// The last steps of a random graph: outputs, backward pass, symbolic dimensions.
#include <algorithm>

#include "engine/graph/autodiff.h"
#include "engine/graph/builder.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/differential/graph_maker.h"
#include "tests/differential/use_all_nodes.h"

namespace svengine::differential {
namespace {

/// Turns some dimensions into names: equal sizes may share one, or every one has its own.
void name_dims(Type& type, Choices& choose, bool shared, int& count) {
  std::vector<Dim> dims = type.shape.dims();
  for (Dim& d : dims) {
    if (!choose.chance(0.5)) continue;
    if (shared)
      d = Dim(fmt::format("d{}", d.value()));
    else
      d = choose.chance(0.3) ? Dim() : Dim(fmt::format("n{}", count++));
  }
  type.shape = Shape(dims);
}

}  // namespace

Status GraphMaker::choose_outputs() {
  Value* last = nullptr;
  for (const auto& node : made_.graph.nodes())
    for (Value* v : node->outputs()) {
      if (is_container(v->type.dtype)) continue;
      last = v;
      if (choose.chance(v->users().empty() ? 0.9 : 0.12)) made_.graph.add_output(v);
    }
  if (!last) return error("nothing is computed but sequences");
  if (made_.graph.outputs().empty()) made_.graph.add_output(last);
  const auto constant = [](const Value* v) { return v->is_constant(); };
  if (choose.chance(0.02) && !order_.empty() && !constant(order_.front())) made_.graph.add_output(order_.front());
  return {};
}

/// Gradients of the sum of some real outputs, with respect to some inputs: further outputs.
Status GraphMaker::differentiate() {
  std::vector<GradientSeed> seeds;
  Graph& graph = made_.graph;
  for (Value* v : std::vector<Value*>(graph.outputs()))
    if (v->type.dtype == real() && v->producer() && seeds.size() < 2) seeds.push_back({v, weight(dims(v))});
  std::vector<Value*> wanted;
  for (Value* v : graph.inputs())
    if (v->type.dtype == real() && choose.chance(0.7)) wanted.push_back(v);
  if (seeds.empty() || wanted.empty()) return error("nothing to differentiate");
  SV_ASSIGN(std::vector<Value*> gradients, add_gradients(graph, all_ops(), seeds, wanted));
  for (Value* g : gradients)
    if (g && g->producer()) graph.add_output(g);
  made_.trained = true;
  return compute_again();  // composite nodes went, and new values may lie where theirs lay
}

Status GraphMaker::compute_again() {
  made_.values = leaf_values(made_.graph, made_.values);
  return compute_all(made_.graph, made_.values, kernels_);
}

void GraphMaker::make_symbolic() {
  const bool shared = choose.chance(0.5);
  int count = 0;
  for (Value* v : made_.graph.inputs()) name_dims(v->type, choose, shared, count);
}

Subgraph GraphMaker::take_body(const std::vector<Value*>& outputs) {
  Graph& body = made_.graph;
  for (Value* v : outputs) body.add_output(v);
  if (!remove_dead_nodes(body, pass_context(kernels_)).ok() || !reads_all_nodes(body) || !infer_anew(body).ok()) return nullptr;
  return std::make_shared<const Graph>(std::move(body));
}

Result<RandomGraph> GraphMaker::finish() {
  if (made_.graph.nodes().empty()) return error("every node was refused");
  SV_TRY(choose_outputs());
  if (!made_.special && choose.chance(0.15)) SV_TRY(differentiate());
  const bool symbolic = choose.chance(0.25);
  if (symbolic) make_symbolic();
  if (Status s = infer_anew(made_.graph); !s.ok()) made_.complaint = s.error().message();
  if (symbolic) SV_TRY(compute_again());  // bodies that do not run then may say less of what they would give
  for (const Value* v : made_.graph.inputs()) made_.inputs.push_back(made_.values.at(v));
  return std::move(made_);
}

}  // namespace svengine::differential
