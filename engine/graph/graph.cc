#include "engine/graph/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/graph/op_def.h"
#include "engine/graph/origins.h"

namespace svengine {

/// Names in use, and where to continue counting for each stem.
struct Graph::Names {
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> next;
};
void Graph::NamesDeleter::operator()(Names* names) const { delete names; }

bool operator==(const Type& a, const Type& b) {
  const bool same_element = a.element == b.element || (a.element && b.element && *a.element == *b.element);
  return a.dtype == b.dtype && a.shape == b.shape && a.block == b.block && a.key == b.key && same_element;
}

std::string to_string(const Type& type) {
  if (type.dtype == DType::map) return fmt::format("map({}, {})", name_of(type.key), type.element ? to_string(*type.element) : "?");
  if (is_container(type.dtype)) return fmt::format("{}({})", name_of(type.dtype), type.element ? to_string(*type.element) : "?");
  std::string out = fmt::format("{}[{}]", name_of(type.dtype), to_string(type.shape));
  if (type.block) out += fmt::format("{{c{}}}", type.block);
  return out;
}

std::string describe(const Node& node) { return fmt::format("node '{}' ({})", node.name(), node.op().name); }

std::string Graph::unique_name(std::string wanted) {
  if (!names_) names_.reset(new Names);
  if (wanted.empty()) wanted = "v";
  if (names_->taken.insert(wanted).second) return wanted;
  int& n = names_->next[wanted];
  for (;;) {
    std::string candidate = fmt::format("{}_{}", wanted, ++n);
    if (names_->taken.insert(candidate).second) return candidate;
  }
}

Value* Graph::new_value(std::string name, Type type) {
  auto value = std::make_unique<Value>();
  value->name_ = unique_name(std::move(name));
  value->type = std::move(type);
  Value* raw = value.get();
  raw->position_ = values_.insert(values_.end(), std::move(value));
  return raw;
}

void Graph::rename(Value* value, std::string name) {
  if (names_) names_->taken.erase(value->name_);
  value->name_ = unique_name(std::move(name));
}

Value* Graph::add_input(std::string name, Type type) {
  inputs_.push_back(new_value(std::move(name), std::move(type)));
  return inputs_.back();
}

Value* Graph::add_constant(std::string name, Tensor tensor) {
  Value* value = new_value(std::move(name), Type{tensor.type(), Shape::of(tensor.dims())});
  value->constant_ = std::move(tensor);
  return value;
}

Node* Graph::add_node(const OpDef& op, std::string name, std::vector<Value*> inputs, size_t outputs, Attributes attributes,
                      Node* before, std::vector<std::string> names) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op_ = &op;
  node->name_ = name.empty() ? std::string(op.name) : std::move(name);
  node->attributes = std::move(attributes);
  node->inputs_ = std::move(inputs);
  for (Value* v : node->inputs_)
    if (v) v->users_.push_back(node);
  for (size_t i = 0; i < outputs; ++i) {
    std::string wanted = i < names.size() && !names[i].empty() ? names[i] : node->name_ + (i ? fmt::format(".{}", i) : "");
    Value* out = new_value(std::move(wanted), {});
    out->producer_ = node;
    node->outputs_.push_back(out);
  }
  node->position_ = nodes_.insert(before ? before->position_ : nodes_.end(), std::move(owned));
  return node;
}

std::vector<Node*> Graph::snapshot() const {
  std::vector<Node*> out;
  out.reserve(nodes_.size());
  for (const auto& n : nodes_) out.push_back(n.get());
  return out;
}

void Graph::for_each_value(const std::function<void(Value&)>& visit) const {
  for (const auto& v : values_) visit(*v);
}

void Graph::drop_user(Value* value, Node* user) {
  auto it = std::find(value->users_.begin(), value->users_.end(), user);
  if (it != value->users_.end()) value->users_.erase(it);
}

void Graph::set_input(Node* node, size_t slot, Value* value) {
  if (slot >= node->inputs_.size()) node->inputs_.resize(slot + 1, nullptr);
  if (Value* old = node->inputs_[slot]) drop_user(old, node);
  node->inputs_[slot] = value;
  if (value) value->users_.push_back(node);
}

