#include <algorithm>
#include <cctype>

#include "engine/ops/infer_util.h"
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {
namespace {

using kernels::RecurrentActivation;
using kernels::RecurrentCell;
using kernels::RecurrentFunction;

struct FunctionRow {
  const char* name;
  RecurrentFunction function;
  int parameters;  // how many of alpha and beta it takes from the node's lists
  float alpha, beta;
};

// Defaults of ONNX's operators of these names.
constexpr FunctionRow kFunctions[] = {
    {"sigmoid", RecurrentFunction::kSigmoid, 0, 0, 0},
    {"tanh", RecurrentFunction::kTanh, 0, 0, 0},
    {"relu", RecurrentFunction::kRelu, 0, 0, 0},
    {"affine", RecurrentFunction::kAffine, 2, 1, 0},
    {"leakyrelu", RecurrentFunction::kLeakyRelu, 1, 0.01f, 0},
    {"thresholdedrelu", RecurrentFunction::kThresholdedRelu, 1, 1, 0},
    {"scaledtanh", RecurrentFunction::kScaledTanh, 2, 1, 1},
    {"hardsigmoid", RecurrentFunction::kHardSigmoid, 2, 0.2f, 0.5f},
    {"elu", RecurrentFunction::kElu, 1, 1, 0},
    {"softsign", RecurrentFunction::kSoftsign, 0, 0, 0},
    {"softplus", RecurrentFunction::kSoftplus, 0, 0, 0},
};

Result<FunctionRow> function_of(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  for (const FunctionRow& row : kFunctions)
    if (lower == row.name) return row;
  return error(
      "activation '{}' is none of Sigmoid, Tanh, Relu, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, "
      "Softsign and Softplus",
      name);
}

Status check_activation_count(size_t names, size_t each, int64_t directions) {
  const size_t wanted = each * static_cast<size_t>(directions);
  if (names == wanted) return {};
  return error("activations has {} names, needs {}: {} for each of {} directions", names, wanted, each, directions);
}

RecurrentCell cell_of(const Node& node) {
  const std::string name = node.attributes.get_string("cell", node.op().name);  // "cell": of svengine.RecurrentGrad
  if (name.starts_with("LSTM")) return RecurrentCell::kLstm;
  if (name.starts_with("RNN")) return RecurrentCell::kRnn;
  return node.attributes.get_int("linear_before_reset") != 0 ? RecurrentCell::kGruResetAfter : RecurrentCell::kGru;
}

int functions_of(RecurrentCell cell) { return cell == RecurrentCell::kRnn ? 1 : cell == RecurrentCell::kLstm ? 3 : 2; }

/// Takes the next of a list for a function with that parameter.
float next_of(const std::vector<float>& list, size_t& at, float otherwise) { return at < list.size() ? list[at++] : otherwise; }

Status set_activations(const Attributes& attributes, RecurrentOptions& o) {
  const size_t each = static_cast<size_t>(functions_of(o.cell)), wanted = each * static_cast<size_t>(o.directions);
  std::vector<std::string> names;
  if (const auto* given = attributes.get<std::vector<std::string>>("activations")) names = *given;
  if (names.empty())
    for (size_t i = 0; i < wanted; ++i) names.push_back(i % each == 0 && o.cell != RecurrentCell::kRnn ? "Sigmoid" : "Tanh");
  SV_TRY(check_activation_count(names.size(), each, o.directions));
  std::vector<float> alphas, betas;
  if (const auto* given = attributes.get<std::vector<float>>("activation_alpha")) alphas = *given;
  if (const auto* given = attributes.get<std::vector<float>>("activation_beta")) betas = *given;
  size_t alpha = 0, beta = 0;
  for (size_t i = 0; i < wanted; ++i) {
    SV_ASSIGN(const FunctionRow row, function_of(names[i]));
    RecurrentActivation& a = o.activation[i / each][i % each];
    a = {row.function, row.alpha, row.beta};
    if (row.parameters > 0) a.alpha = next_of(alphas, alpha, row.alpha);
    if (row.parameters > 1) a.beta = next_of(betas, beta, row.beta);
    const bool sigmoid = i % each == 0 && o.cell != RecurrentCell::kRnn;
    if (a.function != (sigmoid ? RecurrentFunction::kSigmoid : RecurrentFunction::kTanh)) o.usual_activations = false;
  }
  return {};
}

}  // namespace

Result<int64_t> recurrent_directions(const Attributes& attributes) {
  const std::string direction = attributes.get_string("direction", "forward");
  if (direction == "bidirectional") return 2;
  if (direction == "forward" || direction == "reverse") return 1;
  return error("direction '{}' is none of forward, reverse and bidirectional", direction);
}

Result<RecurrentOptions> recurrent_options(const Node& node) {
  const Attributes& attributes = node.attributes;
  RecurrentOptions o;
  o.cell = cell_of(node);
  SV_ASSIGN(o.directions, recurrent_directions(attributes));
  o.reverse[0] = attributes.get_string("direction", "forward") == "reverse";
  o.reverse[1] = true;
  o.clip = attributes.get_float("clip", 0.0f);
  if (attributes.has("clip") && !(o.clip >= 0)) return error("clip is {}, must not be negative", o.clip);
  o.input_forget = attributes.get_int("input_forget") != 0;
  const int64_t layout = attributes.get_int("layout");
  if (layout != 0 && layout != 1) return error("layout is {}, must be 0 (steps first) or 1 (batch first)", layout);
  o.batch_first = layout == 1;
  SV_TRY(set_activations(attributes, o));
  return o;
}

Result<Attributes> lstm_attributes_of(const Attributes& attributes, int64_t direction) {
  constexpr size_t kEach = 3;
  Attributes own = attributes;
  own.erase("direction");
  const auto* names = attributes.get<std::vector<std::string>>("activations");
  if (!names || names->empty()) return own;
  SV_ASSIGN(const int64_t directions, recurrent_directions(attributes));
  SV_TRY(check_activation_count(names->size(), kEach, directions));
  size_t alphas[3] = {}, betas[3] = {};  // [d + 1]: how many of either list the activations up to direction d take
  for (size_t i = 0; i < names->size(); ++i) {
    SV_ASSIGN(const FunctionRow row, function_of((*names)[i]));
    for (size_t d = i / kEach + 1; d < 3; ++d) alphas[d] += row.parameters > 0, betas[d] += row.parameters > 1;
  }
  const auto d = static_cast<size_t>(direction);
  const auto part = [&](const char* list, const size_t (&ends)[3]) {
    const auto* all = attributes.get<std::vector<float>>(list);
    if (!all) return;
    const size_t begin = std::min(ends[d], all->size()), end = std::min(ends[d + 1], all->size());
    own.set(list, std::vector<float>(all->begin() + static_cast<std::ptrdiff_t>(begin), all->begin() + static_cast<std::ptrdiff_t>(end)));
  };
  part("activation_alpha", alphas), part("activation_beta", betas);
  const auto first = names->begin() + static_cast<std::ptrdiff_t>(d * kEach);
  own.set("activations", std::vector<std::string>(first, first + kEach));
  return own;
}

RecurrentSizes recurrent_sizes(const Node& node, const RecurrentOptions& options) {
  const Dims x = *node.input(0)->type.shape.concrete(), r = *node.input(2)->type.shape.concrete();
  return {x[options.batch_first ? 1 : 0], x[options.batch_first ? 0 : 1], x[2], options.directions, r[2]};
}

kernels::RecurrentStride recurrent_y_stride(const RecurrentSizes& z, bool batch_first) {
  if (batch_first) return {z.directions * z.hidden, z.steps * z.directions * z.hidden, z.hidden};
  return {z.directions * z.batch * z.hidden, z.hidden, z.batch * z.hidden};
}

kernels::RecurrentStride recurrent_state_stride(const RecurrentSizes& z, bool batch_first) {
  if (batch_first) return {0, z.directions * z.hidden, z.hidden};
  return {0, z.hidden, z.batch * z.hidden};
}

}  // namespace svengine::ops
