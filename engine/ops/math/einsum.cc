// Einsum: sums of products over named dimensions.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/math/einsum_common.h"

namespace svengine::ops {
namespace {

Result<EinsumEquation> equation_of(const Node& node) {
  std::vector<int64_t> ranks;
  for (const Value* v : node.inputs()) ranks.push_back(v ? v->type.shape.rank() : -1);
  return einsum_equation(node.attributes.get_string("equation"), ranks);
}

Status infer_einsum(InferContext& c) {
  bool ranks = true;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.input_count(); ++i) {
    SV_TRY(require_dtype(c, i, kNumericTypes | DTypeSet{DType::bf16}));
    shapes.push_back(c.shape(i));
    ranks = ranks && shapes.back().has_rank();
  }
  SV_TRY(require_same_dtypes(c));
  const bool dots = c.attributes().get_string("equation").find('.') != std::string::npos;
  if (!ranks && dots) return c.set(0, c.dtype(0), Shape()), Status();
  SV_ASSIGN(const EinsumEquation equation, equation_of(c.node()));
  for (const auto& term : equation.terms)  // labels that are only summed must agree, too
    for (const int label : term) SV_TRY(einsum_size(equation, shapes, label));
  std::vector<Dim> dims;
  for (const int label : equation.output) {
    SV_ASSIGN(Dim d, einsum_size(equation, shapes, label));
    dims.push_back(ranks ? std::move(d) : d.is_static() && d.value() > 1 ? std::move(d) : Dim());
  }
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

/// 1 where two places along a label are the same one, of the type of `like`.
Result<Value*> einsum_identity(GradientContext& c, const EinsumEquation& equation, int label, const Value* like) {
  std::vector<Shape> shapes;
  for (const Value* v : c.node().inputs()) shapes.push_back(v->type.shape);
  SV_ASSIGN(const Dim size, einsum_size(equation, shapes, label));
  if (!size.is_static() || size.value() > 1 << 14)
    return unimplemented("the gradient of a diagonal needs its size, known and at most {}; it is {}", 1 << 14, to_string(Shape{size}));
  const int64_t n = size.value();
  SV_ASSIGN(MutableTensor table, Tensor::allocate(DType::f32, {n, n}));
  std::fill(table.data<float>().begin(), table.data<float>().end(), 0.0f);
  for (int64_t i = 0; i < n; ++i) table.data<float>()[static_cast<size_t>(i * n + i)] = 1;
  Value* identity = c.builder().constant(std::move(table));
  if (like->type.dtype == DType::f32) return identity;
  return c.op("Cast", {identity}, make_attributes({{"to", static_cast<int64_t>(like->type.dtype)}}));
}

/// The gradient of operand i: dy times the others, over the labels of i. Those that nothing else has come from ones. A label that
/// is there again has a letter of its own there, and an identity between the two: only diagonals were read.
Status set_einsum_gradient(GradientContext& c, const EinsumEquation& equation, EinsumLetters& letters, size_t i) {
  const std::vector<int>& own = equation.terms[i];
  std::vector<Value*> operands{c.dy()};
  std::vector<int> seen = equation.output;
  SV_ASSIGN(std::string text, letters.term(equation.output));
  for (size_t k = 0; k < equation.terms.size(); ++k) {
    if (k == i) continue;
    SV_ASSIGN(const std::string term, letters.term(equation.terms[k]));
    text += "," + term;
    operands.push_back(c.input(k));
    seen.insert(seen.end(), equation.terms[k].begin(), equation.terms[k].end());
  }
  bool missing = false;
  for (const int label : own) missing = missing || std::count(seen.begin(), seen.end(), label) == 0;
  SV_ASSIGN(std::string to, letters.term(own));
  if (missing) {
    text += "," + to;
    operands.push_back(filled_like(c.builder(), c.input(i), 1));
  }
  for (size_t k = 0; k < own.size(); ++k) {
    if (std::find(own.begin(), own.begin() + static_cast<int64_t>(k), own[k]) == own.begin() + static_cast<int64_t>(k)) continue;
    SV_ASSIGN(const char again, letters.unused());
    SV_ASSIGN(Value * identity, einsum_identity(c, equation, own[k], c.input(i)));
    text += std::string(",") + to[k] + again;
    operands.push_back(identity);
    to[k] = again;
  }
  Value* g = c.op("Einsum", std::move(operands), make_attributes({{"equation", text + "->" + to}}));
  c.set(i, c.sum_to(g, c.input(i)));  // dimensions of 1 that were repeated
  return {};
}

Status einsum_gradient(GradientContext& c) {
  SV_ASSIGN(const EinsumEquation equation, equation_of(c.node()));
  EinsumLetters letters(equation);
  for (size_t i = 0; i < equation.terms.size(); ++i)
    if (c.wants(i)) SV_TRY(set_einsum_gradient(c, equation, letters, i));
  return {};
}

Cost einsum_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  const Result<EinsumEquation> equation = equation_of(node);
  if (!equation.ok()) return cost;
  std::vector<Shape> shapes;
  std::vector<int> labels;
  for (const Value* v : node.inputs()) shapes.push_back(v->type.shape);
  for (const auto& term : equation->terms) labels.insert(labels.end(), term.begin(), term.end());
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  cost.flops = 2;
  for (const int label : labels)
    if (const Result<Dim> d = einsum_size(*equation, shapes, label); d.ok() && d->is_static())
      cost.flops *= static_cast<double>(d->value());
  return cost;
}

}  // namespace

