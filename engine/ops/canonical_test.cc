// What opsets 1 to 6 wrote otherwise.
#include <catch2/catch.hpp>

#include "engine/graph/text.h"
#include "engine/ops/infer_test_util.h"

namespace canonical_test {
using namespace svengine;
using namespace svengine::ops::tests;

namespace {

using Ints = std::vector<int64_t>;

std::string text_of(const OneNode& one) { return print_graph(one.graph); }
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("forms of opsets 1 to 6") {
  CHECK(OneNode("Relu", {f32({3})}, {{"consumed_inputs", Ints{1}}}, 1, 1).outcome == "float32[3]");
  CHECK(OneNode("Relu", {f32({3})}, {{"consumed_inputs", Ints{1}}}, 1, 6).says("attribute 'consumed_inputs' is not one of"));
  CHECK(OneNode("Reshape", {f32({2, 3})}, {{"shape", Ints{3, -1}}}, 1, 1).outcome == "float32[3x2]");
  CHECK(OneNode("Reshape", {f32({2, 3})}, {}, 1, 4).says("attribute 'shape' is needed"));
  CHECK(OneNode("Cast", {f32({2})}, {{"to", std::string("INT32")}}, 1, 1).outcome == "int32[2]");
  CHECK(OneNode("Cast", {f32({2})}, {{"to", std::string("INT33")}}, 1, 1).says("'INT33', which is no element type"));
  CHECK(OneNode("Pad", {f32({2, 3})}, {{"paddings", Ints{0, 1, 0, 2}}}, 1, 1).outcome == "float32[2x6]");
  CHECK(OneNode("Split", {f32({6}), {}}, {{"split", Ints{4, 2}}}, 2, 1).outcome == "float32[4] float32[2]");
  CHECK(OneNode("Concat", {f32({2, 3}), f32({2, 4})}, {}, 1, 3).outcome == "float32[2x7]");
  CHECK(OneNode("LpPool", {f32({1, 1, 4, 4})}, {{"kernel_shape", Ints{2, 2}}, {"p", 3.0f}}, 1, 1).outcome == "float32[1x1x3x3]");
  CHECK(OneNode("LpPool", {f32({1, 1, 4, 4})}, {{"kernel_shape", Ints{2, 2}}, {"p", 2.5f}}, 1, 1).says("p is 2.5"));
  CHECK(OneNode("Upsample", {f32({1, 2, 3, 4})}, {{"height_scale", 2.0f}, {"width_scale", 3.0f}, {"mode", std::string("bilinear")}}, 1, 1)
            .outcome == "float32[1x2x6x12]");
  const OneNode selu("Selu", {f32({2})}, {}, 1, 1);
  CHECK(selu.node->attributes.get_float("gamma") == 1.0507f);
  const OneNode dropout("Dropout", {f32({2})}, {{"is_test", int64_t{1}}, {"ratio", 0.5f}}, 1, 6);
  CHECK(dropout.outcome == "float32[2]");
}

TEST_CASE("a first Tile repeats along one axis") {
  const OneNode tile("Tile", {f32({2, 3}), f32({}), f32({})}, {}, 1, 1);
  CHECK(tile.outcome == "float32[?x?]");
  CHECK(contains(text_of(tile), "ScatterElements"));
  CHECK(OneNode("Tile", {f32({2, 3}), f32(kScalar)}, {}, 1, 5).says("has 2 inputs, needs 3"));
}

TEST_CASE("normalisation before opset 9 may have statistics for every position") {
  const std::vector<Given> inputs = {f32({2, 3, 4}), f32({3, 4}), f32({3, 4}), f32({3, 4}), f32({3, 4})};
  const OneNode old("BatchNormalization", inputs, {{"spatial", int64_t{0}}, {"is_test", int64_t{1}}}, 1, 6);
  CHECK(old.outcome == "float32[2x3x4]");
  CHECK(contains(text_of(old), "Sqrt"));
  const OneNode later("BatchNormalization", {f32({2, 3, 4}), f32({3}), f32({3}), f32({3}), f32({3})}, {{"spatial", int64_t{0}}}, 1, 9);
  INFO(later.outcome);
  CHECK(later.says("attribute 'spatial'"));
}
}  // namespace canonical_test
