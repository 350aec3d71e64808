#include "engine/graph/passes/match.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "engine/graph/op_def.h"

namespace svengine {

bool is_op(const Node* node, std::string_view name) {
  // Passes ask this of every node: the first letters decide, where the name's length would be counted before.
  if (!node || std::strncmp(node->op().name, name.data(), name.size()) != 0 || node->op().name[name.size()] != '\0') return false;
  // Operators of programs, and ONNX Runtime's, may be called as ONNX's are and compute something else.
  constexpr std::string_view kMicrosoft[] = {"QuantizeLinear", "DequantizeLinear", "QLinearAdd", "QLinearMul"};
  const std::string_view domain = node->op().domain;
  return domain.empty() || domain == kInternalDomain ||
         (domain == kMicrosoftDomain && std::find(std::begin(kMicrosoft), std::end(kMicrosoft), name) != std::end(kMicrosoft));
}

Node* producer_if(const Value* value, std::string_view name) {
  return value && is_op(value->producer(), name) ? value->producer() : nullptr;
}

bool is_needed(const Graph& graph, const Value* value) { return value && (!value->users().empty() || graph.is_output(value)); }

bool is_random(const Node& node) {
  const std::vector<AttributeDef>& attributes = node.op().attributes;
  return std::any_of(attributes.begin(), attributes.end(), [](const AttributeDef& a) { return a.name == std::string_view("seed"); });
}

bool only_used_once(const Graph& graph, const Value* value) { return value->users().size() == 1 && !graph.is_output(value); }

Node* only_user_if(const Graph& graph, const Value* value, std::string_view name) {
  return only_used_once(graph, value) && is_op(value->users()[0], name) ? value->users()[0] : nullptr;
}

std::optional<float> scalar_constant(const Value* value) {
  if (!value || !value->is_constant() || value->type.dtype != DType::f32 || value->constant().count() != 1) return std::nullopt;
  float out;
  std::memcpy(&out, value->constant().raw(), sizeof out);
  return out;
}

bool is_scalar(const Value* value, double wanted) {
  const std::optional<float> c = scalar_constant(value);
  return c && std::abs(*c - wanted) <= 4e-7 * std::abs(wanted);
}

Value* other_input(const Node& node, const Value* value) {
  if (node.inputs().size() != 2 || node.input(0) == node.input(1)) return nullptr;
  return node.input(0) == value ? node.input(1) : node.input(1) == value ? node.input(0) : nullptr;
}

Value* operand_beside(const Node* node, double wanted) {
  if (!node || node->inputs().size() != 2) return nullptr;
  if (is_scalar(node->input(1), wanted)) return node->input(0);
  return is_scalar(node->input(0), wanted) ? node->input(1) : nullptr;
}

bool same_shape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.dims().size(); ++i)
    if (!a[i].same(b[i])) return false;
  return true;
}

bool same_rank(const Shape& a, const Shape& b) { return a.has_rank() && b.has_rank() && a.rank() == b.rank(); }

bool is_per_channel(const Tensor& constant, int64_t channels, int64_t rank) {
  if (constant.type() != DType::f32 || static_cast<int64_t>(constant.dims().size()) > rank) return false;
  if (constant.count() == 1) return true;
  const auto missing = static_cast<size_t>(rank) - constant.dims().size();
  for (size_t i = 0; i < constant.dims().size(); ++i)
    if (constant.dims()[i] != (i + missing == 1 ? channels : 1)) return false;
  return constant.count() == channels;
}

std::vector<double> as_doubles(const Tensor& tensor) {
  std::vector<double> out(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < out.size(); ++i) {
    float f;
    std::memcpy(&f, tensor.raw() + i * sizeof f, sizeof f);
    out[i] = f;
  }
  return out;
}

}  // namespace svengine
