#include "engine/graph/passes/norm_affine.h"

#include <cmath>

#include "engine/graph/passes/match.h"

namespace svengine {

NormAffine norm_affine(const Node& norm) {
  NormAffine affine{as_doubles(norm.input(1)->constant()), as_doubles(norm.input(2)->constant())};
  const auto mean = as_doubles(norm.input(3)->constant()), variance = as_doubles(norm.input(4)->constant());
  const double epsilon = norm.attributes.get_float("epsilon", 1e-5f);
  for (size_t i = 0; i < affine.scale.size(); ++i) {
    affine.scale[i] /= std::sqrt(variance[i] + epsilon);
    affine.shift[i] -= mean[i] * affine.scale[i];
  }
  return affine;
}

}  // namespace svengine
