#include "engine/kernels/reduce_prepare.h"

namespace svengine::kernels {

namespace {

constexpr int64_t kFewOutputs = 64;
constexpr int64_t kManyElements = 1 << 16;  // per output: below, one task is quick enough
constexpr int64_t kMostParts = 96;          // twice A64FX's cores

struct OpPair {
  ReduceOp first, second;
};

std::optional<OpPair> ops_of(const ReduceArgs& args) {
  const bool floating = args.type == DType::f32 || args.type == DType::f64;
  switch (args.op) {
    case ReduceOp::kL1:
      return OpPair{ReduceOp::kL1, ReduceOp::kSum};
    case ReduceOp::kSumSquare:
      return OpPair{ReduceOp::kSumSquare, ReduceOp::kSum};
    case ReduceOp::kSum:
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kProd:
      return OpPair{args.op, args.op};
    case ReduceOp::kLogSum:
      return floating ? std::optional(OpPair{ReduceOp::kSum, ReduceOp::kLogSum}) : std::nullopt;
    case ReduceOp::kMean:  // the parts are equally many, so the mean of means is the mean
    case ReduceOp::kL2:
    case ReduceOp::kLogSumExp:
      return floating ? std::optional(OpPair{args.op, args.op}) : std::nullopt;
  }
  return std::nullopt;
}

int64_t parts_of(int64_t extent) {
  for (int64_t parts = kMostParts; parts > 1; --parts)
    if (extent % parts == 0) return parts;
  return 1;
}

}  // namespace

std::optional<ReduceSplit> split_reduce(const ReduceArgs& args) {
  int64_t outputs = 1, elements = 1;
  for (int d = 0; d < args.rank; ++d) (args.reduced[d] ? elements : outputs) *= args.extent[d];
  const std::optional<OpPair> ops = ops_of(args);
  if (!ops || outputs == 0 || outputs >= kFewOutputs || elements < kManyElements || args.rank == kReduceDims)
    return std::nullopt;
  int split = -1;
  for (int d = 0; d < args.rank; ++d)
    if (args.reduced[d] && (split < 0 || parts_of(args.extent[d]) > parts_of(args.extent[split]))) split = d;
  const int64_t parts = parts_of(args.extent[split]);
  if (parts < 2) return std::nullopt;

  // x: dimension `split` becomes [parts, extent / parts]; the parts are kept at first, and reduced then.
  ReduceSplit result{args, args, parts * outputs};
  result.first.op = ops->first;
  result.second.op = ops->second;
  result.first.rank = args.rank + 1;
  result.second.rank = 0;
  for (int d = 0, to = 0; d < args.rank; ++d) {
    if (d == split) {
      result.first.extent[to] = parts;
      result.first.reduced[to++] = false;
      result.second.extent[result.second.rank] = parts;
      result.second.reduced[result.second.rank++] = true;
    }
    result.first.extent[to] = d == split ? args.extent[d] / parts : args.extent[d];
    result.first.reduced[to++] = args.reduced[d];
    if (args.reduced[d]) continue;
    result.second.extent[result.second.rank] = args.extent[d];
    result.second.reduced[result.second.rank++] = false;
  }
  return result;
}

}  // namespace svengine::kernels
