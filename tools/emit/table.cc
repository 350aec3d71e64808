#include "tools/emit/table.h"

#include <algorithm>

#include "tools/emit/formulas.h"

namespace svengine::tool::emit {
namespace {

constexpr const char* kInternal = kInternalDomain;

const char* refuse_indices(const Node& node) { return node.output(1) ? "with output Indices" : nullptr; }

const char* refuse_integer_power(const Node& node) {
  return kRealTypes.has(node.input(0)->type.dtype) ? nullptr : "of integers";
}

const char* refuse_training(const Node& node) { return node.attributes.get_int("training_mode") != 0 ? "in training mode" : nullptr; }

const char* refuse_interpolation(const Node& node) {
  const bool nearest = node.attributes.get_string("mode", "nearest") == "nearest";
  return nearest || kRealTypes.has(node.input(0)->type.dtype) ? nullptr : "of integers, with another mode than nearest";
}

std::vector<Emitter> unary_emitters() {
  std::vector<Emitter> out;
  for (const char* name : {"Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan",
                           "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Sigmoid", "Tanh",
                           "Gelu", "Swish", "Erf", "Softplus", "Elu", "ThresholdedRelu", "Selu", "Celu", "Softsign", "Mish", "Shrink"})
    out.push_back({"", name, kRealTypes, emit_unary});
  for (const char* name : {"Abs", "Neg", "Sign", "Relu"}) out.push_back({"", name, kNumberTypes, emit_unary});
  for (const char* name : {"IsNaN", "IsInf"}) out.push_back({"", name, kRealTypes | DTypeSet{DType::boolean}, emit_unary});
  out.push_back({"", "Not", {DType::boolean}, emit_unary});
  out.push_back({"", "BitwiseNot", kIndexTypes, emit_unary});
  out.push_back({kInternal, "Silu", kRealTypes, emit_unary});
  return out;
}

std::vector<Emitter> broadcasting_emitters() {
  std::vector<Emitter> out;
  for (const char* name : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "PRelu"}) out.push_back({"", name, kNumberTypes, emit_variadic});
  for (const char* name : {"Sum", "Mean"}) out.push_back({"", name, kRealTypes, emit_variadic});
  out.push_back({"", "Pow", kNumberTypes, emit_variadic, refuse_integer_power});
  for (const char* name : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
    out.push_back({"", name, kNumberTypes | DTypeSet{DType::boolean}, emit_variadic});
  for (const char* name : {"And", "Or", "Xor"}) out.push_back({"", name, {DType::boolean}, emit_variadic});
  out.push_back({"", "Where", kCTypes, emit_where});
  out.push_back({"", "Clip", kNumberTypes, emit_clip});
  out.push_back({"", "Cast", kCTypes, emit_cast});
  return out;
}

std::vector<Emitter> layer_emitters() {
  return {
      {"", "MatMul", kRealTypes, emit_product},
      {"", "Gemm", kRealTypes, emit_product},
      {kInternal, "FusedMatMul", kRealTypes, emit_product,
       [](const Node& node) { return node.output(1) ? "with sums" : nullptr; }},
      {kInternal, "NBitsMatMul", {DType::f32, DType::u8}, emit_n_bits_product},
      {"", "Conv", kRealTypes, emit_conv},
      {kInternal, "FusedConv", kRealTypes, emit_conv},
      {"", "ConvTranspose", kRealTypes, emit_conv_transpose},
      {"", "MaxPool", kRealTypes, emit_pool, refuse_indices},
      {"", "AveragePool", kRealTypes, emit_pool},
      {"", "Softmax", kRealTypes, emit_softmax},
      {"", "LogSoftmax", kRealTypes, emit_softmax},
      {"", "LayerNormalization", kRealTypes, emit_row_norm},
      {"", "RMSNormalization", kRealTypes, emit_row_norm},
      {"", "InstanceNormalization", kRealTypes, emit_group_norm},
      {"", "GroupNormalization", kRealTypes, emit_group_norm},
      {"", "BatchNormalization", kRealTypes, emit_batch_norm, refuse_training},
      {"", "GlobalAveragePool", kRealTypes, emit_reduce},
      {"", "GlobalMaxPool", kRealTypes, emit_reduce},
      {"", "RNN", kRealTypes | DTypeSet{DType::i32}, emit_recurrent},
      {"", "GRU", kRealTypes | DTypeSet{DType::i32}, emit_recurrent},
      {"", "LSTM", kRealTypes | DTypeSet{DType::i32}, emit_recurrent},
      {"", "ArgMax", kNumberTypes, emit_arg_reduce},
      {"", "ArgMin", kNumberTypes, emit_arg_reduce},
  };
}

std::vector<Emitter> reduction_emitters() {
  std::vector<Emitter> out;
  for (const char* name : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"}) out.push_back({"", name, kNumberTypes, emit_reduce});
  for (const char* name : {"ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"})
    out.push_back({"", name, kRealTypes, emit_reduce});
  return out;
}

std::vector<Emitter> movement_emitters() {
  return {
      {"", "Concat", kCTypes, emit_concat},
      {"", "Split", kCTypes, emit_split},
      {"", "Slice", kCTypes, emit_slice},
      {"", "Transpose", kCTypes, emit_transpose},
      {"", "Expand", kCTypes, emit_expand},
      {"", "Tile", kCTypes, emit_tile_op},
      {"", "DepthToSpace", kCTypes, emit_depth_to_space},
      {"", "SpaceToDepth", kCTypes, emit_space_to_depth},
      {"", "Pad", kCTypes, emit_pad},
      {"", "Resize", kCTypes, emit_resize, refuse_interpolation},
      {"", "Gather", kCTypes, emit_gather},
      {"", "GatherElements", kCTypes, emit_gather_elements},
  };
}

std::vector<Emitter> all_emitters() {
  std::vector<Emitter> out;
  for (const auto& family : {unary_emitters(), broadcasting_emitters(), layer_emitters(), reduction_emitters(), movement_emitters()})
    out.insert(out.end(), family.begin(), family.end());
  for (const char* name : {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}) out.push_back({"", name, kCTypes, nullptr});
  return out;
}

}  // namespace

const std::vector<Emitter>& emitters() {
  static const std::vector<Emitter> all = all_emitters();
  return all;
}

const Emitter* find_emitter(const OpDef& op) {
  for (const Emitter& e : emitters())
    if (e.op == std::string_view(op.name) && e.domain == std::string_view(op.domain)) return &e;
  return nullptr;
}

std::string refusal(const Node& node) {
  const OpDef& op = node.op();
  const std::string_view domain = op.domain;
  const std::string name = fmt::format("{}{}{}", domain, domain.empty() ? "" : ".", op.name);
  const Emitter* emitter = find_emitter(op);
  if (!emitter) return name;
  if (const char* reason = emitter->refuse ? emitter->refuse(node) : nullptr) return fmt::format("{} {}", name, reason);
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.inputs()[i];
    if (!v || op.traits.shape_inputs.has(i)) continue;
    if (!emitter->types.has(v->type.dtype)) return fmt::format("{} of {}", name, name_of(v->type.dtype));
  }
  for (const Value* v : node.outputs())
    if (v && !emitter->types.has(v->type.dtype)) return fmt::format("{} of {}", name, name_of(v->type.dtype));
  return "";
}

}  // namespace svengine::tool::emit
