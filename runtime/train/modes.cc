#include "runtime/train/modes.h"

#include <map>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/ops/registry.h"

namespace svengine {
namespace {

constexpr size_t kNormMean = 3, kNormVariance = 4;  // inputs of BatchNormalization
constexpr size_t kRatio = 1, kTraining = 2;         // inputs of Dropout

bool is(const Node& node, std::string_view name) { return node.op().name == name && std::string_view(node.op().domain).empty(); }

/// `node` is replaced by another with the first `outputs` of its outputs.
Status keep_outputs(Graph& graph, Node* node, size_t outputs) {
  for (size_t i = outputs; i < node->outputs().size(); ++i)
    if (is_needed(graph, node->output(i)))
      return error("{}: output {} is used, which a network in training mode must not do", describe(*node), i);
  Node* fresh = graph.add_node(node->op(), node->name(), node->inputs(), outputs, node->attributes, node);
  for (size_t i = 0; i < outputs; ++i) {
    fresh->output(i)->type = node->output(i)->type;
    graph.replace_uses(node->output(i), fresh->output(i));
  }
  graph.erase(node);
  return {};
}

void give_own_constant(Graph& graph, Node* identity) {
  const Value* shared = identity->input(0);
  if (!shared || !shared->is_constant() || shared->type.shape.rank() != 1 || !is_float(shared->type.dtype)) return;
  Value* out = identity->output();
  if (graph.is_output(out)) return;
  const std::string name = out->name();
  Value* own = graph.add_constant(name + ".own", shared->constant());
  graph.replace_uses(out, own);
  graph.erase(identity);
  graph.rename(own, name);
}

std::optional<double> ratio_of(const Node& dropout) {
  const Value* ratio = dropout.input(kRatio);
  if (!ratio) return 0.5;
  if (!ratio->is_constant() || ratio->type.dtype != DType::f32) return std::nullopt;
  float value = 0;
  std::memcpy(&value, ratio->constant().raw(), sizeof value);
  return value;
}

/// x times a factor that is drawn anew in every step, in front of the uses of Dropout's output.
Status activate_dropout(Graph& graph, Node* dropout, Value* step, uint64_t seed, int64_t place) {
  if (is_needed(graph, dropout->output(1)))
    return unimplemented("{}: its mask is used, which training does not support", describe(*dropout));
  const std::optional<double> ratio = ratio_of(*dropout);
  if (!ratio || *ratio < 0 || *ratio >= 1) return error("{}: its ratio must be a float32 constant in [0, 1)", describe(*dropout));
  if (*ratio == 0) return {};
  Builder builder(graph, all_ops());
  builder.set_position(dropout);
  const Node* factor = builder.node(
      kInternalDomain, "DropoutFactor", {step, dropout->input(0)}, 1,
      make_attributes({{"ratio", static_cast<float>(*ratio)}, {"seed", static_cast<int64_t>(seed)}, {"place", place}}),
      dropout->name() + ".factor");
  if (!factor) return builder.status();
  Value* out = builder.add("Mul", {dropout->input(0), factor->output()}, {}, dropout->name() + ".drop");
  SV_TRY(builder.status());
  graph.replace_uses(dropout->output(), out);
  graph.erase(dropout);
  return {};
}

}  // namespace

Status to_inference_form(Graph& graph) {
  for (Node* node : graph.snapshot()) {
    if (is(*node, "BatchNormalization")) {
      node->attributes.set("training_mode", int64_t{0});
      if (node->outputs().size() > 1) SV_TRY(keep_outputs(graph, node, 1));
    } else if (is(*node, "Dropout")) {
      if (node->input(kTraining)) graph.resize_inputs(node, kTraining);
    } else if (is(*node, "Identity")) {
      give_own_constant(graph, node);
    }
  }
  graph.erase_unused_constants();
  return {};
}

Result<std::vector<RunningStatistic>> to_training_form(Graph& graph, Value* step, uint64_t seed,
                                                       const std::function<bool(const std::string&)>& frozen) {
  std::vector<RunningStatistic> out;
  std::map<const Value*, size_t> known;  // a statistic that several nodes share is updated by one after the other
  int64_t dropouts = 0;
  for (Node* node : graph.snapshot()) {
    if (is(*node, "Dropout")) {
      SV_TRY(activate_dropout(graph, node, step, seed, dropouts++));
      continue;  // the node is gone
    }
    if (!is(*node, "BatchNormalization") || frozen(node->input(kNormMean)->name())) continue;
    Value* const statistics[] = {node->input(kNormMean), node->input(kNormVariance)};
    for (const Value* s : statistics)
      if (!s->is_constant())
        return error("{}: '{}' is computed; training needs running statistics that are constants", describe(*node), s->name());
    node->attributes.set("training_mode", int64_t{1});
    graph.grow_outputs(node, 3);
    for (size_t i = 0; i < 2; ++i) {
      Value* updated = node->output(1 + i);
      const auto [place, fresh] = known.emplace(statistics[i], out.size());
      if (fresh)
        out.push_back({statistics[i], updated});
      else
        graph.set_input(node, kNormMean + i, std::exchange(out[place->second].updated, updated));
    }
    SV_TRY(infer_types(*node));
  }
  return out;
}

}  // namespace svengine
