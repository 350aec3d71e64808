#include "importers/onnx/export_node.h"

#include <span>

#include "engine/base/narrow_float.h"
#include <algorithm>
#include <string_view>

#include "engine/graph/bodies.h"
#include "engine/graph/op_def.h"
#include "engine/ops/tensor/resize_common.h"
#include "importers/onnx/export_body.h"
#include "importers/onnx/wire.h"

namespace svengine::onnx {
namespace {

using onnx_proto::AttributeProto;
using onnx_proto::NodeProto;

/// Reductions whose `axes` became input 1 in opset 18; ReduceSum's did in 13.
constexpr int kAxesInputSince = 18;
constexpr std::string_view kAxesInputs[] = {"ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",     "ReduceL1",
                                            "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};

/// Attributes that came after the oldest opset written here. With the value `otherwise` they say nothing and are left out.
struct YoungAttribute {
  std::string_view op, name;
  int since;
  int64_t default_value = INT64_MIN;
};
constexpr YoungAttribute kYoungAttributes[] = {
    {"AveragePool", "dilations", 19},     {"BatchNormalization", "training_mode", 14, 0},
    {"Cast", "saturate", 19, 1},          {"Reshape", "allowzero", 14, 0},
    {"Resize", "antialias", 18, 0},       {"Resize", "axes", 18},
    {"Resize", "keep_aspect_ratio_policy", 18}, {"ScatterElements", "reduction", 16},
    {"ScatterND", "reduction", 16},       {"Shape", "start", 15, 0},
    {"Shape", "end", 15},                 {"Split", "num_outputs", 18},
    {"GRU", "layout", 14, 0},             {"LSTM", "layout", 14, 0},
    {"RNN", "layout", 14, 0},             {"LpPool", "dilations", 18},
    {"LpPool", "ceil_mode", 18, 0},
    {"Cast", "round_mode", 24},           {"SpaceToDepth", "mode", 28},
    {"QuantizeLinear", "saturate", 19, 1}, {"QuantizeLinear", "block_size", 21, 0},
    {"QuantizeLinear", "output_dtype", 21, 0}, {"DequantizeLinear", "block_size", 21, 0},
    {"QuantizeLinear", "precision", 23, 0}, {"DequantizeLinear", "output_dtype", 23, 0},
    {"CastLike", "saturate", 19, 1},      {"CastLike", "round_mode", 24},
    {"Attention", "left_window_size", 25, -1}, {"Attention", "right_window_size", 25, -1},
    {"Range", "stash_type", 27, 1},
};

/// Values of attributes that came after it, or went before it: no opset has them.
constexpr int kNever = INT32_MAX;
struct YoungWord {
  std::string_view op, name, word;
  int since;
};
constexpr YoungWord kYoungWords[] = {
    {"Pad", "mode", "wrap", 19},
    {"Resize", "coordinate_transformation_mode", "half_pixel_symmetric", 19},
    {"Resize", "coordinate_transformation_mode", "tf_half_pixel_for_nn", kNever},
    {"ScatterElements", "reduction", "max", 18},
    {"ScatterElements", "reduction", "min", 18},
    {"ScatterND", "reduction", "max", 18},
    {"ScatterND", "reduction", "min", 18},
};

/// Values that had another name until an opset.
struct OldWord {
  std::string_view op, name, word;
  const char* old;
  int until;
};
constexpr OldWord kOldWords[] = {{"GridSample", "mode", "linear", "bilinear", 20}, {"GridSample", "mode", "cubic", "bicubic", 20}};

/// Inputs that came after it; absent ones say nothing.
struct YoungInput {
  std::string_view op;
  size_t slot;
  int since;
};
constexpr YoungInput kYoungInputs[] = {{"Pad", 3, 18}, {"Attention", 6, 24}};

/// What is said here is of ONNX's operators: others of the same name are written as they are.
std::string_view onnx_name(const Node& node) { return *node.op().domain ? std::string_view() : std::string_view(node.op().name); }


/// DFT's axis was an attribute, by default 1, before it was an input, by default -2.
constexpr int kDftAxisInputSince = 20;
bool has_dft_axis_attribute(const Node& node, int opset) { return onnx_name(node) == "DFT" && opset < kDftAxisInputSince; }

/// Before RoiAlign had a choice of coordinates it did as one that is not its default value now.
constexpr int kRoiAlignChoosesSince = 16;
bool roi_align_has_no_choice(const Node& node, int opset) { return onnx_name(node) == "RoiAlign" && opset < kRoiAlignChoosesSince; }

/// Element types that came after it, in whatever operator.
struct YoungType {
  DTypeSet types;
  int since;
};
constexpr YoungType kYoungTypes[] = {{{DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz}, 19},
                                     {{DType::i4, DType::u4}, 21},
                                     {{DType::f4e2m1}, 23},
                                     {{DType::f8e8m0}, 24},
                                     {{DType::i2, DType::u2}, 25}};

/// What the node reads and gives is of types, and in places, that the opset has.
Status check_age(const Node& node, int opset) {
  // The engine's has a scale and bias for every channel, as ONNX's since 21; before there was one for every group.
  if (onnx_name(node) == "GroupNormalization" && opset < 21)
    return error("scales every channel, which needs opset 21, not {}", opset);
  if (onnx_name(node) == "GridSample" && opset < 20 && node.input(0)->type.shape.has_rank() && node.input(0)->type.shape.rank() != 4)
    return error("X of rank {} needs opset 20, not {}", node.input(0)->type.shape.rank(), opset);
  if (roi_align_has_no_choice(node, opset) && node.attributes.get_string("coordinate_transformation_mode", "half_pixel") != "output_half_pixel")
    return error("samples between half pixels, which needs opset {}, not {}", kRoiAlignChoosesSince, opset);
  for (const YoungInput& young : kYoungInputs)
    if (young.op == onnx_name(node) && node.input(young.slot) && opset < young.since)
      return error("input {} needs opset {}, not {}", young.slot, young.since, opset);
  for (const auto* values : {&node.inputs(), &node.outputs()})
    for (const Value* v : *values)
      for (const YoungType& young : kYoungTypes)
        if (v && young.types.has(v->type.dtype) && opset < young.since)
          return error("'{}' is of type {}, which needs opset {}, not {}", v->name(), name_of(v->type.dtype), young.since, opset);
  return {};
}

/// Split says into how many parts since this opset.
constexpr int kNumOutputsSince = 18;

/// Operators of the engine that ONNX got later, by another name.
struct StandIn {
  std::string_view internal;
  const char* name;
  int since;
};
constexpr StandIn kStandIns[] = {{"Silu", "Swish", 24}};

const StandIn* stand_in_for(std::string_view internal, int opset) {
  for (const StandIn& s : kStandIns)
    if (s.internal == internal && opset >= s.since) return &s;
  return nullptr;
}

void set_int(NodeProto& node, const char* name, int64_t value) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
}

Status set_value(AttributeProto& to, const Attribute& value) {
  switch (kind_of(value)) {
    case AttributeKind::kInt:
      to.set_type(AttributeProto::INT);
      to.set_i(std::get<int64_t>(value));
      break;
    case AttributeKind::kFloat:
      to.set_type(AttributeProto::FLOAT);
      to.set_f(std::get<float>(value));
      break;
    case AttributeKind::kString:
      to.set_type(AttributeProto::STRING);
      to.set_s(std::get<std::string>(value));
      break;
    case AttributeKind::kInts:
      to.set_type(AttributeProto::INTS);
      for (int64_t v : std::get<std::vector<int64_t>>(value)) to.add_ints(v);
      break;
    case AttributeKind::kFloats:
      to.set_type(AttributeProto::FLOATS);
      for (float v : std::get<std::vector<float>>(value)) to.add_floats(v);
      break;
    case AttributeKind::kStrings:
      to.set_type(AttributeProto::STRINGS);
      for (const std::string& v : std::get<std::vector<std::string>>(value)) to.add_strings(v);
      break;
    case AttributeKind::kGraph: break;  // export_body()
    case AttributeKind::kTensor: {
      const auto& tensor = std::get<Tensor>(value);
      to.set_type(AttributeProto::TENSOR);
      *to.mutable_t() = export_tensor_header(tensor, {});
      std::string packed;
      const std::span<const std::byte> data = raw_data_of(tensor, packed);
      if (tensor.type() != DType::string) to.mutable_t()->set_raw_data(data.data(), data.size());
      break;
    }
  }
  return {};
}

/// The type of which the engine keeps a value (a tensor without elements, or a sequence or optional of one such).
void set_type(onnx_proto::TypeProto& to, const Tensor& example) {
  if (!is_container(example.type())) return to.mutable_tensor_type()->set_elem_type(static_cast<int32_t>(example.type()));
  const bool sequence = example.type() == DType::sequence;
  onnx_proto::TypeProto& element = *(sequence ? to.mutable_sequence_type()->mutable_elem_type() : to.mutable_optional_type()->mutable_elem_type());
  if (!example.items().empty()) set_type(element, example.items()[0]);
}

int axes_input_since(const Node& node) {
  const bool found = std::find(std::begin(kAxesInputs), std::end(kAxesInputs), onnx_name(node)) != std::end(kAxesInputs);
  return found ? kAxesInputSince : kOldestExport;
}

/// Attributes that the engine's operators have beside ONNX's: a loss' own smoothing, and Scan's of opset 8.
constexpr std::pair<std::string_view, std::string_view> kOwnAttributes[] = {
    {"NegativeLogLikelihoodLoss", "label_smoothing"}, {"SoftmaxCrossEntropyLoss", "label_smoothing"}, {"Scan", "directions"}};

bool says_nothing(const Attribute& value) {
  const float* real = std::get_if<float>(&value);
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  return (real && *real == 0) || (list && list->empty());
}

/// A younger attribute that changes nothing of what this node gives: dilations of 1, and what is done without axes where there are some.
bool changes_nothing(const Node& node, const std::string& name, const Attribute& value) {
  if (name == "noop_with_empty_axes") return node.input(1) && node.input(1)->is_constant() && node.input(1)->constant().count() > 0;
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  return list && name == "dilations" && std::all_of(list->begin(), list->end(), [](int64_t d) { return d == 1; });
}

/// False: leave it out.
Result<bool> is_written(const Node& node, const std::string& name, const Attribute& value, int opset) {
  const int64_t* number = std::get_if<int64_t>(&value);
  if (name == kCaptured && has_body(node)) return false;
  if (const std::string_view domain = node.op().domain; !domain.empty() && domain != kInternalDomain) return true;
  for (const auto& [op, own] : kOwnAttributes) {
    if (op != onnx_name(node) || own != name) continue;
    if (says_nothing(value)) return false;
    return error("attribute '{}' is not one of ONNX's in opsets from {} on", name, kOldestExport);
  }
  if (name == "coordinate_transformation_mode" && roi_align_has_no_choice(node, opset)) return false;
  if (name == "mask_type") return error("has a mask of the data's type, which opsets since 12 have not");  // of Dropout before
  if (const std::string* text = std::get_if<std::string>(&value); name == "nearest_mode" && text && *text == ops::kBeforeOpset11)
    return error("takes the nearest element as before opset 11, which opsets since have not");
  if (name == "batched") return error("scans a batch, as only opset 8 does");
  if (name == "coerced") {  // the engine's mark of Softmax as it was before opset 13
    if (number && *number != 0) return error("coerces its input to two dimensions, which opsets since 13 have not");
    return false;
  }
  const auto young_one = [&](int since, int64_t default_value) -> Result<bool> {
    if (opset >= since) return true;
    if ((number && *number == default_value) || changes_nothing(node, name, value)) return false;
    return error("attribute '{}' needs opset {}, not {}", name, since, opset);
  };
  if (name == "noop_with_empty_axes") return young_one(axes_input_since(node), 0);  // came with the axes input
  for (const YoungAttribute& young : kYoungAttributes)
    if (young.op == onnx_name(node) && young.name == name) return young_one(young.since, young.default_value);
  return true;
}

/// The value as the opset writes it.
Result<Attribute> in_words_of(int opset, const Node& node, const std::string& name, const Attribute& value) {
  const std::string* text = std::get_if<std::string>(&value);
  if (!text) return value;
  for (const YoungWord& young : kYoungWords) {
    if (young.op != onnx_name(node) || young.name != name || young.word != *text || opset >= young.since) continue;
    return young.since == kNever ? error("attribute '{}' is '{}', which opsets from {} on have not", name, *text, kOldestExport)
                                 : error("attribute '{}' is '{}', which needs opset {}, not {}", name, *text, young.since, opset);
  }
  for (const OldWord& old : kOldWords)
    if (old.op == onnx_name(node) && old.name == name && old.word == *text && opset < old.until) return Attribute(std::string(old.old));
  return value;
}

Status set_dft_axis(const Node& node, int opset, NodeProto& out) {
  const Value* axis = node.input(2);
  if (axis && !axis->is_constant()) return error("axis '{}' is computed, which needs opset {}, not {}", axis->name(), kDftAxisInputSince, opset);
  set_int(out, "axis", axis ? axis->constant().as_int64s().at(0) : -2);
  return {};
}

Status add_inputs(const Node& node, int opset, NodeProto& out) {
  const bool axes_as_attribute = opset < axes_input_since(node);
  size_t count = node.inputs().size() - static_cast<size_t>(node.attributes.get_int(kCaptured));  // names in the bodies, no inputs
  while (onnx_name(node) == "Optional" && count > 0 && !node.input(count - 1)) --count;  // to which an absent input is one without a type
  for (size_t i = 0; i < count; ++i) {
    const Value* value = node.input(i);
    if (i == 2 && has_dft_axis_attribute(node, opset)) continue;
    if (!axes_as_attribute || i != 1) {
      out.add_input(value ? value->name() : "");
      continue;
    }
    if (!value) continue;
    if (!value->is_constant())
      return error("axes '{}' are computed, which needs opset {}, not {}", value->name(), axes_input_since(node), opset);
    AttributeProto* axes = out.add_attribute();
    axes->set_name("axes");
    SV_TRY(set_value(*axes, Attribute(value->constant().as_int64s())));
  }
  return {};
}

/// What the body of a Loop or Scan gives and the node has not: ONNX wants a name for each output, but a Loop's condition.
void add_unread_outputs(const Node& node, const NameScope& scope, NodeProto& out) {
  const Subgraph* body = onnx_name(node) == "Loop" || onnx_name(node) == "Scan" ? node.attributes.get<Subgraph>("body") : nullptr;
  if (!body || !*body || !node.output()) return;
  const size_t condition = onnx_name(node) == "Loop" ? 1 : 0, given = std::max((*body)->outputs().size(), condition) - condition;
  for (size_t i = node.outputs().size(); i < given; ++i) {
    std::string name;
    for (size_t n = i; name.empty() || scope.has(name); ++n) name = fmt::format("{}.unread_{}", node.output()->name(), n);
    out.add_output(name);
  }
}

Result<NodeProto> convert(const Node& node, int opset, const NameScope& scope) {
  const std::string_view domain = node.op().domain;
  const StandIn* stands_in = domain == kInternalDomain ? stand_in_for(node.op().name, opset) : nullptr;
  if (domain == kInternalDomain && !stands_in) return error("is not an operator of ONNX, but of {}; export before optimising", domain);
  const int oldest = std::max(node.op().since, node.op().specified_since);
  if (domain.empty() && (opset < oldest || opset > node.op().until))
    return error("exists in opsets {} to {}, not in {}", oldest, node.op().until, opset);
  SV_TRY(check_age(node, opset));
  NodeProto out;
  if (!domain.empty() && !stands_in) out.set_domain(std::string(domain));
  out.set_name(node.name());
  out.set_op_type(stands_in ? stands_in->name : node.op().name);
  if (onnx_name(node) == "Split" && !node.input(1) && opset >= kNumOutputsSince && !node.attributes.has("num_outputs"))
    set_int(out, "num_outputs", static_cast<int64_t>(node.outputs().size()));
  SV_TRY(add_inputs(node, opset, out));
  if (has_dft_axis_attribute(node, opset)) SV_TRY(set_dft_axis(node, opset, out));
  for (const Value* v : node.outputs()) {
    if (v->type.block) return error("output '{}' is in a blocked layout; export before optimising", v->name());
    out.add_output(v->name());
  }
  add_unread_outputs(node, scope, out);
  for (const auto& [name, value] : node.attributes) {
    SV_ASSIGN(const bool written, is_written(node, name, value, opset));
    if (!written) continue;
    AttributeProto* attribute = out.add_attribute();
    attribute->set_name(name);
    if (const Subgraph* body = std::get_if<Subgraph>(&value)) {
      attribute->set_type(AttributeProto::GRAPH);
      Result<onnx_proto::GraphProto> graph = export_body(node, name, **body, opset, scope);
      if (!graph.ok()) return std::move(graph).error().in(name);
      *attribute->mutable_g() = std::move(graph).value();
      continue;
    }
    if (const Tensor* example = std::get_if<Tensor>(&value); example && name == "type" && onnx_name(node) == "Optional") {
      attribute->set_type(AttributeProto::TYPE_PROTO);
      set_type(*attribute->mutable_tp(), *example);
      continue;
    }
    SV_ASSIGN(const Attribute written_value, in_words_of(opset, node, name, value));
    SV_TRY(set_value(*attribute, written_value));
  }
  return out;
}

}  // namespace

onnx_proto::TensorProto export_tensor_header(DType type, const Dims& dims, const std::string& name) {
  onnx_proto::TensorProto out;
  if (!name.empty()) out.set_name(name);
  out.set_data_type(static_cast<int32_t>(type));
  for (int64_t d : dims) out.add_dims(d);
  return out;
}

onnx_proto::TensorProto export_tensor_header(const Tensor& tensor, const std::string& name) {
  onnx_proto::TensorProto out = export_tensor_header(tensor.type(), tensor.dims(), name);
  if (tensor.type() == DType::string)
    for (const std::string& value : tensor.strings()) out.add_string_data(value);
  return out;
}

std::span<const std::byte> raw_data_of(const Tensor& tensor, std::string& packed) {
  if (tensor.type() == DType::string) return {};
  const auto bits = static_cast<size_t>(packed_bits(tensor.type()));
  if (bits == 8) return {tensor.raw(), tensor.byte_size()};
  const size_t count = tensor.byte_size(), per_byte = 8 / bits;
  packed.assign((count + per_byte - 1) / per_byte, '\0');
  for (size_t i = 0; i < count; ++i) {
    const unsigned low = static_cast<unsigned>(tensor.raw()[i]) & ((1u << bits) - 1);
    packed[i / per_byte] = static_cast<char>(static_cast<unsigned char>(packed[i / per_byte]) | low << i % per_byte * bits);
  }
  return std::as_bytes(std::span<const char>(packed));
}

std::string raw_data_head(size_t bytes) {
  constexpr uint32_t kRawData = 9;
  std::string out;
  append_field_head(out, kRawData, bytes);
  return out;
}

std::string raw_data_head(const Tensor& tensor) {
  if (tensor.type() == DType::string) return {};
  const auto per_byte = static_cast<size_t>(8 / packed_bits(tensor.type()));
  return raw_data_head((tensor.byte_size() + per_byte - 1) / per_byte);
}

Result<NodeProto> export_node(const Node& node, int opset, const NameScope& scope) {
  Result<NodeProto> out = convert(node, opset, scope);
  if (!out.ok()) return std::move(out).error().in(describe(node));
  return out;
}

}  // namespace svengine::onnx
