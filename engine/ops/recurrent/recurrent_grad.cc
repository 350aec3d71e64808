// svengine.RecurrentGrad: the gradients of RNN, GRU and LSTM. Inputs: those of Y, Y_h and Y_c (absent: zero), the node's X, W, R,
// sequence_lens, initial_h, initial_c and P, and its Y, gates and cells. Outputs: of X, W, R, B, initial_h, and, of LSTM,
// initial_c and P. Attributes are the node's; "cell" is its operator, "input_gradient" 0 where X wants none.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/recurrent/recurrent_grad_common.h"

namespace svengine::ops {
namespace {

using kernels::RecurrentCell;


Status check_grad_shape(const InferContext& c, size_t input, const std::vector<Dim>& wanted) {
  if (!c.has_input(input)) return {};
  SV_TRY(require_dtype(c, input, {input == kGradLengths ? DType::i32 : c.dtype(kGradX)}));
  SV_TRY(require_rank(c, input, static_cast<int64_t>(wanted.size())));
  for (size_t i = 0; c.shape(input).has_rank() && i < wanted.size(); ++i)
    if (known_different(c.shape(input)[i], wanted[i]))
      return error("{} of shape {}, needs {}", c.described(input), to_string(c.shape(input)), to_string(Shape(wanted)));
  return {};
}

Dim multiple(int64_t factor, const Dim& d) { return d.is_static() ? Dim(factor * d.value()) : Dim(); }

Status check_grad_shapes(const InferContext& c, const RecurrentOptions& o, const Shape& x, const Dim& hidden) {
  const Dim steps = x[o.batch_first ? 1 : 0], batch = x[o.batch_first ? 0 : 1], directions(o.directions);
  const Dim width = multiple(kernels::gates_of(o.cell), hidden);
  const std::vector<Dim> state =
      o.batch_first ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden};
  const std::vector<Dim> all =
      o.batch_first ? std::vector<Dim>{batch, steps, directions, hidden} : std::vector<Dim>{steps, directions, batch, hidden};
  for (const size_t i : {kGradDy, kGradY}) SV_TRY(check_grad_shape(c, i, all));
  for (const size_t i : {kGradDyH, kGradDyC, kGradH, kGradC}) SV_TRY(check_grad_shape(c, i, state));
  SV_TRY(check_grad_shape(c, kGradW, {directions, width, x[2]}));
  SV_TRY(check_grad_shape(c, kGradR, {directions, width, hidden}));
  SV_TRY(check_grad_shape(c, kGradLengths, {batch}));
  SV_TRY(check_grad_shape(c, kGradP, {directions, multiple(3, hidden)}));
  SV_TRY(check_grad_shape(c, kGradGates, {steps, batch, directions, multiple(kernels::kept_gates_of(o.cell), hidden)}));
  return check_grad_shape(c, kGradCells, {steps, batch, directions, hidden});
}

Status infer_recurrent_grad(InferContext& c) {
  SV_ASSIGN(const RecurrentOptions o, recurrent_options(c.node()));
  if (o.cell != RecurrentCell::kRnn && !c.has_input(kGradGates)) return error("gates are absent");
  if (o.cell == RecurrentCell::kLstm && !c.has_input(kGradCells)) return error("cells are absent");
  const size_t outputs = o.cell == RecurrentCell::kLstm ? 7 : 5;
  if (c.output_count() != outputs) return error("has {} outputs, needs {}", c.output_count(), outputs);
  SV_TRY(require_dtype(c, kGradX, {DType::f32, DType::f64}));
  SV_TRY(require_rank(c, kGradX, 3));
  SV_TRY(require_rank(c, kGradR, 3));
  const Shape &x = c.shape(kGradX), &r = c.shape(kGradR);
  const Dim hidden = r.has_rank() ? r[2] : Dim(), width = multiple(kernels::gates_of(o.cell), hidden), directions(o.directions);
  SV_TRY(check_grad_shapes(c, o, x.has_rank() ? x : unknown_dims(3), hidden));
  const Dim batch = x.has_rank() ? x[o.batch_first ? 0 : 1] : Dim();
  const Shape state(o.batch_first ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden});
  for (size_t i = 0; i < 3; ++i) c.set(i, c.type(kGradX + i));
  c.set(3, c.dtype(kGradX), Shape(std::vector<Dim>{directions, multiple(2, width)}));
  for (const size_t i : {size_t{4}, size_t{5}}) c.set(i, c.dtype(kGradX), state);
  c.set(6, c.dtype(kGradX), Shape(std::vector<Dim>{directions, multiple(3, hidden)}));
  return {};
}

