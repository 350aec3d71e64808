// Common subexpressions: of two nodes with the same operator, attributes and inputs, the later takes the earlier's results.
// Small equal constants are one value first, so that nodes which differ only in their copy of a constant are equal too.
#include <algorithm>
#include <map>
#include <string>

#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr size_t kSmallConstant = 1024;  // bytes; larger ones are equal only when they are the same value

void append(std::string& key, const void* data, size_t bytes) { key.append(static_cast<const char*>(data), bytes); }

void append(std::string& key, const Tensor& t) {
  const auto type = static_cast<char>(t.type());
  append(key, &type, 1);
  append(key, to_string(t.dims()).c_str(), to_string(t.dims()).size() + 1);
  const std::byte* const where = t.raw();
  if (is_handle(t.type())) append(key, &where, sizeof where);  // equal only when it is the same value
  else append(key, t.raw(), t.byte_size());
}

struct AppendAttribute {
  std::string& key;
  template <class T>
  void operator()(const T& scalar) const { append(key, &scalar, sizeof scalar); }
  void operator()(const std::string& text) const { key += text + '\0'; }
  void operator()(const Tensor& t) const { append(key, t); }
  template <class T>
  void operator()(const std::vector<T>& list) const {
    const size_t n = list.size();
    append(key, &n, sizeof n);
    for (const T& item : list) (*this)(item);
  }
};

std::string key_of(const Node& node) {
  const OpDef* const op = &node.op();
  const size_t outputs = node.outputs().size();
  std::string key;
  append(key, &op, sizeof op);
  append(key, &outputs, sizeof outputs);
  for (const Value* v : node.inputs()) append(key, &v, sizeof v);
  std::vector<std::pair<std::string_view, const Attribute*>> sorted;
  for (const auto& [name, value] : node.attributes) sorted.emplace_back(name, &value);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [name, value] : sorted) {
    key.append(name).push_back('\0');
    std::visit(AppendAttribute{key}, *value);
  }
  return key;
}

void merge_small_constants(Graph& graph) {
  std::map<std::string, Value*> seen;
  std::vector<std::pair<Value*, Value*>> same;
  graph.for_each_value([&](Value& v) {
    if (!v.is_constant() || v.constant().byte_size() > kSmallConstant || graph.is_output(&v)) return;
    std::string key;
    append(key, v.constant());
    auto [it, fresh] = seen.emplace(std::move(key), &v);
    if (!fresh) same.emplace_back(&v, it->second);
  });
  for (auto [duplicate, first] : same) graph.replace_uses(duplicate, first);
}

}  // namespace

Status common_subexpressions(Graph& graph, const PassContext&) {
  merge_small_constants(graph);
  std::map<std::string, Node*> seen;
  for (Node* node : graph.snapshot()) {
    if (is_random(*node)) continue;
    auto [it, fresh] = seen.emplace(key_of(*node), node);
    if (fresh) continue;
    bool is_output = false;
    for (const Value* v : node->outputs()) is_output |= graph.is_output(v);
    if (is_output) continue;  // keeps its name
    for (size_t i = 0; i < node->outputs().size(); ++i) graph.replace_uses(node->output(i), it->second->output(i));
    graph.erase(node);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
