#include "engine/graph/evaluate_context.h"

#include "engine/graph/op_def.h"

namespace svengine {
namespace {

/// The first type of a handle among the node's inputs and outputs; undefined: there is none.
DType handle_of(const Node& node) {
  for (const std::vector<Value*>* list : {&node.inputs(), &node.outputs()})
    for (const Value* v : *list)
      if (v && is_handle(v->type.dtype)) return v->type.dtype;
  return DType::undefined;
}

Status evaluate(EvaluateContext& context) {
  const OpDef& op = context.node().op();
  if (op.evaluate) return op.evaluate(context);
  if (!op.traits.is_identity || !op.traits.is_identity(context.node()))
    return unimplemented("cannot work on values of type {}", name_of(handle_of(context.node())));
  context.set(0, context.input(0));
  return {};
}

/// A result against what inference said of it.
Status check_output(const Value& value, const Tensor& tensor) {
  if (!tensor.defined()) return error("output '{}' was not computed", value.name());
  const Type& type = value.type;
  const auto differs = [&] {
    return error("output '{}' is {}[{}], but inference says {}", value.name(), name_of(tensor.type()), to_string(tensor.dims()),
                 to_string(type));
  };
  if (type.dtype != DType::undefined && type.dtype != tensor.type()) return differs();
  if (is_container(tensor.type()) || !type.shape.has_rank()) return {};
  if (type.shape.rank() != static_cast<int64_t>(tensor.dims().size())) return differs();
  for (size_t i = 0; i < tensor.dims().size(); ++i)
    if (type.shape[i].is_static() && type.shape[i].value() != tensor.dims()[i]) return differs();
  return {};
}

Result<std::vector<Tensor>> checked_outputs(EvaluateContext& context) {
  SV_TRY(evaluate(context));
  std::vector<Tensor> outputs = context.take_outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value* value = context.node().output(i);
    if (!value) continue;
    SV_TRY(check_output(*value, outputs[i]));
    if (outputs[i].is_aligned()) continue;
    SV_ASSIGN(outputs[i], outputs[i].aligned_copy());
  }
  return outputs;
}

}  // namespace

Status check_body_inputs(const Graph& body, std::string_view name, const std::vector<Tensor>& inputs) {
  if (inputs.size() != body.inputs().size()) return error("body '{}' has {} inputs, is given {}", name, body.inputs().size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = body.inputs()[i]->type;
    const Dims& dims = inputs[i].dims();
    bool fits = is_handle(type.dtype) || !type.shape.has_rank() || type.shape.dims().size() == dims.size();
    for (size_t d = 0; fits && type.shape.has_rank() && d < dims.size(); ++d)
      fits = !type.shape[d].is_static() || type.shape[d].value() == dims[d];
    if (!fits || inputs[i].type() != type.dtype)
      return error("input '{}' of body '{}' needs {}, got {}[{}]", body.inputs()[i]->name(), name, to_string(type), name_of(inputs[i].type()),
                   to_string(dims));
  }
  return {};
}

bool runs_on_host(const Node& node) {
  const OpDef& op = node.op();
  const bool planned = op.lower || op.traits.is_view;  // these have `evaluate` for strings only
  return (op.evaluate && !planned) || handle_of(node) != DType::undefined;
}

Result<std::vector<Tensor>> evaluate_on_host(EvaluateContext& context) {
  Result<std::vector<Tensor>> outputs = checked_outputs(context);
  if (!outputs.ok()) return std::move(outputs).error().in(describe(context.node()));
  return outputs;
}

}  // namespace svengine
