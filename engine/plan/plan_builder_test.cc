// A plan for which there is no memory is an error.
#include <catch2/catch.hpp>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/plan/plan.h"

using namespace svengine;

namespace {

/// A constant that must be copied to be aligned, and is too large for that. Nobody gets so far as to read it.
Tensor unaligned_giant() {
  static const std::byte bytes[8] = {};
  const bool odd = reinterpret_cast<uintptr_t>(bytes) % 2;
  return Tensor::wrap(DType::f32, {int64_t{1} << 46}, bytes + (odd ? 0 : 1), nullptr);
}

std::string problem_of(const Graph& graph) {
  WeightStore weights;
  const auto plan = make_plan(graph, *kernels::available_kernel_sets()[0], weights);
  return plan.ok() ? "" : plan.error().message();
}

}  // namespace

TEST_CASE("no memory for an aligned copy of a constant is an error, whoever reads it") {
  Graph read, viewed, given;
  {
    Builder b(read, all_ops());
    b.output(b.add("Relu", {b.constant(unaligned_giant(), "w")}));
    REQUIRE(b.status().ok());
  }
  {
    Builder b(viewed, all_ops());
    b.output(b.add("Flatten", {b.constant(unaligned_giant(), "w")}));
    REQUIRE(b.status().ok());
  }
  given.add_output(given.add_constant("w", unaligned_giant()));
  for (const Graph* graph : {&read, &viewed, &given})
    CHECK(problem_of(*graph).find("no memory for an aligned copy of 'w'") != std::string::npos);
}
