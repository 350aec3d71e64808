// What a step reads and none has written is NaN in builds that check contracts, in every run, folded or not.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

#include "engine/kernels/contract.h"
#include "runtime/session.h"

namespace poison_test {
using namespace svengine;

namespace {

constexpr int64_t kCount = 7;

Status infer(InferContext& c) {
  c.set(0, c.type(0));
  return {};
}

/// Writes what its temporary memory and its output held before.
Status lower(LowerContext& c) {
  const Buffer temporary = c.temporary(kCount * 4);
  c.emit(
      "leak", 1,
      [=, out = c.out()](const Run& run, int64_t, int64_t) -> const char* {
        float* to = run.get<float>(out);
        std::memcpy(to, run.get<float>(temporary), (kCount - 2) * 4);
        std::memcpy(to + kCount - 2, run.scratch<float>(), 4);
        run.get<float>(temporary)[0] = 1;
        return nullptr;
      },
      256);
  c.emit("none", 1, [](const Run& run, int64_t, int64_t) -> const char* {
    return run.scratch<void>() ? "has scratch memory, which it has not asked for" : nullptr;
  });
  return {};
}

}  // namespace

TEST_CASE("memory that no step has written is poisoned before every run") {
  if (!kernels::contract_checks) {
    WARN("not tested: ctest sets SVENGINE_CHECK_CONTRACTS=1");
    return;
  }
  const OpDef leak{.name = "Leak", .inputs = "x", .infer = infer, .lower = lower};
  for (const bool folded : {false, true}) {
    Graph graph;
    const Tensor x = Tensor::of<float>({kCount}, {0, 0, 0, 0, 0, 0, 0});
    Value* in = folded ? graph.add_constant("x", x) : graph.add_input("x", Type{DType::f32, Shape{kCount}, 0});
    Node* node = graph.add_node(leak, "leak", {in}, 1);
    REQUIRE(infer_types(*node).ok());
    graph.add_output(node->output());
    auto session = Session::create(std::move(graph));
    REQUIRE(session.ok());
    for (int run = 0; run < 2; ++run) {
      const auto outputs = (*session)->run(folded ? std::vector<Tensor>{} : std::vector<Tensor>{x});
      REQUIRE(outputs.ok());
      const std::span<const float> values = (*outputs)[0].data<float>();
      for (size_t i = 0; i < values.size(); ++i) {
        INFO("element " << i << (folded ? ", folded" : "") << ", run " << run);
        CHECK(std::isnan(values[i]));
      }
    }
  }
}
}  // namespace poison_test
