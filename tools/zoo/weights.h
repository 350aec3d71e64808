// Seeded weights: each tensor is a function of the seed and its own name, the same on every machine.
#pragma once
#include <string>

#include "engine/graph/builder.h"
#include "validate/inputs/random.h"

namespace svengine::tool {

using validate::Random;

/// Adds constants to a graph. The first failure (memory) is kept: check status() at the end.
class Weights {
 public:
  Weights(Graph& graph, uint64_t seed) : graph_(graph), seed_(seed) {}

  /// Near-normal, see Random::normal. Null after a failure, which Builder takes for an absent input.
  Value* normal(const std::string& name, Dims dims, float mean, float deviation);
  Value* uniform(const std::string& name, Dims dims, float low, float high);

  const Status& status() const { return status_; }

 private:
  template <class Function>
  Value* make(const std::string& name, Dims dims, Function&& function);

  Graph& graph_;
  uint64_t seed_;
  Status status_;
};

}  // namespace svengine::tool
