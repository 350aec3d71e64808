#include "engine/ops/custom_call.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "engine/ops/custom_operator.h"
#include "engine/ops/infer_util.h"

namespace svengine {
namespace {

constexpr int64_t kMostTasks = int64_t{1} << 48, kMostScratch = int64_t{1} << 40;
constexpr const char* kException = "an exception left the function; it must return a text";

const CustomOperator& custom_of(const Node& node) { return *node.op().custom; }

/// Entry i of a list whose last entry stands for all behind it.
template <class T>
T entry(const std::vector<T>& list, size_t i) {
  return list[std::min(i, list.size() - 1)];
}

svengine_attribute attribute_of(const svengine_attribute_rule& rule, const Attribute* value) {
  svengine_attribute out{};
  out.name = rule.name;
  out.kind = rule.kind;
  if (!value) return out;
  out.present = 1;
  if (const auto* integer = std::get_if<int64_t>(value)) out.integer = *integer;
  if (const auto* number = std::get_if<float>(value)) out.number = *number;
  if (const auto* text = std::get_if<std::string>(value)) out.text = text->c_str();
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) out.integers = list->data(), out.count = list->size();
  if (const auto* list = std::get_if<std::vector<float>>(value)) out.numbers = list->data(), out.count = list->size();
  return out;
}

Status check_input_types(InferContext& c) {
  if (c.input_count() + c.output_count() > SVENGINE_MOST_OPERANDS)
    return error("has {} inputs and outputs, of {} that operators of programs may have", c.input_count() + c.output_count(), SVENGINE_MOST_OPERANDS);
  const CustomOperator& custom = custom_of(c.node());
  DTypeSet allowed = kCustomOperandTypes;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!custom.input_types.empty()) allowed.bits = entry(custom.input_types, i);
    SV_TRY(ops::require_dtype(c, i, allowed));
  }
  return {};
}

/// Output i has the type of this input; it may be absent.
size_t typed_as(const CustomOperator& custom, size_t output) {
  return custom.output_types.empty() ? output : static_cast<size_t>(-1 - entry(custom.output_types, output));
}

/// The gradient of an input that is absent has no elements, and any type.
DType output_type(const InferContext& c, size_t output) {
  const CustomOperator& custom = custom_of(c.node());
  if (!custom.output_types.empty() && entry(custom.output_types, output) >= 0) return *dtype_from_number(entry(custom.output_types, output));
  const size_t input = typed_as(custom, output);
  return c.has_input(input) ? c.dtype(input) : DType::f32;
}

Status set_shapes(InferContext& c, const CustomCall& call) {
  const CustomOperator& custom = custom_of(c.node());
  std::vector<svengine_shape> shapes(c.output_count());
  const char* problem = nullptr;
  try {
    problem = custom.definition.shape(&call.call(), shapes.data());
  } catch (...) {
    problem = kException;
  }
  if (problem) return error("its shape function says: {}", problem);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const svengine_shape& shape = shapes[i];
    if (shape.rank < 0 || shape.rank > SVENGINE_MOST_DIMENSIONS)
      return error("its shape function gives output {} rank {}, of 0 to {}", i, shape.rank, SVENGINE_MOST_DIMENSIONS);
    std::vector<Dim> dims;
    for (int32_t d = 0; d < shape.rank; ++d) {
      SV_ASSIGN(Dim dim, call.size(shape.sizes[d]));
      dims.push_back(std::move(dim));
    }
    c.set(i, output_type(c, i), Shape(std::move(dims)));
  }
  return {};
}

/// What a function of shapes and attributes says, or what there is where the operator has no such function.
Result<int64_t> ask(int64_t (*function)(const svengine_call*), const char* what, const CustomCall& call, int64_t otherwise, int64_t most) {
  if (!function) return otherwise;
  int64_t number = -1;
  try {
    number = function(&call.call());
  } catch (...) {
    return error("`{}` of the registered operator: {}", what, kException);
  }
  if (number < 0 || number > most) return error("`{}` of the registered operator says {}, of 0 to {}", what, number, most);
  return number;
}

struct Bound {
  std::shared_ptr<const CustomCall> call;
  std::vector<Buffer> buffers;  // of the operands
  const char* (*compute)(const svengine_call*, int64_t, int64_t);

  const char* operator()(const Run& run, int64_t begin, int64_t end) const {
    std::array<svengine_operand, SVENGINE_MOST_OPERANDS> operands;
    std::copy(call->operands().begin(), call->operands().end(), operands.begin());
    for (size_t i = 0; i < buffers.size(); ++i) operands[i].data = run.get<void>(buffers[i]);
    svengine_call bound = call->call();
    bound.inputs = operands.data();
    bound.outputs = operands.data() + bound.input_count;
    bound.scratch = run.scratch<void>();
    try {
      return compute(&bound, begin, end);
    } catch (...) {
      return kException;
    }
  }
};

}  // namespace

