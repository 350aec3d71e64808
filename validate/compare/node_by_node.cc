#include "validate/compare/reference.h"

namespace svengine::validate {

NodeByNode::NodeByNode(Graph graph, std::vector<Tensor> inputs, const SessionOptions& options,
                       const std::unordered_map<std::string, std::string>* names, Witness witness)
    : graph_(std::move(graph)), options_(options), witness_(std::move(witness)) {
  options_.optimize = false;
  options_.memory = keep_run_memory();
  if (options_.topology.groups.empty()) options_.topology = detect_topology(0);  // once, and not for every node
  std::unordered_map<std::string, const Value*> own;
  graph_.for_each_value([&](Value& v) {
    own[v.name()] = &v;
    readers_[&v] = v.users().size();
  });
  if (names) {
    for (const auto& [name, here] : *names)
      if (const auto found = own.find(here); found != own.end()) by_name_[name] = found->second;
  } else {
    by_name_ = std::move(own);
  }
  for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = std::move(inputs[i]);
  next_ = graph_.nodes().begin();
}

const Value* NodeByNode::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void NodeByNode::expect(const std::string& name) {
  if (const Value* v = find(name)) ++expected_[v];
}

void NodeByNode::release(const std::string& name) {
  const Value* v = find(name);
  if (!v) return;
  if (const auto count = expected_.find(v); count != expected_.end() && count->second > 0) --count->second;
  drop_if_done(v);
}

void NodeByNode::drop_if_done(const Value* value) {
  const auto expected = expected_.find(value);
  if (readers_[value] == 0 && (expected == expected_.end() || expected->second == 0)) values_.erase(value);
}

Result<Tensor> NodeByNode::value(const std::string& name) {
  const Value* v = find(name);
  if (!v) return error("the reference has no value '{}'", name);
  if (v->is_constant()) return v->constant();
  while (!values_.count(v)) {
    if (next_ == graph_.nodes().end()) return error("the reference's value '{}' was given up too early", name);
    SV_TRY(compute_next());
  }
  return values_.at(v);
}

Status NodeByNode::compute_next() {
  const Node& node = **next_++;
  std::vector<Tensor> inputs(node.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const Value* v = node.input(i); v && !v->is_constant()) inputs[i] = values_.at(v);
  SV_ASSIGN(LoneNode alone, LoneNode::create(node, inputs, options_));
  Result<std::vector<Tensor>> outputs = alone.run(inputs);
  if (!outputs.ok()) return std::move(outputs).error().in(describe(node));
  if (witness_) SV_TRY(witness_(node, inputs, *outputs));
  inputs.clear();
  release_constants(node);
  for (const Value* v : node.inputs())
    if (v && --readers_[v] == 0) drop_if_done(v);
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Value* v = node.output(i);
    values_[v] = std::move((*outputs)[i]);
    drop_if_done(v);
  }
  return {};
}

Status NodeByNode::finish() {
  while (next_ != graph_.nodes().end()) SV_TRY(compute_next());
  return {};
}

}  // namespace svengine::validate
