#include <algorithm>
#include <cfloat>
#include <cmath>

#include "tests/hostile/change_lists.h"
#include "tests/support/random_tensor.h"

namespace svengine::tests {
namespace {

constexpr float kHostileReals[] = {0, -1, NAN, HUGE_VALF, -HUGE_VALF, FLT_MAX, 1e-45f};
/// Words that some operator knows.
constexpr const char* kTexts[] = {"",     "nonsense", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "constant", "reflect",
                                  "edge", "wrap",     "linear", "cubic", "nearest",    "none",       "add",      "mul",
                                  "max",  "min",      "sum",    "mean",  "DCR",        "CRD",        "tanh"};

using Add = std::function<void(std::string, Attribute)>;

/// A list with one element changed, all changed, one less, one more, none, and all the same.
template <class T, size_t N>
void add_lists(const std::vector<T>& list, const T (&hostile)[N], const Add& add) {
  for (const T value : hostile) {
    for (size_t i = 0; i < list.size(); ++i) {
      std::vector<T> one = list;
      one[i] = value;
      add(fmt::format("holds {} at {}", value, i), one);
    }
    add(fmt::format("is {} times {}", list.size(), value), std::vector<T>(list.size(), value));
  }
  add("is empty", std::vector<T>());
  if (list.empty()) return;
  std::vector<T> other = list;
  other.pop_back();
  add("lacks its last element", other);
  other = list;
  other.push_back(list[0]);
  add("has one element too many", other);
  add("repeats its first element", std::vector<T>(std::max<size_t>(list.size(), 2), list[0]));
}

template <class T>
std::vector<std::vector<T>> lists_of(const Relative& sample, const char* name) {
  if (const auto* list = sample.attributes.get<std::vector<T>>(name)) return {*list};
  return {{1}, {1, 1}, {1, 1, 1, 1}};
}

void add_values(const AttributeDef& def, const Relative& sample, const Add& add) {
  switch (def.kind) {
    case AttributeKind::kInt:
      for (const int64_t v : kHostileIntegers) add(fmt::format("is {}", v), v);
      break;
    case AttributeKind::kFloat:
      for (const float v : kHostileReals) add(fmt::format("is {}", v), v);
      break;
    case AttributeKind::kString:
      for (const char* v : kTexts) add(fmt::format("is '{}'", v), std::string(v));
      break;
    case AttributeKind::kInts:
      for (const auto& list : lists_of<int64_t>(sample, def.name)) add_lists(list, kHostileIntegers, add);
      break;
    case AttributeKind::kFloats:
      for (const auto& list : lists_of<float>(sample, def.name)) add_lists(list, kHostileReals, add);
      break;
    case AttributeKind::kStrings:
      for (const char* v : kTexts) add(fmt::format("is one '{}'", v), std::vector<std::string>{v});
      break;
    case AttributeKind::kGraph: break;  // a graph's own nodes are attacked by themselves
    case AttributeKind::kTensor:
      add("is an empty tensor", Tensor::of<float>({0}, {}));
      add("is a tensor of two elements", Tensor::of<int64_t>({2}, {INT64_MIN, INT64_MAX}));
      add("is a scalar", Tensor::scalar<uint8_t>(255));
      break;
  }
}

void make_constant(RelativeInput& in, uint64_t seed) {
  if (!check_dims(in.dims).ok() || element_count(in.dims) > 1 << 16 || size_of(in.dtype) == 0) return;
  auto tensor = tensor_of(in, seed);
  if (!tensor.ok()) return;
  in.declared = Shape::of(in.dims);
  in.value = std::move(tensor).value();
  in.constant = true;
}

}  // namespace

void add_attribute_changes(const OpDef& op, const Relative& sample, std::vector<Change>& changes) {
  for (const AttributeDef& def : op.attributes) {
    const Add add = [&](std::string what, Attribute value) {
      changes.push_back({fmt::format("attribute '{}' {}", def.name, what),
                         [name = def.name, value = std::move(value)](Relative& r) { r.attributes.set(name, value); }});
    };
    add_values(def, sample, add);
    changes.push_back({fmt::format("no attribute '{}'", def.name), [name = def.name](Relative& r) { r.attributes.erase(name); }});
  }
}

void add_presence_changes(const OpDef& op, const Relative& sample, std::vector<Change>& changes) {
  const size_t count = sample.inputs.size();
  for (size_t i = 0; i < count; ++i) {
    changes.push_back({fmt::format("input {} is absent", i), [i](Relative& r) {
                         if (i < r.inputs.size()) r.inputs[i].absent = true;
                       }});
    changes.push_back({fmt::format("only {} inputs", i), [i](Relative& r) { r.inputs.resize(std::min(i, r.inputs.size())); }});
    changes.push_back({fmt::format("input {} is a constant", i), [i](Relative& r) {
                         if (i < r.inputs.size()) make_constant(r.inputs[i], i + 1);
                       }});
    changes.push_back({fmt::format("input {} again at the end", i), [i](Relative& r) {
                         if (i < r.inputs.size()) r.inputs.push_back(RelativeInput(r.inputs[i]));
                       }});
  }
  changes.push_back({"every input is a constant", [](Relative& r) {
                       for (size_t i = 0; i < r.inputs.size(); ++i) make_constant(r.inputs[i], i + 1);
                     }});
  changes.push_back({"every input but the first is a constant", [](Relative& r) {
                       for (size_t i = 1; i < r.inputs.size(); ++i) make_constant(r.inputs[i], i + 1);
                     }});
  for (const int outputs : {1, op.outputs.min, std::min(op.outputs.max, 5), std::min(op.outputs.max, 5) + 1})
    changes.push_back({fmt::format("{} outputs", outputs), [outputs](Relative& r) { r.outputs = std::max(outputs, 1); }});
}

}  // namespace svengine::tests
