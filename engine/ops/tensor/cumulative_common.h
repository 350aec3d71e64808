// CumSum and CumProd: the axis is an input.
#pragma once
#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// The axis decides no shape, but how the work is cut, so it has to be known when the node is planned; until it is, the output's
/// dimensions are left unknown, which makes the session compute the axis first.
Status infer_cumulative(InferContext&);

/// x as [outer, n, inner], where n runs along the axis.
struct Cumulation {
  int64_t outer, n, inner;
  bool exclusive, reverse;
};
Result<Cumulation> cumulation_of(LowerContext&);

}  // namespace svengine::ops
