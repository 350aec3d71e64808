// Elementwise operators and Concat on channel-blocked values give what they give on plain ones: tensors of one shape, a value
// per image and channel, and single elements, with a last block that is not full.
#include <catch2/catch.hpp>

#include <cmath>

#include "engine/base/round.h"
#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/plan/plan.h"
#include "tests/support/tested_kernels.h"

namespace blocked_operands_test {
using namespace svengine;

namespace {

/// One input of the node under test.
struct In {
  Dims dims;
  bool constant = false;
};

Tensor values_for(const Dims& dims, int seed) {
  MutableTensor t = Tensor::allocate(DType::f32, dims).value();
  for (size_t i = 0; i < t.data<float>().size(); ++i)
    t.data<float>()[i] = std::sin(static_cast<float>(i * 7 + static_cast<size_t>(seed) * 13)) * 3;
  return t;
}

/// Where element (n, c, position) of [N][C][pixels] lies among [N][C/block][pixels][block].
size_t blocked_index(const Dims& dims, int64_t i, int64_t block) {
  const int64_t pixels = dims[2] * dims[3], blocks = ceil_div(dims[1], block);
  const int64_t p = i % pixels, c = i / pixels % dims[1], n = i / pixels / dims[1];
  return static_cast<size_t>(((n * blocks + c / block) * pixels + p) * block + c % block);
}

std::vector<float> to_blocked(const Tensor& t, int block) {
  const Dims& d = t.dims();
  // Padding is finite.
  std::vector<float> out(static_cast<size_t>(d[0] * ceil_div(d[1], block) * d[2] * d[3] * block), 0.25f);
  for (int64_t i = 0; i < t.count(); ++i) out[blocked_index(d, i, block)] = t.data<float>()[static_cast<size_t>(i)];
  return out;
}

std::vector<float> run(const Plan& plan, std::vector<std::vector<float>>& inputs, size_t output_floats) {
  std::vector<float> output(output_floats, NAN);
  const auto arena = allocate_aligned(static_cast<size_t>(plan.arena_bytes) + 1);
  const auto scratch = allocate_aligned(static_cast<size_t>(plan.scratch_bytes) + 1);
  std::vector<std::byte*> bases;
  for (const Slot& s : plan.slots) {
    if (s.kind == SlotKind::constant) bases.push_back(const_cast<std::byte*>(s.constant));
    else if (s.kind == SlotKind::input) bases.push_back(reinterpret_cast<std::byte*>(inputs[s.index].data()));
    else if (s.kind == SlotKind::output) bases.push_back(reinterpret_cast<std::byte*>(output.data()));
    else bases.push_back(arena.get() + s.offset);
  }
  const Run addresses(bases.data(), scratch.get());
  for (const Step& s : plan.steps) REQUIRE(s.run(addresses.for_step(s.scratch_bytes), 0, s.tasks) == nullptr);
  return output;
}

/// The node's output in the order of plain layout, computed with values in blocks of `block` (0: plain).
std::vector<float> compute(const char* op, const std::vector<In>& ins, const Attributes& attributes, const kernels::KernelTable& set,
                           int block) {
  Graph graph;
  std::vector<Value*> values;
  std::vector<std::vector<float>> inputs;
  for (const In& in : ins) {
    const Tensor t = values_for(in.dims, static_cast<int>(values.size()));
    if (in.constant) {
      values.push_back(graph.add_constant("c", t));
      continue;
    }
    values.push_back(graph.add_input("x", Type{DType::f32, Shape::of(in.dims), block}));
    inputs.push_back(block ? to_blocked(t, block) : std::vector<float>(t.data<float>().begin(), t.data<float>().end()));
  }
  Node* node = graph.add_node(*all_ops().find("", op), "n", values, 1, attributes);
  REQUIRE(infer_types(*node).ok());
  node->output()->type.block = block;
  if (block && node->op().blocked.can_block) CHECK(node->op().blocked.can_block(*node, block));
  graph.add_output(node->output());
  WeightStore weights;
  auto plan = make_plan(graph, set, weights);
  if (!plan.ok()) FAIL(plan.error().message());
  REQUIRE(weights.pack_alone().ok());
  const std::vector<float> out = run(**plan, inputs, static_cast<size_t>(stored_bytes(node->output()->type)) / 4);
  if (!block) return out;
  for (float f : out) CHECK(std::isfinite(f));
  const Dims dims = *node->output()->type.shape.concrete();
  std::vector<float> plain;
  for (int64_t i = 0; i < element_count(dims); ++i) plain.push_back(out[blocked_index(dims, i, block)]);
  return plain;
}

void check(const char* op, const std::vector<In>& ins, const Attributes& attributes = {}) {
  for (const kernels::KernelTable* set : kernels::tested_kernel_sets()) {
    INFO(op << " on " << set->name);
    CHECK(compute(op, ins, attributes, *set, set->lanes) == compute(op, ins, attributes, *set, 0));
  }
}

}  // namespace

TEST_CASE("elementwise operators work on blocks") {
  const In x{{2, 19, 3, 5}}, per_image{{2, 19, 1, 1}}, single{{1}, true};
  for (const char* op : {"Relu", "Sigmoid", "Abs", "HardSwish"}) check(op, {x});
  for (const char* op : {"Add", "Sub", "Mul", "Min", "Max", "PRelu"}) {
    check(op, {x, x});
    check(op, {x, per_image});
    check(op, {x, single});
  }
  check("Sub", {single, x});
  check("Mul", {per_image, x});
  check("Sum", {x, per_image, x});
  check("Mean", {x, x, single});
  check("Clip", {x, single});
}

TEST_CASE("Concat moves whole blocks") {
  const Attributes channels = make_attributes({{"axis", int64_t{1}}}), rows = make_attributes({{"axis", int64_t{-2}}});
  check("Concat", {In{{2, 32, 3, 5}}, In{{2, 16, 3, 5}}, In{{2, 7, 3, 5}}}, channels);
  check("Concat", {In{{2, 19, 3, 5}}, In{{2, 19, 2, 5}}}, rows);
}
}  // namespace blocked_operands_test
