// Nodes whose inputs are all constants become constants. Shape is special: it needs only the shape of its input.
//
// Folding runs the node's own kernels, so that it cannot disagree with running. It refuses to grow a small file into a large
// model: a result above the context's limit stays a node, unless its inputs were as large.
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "engine/graph/bodies.h"
#include "engine/graph/evaluate_context.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool foldable(const Node& node, int64_t limit) {
  if (is_random(node) || has_body(node) || node.op().expand) return false;  // what a composite node is made of is folded
  int64_t input_bytes = 0;
  for (const Value* v : node.inputs()) {
    if (!v) continue;
    if (!v->is_constant()) return false;
    input_bytes += static_cast<int64_t>(v->constant().byte_size());
  }
  int64_t output_bytes = 0;
  for (const Value* v : node.outputs()) {
    if (is_container(v->type.dtype)) return false;  // constants are elements or strings
    if (runs_on_host(node)) continue;  // how large they are is seen then
    if (!v->type.shape.is_static()) return false;
    output_bytes += static_cast<int64_t>(stored_bytes(v->type));
  }
  return output_bytes <= std::max(limit, input_bytes);
}

bool fits(const std::vector<Tensor>& results, const Node& node, int64_t limit) {
  int64_t bytes = 0;
  for (const Tensor& t : results) bytes += static_cast<int64_t>(t.byte_size());
  for (const Value* v : node.inputs())
    if (v) limit = std::max(limit, static_cast<int64_t>(v->constant().byte_size()));
  return bytes <= limit;
}

/// Shape and Size of a value whose shape is known fold whatever the value is.
bool follows_from_types(const Node& node) {
  return node.op().traits.value_of_types && std::all_of(node.inputs().begin(), node.inputs().end(),
                                                 [](const Value* v) { return !v || v->type.shape.is_static(); });
}

/// What folding has told of values since their users were inferred. Users whose own shape was known all along count, too: [?, 19] plus [2, 19]
/// is [2, 19], until the first turns out to be [13, 19].
class NewlyKnown {
 public:
  /// Infers a node again where there is reason to; says whether it did.
  Result<bool> update(Node& node) {
    const std::vector<Value*>& outputs = node.outputs();
    const bool open = std::any_of(outputs.begin(), outputs.end(), [](const Value* v) { return !v->type.shape.is_static(); });
    if (!open && std::none_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) { return values_.count(v); })) return false;
    std::vector<Type> before;
    for (const Value* v : outputs) before.push_back(v->type);
    SV_TRY(infer_types(node));
    for (size_t i = 0; i < before.size(); ++i)
      if (outputs[i]->type != before[i]) add(outputs[i]);
    return true;
  }

  void add(const Value* v) { values_.insert(v); }

 private:
  std::unordered_set<const Value*> values_;
};

}  // namespace

Status fold_constants(Graph& graph, const PassContext& context) {
  NewlyKnown known;
  for (Node* node : graph.snapshot()) {
    SV_ASSIGN(const bool inferred, known.update(*node));
    std::vector<Tensor> results;
    if (follows_from_types(*node)) {
      results.push_back(node->op().traits.value_of_types(*node));
    } else if (!node->inputs().empty() && !(context.keeps && context.keeps(*node)) && foldable(*node, context.fold_limit_bytes)) {
      // Operators look at the values of constants there, and what the file says of the output must not be what memory is taken for.
      if (!inferred) SV_TRY(infer_types(*node));
      if (!foldable(*node, context.fold_limit_bytes)) continue;
      SV_ASSIGN(results, context.evaluate(*node));
      if (!fits(results, *node, context.fold_limit_bytes)) continue;
    } else {
      continue;
    }
    const std::vector<Value*> outputs = node->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph.make_constant(outputs[i], std::move(results[i]));
      known.add(outputs[i]);
    }
    graph.erase(node);
  }
  return {};
}

}  // namespace svengine
