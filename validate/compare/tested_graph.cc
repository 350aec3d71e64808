#include "validate/compare/tested_graph.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/split.h"

namespace svengine::validate {
namespace {

constexpr const char* kLastPass = "dead";  // before those that choose layouts

Status optimise(Graph& graph, const std::vector<Tensor>& inputs, const SessionOptions& options) {
  const PassContext context = pass_context(*options.kernels);
  if (options.optimize) SV_TRY(run_pipeline(graph, context, Stage::load));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_handle(inputs[i].type())) graph.inputs()[i]->type.shape = Shape::of(inputs[i].dims());
  // As specialize() (runtime/session.h), in place.
  SV_TRY(infer_all(graph));
  if (!options.optimize) return {};
  SV_TRY(fold_constants(graph, context));
  SV_TRY(inline_branches(graph, context));
  SV_TRY(remove_dead_nodes(graph, context));
  return is_plannable(graph) ? run_pipeline(graph, context, Stage::plan, kLastPass) : Status();
}

/// Assigns the nodes of the file to the steps that compute them.
class Claims {
 public:
  Claims(const Graph& model, std::unordered_set<std::string> carried) : carried_(std::move(carried)) {
    model.for_each_value([&](Value& v) { by_name_[v.name()] = &v; });
    size_t i = 0;
    for (const auto& node : model.nodes()) order_[node.get()] = i++;
  }

  /// The nodes that make these values of the file's, back to those that other steps give.
  std::vector<const Node*> of(const std::vector<std::string>& outputs) {
    std::vector<const Node*> found, pending;
    const auto reach = [&](const Value* v) {
      if (v && v->producer() && claimed_.insert(v->producer()).second) pending.push_back(v->producer());
    };
    for (const std::string& name : outputs)
      if (const auto at = by_name_.find(name); at != by_name_.end()) reach(at->second);
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      found.push_back(node);
      for (const Value* v : node->inputs())
        if (v && !carried_.count(v->name())) reach(v);
    }
    std::sort(found.begin(), found.end(), [&](const Node* a, const Node* b) { return order_.at(a) < order_.at(b); });
    return found;
  }

 private:
  std::unordered_set<std::string> carried_;  // names of values that steps give
  std::unordered_map<std::string, const Value*> by_name_;
  std::unordered_map<const Node*, size_t> order_;
  std::unordered_set<const Node*> claimed_;
};

}  // namespace

std::string TestedGraph::origin_of(const Value* value) const {
  const std::string* name = value ? origins_->of(value) : nullptr;
  return name ? *name : std::string();
}

void TestedGraph::find_steps(const Graph& model) {
  std::unordered_set<std::string> carried;
  for (const auto& node : graph_->nodes())
    for (const Value* v : node->outputs()) carried.insert(origin_of(v));
  Claims claims(model, std::move(carried));
  for (const auto& node : graph_->nodes()) {
    Step step;
    step.node = node.get();
    for (const Value* v : node->inputs()) step.inputs.push_back(v && !v->is_constant() ? origin_of(v) : std::string());
    for (const Value* v : node->outputs()) step.outputs.push_back(origin_of(v));
    step.nodes = claims.of(step.outputs);
    steps_.push_back(std::move(step));
  }
}

Result<TestedGraph> TestedGraph::create(const Graph& model, const std::vector<Tensor>& inputs, const SessionOptions& options) {
  TestedGraph out;
  out.graph_ = std::make_unique<Graph>(model.clone());
  out.origins_ = std::make_unique<Origins>(*out.graph_);
  const Status status = optimise(*out.graph_, inputs, options);
  out.origins_->stop();
  if (!status.ok()) return Error(status.error());
  out.find_steps(model);
  return out;
}

}  // namespace svengine::validate