Cost recurrent_grad_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  for (const Value* v : node.outputs())
    if (v) cost.bytes += stored_bytes(v->type);
  const Shape& x = node.input(kGradX)->type.shape;
  const double rows = x.is_static() ? static_cast<double>(x[0].value() * x[1].value()) : 1;
  cost.flops = rows * (stored_bytes(node.input(kGradW)->type) + stored_bytes(node.input(kGradR)->type));  // 4 operations a weight
  return cost;
}

}  // namespace

Status recurrent_gradient(GradientContext& c) {
  SV_ASSIGN(const RecurrentOptions o, recurrent_options(c.node()));
  if (!o.usual_activations || o.clip > 0 || o.input_forget)
    return error("only the default activations, without clip and input_forget, have a gradient");
  const bool lstm = o.cell == RecurrentCell::kLstm;
  const size_t kept = lstm ? 3 : 2;
  for (size_t i = kept; i < c.node().outputs().size(); ++i)
    if (c.output_gradient(i)) return error("output {} is used; only Y, Y_h and Y_c have gradients", i);
  if (!c.output(0)) return error("output Y is left out; name it, for the gradient is computed from it");
  Value* gates = o.cell == RecurrentCell::kRnn ? nullptr : c.output(kept);
  Value* cells = lstm ? c.output(kept + 1) : nullptr;
  Attributes attributes = c.attributes();
  attributes.set("cell", std::string(c.node().op().name));
  attributes.set("input_gradient", int64_t{c.wants(0)});
  const Node* grad =
      c.builder().node(kInternalDomain, "RecurrentGrad",
                       {c.output_gradient(0), c.output_gradient(1), lstm ? c.output_gradient(2) : nullptr, c.input(0), c.input(1),
                        c.input(2), c.input(4), c.input(5), c.input(6), c.input(7), c.output(0), gates, cells},
                       lstm ? 7 : 5, std::move(attributes));
  if (!grad) return {};
  for (size_t i = 0; i < 4; ++i)
    if (c.wants(i)) c.set(i, grad->output(i));
  for (size_t i = 5; i < 8; ++i)
    if (c.wants(i)) c.set(i, grad->output(i - 1));
  return {};
}

OpDef define_recurrent_grad() {
  OpDef op = recurrent_op("RecurrentGrad", 4);
  op.domain = kInternalDomain;
  // Gates and cells are required too, where the cell has them: infer looks.
  op.inputs = "dY?, dY_h?, dY_c?, X, W, R, sequence_lens?, initial_h?, initial_c?, P?, Y, gates?, cells?";
  op.outputs = {5, 7};
  for (const char* name : {"linear_before_reset", "input_forget"}) op.attributes.push_back({name, AttributeKind::kInt});
  op.attributes.push_back({"cell", AttributeKind::kString, true});
  op.attributes.push_back({"input_gradient", AttributeKind::kInt, false, 1});
  op.canonicalize = nullptr;
  op.gradient = nullptr;
  op.infer = infer_recurrent_grad;
  op.lower = lower_recurrent_grad;
  op.check_values = nullptr;
  op.cost = recurrent_grad_cost;
  op.samples = "(float32[4, 1, 2, 5], float32[1, 2, 5], float32[1, 2, 5], float32[4, 2, 3], float32[1, 20, 3], float32[1, 20, 5], "
               "int32[2]{4, 2}, float32[1, 2, 5], float32[1, 2, 5], float32[1, 15], float32[4, 1, 2, 5] -1 to 1, "
               R"(float32[4, 2, 1, 20] 0 to 1, float32[4, 2, 1, 5]) {cell = "LSTM"} 7)"
               "(float64[3, 1, 2, 2], float64[1, 2, 2], float64[1, 2, 2], float64[3, 2, 3], float64[1, 8, 3], float64[1, 8, 2], "
               "int32[2]{1, 3}, float64[1, 2, 2], float64[1, 2, 2], float64[1, 6], float64[3, 1, 2, 2], float64[3, 2, 1, 8] 0 to 1, "
               R"(float64[3, 2, 1, 2]) {cell = "LSTM"} 7)";
  return op;
}

}  // namespace svengine::ops