void Graph::resize_inputs(Node* node, size_t count) {
  for (size_t i = count; i < node->inputs_.size(); ++i)
    if (node->inputs_[i]) drop_user(node->inputs_[i], node);
  node->inputs_.resize(count, nullptr);
}

void Graph::grow_outputs(Node* node, size_t count) {
  while (node->outputs_.size() < count) {
    Value* out = new_value(fmt::format("{}.{}", node->name_, node->outputs_.size()), {});
    out->producer_ = node;
    node->outputs_.push_back(out);
  }
}

bool Graph::is_output(const Value* value) const {
  return std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
}

void Graph::replace_uses(Value* from, Value* to) {
  Origins::note_replaced(*this, from, to);
  for (Node* user : std::vector<Node*>(from->users_))
    for (size_t i = 0; i < user->inputs_.size(); ++i)
      if (user->inputs_[i] == from) set_input(user, i, to);
  if (!is_output(from)) return;
  if (to->producer_ && !is_output(to)) std::swap(from->name_, to->name_);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

void Graph::replace_absorbed(Value* from, Value* to) {
  Origins::forget(*this, to);
  replace_uses(from, to);
}

void Graph::erase_value(Value* value) {
  Origins::forget(*this, value);
  if (names_) names_->taken.erase(value->name_);
  values_.erase(value->position_);
}

void Graph::erase(Node* node) {
  for (Value* v : node->inputs_)
    if (v) drop_user(v, node);
  for (Value* v : node->outputs_) {
    assert(v->users_.empty() && !is_output(v));
    erase_value(v);
  }
  nodes_.erase(node->position_);
}

void Graph::erase_unused_constants() {
  std::erase_if(values_, [&](const auto& v) {
    const bool unused = v->is_constant() && v->users_.empty() && !is_output(v.get());
    if (unused) Origins::forget(*this, v.get());
    if (unused && names_) names_->taken.erase(v->name_);
    return unused;
  });
}

void Graph::make_constant(Value* value, Tensor tensor) {
  if (Node* node = value->producer_) {
    // The producer keeps a slot for the output it no longer owns, so that its other outputs keep their index.
    auto slot = std::find(node->outputs_.begin(), node->outputs_.end(), value);
    *slot = new_value(value->name_ + "_folded", value->type);
    (*slot)->producer_ = node;
    value->producer_ = nullptr;
  }
  std::erase(inputs_, value);
  value->type = Type{tensor.type(), Shape::of(tensor.dims())};
  value->constant_ = std::move(tensor);
}

Tensor Graph::make_input(Value* constant) {
  inputs_.push_back(constant);
  return std::exchange(constant->constant_, Tensor());
}

void Graph::erase_input(Value* input) {
  assert(input->users_.empty() && !is_output(input));
  std::erase(inputs_, input);
  erase_value(input);
}

Node* Graph::previous(const Node& node) const {
  return node.position_ == nodes_.begin() ? nullptr : std::prev(node.position_)->get();
}

void Graph::move_before(Node* node, Node* before) { nodes_.splice(before->position_, nodes_, node->position_); }

Graph Graph::clone() const {
  Graph copy;
  copy.name = name;
  std::unordered_map<const Value*, Value*> map;
  for (const auto& v : values_) {
    Value* c = copy.new_value(v->name_, v->type);
    c->constant_ = v->constant_;
    map[v.get()] = c;
  }
  const auto mapped = [&](const std::vector<Value*>& from) {
    std::vector<Value*> to;
    to.reserve(from.size());
    for (const Value* v : from) to.push_back(v ? map.at(v) : nullptr);
    return to;
  };
  for (const auto& n : nodes_) {
    auto owned = std::make_unique<Node>();
    Node* node = owned.get();
    node->op_ = n->op_;
    node->name_ = n->name_;
    node->attributes = n->attributes;
    node->inputs_ = mapped(n->inputs_);
    node->outputs_ = mapped(n->outputs_);
    for (Value* v : node->inputs_)
      if (v) v->users_.push_back(node);
    for (Value* v : node->outputs_) v->producer_ = node;
    node->position_ = copy.nodes_.insert(copy.nodes_.end(), std::move(owned));
  }
  copy.inputs_ = mapped(inputs_);
  copy.outputs_ = mapped(outputs_);
  return copy;
}

}  // namespace svengine
