#include "engine/ops/custom_operator.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "engine/ops/custom_call.h"
#include "engine/ops/registry.h"

namespace svengine {
namespace {

constexpr size_t kLongestName = 256, kMostAttributes = 256;

struct Registered {
  std::shared_mutex mutex;
  std::vector<std::unique_ptr<CustomOperator>> operators;

  /// The caller holds the mutex.
  const CustomOperator* find(std::string_view domain, std::string_view name) const {
    const auto found = std::find_if(operators.begin(), operators.end(), [&](const auto& o) { return o->domain == domain && o->name == name; });
    return found == operators.end() ? nullptr : found->get();
  }
};

/// Never destroyed: graphs of static objects may outlive everything else.
Registered& registered() {
  static Registered& all = *new Registered;
  return all;
}

bool is_name(const char* text) {
  const size_t length = text ? strnlen(text, kLongestName + 1) : 0;
  return length > 0 && length <= kLongestName && std::all_of(text, text + length, [](char c) { return c > ' ' && c < 127; });
}

Status check_counts(const svengine_operator& o) {
  if (o.min_inputs < 0 || (o.max_inputs != -1 && o.max_inputs < o.min_inputs)) return error("takes {} to {} inputs", o.min_inputs, o.max_inputs);
  if (o.min_outputs < 1 || o.max_outputs < o.min_outputs) return error("has {} to {} outputs; it needs one at least", o.min_outputs, o.max_outputs);
  if (std::max(o.min_inputs, o.max_inputs) + int64_t{o.max_outputs} > SVENGINE_MOST_OPERANDS)
    return unimplemented("has more than {} inputs and outputs", SVENGINE_MOST_OPERANDS);
  if (o.since < 0 || o.until < 0 || (o.until != 0 && o.until < o.since)) return error("is of opsets {} to {}", o.since, o.until);
  if ((o.attribute_count && !o.attributes) || o.attribute_count > kMostAttributes) return error("has {} attributes", o.attribute_count);
  if ((o.input_types_count != 0) != (o.input_types != nullptr) || o.input_types_count > SVENGINE_MOST_OPERANDS)
    return error("has a list of {} input types", o.input_types_count);
  if ((o.output_types_count != 0) != (o.output_types != nullptr) || o.output_types_count > SVENGINE_MOST_OPERANDS)
    return error("has a list of {} output types", o.output_types_count);
  return {};
}

Status check_types(const svengine_operator& o) {
  for (size_t i = 0; i < o.input_types_count; ++i)
    if (o.input_types[i] == 0 || (o.input_types[i] & ~kCustomOperandTypes.bits))
      return error("input {} may be of types that are none (bits {:#x})", i, o.input_types[i]);
  for (size_t i = 0; i < o.output_types_count; ++i) {
    const int32_t type = o.output_types[i];
    if (type >= 0 ? !kCustomOperandTypes.has(dtype_from_number(type).value_or(DType::undefined)) : -1 - int64_t{type} >= o.min_inputs)
      return error("output {} has type {}, which is neither a type nor one of the inputs that are always there", i, type);
  }
  // Without rules output i is as input i, which must be there.
  if ((!o.output_types || !o.shape) && o.max_outputs > o.min_inputs)
    return error("has {} outputs and {} inputs that are always there, so that types and shapes need rules of their own", o.max_outputs, o.min_inputs);
  return {};
}

Status check_attribute_rules(const svengine_operator& o) {
  for (size_t i = 0; i < o.attribute_count; ++i) {
    if (!is_name(o.attributes[i].name)) return error("attribute {} has no name", i);
    if (o.attributes[i].kind < SVENGINE_INT || o.attributes[i].kind > SVENGINE_FLOATS)
      return error("attribute '{}' is of kind {}, which does not exist", o.attributes[i].name, static_cast<int>(o.attributes[i].kind));
    for (size_t j = 0; j < i; ++j)
      if (std::strcmp(o.attributes[i].name, o.attributes[j].name) == 0) return error("attribute '{}' is there twice", o.attributes[i].name);
  }
  return {};
}

Status check(const svengine_operator& o) {
  SV_TRY(check_counts(o));
  SV_TRY(check_types(o));
  SV_TRY(check_attribute_rules(o));
  if (!o.compute) return error("has no function `compute`");
  if (o.gradient && !is_name(o.gradient)) return error("names a gradient that is no name");
  return {};
}

AttributeKind kind_of(svengine_attribute_kind kind) {
  static constexpr AttributeKind kKinds[] = {AttributeKind::kInt, AttributeKind::kFloat, AttributeKind::kString, AttributeKind::kInts,
                                             AttributeKind::kFloats};
  return kKinds[kind];
}

void describe(CustomOperator& c) {
  const svengine_operator& o = c.definition;
  c.op.name = c.name.c_str();
  c.op.domain = c.domain.c_str();
  c.op.since = std::max(o.since, 1);
  c.op.until = o.until ? o.until : kNoLastOpset;
  c.op.inputs = OpInputs(o.min_inputs, o.max_inputs == -1 ? kVariadic : o.max_inputs);
  c.op.outputs = {o.min_outputs, o.max_outputs};
  for (const svengine_attribute_rule& a : c.attributes) c.op.attributes.push_back({a.name, kind_of(a.kind), a.required != 0});
  c.op.infer = infer_custom;
  c.op.lower = lower_custom;
  c.op.kernel_types = kDenseTypes;  // what they compute with is theirs to say
  if (o.gradient) c.op.gradient = custom_gradient;
  c.op.custom = &c;
}

std::unique_ptr<CustomOperator> copy_of(const svengine_operator& o) {
  auto out = std::make_unique<CustomOperator>();
  out->definition = o;
  out->domain = o.domain;
  out->name = o.name;
  if (o.gradient) out->gradient = o.gradient;
  for (size_t i = 0; i < o.attribute_count; ++i)
    out->attributes.push_back({out->attribute_names.emplace_back(o.attributes[i].name).c_str(), o.attributes[i].kind, o.attributes[i].required});
  out->input_types.assign(o.input_types, o.input_types + o.input_types_count);
  out->output_types.assign(o.output_types, o.output_types + o.output_types_count);
  describe(*out);
  return out;
}

/// The definition with 0 for what its maker's header did not know.
Result<svengine_operator> complete(const void* given) {
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  // `user` was the last field of the first version.
  if (size < offsetof(svengine_operator, user) + sizeof(void*) || size > sizeof(svengine_operator))
    return error("says a size of {} bytes; those of this library have {}: `size` is sizeof(svengine_operator), and the header is this version's",
                 size, sizeof(svengine_operator));
  svengine_operator out{};
  std::memcpy(&out, given, size);
  if (!is_name(out.domain)) return error("names no domain (a word of 1 to {} ASCII characters)", kLongestName);
  if (!is_name(out.name)) return error("of domain '{}' has no name (a word of 1 to {} ASCII characters)", out.domain, kLongestName);
  const std::string_view domain = out.domain;
  if (domain == "ai.onnx" || domain == kInternalDomain)
    return error("'{}' is of domain '{}', whose operators are the engine's own", out.name, domain);
  if (Status status = check(out); !status.ok()) return std::move(status).error().in(fmt::format("'{}' of '{}'", out.name, out.domain));
  return out;
}

}  // namespace

Status register_custom_operators(const svengine_operator* operators, size_t count, size_t stride) {
  std::vector<std::unique_ptr<CustomOperator>> added;
  Registered& all = registered();
  const std::unique_lock lock(all.mutex);
  for (size_t i = 0; i < count; ++i) {
    Result<svengine_operator> o = complete(reinterpret_cast<const std::byte*>(operators) + i * stride);
    if (!o.ok()) return std::move(o).error().in(fmt::format("operator {}", i));
    const auto is_same = [&](const auto& other) { return other->domain == o->domain && other->name == o->name; };
    if (all_ops().find_own(o->domain, o->name) || all.find(o->domain, o->name) || std::any_of(added.begin(), added.end(), is_same))
      return error("operator {}: '{}' of '{}' is known already", i, o->name, o->domain);
    added.push_back(copy_of(*o));
  }
  std::move(added.begin(), added.end(), std::back_inserter(all.operators));
  return {};
}

const OpDef* find_custom_operator(std::string_view domain, std::string_view name) {
  Registered& all = registered();
  const std::shared_lock lock(all.mutex);
  const CustomOperator* found = all.find(domain, name);
  return found ? &found->op : nullptr;
}

int newest_custom_opset(std::string_view domain) {
  Registered& all = registered();
  const std::shared_lock lock(all.mutex);
  int newest = 0;
  for (const auto& o : all.operators)
    if (o->domain == domain) newest = std::max(newest, o->op.until);
  return newest;
}

}  // namespace svengine
