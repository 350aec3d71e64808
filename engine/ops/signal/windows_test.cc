#include <catch2/catch.hpp>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/ops/run_node.h"

namespace windows_test {
using namespace svengine;

namespace {

Tensor window_of_bytes(const char* op, int64_t size, bool periodic) {
  Graph graph;
  const Node* node = graph.add_node(*all_ops().find("", op), "n", {graph.add_constant("size", Tensor::scalar(size))}, 1,
                                    make_attributes({{"output_datatype", static_cast<int64_t>(DType::i8)}, {"periodic", int64_t{periodic}}}));
  REQUIRE(infer_types(*graph.nodes().front()).ok());
  const auto out = ops::run_node(*node, {Tensor::scalar(size)});
  REQUIRE(out.ok());
  return (*out)[0];
}

}  // namespace

TEST_CASE("the middle of a window is 1, as an integer too") {
  for (const char* op : {"BlackmanWindow", "HannWindow", "HammingWindow"})
    for (int64_t half = 1; half < 300; ++half) {
      INFO(op << ", " << half);
      CHECK(window_of_bytes(op, 2 * half, true).data<int8_t>()[static_cast<size_t>(half)] == 1);
      CHECK(window_of_bytes(op, 2 * half + 1, false).data<int8_t>()[static_cast<size_t>(half)] == 1);
    }
}
}  // namespace windows_test
