#include "engine/ops/elementwise/gradient_common.h"

namespace svengine::ops {

Status set_activation_gradient(GradientContext& c, const char* function, Value* v, float alpha, float beta) {
  c.set(0, c.internal("ActivationGrad", {c.dy(), v},
                      make_attributes({{"function", std::string(function)}, {"alpha", alpha}, {"beta", beta}})));
  return {};
}

Status extremum_gradient(GradientContext& c) {
  const size_t count = c.node().inputs().size();
  if (count == 1) {
    c.set(0, c.dy());
    return {};
  }
  const auto type = static_cast<int64_t>(c.output()->type.dtype);
  std::vector<Value*> hits;
  Value* ties = nullptr;
  for (size_t i = 0; i < count; ++i) {
    hits.push_back(c.op("Cast", {c.op("Equal", {c.input(i), c.output()})}, make_attributes({{"to", type}})));
    ties = ties ? c.op("Add", {ties, hits[i]}) : hits[i];
  }
  Value* share = c.op("Div", {c.dy(), ties});
  for (size_t i = 0; i < count; ++i)
    if (c.wants(i)) c.set(i, c.sum_to(c.op("Mul", {share, hits[i]}), c.input(i)));
  return {};
}

}  // namespace svengine::ops
