// Concatenation without copies. Where the parts of a result lie one after the other in memory, their producers write them there:
//
//   x0 ─┐                                       one slot:  | x0 | x1 | x2 |
//   x1 ─┼─ Concat ─> y                                      `─── y ───────'
//   x2 ─┘
//
// Nodes are visited last first, because of networks like DenseNet, where every Concat repeats the earlier ones and adds a part:
// the last one decides the places, and the others' results are found to be lying there already.
#include <limits>

#include "engine/plan/plan_builder.h"

namespace svengine {
namespace {

int64_t bytes_of(const Value* v) { return static_cast<int64_t>(stored_bytes(v->type)); }

}  // namespace

std::optional<Buffer> PlanBuilder::joined_already(const Node& node) const {
  const auto first = buffers_.find(node.input(0));
  if (first == buffers_.end()) return std::nullopt;
  Buffer next = first->second;
  for (const Value* v : node.inputs()) {
    const auto it = buffers_.find(v);
    if (it == buffers_.end() || it->second.base != next.base || it->second.offset != next.offset) return std::nullopt;
    next.offset += bytes_of(v);
  }
  return first->second;
}

void PlanBuilder::concat_aliasing(const Graph& graph) {
  const auto& nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = **it;
    if (!node.op().traits.aliases_concat || !node.op().traits.aliases_concat(node)) continue;
    const Value* out = node.output();
    if (!buffers_.count(out)) {
      if (const std::optional<Buffer> there = joined_already(node)) {
        buffers_[out] = *there;
        continue;
      }
      Slot slot;
      slot.bytes = bytes_of(out);
      slot.name = out->name();
      const int32_t id = add_slot(std::move(slot));
      plan_->slots[static_cast<size_t>(id)].first_step = std::numeric_limits<int32_t>::max();  // when the first part is written
      buffers_[out] = {id, 0};
    }
    Buffer place = buffers_[out];
    for (const Value* v : node.inputs()) {
      const Node* producer = v->producer();
      if (producer && !producer->op().traits.is_view) buffers_.emplace(v, place);
      place.offset += bytes_of(v);
    }
  }
}

}  // namespace svengine
