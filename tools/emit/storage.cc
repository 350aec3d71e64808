#include "tools/emit/storage.h"

#include <algorithm>

#include "engine/graph/op_def.h"
#include "engine/plan/arena.h"

namespace svengine::tool::emit {
namespace {

int64_t bytes_of(const Type& type) { return element_count(*type.shape.concrete()) * static_cast<int64_t>(size_of(type.dtype)); }

}  // namespace

const Value* Storage::memory_of(const Value* value) {
  while (const Node* producer = value->producer()) {
    if (!producer->op().traits.is_view) break;
    value = producer->input(0);
  }
  return value;
}

bool Storage::is_wanted(const Value* value) const {
  return bytes_of(value->type) > 0 && (!value->users().empty() || graph_.is_output(value));
}

Storage::Storage(const Graph& graph) : graph_(graph) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) places_[graph.inputs()[i]] = {Place::Kind::input, i};
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* v = graph.outputs()[i];
    const bool written = v->producer() && !v->producer()->op().traits.is_view && !places_.contains(v);
    if (written) places_[v] = {Place::Kind::output, i};
    else if (bytes_of(v->type) > 0) copies_.emplace_back(i, v);
  }
  int32_t step = 0;
  for (const auto& node : graph.nodes()) {
    for (const Value* v : node->inputs()) {
      if (!v) continue;
      const Value* memory = memory_of(v);
      if (memory->is_constant()) places_[memory] = {Place::Kind::constant};
      else if (const Place& p = places_.at(memory); p.kind == Place::Kind::slot) slots_[p.index].last = step;
    }
    for (const Value* v : node->outputs()) {
      if (!v || memory_of(v) != v || places_.contains(v)) continue;
      places_[v] = {Place::Kind::slot, slots_.size()};
      slots_.push_back({is_wanted(v) ? bytes_of(v->type) : 0, step, step});
    }
    ++step;
  }
  for (const auto& [index, v] : copies_) {
    const Value* memory = memory_of(v);
    if (memory->is_constant()) places_[memory] = {Place::Kind::constant};
    else if (const Place& p = places_.at(memory); p.kind == Place::Kind::slot) slots_[p.index].last = step;
  }
}

size_t Storage::add_temporary(int32_t node, int64_t bytes) {
  slots_.push_back({bytes, node, node});
  return slots_.size() - 1;
}

int64_t Storage::assign() {
  std::vector<Slot> slots;  // of those that have elements
  for (const Life& life : slots_) {
    if (life.bytes == 0) continue;
    slots.emplace_back();
    slots.back().bytes = life.bytes, slots.back().first_step = life.first, slots.back().last_step = life.last;
  }
  const int64_t bytes = assign_arena_offsets(slots);
  offsets_.clear();
  size_t next = 0;
  for (const Life& life : slots_) offsets_.push_back(life.bytes == 0 ? -1 : slots[next++].offset);
  return bytes;
}

}  // namespace svengine::tool::emit
