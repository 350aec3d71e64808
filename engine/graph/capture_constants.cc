#include "engine/graph/capture_constants.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/graph/bodies.h"

namespace svengine {
namespace {

/// A constant's storage, and how it is read.
using Stored = std::tuple<const std::byte*, DType, Dims>;
using ByStorage = std::map<Stored, Value*>;

bool is_trainable(const Value& v) {
  const DType type = v.type.dtype;
  return v.is_constant() && (type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16);
}

Stored storage_of(const Value& v) { return {v.constant().raw(), v.constant().type(), v.constant().dims()}; }

ByStorage trainable_of(const Graph& graph) {
  ByStorage out;
  graph.for_each_value([&](Value& v) {
    if (is_trainable(v)) out.emplace(storage_of(v), &v);
  });
  return out;
}

/// What a body has of `around`, in the order of its values.
void note_shared(const Graph& body, const ByStorage& around, std::vector<Stored>& shared) {
  body.for_each_value([&](Value& v) {
    if (!is_trainable(v)) return;
    const Stored key = storage_of(v);
    if (around.contains(key) && std::find(shared.begin(), shared.end(), key) == shared.end()) shared.push_back(key);
  });
}

void capture_within(Graph& graph, const ByStorage& around);

/// The body's constants of these storages are inputs behind all others. Bodies within take them from there.
void make_inputs(Graph& body, const std::vector<Stored>& shared, const ByStorage& around) {
  ByStorage inside;
  std::vector<std::pair<Value*, Value*>> replaced;
  for (const Stored& key : shared) inside[key] = body.add_input(around.at(key)->name(), around.at(key)->type);
  body.for_each_value([&](Value& v) {
    if (!is_trainable(v)) return;
    if (const auto input = inside.find(storage_of(v)); input != inside.end()) replaced.emplace_back(&v, input->second);
  });
  for (const auto& [constant, input] : replaced) body.replace_uses(constant, input);
  capture_within(body, inside);
  body.erase_unused_constants();
}

void capture_within(Graph& graph, const ByStorage& around) {
  for (Node* node : graph.snapshot()) {
    std::vector<Body> bodies = bodies_of(*node);
    std::vector<Stored> shared;
    for (const Body& b : bodies) note_shared(b.graph, around, shared);
    if (shared.empty()) continue;
    const size_t before = node->inputs().size();
    graph.resize_inputs(node, before + shared.size());
    for (size_t i = 0; i < shared.size(); ++i) graph.set_input(node, before + i, around.at(shared[i]));
    node->attributes.set(kCaptured, node->attributes.get_int(kCaptured) + static_cast<int64_t>(shared.size()));
    for (Body& b : bodies) make_inputs(b.graph, shared, around);
    set_bodies(*node, std::move(bodies));
  }
}

}  // namespace

void capture_shared_constants(Graph& graph) { capture_within(graph, trainable_of(graph)); }

}  // namespace svengine
