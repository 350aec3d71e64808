#include "importers/onnx/refused_types.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/graph/type_parameter.h"

namespace svengine::onnx {
namespace {

constexpr size_t kMostOperatorsShown = 12;

}  // namespace

bool RefusedTypes::add(const Node& node, const std::string& op, const Error& problem) {
  bool any = false;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    const TypeParameter* parameter = v ? type_parameter_of(node.op(), i) : nullptr;
    if (!parameter || v->type.dtype == DType::undefined || parameter->types.has(v->type.dtype)) continue;
    any = true;
    std::vector<std::string>& names = operators_[v->type.dtype];
    if (std::find(names.begin(), names.end(), op) == names.end()) names.push_back(op);
  }
  if (any && first_.empty()) first_ = problem.message();
  return any;
}

Error RefusedTypes::error() const {
  if (operators_.size() == 1 && operators_.begin()->second.size() == 1) return unimplemented("{}", first_);
  std::string out;
  for (const auto& [type, names] : operators_) {
    const size_t shown = std::min(names.size(), kMostOperatorsShown);
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", name_of(type),
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
  }
  return unimplemented("not supported: {}. First: {}", out, first_);
}

}  // namespace svengine::onnx
