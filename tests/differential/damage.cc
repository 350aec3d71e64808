#include "tests/differential/damage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/graph/bodies.h"
#include "tests/differential/use_all_nodes.h"
#include "tests/support/guarded_buffer.h"

namespace svengine::differential {
namespace {

constexpr double kDamaged = 0.12, kUndeclared = 0.4;  // of leaves
constexpr double kOtherAttribute = 0.06;              // of nodes
constexpr int64_t kMostElements = 20000;

}  // namespace

Tensor with_dims(const Tensor& t, Dims dims) {
  if (element_count(dims) > kMostElements) return t;
  const auto bytes = static_cast<size_t>(element_count(dims)) * size_of(t.type());
  const auto memory = std::make_shared<tests::GuardedBuffer<std::byte>>(bytes);
  for (size_t done = 0; done < bytes && t.byte_size() > 0; done += std::min(bytes - done, t.byte_size()))
    std::memcpy(memory->data() + done, t.raw(), std::min(bytes - done, t.byte_size()));
  if (t.byte_size() == 0 && bytes > 0) std::memset(memory->data(), 0, bytes);
  return Tensor::wrap(t.type(), std::move(dims), memory->data(), memory);
}

namespace {

Dims other_dims(Dims dims, Choices& choose) {
  const size_t at = dims.empty() ? 0 : choose.below(dims.size());
  switch (dims.empty() ? 3 : choose.below(8)) {
    case 0:
      dims[at] = choose.of<int64_t>({0, 1});
      break;
    case 1:
      dims[at] = std::max<int64_t>(0, dims[at] + choose.of({-1, 1}));
      break;
    case 2:
      dims[at] *= 2;
      break;
    case 3:
      dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), choose.of<int64_t>({1, 2}));
      break;
    case 4:
      dims.push_back(1);
      break;
    case 5:
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 6:
      dims = {element_count(dims)};
      break;
    default:
      std::swap(dims[at], dims.back());
  }
  return dims;
}

}  // namespace

Tensor with_other_dims(const Tensor& t, Choices& choose) {
  return with_dims(t, other_dims(t.dims(), choose));
}

namespace {

int64_t other_int(int64_t x, Choices& choose) {
  if (choose.chance(0.2)) return choose.of<int64_t>({int64_t{1} << 31, int64_t{1} << 62, INT64_MAX, INT64_MIN, -(int64_t{1} << 31)});
  return choose.of<int64_t>({-1, 0, 1, 2, 3, x - 1, x + 1, 2 * x, -x});
}

std::vector<int64_t> other_ints(std::vector<int64_t> list, Choices& choose) {
  const size_t at = list.empty() ? 0 : choose.below(list.size());
  const uint64_t how = list.empty() ? 0 : choose.below(6);
  if (how == 0) list.insert(list.begin() + static_cast<ptrdiff_t>(at), choose.of<int64_t>({0, 1, 2}));
  else if (how == 1) list.erase(list.begin() + static_cast<ptrdiff_t>(at));
  else if (how == 2) std::swap(list[at], list.back());
  else list[at] = other_int(list[at], choose);
  return list;
}

/// Of the same kind: another kind is refused by the importer.
Attribute other_attribute(const Attribute& attribute, Choices& choose) {
  if (const auto* x = std::get_if<int64_t>(&attribute)) return other_int(*x, choose);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) return other_ints(*list, choose);
  if (const auto* t = std::get_if<Tensor>(&attribute)) return with_other_dims(*t, choose);
  if (const auto* list = std::get_if<std::vector<float>>(&attribute)) {
    std::vector<float> other = *list;
    choose.chance(0.5) && !other.empty() ? other.pop_back() : other.push_back(1);
    return other;
  }
  if (std::holds_alternative<float>(attribute)) return choose.of<float>({0, -1, 1, 100, INFINITY, NAN});
  if (std::holds_alternative<std::string>(attribute)) return choose.of<std::string>({"", "none", "Relu", "VALID", "SAME_UPPER", "linear", "x"});
  return attribute;
}

