// Operators on sequences and optionals: positions, sharing, and what they refuse.
#include <catch2/catch.hpp>

#include "engine/ops/host_test_util.h"

namespace sequence_test {
using namespace svengine;
using namespace svengine::ops::tests;

namespace {

const Tensor kOne = Tensor::of<float>({1}, {1}), kTwo = Tensor::of<float>({2}, {2, 3}), kThree = Tensor::of<float>({1}, {4});

Tensor at(int64_t i) { return Tensor::scalar(i); }

}  // namespace

TEST_CASE("Items are taken, put in and taken out at positions from either end, without copies") {
  const Tensor s = sequence({kOne, kTwo, kThree});
  CHECK(HostNode("", "SequenceAt", {s, at(1)}).outputs[0].raw() == kTwo.raw());
  CHECK(HostNode("", "SequenceAt", {s, at(-1)}).outputs[0].raw() == kThree.raw());
  CHECK(HostNode("", "SequenceAt", {s, at(3)}).says("position 3 is outside a sequence of 3 items"));
  CHECK(HostNode("", "SequenceAt", {s, at(-4)}).says("position -4"));
  const HostNode erased("", "SequenceErase", {s, at(0)}), last("", "SequenceErase", {s});
  CHECK(erased.outputs[0].items()[0].raw() == kTwo.raw());
  CHECK(last.outputs[0].items().size() == 2);
  CHECK(last.outputs[0].items()[1].raw() == kTwo.raw());
  CHECK(HostNode("", "SequenceErase", {sequence({})}).says("nothing can be erased"));
  CHECK(HostNode("", "SequenceInsert", {s, kOne, at(3)}).outputs[0].items()[3].raw() == kOne.raw());
  CHECK(HostNode("", "SequenceInsert", {s, kOne, at(-1)}).outputs[0].items()[2].raw() == kOne.raw());
  CHECK(HostNode("", "SequenceInsert", {s, kOne}).outputs[0].items()[3].raw() == kOne.raw());
  CHECK(HostNode("", "SequenceInsert", {s, kOne, at(4)}).says("position 4"));
  CHECK(HostNode("", "SequenceInsert", {s, at(1)}).says("a sequence of float32 cannot hold int64"));
  CHECK(HostNode("", "SequenceLength", {s}).ints() == std::vector<int64_t>{3});
  CHECK(HostNode("", "SequenceLength", {HostNode("", "SequenceEmpty", {}).outputs[0]}).ints() == std::vector<int64_t>{0});
  CHECK(HostNode("", "SequenceConstruct", {kOne, kTwo}).outputs[0].items()[1].raw() == kTwo.raw());
  CHECK(HostNode("", "SequenceConstruct", {kOne, at(2)}).says("cannot hold int64"));
  CHECK(HostNode("", "SequenceLength", {kOne}).says("needs a sequence"));
}

TEST_CASE("Tensors are split into sequences and joined again") {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostNode rows("", "SplitToSequence", {x});
  CHECK(rows.outputs[0].items()[1].dims() == Dims{1, 3});
  CHECK(rows.outputs[0].items()[1].raw() == x.raw() + 12);
  const HostNode columns("", "SplitToSequence", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  CHECK(columns.outputs[0].items()[2].dims() == Dims{2});
  CHECK(columns.outputs[0].items()[2].data<float>()[1] == 6);
  const HostNode halves("", "SplitToSequence", {x, at(2)}, {{"axis", int64_t{1}}});
  REQUIRE(halves.outputs[0].items().size() == 2);
  CHECK(halves.outputs[0].items()[1].dims() == Dims{2, 1});
  CHECK(HostNode("", "SplitToSequence", {x, at(0)}).says("split is 0"));
  CHECK(HostNode("", "SplitToSequence", {x, Tensor::of<int64_t>({2}, {1, 2})}).says("do not sum to the 2 positions"));
  CHECK(HostNode("", "ConcatFromSequence", halves.outputs, {{"axis", int64_t{-1}}}).floats() ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
  const HostNode stacked("", "ConcatFromSequence", columns.outputs, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}});
  CHECK(stacked.outputs[0].dims() == Dims{3, 2});
  CHECK(stacked.floats() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(HostNode("", "ConcatFromSequence", {sequence({kOne, kTwo})}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}})
            .says("stacked items have one shape"));
  CHECK(HostNode("", "ConcatFromSequence", {sequence({})}, {{"axis", int64_t{0}}}).says("the sequence is empty"));
  const HostNode words("", "SplitToSequence", {texts({"a", "b"})});
  CHECK(words.outputs[0].items()[1].strings()[0] == "b");
  CHECK(HostNode("", "ConcatFromSequence", words.outputs, {{"axis", int64_t{0}}}).strings() ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("Optionals hold something or nothing, and what is no optional is there") {
  const Tensor full = HostNode("", "Optional", {kTwo}).outputs[0], empty = Tensor::of_items(DType::optional, {});
  CHECK(HostNode("", "OptionalGetElement", {full}).outputs[0].raw() == kTwo.raw());
  CHECK(HostNode("", "OptionalGetElement", {empty}).says("the optional is empty"));
  CHECK(HostNode("", "OptionalGetElement", {sequence({kOne})}).outputs[0].items().size() == 1);
  const auto has = [](std::vector<Tensor> inputs) {
    return *HostNode("", "OptionalHasElement", std::move(inputs)).outputs[0].raw() == std::byte{1};
  };
  CHECK(has({full}));
  CHECK(has({kOne}));
  CHECK_FALSE(has({empty}));
  CHECK_FALSE(has({}));
  CHECK(HostNode("", "Optional", {}).says("neither an input nor attribute 'type'"));
}
}  // namespace sequence_test
