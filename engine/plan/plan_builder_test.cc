// A plan for which there is no memory is an error.
#include <catch2/catch.hpp>

#include <functional>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/plan/plan.h"

namespace plan_builder_test {
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

TEST_CASE("an output that is a view is written where it is wanted") {
  const auto steps_of = [](const std::function<void(Builder&, Value*)>& outputs) {
    Graph graph;
    Builder b(graph, all_ops());
    outputs(b, b.add("Relu", {b.input("x", DType::f32, {3, 4, 5})}));
    REQUIRE(b.status().ok());
    WeightStore weights;
    const auto plan = make_plan(graph, *kernels::available_kernel_sets()[0], weights);
    REQUIRE(plan.ok());
    std::string steps;
    for (const Step& step : (*plan)->steps) steps += step.kernel + " ";
    return steps;
  };
  CHECK(steps_of([](Builder& b, Value* y) { b.output(b.add("Flatten", {y})); }) == "Relu ");
  CHECK(steps_of([](Builder& b, Value* y) { b.output(b.add("Squeeze", {b.add("Flatten", {b.add("Flatten", {y})})})); }) == "Relu ");
  CHECK(steps_of([](Builder& b, Value* y) {  // one writes in place, the other is a copy
          b.output(b.add("Flatten", {y}), "flat");
          b.output(y, "y");
        }) == "Relu copy ");
  CHECK(steps_of([](Builder& b, Value* y) {  // Relu's result is read after the view's
          Value* flat = b.add("Flatten", {y});
          b.output(flat, "flat");
          b.output(b.add("Neg", {flat}), "z");
          b.output(b.add("Exp", {y}), "e");
        }) == "Relu Neg Exp ");
}
}  // namespace plan_builder_test