CustomCall::CustomCall(const Node& node) : attributes_(node.attributes) {
  const CustomOperator& custom = custom_of(node);
  for (const svengine_attribute_rule& rule : custom.attributes) list_.push_back(attribute_of(rule, attributes_.find(rule.name)));
  shapes_.reserve(node.inputs().size() + node.outputs().size());
  for (const Value* v : node.inputs()) add(v);
  for (const Value* v : node.outputs()) add(v);
  call_.size = sizeof call_;
  call_.user = custom.definition.user;
  call_.attributes = list_.data();
  call_.attribute_count = list_.size();
  call_.inputs = operands_.data();
  call_.outputs = operands_.data() + node.inputs().size();
  call_.input_count = static_cast<int32_t>(node.inputs().size());
  call_.output_count = static_cast<int32_t>(node.outputs().size());
}

void CustomCall::add(const Value* value) {
  std::vector<int64_t>& shape = shapes_.emplace_back();
  if (value && value->type.shape.has_rank())
    for (const Dim& d : value->type.shape.dims()) shape.push_back(number_of(d));
  operands_.push_back(
      {value ? static_cast<svengine_type>(value->type.dtype) : SVENGINE_UNKNOWN, static_cast<int32_t>(shape.size()), shape.data(), nullptr});
}

int64_t CustomCall::number_of(const Dim& dim) {
  if (dim.is_static()) return dim.value();
  const auto known = std::find_if(unknown_.begin(), unknown_.end(), [&](const Dim& other) { return other.same(dim); });
  const int64_t k = known - unknown_.begin();
  if (known == unknown_.end()) unknown_.push_back(dim);
  return -1 - k;
}

Result<Dim> CustomCall::size(int64_t number) const {
  if (number >= 0) return Dim(number);
  if (-1 - number >= static_cast<int64_t>(unknown_.size()))
    return error("its shape function gives a size of {}, which is none and stands for none of the inputs' sizes", number);
  return unknown_[static_cast<size_t>(-1 - number)];
}

Status infer_custom(InferContext& c) {
  SV_TRY(check_input_types(c));
  const CustomOperator& custom = custom_of(c.node());
  const bool ranks_known =
      std::all_of(c.node().inputs().begin(), c.node().inputs().end(), [](const Value* v) { return !v || v->type.shape.has_rank(); });
  // The shape function is told the outputs' types.
  for (size_t i = 0; i < c.output_count(); ++i) {
    Shape shape;
    if (!custom.definition.shape) shape = c.has_input(i) ? c.shape(i) : Shape({Dim(0)});
    c.set(i, output_type(c, i), std::move(shape));
  }
  if (!custom.definition.shape || !ranks_known) return {};
  return set_shapes(c, CustomCall(c.node()));
}

Status lower_custom(LowerContext& c) {
  const CustomOperator& custom = custom_of(c.node());
  Bound bound{std::make_shared<const CustomCall>(c.node()), {}, custom.definition.compute};
  SV_ASSIGN(const int64_t tasks, ask(custom.definition.tasks, "tasks", *bound.call, 1, kMostTasks));
  SV_ASSIGN(const int64_t scratch, ask(custom.definition.scratch_bytes, "scratch_bytes", *bound.call, 0, kMostScratch));
  for (size_t i = 0; i < c.input_count(); ++i) bound.buffers.push_back(c.has_input(i) ? c.in(i) : Buffer());
  int64_t elements = 0;
  for (size_t i = 0; i < c.node().outputs().size(); ++i) {
    bound.buffers.push_back(c.has_output(i) ? c.out(i) : Buffer());
    if (c.has_output(i)) elements += element_count(c.out_dims(i));
  }
  if (elements == 0) return {};
  if (tasks == 0) return error("`tasks` of the registered operator says 0, but its outputs have {} elements", elements);
  c.emit(custom.name, tasks, std::move(bound), scratch);
  return {};
}

Status custom_gradient(GradientContext& c) {
  const CustomOperator& custom = custom_of(c.node());
  if (!find_custom_operator(custom.domain, custom.gradient))
    return error("its gradient is operator '{}' of '{}', which nobody has registered", custom.gradient, custom.domain);
  std::vector<Value*> inputs = c.node().inputs();
  const size_t outputs = c.node().outputs().size();
  for (size_t i = 0; i < outputs; ++i) inputs.push_back(c.output(i));
  for (size_t i = 0; i < outputs; ++i) inputs.push_back(c.output_gradient(i) ? c.output_gradient(i) : c.zeros_like(c.output(i)));
  const Node* gradients = c.builder().node(custom.domain, custom.gradient, std::move(inputs), c.node().inputs().size(), c.attributes());
  for (size_t i = 0; gradients && i < c.node().inputs().size(); ++i)
    if (c.wants(i)) c.set(i, gradients->output(i));
  return {};
}

}  // namespace svengine