OpDef define_einsum() {
  return {
      .name = "Einsum",
      .since = 12,
      .inputs = "Inputs...",
      .attributes = {{"equation", AttributeKind::kString, true}},
      .infer = infer_einsum,
      .lower = lower_einsum,
      .cost = einsum_cost,
      .gradient = einsum_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[5, 17], float32[17, 9]) {equation = "ij,jk->ik"})"
                 R"((float32[2, 7, 3, 11], float32[2, 6, 3, 11]) {equation = "bqhd,bkhd->bhqk"})"
                 R"((float32[2, 3, 7, 6], float32[2, 6, 3, 11]) {equation = "bhqk, bkhd -> bqhd"})"
                 R"((float32[4, 5, 6], float32[5, 3], float32[6, 7, 3]) {equation = "abc,bd,ced->ea"})"
                 R"((float32[3, 1, 5, 19], float32[4, 19, 8]) {equation = "...ij,...jk"})"
                 R"((float32[6, 7]) {equation = "ij->"})"
                 R"((float32[2, 7, 3, 11]) {equation = "bchw->bhwc"})"
                 R"((float32[3, 5, 17]) {equation = "bij->bj"})"
                 R"((float32[3, 5, 7, 2]) {equation = "abcd->ca"})"
                 R"((uint32[3, 5, 4] 0 to 9) {equation = "abc->ca"})"
                 R"((float32[3, 9], float32[3, 20]) {equation = "bi,bj->bij"})"
                 R"((float32[3, 9], float32[20, 9]) {equation = "ba,ca->abc"})"
                 R"((float32[2, 9, 5], float32[2, 5, 6]) {equation = "bld,bdn->bldn"})"
                 R"((float32[3, 4, 7, 1], float32[1, 12]) {equation = "...a,ab->...b"})"
                 R"((float32[1, 3, 7, 19], float32[1, 19, 3, 8]) {equation = "acbe,aecd->abcd"})"
                 R"((float32[2, 7, 19], float32[2, 19, 8]) {equation = "bme,ben->nbm"})"
                 R"((int32[2, 9, 8] -9 to 9, int32[2, 8, 7] -9 to 9) {equation = "bij,bjk->bik"})"
                 R"((float32[5], float32[8]) {equation = "i,j->ji"})"
                 R"((float32[4, 6, 6]) {equation = "bii->ib"})"
                 R"((float32[5, 5, 5], float32[5, 3]) {equation = "iii,ij->j"})"
                 R"((float32[2, 4, 4]) {equation = "...ii->"})"
                 R"((float64[4, 6, 6]) {equation = "bii->ib"})"
                 R"((float64[2, 19, 30], float64[2, 11, 30]) {equation = "bik,bjk->bij"})"
                 R"((float32[6, 90], float32[6, 90]) {equation = "bk,bk->b"})"
                 R"((int32[3, 8] -9 to 9, int32[8] -9 to 9) {equation = "ij,j"})"
                 R"((uint8[3, 4] 0 to 9, uint8[4, 2] 0 to 9) {equation = "ij,jk"})"
                 R"((int8[3, 4] -9 to 9, int8[4, 2] -9 to 9) {equation = "ij,jk"})"
                 R"((uint16[3, 4] 0 to 9, uint16[4, 2] 0 to 9) {equation = "ij,jk"})"
                 R"((int16[3, 4] -9 to 9, int16[4, 2] -9 to 9) {equation = "ij,jk"})"
                 R"((uint32[3, 4] 0 to 9, uint32[4, 2] 0 to 9) {equation = "ij,jk"})"
                 R"((uint64[3, 4] 0 to 9, uint64[4, 2] 0 to 9) {equation = "ij,jk"})"
                 R"((int64[3, 4] -9 to 9, int64[4, 2] -9 to 9) {equation = "ij,jk"})"
                 R"((float16[3, 4], float16[4, 2]) {equation = "ij,jk"})"
                 R"((bfloat16[7]) {equation = "i->i"})",
  };
}

}  // namespace svengine::ops
