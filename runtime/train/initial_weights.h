// First values of a network's parameters, decided by what each of them is for.
//
//   weight of Conv, ConvTranspose       normal, deviation sqrt(2 / fan_out): He et al., as PyTorch's ResNets begin
//   weight of Gemm, MatMul              uniform, Xavier
//   table of Gather                     normal, deviation 0.02: BERT's
//   scale of a norm, factor of Mul      1;  variance 1, mean 0
//   bias, summand of rank 1             0;  summand of more dimensions (positions): normal, deviation 0.02
//   slope of PRelu                      0.25
#pragma once
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/graph/graph.h"

namespace svengine {

/// Sets the constant of that name, whose first user decides, to values that are a function of the stream and the name. Refuses,
/// naming the node, uses that no first value is known for.
Result<MutableTensor> initial_value(const Value& constant, const RandomStream& stream);

}  // namespace svengine