/// No file can hold it.
bool is_internal(const OpDef& op, std::string_view name) {
  return std::any_of(op.attributes.begin(), op.attributes.end(), [&](const AttributeDef& a) { return a.internal && a.name == name; });
}

bool is_leaf(const Value& v) { return !v.producer() && size_of(v.type.dtype) > 0; }

class Damage {
 public:
  Damage(RandomGraph& random, uint64_t seed) : random_(random), stream_(RandomStream(seed).at("damage")) {}

  void run() {
    std::vector<Value*> leaves;
    random_.graph.for_each_value([&](Value& v) {
      if (is_leaf(v)) leaves.push_back(&v);
    });
    for (Value* v : leaves) change(v);
    for (const auto& node : random_.graph.nodes()) change(*node, stream_);
    for (size_t i = 0; i < random_.inputs.size(); ++i) random_.inputs[i] = random_.values.at(random_.graph.inputs()[i]);
  }

 private:
  void change(Value* v) {
    Choices choose(stream_.at(v->name()).below(uint64_t{1} << 62, 0));
    const bool undeclared = choose.chance(kUndeclared);
    Tensor& t = random_.values.at(v);
    if (choose.chance(kDamaged)) {
      t = with_other_dims(t, choose);
      if (v->is_constant())
        random_.graph.make_constant(v, t);
      else
        v->type.shape = Shape::of(t.dims());
    }
    if (undeclared && !v->is_constant()) v->type.shape = Shape();
  }

  void change(Node& node, const RandomStream& stream) {
    change_bodies(node, stream.at("bodies").at(node.name()));
    Choices choose(stream.at("attributes").at(node.name()).below(uint64_t{1} << 62, 0));
    std::vector<Attributes::Entry> entries(node.attributes.begin(), node.attributes.end());
    std::erase_if(entries, [&](const auto& entry) { return is_internal(node.op(), entry.first); });
    if (entries.empty() || node.op().domain == std::string_view(kInternalDomain) || !choose.chance(kOtherAttribute)) return;
    const auto& [name, attribute] = choose.of(entries);
    node.attributes.set(name, other_attribute(attribute, choose));
  }

  void change_bodies(Node& node, const RandomStream& stream) {
    std::vector<Body> bodies = bodies_of(node);
    for (Body& body : bodies) {
      const RandomStream own = stream.at(body.name);
      std::vector<Value*> constants;
      body.graph.for_each_value([&](Value& v) {
        if (is_leaf(v) && v.is_constant()) constants.push_back(&v);
      });
      for (Value* v : constants) {
        Choices choose(own.at(v->name()).below(uint64_t{1} << 62, 0));
        if (choose.chance(kDamaged)) body.graph.make_constant(v, with_other_dims(v->constant(), choose));
      }
      for (const auto& inner : body.graph.nodes()) change(*inner, own);
    }
    set_bodies(node, std::move(bodies));
  }

  RandomGraph& random_;
  RandomStream stream_;
};

}  // namespace

bool damage(RandomGraph& random, uint64_t seed, const kernels::KernelTable& kernels) {
  if (!use_all_nodes(random.graph)) return false;
  Damage(random, seed).run();
  random.values = leaf_values(random.graph, random.values);
  random.complaint.clear();
  const Status typed = infer_anew(random.graph), computed = compute_all(random.graph, random.values, kernels);
  if (!computed.ok() && is_limit_of_test(computed.error())) return false;
  if (!typed.ok() && has_bodies(random.graph)) return false;  // no importer takes a body that cannot be, though it may never run
  if (!computed.ok())
    random.refused = computed.error().message();
  else if (!typed.ok())
    random.complaint = typed.error().message();
  return typed.ok() || computed.ok();
}

}  // namespace svengine::differential
