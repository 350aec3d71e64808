#include "tools/emit/context.h"

#include <algorithm>

namespace svengine::tool::emit {

std::string Constants::add(const Tensor& tensor) {
  const auto key = std::pair(static_cast<int>(tensor.type()), hash_of(std::span(tensor.raw(), tensor.byte_size())));
  const auto [it, fresh] = known_.emplace(key, tensors_.size());
  if (fresh) {
    tensors_.push_back(tensor);
    bytes_ += static_cast<int64_t>(tensor.byte_size());
  }
  return fmt::format("{}c{}", prefix_, it->second);
}

void Constants::write(std::string& text) const {
  constexpr int64_t kEachLine = 8;
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const Tensor& tensor = tensors_[t];
    const int64_t count = tensor.count();
    text += fmt::format("static const {} {}c{}[{}] = {{", c_type(tensor.type()), prefix_, t, std::max<int64_t>(count, 1));
    for (int64_t i = 0; i < count; ++i) {
      text += i == 0 ? "\n  " : i % kEachLine == 0 ? ",\n  " : ", ";
      text += c_element(tensor.type(), tensor.raw(), i);
    }
    text += count == 0 ? "0};\n" : "};\n";
  }
}

const Tensor* NodeContext::constant(size_t i) const {
  const Value* v = node_.input(i);
  return v && v->is_constant() ? &v->constant() : nullptr;
}

std::vector<int64_t> NodeContext::integers(size_t i) const {
  const Tensor* t = constant(i);
  return t ? t->as_int64s() : std::vector<int64_t>();
}

std::string NodeContext::parameter(Parameter parameter) {
  const auto same = [&](const Parameter& p) { return p.name == parameter.name; };
  if (std::none_of(parameters_.begin(), parameters_.end(), same)) parameters_.push_back(parameter);
  return parameter.name;
}

std::string NodeContext::in(size_t i) {
  if (const Tensor* known = constant(i))
    return parameter({.kind = Parameter::Kind::constant, .type = known->type(), .name = fmt::format("x{}", i),
                      .constant = shared_.constants.add(*known)});
  return parameter({.kind = Parameter::Kind::input, .type = in_type(i), .name = fmt::format("x{}", i), .index = i});
}

std::string NodeContext::out(size_t i) {
  return parameter({.kind = Parameter::Kind::output, .type = out_type(i), .name = fmt::format("y{}", i), .index = i});
}

std::string NodeContext::temporary(DType type, int64_t count) {
  const int64_t bytes = count * static_cast<int64_t>(size_of(type));
  return parameter({.kind = Parameter::Kind::temporary, .type = type, .name = fmt::format("t{}", temporaries_++), .bytes = bytes});
}

std::string NodeContext::array(const Tensor& constant) {
  return parameter({.kind = Parameter::Kind::constant, .type = constant.type(), .name = fmt::format("k{}", temporaries_++),
                    .constant = shared_.constants.add(constant)});
}

std::string NodeContext::element(size_t i, const std::string& index) {
  if (const Tensor* known = constant(i); known && known->count() == 1) return c_element(known->type(), known->raw(), 0);
  return fmt::format("{}[{}]", in(i), index);
}

}  // namespace svengine::tool::emit
