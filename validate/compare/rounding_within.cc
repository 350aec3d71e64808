#include "validate/compare/rounding_within.h"

#include <unordered_map>

#include "validate/compare/lone_node.h"
#include "validate/compare/precision.h"
#include "validate/compare/rounded_bodies.h"

namespace svengine::validate {
namespace {

using Values = std::unordered_map<const Value*, Tensor>;

/// By slot, undefined for constants. Nothing where one is not there.
Result<std::optional<std::vector<Tensor>>> inputs_of(const Node& node, const Values& made, const ReadValue& read) {
  std::vector<Tensor> inputs(node.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* v = node.input(i);
    if (!v || v->is_constant()) continue;
    if (const auto own = made.find(v); own != made.end()) {
      inputs[i] = own->second;
      continue;
    }
    SV_ASSIGN(inputs[i], read(*v));
    if (!inputs[i].defined()) return std::optional<std::vector<Tensor>>();
  }
  return std::optional(std::move(inputs));
}

}  // namespace

Result<std::optional<Tensor>> rounded_within(const std::vector<const Node*>& nodes, const Value& output, const ReadValue& read,
                                             const SessionOptions& options, std::optional<uint64_t> seed) {
  Values made;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const uint64_t own = seed.value_or(0) * nodes.size() + n;
    SV_ASSIGN(const auto inputs, inputs_of(*nodes[n], made, read));
    if (!inputs) return std::optional<Tensor>();
    Attributes attributes = seed ? with_rounded_bodies(*nodes[n], own) : nodes[n]->attributes;
    SV_ASSIGN(LoneNode alone, LoneNode::create(*nodes[n], std::move(attributes), *inputs, options));
    SV_ASSIGN(const std::vector<Tensor> results, alone.run(*inputs));
    for (size_t i = 0; i < results.size(); ++i) {
      const DType type = results[i].type();
      const double relative = seed ? precision_of({nodes[n]}, alone.reduction_length(), type, type).relative : 0;
      SV_ASSIGN(const std::vector<Tensor> changed, disturbed({results[i]}, relative, own));
      made[nodes[n]->output(i)] = changed[0];
    }
  }
  const auto last = made.find(&output);
  return last == made.end() ? std::optional<Tensor>() : std::optional(last->second);
}

}  // namespace svengine::validate
