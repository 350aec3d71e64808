#include "engine/graph/origins.h"

namespace svengine {
namespace {

thread_local Origins* followed = nullptr;

}  // namespace

Origins::Origins(const Graph& graph) : graph_(&graph) {
  graph.for_each_value([&](Value& v) { names_.emplace(&v, v.name()); });
  followed = this;
}

void Origins::stop() {
  if (followed == this) followed = nullptr;
}

const std::string* Origins::of(const Value* value) const {
  const auto found = names_.find(value);
  return found == names_.end() ? nullptr : &found->second;
}

void Origins::note_replaced(const Graph& graph, const Value* from, const Value* to) {
  if (!followed || followed->graph_ != &graph || !to->producer()) return;  // an input or a constant stays what it is
  if (const std::string* name = followed->of(from)) followed->names_[to] = std::string(*name);
}

void Origins::forget(const Graph& graph, const Value* value) {
  if (followed && followed->graph_ == &graph) followed->names_.erase(value);
}

}  // namespace svengine
