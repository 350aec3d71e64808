// Operators of ai.onnx.ml: labels, maps, trees and what damaged ones are refused for. Numbers are ONNX Runtime's where they are
// not obvious.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "engine/ops/host_test_util.h"

namespace ml_test {
using namespace svengine;
using namespace svengine::ops::tests;
using Words = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

namespace {

constexpr const char* kMl = "ai.onnx.ml";
const float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor column(Floats values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size()), 1}, std::span<const float>(values));
}

Tensor map_of(Tensor keys, Tensor values) { return Tensor::of_items(DType::map, {std::move(keys), std::move(values)}); }

/// One node that compares feature 0, with leaves of 1 (true) and 2 (false).
HostNode stump(const char* mode, float value, Floats x, int64_t missing_true = 0) {
  return {kMl,
          "TreeEnsembleRegressor",
          {column(std::move(x))},
          {{"n_targets", int64_t{1}},
           {"nodes_treeids", Ints{0, 0, 0}},
           {"nodes_nodeids", Ints{0, 1, 2}},
           {"nodes_featureids", Ints{0, 0, 0}},
           {"nodes_values", Floats{value, 0, 0}},
           {"nodes_modes", Words{mode, "LEAF", "LEAF"}},
           {"nodes_truenodeids", Ints{1, 0, 0}},
           {"nodes_falsenodeids", Ints{2, 0, 0}},
           {"nodes_missing_value_tracks_true", Ints{missing_true, 0, 0}},
           {"target_treeids", Ints{0, 0}},
           {"target_nodeids", Ints{1, 2}},
           {"target_ids", Ints{0, 0}},
           {"target_weights", Floats{1, 2}}},
          1,
          3};
}

HostNode tree_with(Ints on_true, Ints features) {
  return {kMl,
          "TreeEnsembleRegressor",
          {column({1})},
          {{"n_targets", int64_t{1}},
           {"nodes_treeids", Ints{0, 0}},
           {"nodes_nodeids", Ints{0, 1}},
           {"nodes_featureids", std::move(features)},
           {"nodes_values", Floats{0, 0}},
           {"nodes_modes", Words{"BRANCH_LEQ", "LEAF"}},
           {"nodes_truenodeids", std::move(on_true)},
           {"nodes_falsenodeids", Ints{1, 0}}},
          1,
          3};
}

}  // namespace

TEST_CASE("Trees compare as they say, at equality, zeros, subnormals, infinities and what is not a number") {
  const float tiny = std::numeric_limits<float>::denorm_min(), inf = std::numeric_limits<float>::infinity();
  const Floats x{-inf, -tiny, -0.0f, 0, tiny, inf, kNan};
  CHECK(stump("BRANCH_LEQ", 0, x).floats() == Floats{1, 1, 1, 1, 2, 2, 2});
  CHECK(stump("BRANCH_LT", 0, x).floats() == Floats{1, 1, 2, 2, 2, 2, 2});
  CHECK(stump("BRANCH_GT", 0, x).floats() == Floats{2, 2, 2, 2, 1, 1, 2});
  CHECK(stump("BRANCH_GTE", 0, x).floats() == Floats{2, 2, 1, 1, 1, 1, 2});
  CHECK(stump("BRANCH_EQ", 0, x).floats() == Floats{2, 2, 1, 1, 2, 2, 2});
  CHECK(stump("BRANCH_NEQ", 0, x).floats() == Floats{1, 1, 2, 2, 1, 1, 1});
  CHECK(stump("BRANCH_LT", -inf, x).floats() == Floats{2, 2, 2, 2, 2, 2, 2});
  for (const char* mode : {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"}) {
    INFO(mode);
    CHECK(stump(mode, 0, {kNan}, 1).floats() == Floats{1});
    CHECK(stump(mode, kNan, {kNan}, 1).floats() == Floats{1});
    for (const float at : {-inf, -1.0f, 0.0f, inf}) {  // what a missing value does changes nothing for numbers
      Floats numbers(x.begin(), x.end() - 1);
      CHECK(stump(mode, at, numbers, 1).floats() == stump(mode, at, numbers, 0).floats());
    }
  }
}

TEST_CASE("Damaged trees are refused") {
  CHECK(tree_with({0, 0}, {0, 0}).says("lead back to it"));
  CHECK(tree_with({7, 0}, {0, 0}).says("not both there"));
  CHECK(tree_with({1, 0}, {5, 0}).says("a tree looks at feature 5, but rows have 1"));
  CHECK(tree_with({1, 0}, {-1, 0}).says("feature -1 is negative"));
  CHECK(tree_with({1}, {0, 0}).says("need as many"));
}

TEST_CASE("Classifiers give labels that are strings, and the second score of two classes") {
  const auto linear = [](const char* post, float x) {
    return HostNode(kMl, "LinearClassifier", {Tensor::of<float>({1, 1}, {x})},
                    {{"coefficients", Floats{1}},
                     {"intercepts", Floats{0}},
                     {"classlabels_strings", Words{"no", "yes"}},
                     {"post_transform", std::string(post)}},
                    2, 1);
  };
  CHECK(linear("NONE", 0.25f).strings() == Words{"yes"});
  CHECK(linear("NONE", 0.25f).floats(1) == Floats{0.75f, 0.25f});
  CHECK(linear("NONE", -1).strings() == Words{"no"});
  CHECK(linear("PROBIT", 0.25f).floats(1)[0] == Approx(0.6744898).epsilon(1e-3));  // of 0.75
  CHECK(linear("PROBIT", 0.25f).floats(1)[1] == Approx(-0.6744898).epsilon(1e-3));
  const HostNode no_intercept(kMl, "LinearClassifier", {column({2, -2})}, {{"coefficients", Floats{1}}, {"classlabels_ints", Ints{5, 7}}}, 2, 1);
  CHECK(no_intercept.ints() == Ints{7, 5});
  const HostNode one_label(kMl, "LinearClassifier", {column({2, -2})}, {{"coefficients", Floats{1}}, {"classlabels_ints", Ints{4}}}, 2, 1);
  CHECK(one_label.ints() == Ints{4, 4});
}

TEST_CASE("The class with most votes is the label of two that are both voted for") {
  const auto stump = [](Floats base) {
    return HostNode(kMl, "TreeEnsembleClassifier", {column({-1, 1})},
                    {{"classlabels_int64s", Ints{5, 7}},
                     {"base_values", std::move(base)},
                     {"nodes_treeids", Ints{0, 0, 0}},
                     {"nodes_nodeids", Ints{0, 1, 2}},
                     {"nodes_featureids", Ints{0, 0, 0}},
                     {"nodes_values", Floats{0, 0, 0}},
                     {"nodes_modes", Words{"BRANCH_LEQ", "LEAF", "LEAF"}},
                     {"nodes_truenodeids", Ints{1, 0, 0}},
                     {"nodes_falsenodeids", Ints{2, 0, 0}},
                     {"class_treeids", Ints{0, 0}},
                     {"class_nodeids", Ints{1, 2}},
                     {"class_ids", Ints{0, 1}},
                     {"class_weights", Floats{0.75f, 0.5f}}},
                    2, 1);
  };
  CHECK(stump({}).ints() == Ints{5, 7});
  CHECK(stump({}).floats(1) == Floats{0.75f, 0, 0, 0.5f});
  CHECK(stump({0.25f, 2}).ints() == Ints{7, 7});
  CHECK(stump({0.25f, 2}).floats(1) == Floats{1, 2, 0.25f, 2.5f});
}

TEST_CASE("What is not a number is no class of the highest score, unless it comes first") {
  const HostNode linear(kMl, "LinearClassifier", {Tensor::of<float>({4, 2}, {kNan, 1, INFINITY, 0, -1, 2, 1, INFINITY})},
                        {{"coefficients", Floats{1, 0, 0, 1, 1, 1}}, {"classlabels_ints", Ints{7, 8, 9}}}, 2, 1);
  CHECK(linear.ints() == Ints{7, 7, 8, 7});  // scores: all NaN; inf, NaN, inf; -1, 2, 1; NaN, inf, inf
}

TEST_CASE("A single class is the label whatever its score, which is not negated, and LOGISTIC applies to it") {
  const auto single = [](const char* post, float weight) {
    return HostNode(kMl, "TreeEnsembleClassifier", {column({0})},
                    {{"classlabels_int64s", Ints{7}},
                     {"post_transform", std::string(post)},
                     {"nodes_treeids", Ints{0}},
                     {"nodes_nodeids", Ints{0}},
                     {"nodes_featureids", Ints{0}},
                     {"nodes_values", Floats{0}},
                     {"nodes_modes", Words{"LEAF"}},
                     {"nodes_truenodeids", Ints{0}},
                     {"nodes_falsenodeids", Ints{0}},
                     {"class_treeids", Ints{0}},
                     {"class_nodeids", Ints{0}},
                     {"class_ids", Ints{0}},
                     {"class_weights", Floats{weight}}},
                    2, 1);
  };
  CHECK(single("NONE", -2).ints() == Ints{7});
  CHECK(single("NONE", 2).ints() == Ints{7});
  CHECK(single("NONE", -2).floats(1) == Floats{-2});
  CHECK(single("SOFTMAX", -2).floats(1) == Floats{-2});
  CHECK(single("LOGISTIC", -2).floats(1)[0] == Approx(0.119203));
}

TEST_CASE("Votes of trees that are equal as float32 are a tie, which the first class wins") {
  // Five leaves of ten that say yes with 0.1 each, which is more than a tenth as float32.
  Ints trees;
  for (int64_t tree = 0; tree < 5; ++tree) trees.push_back(tree);
  const HostNode half(kMl, "TreeEnsembleClassifier", {column({0})},
                      {{"classlabels_int64s", Ints{0, 1}},
                       {"nodes_treeids", trees},
                       {"nodes_nodeids", Ints(5, 0)},
                       {"nodes_featureids", Ints(5, 0)},
                       {"nodes_values", Floats(5, 0)},
                       {"nodes_modes", Words(5, "LEAF")},
                       {"nodes_truenodeids", Ints(5, 0)},
                       {"nodes_falsenodeids", Ints(5, 0)},
                       {"class_treeids", trees},
                       {"class_nodeids", Ints(5, 0)},
                       {"class_ids", Ints(5, 0)},
                       {"class_weights", Floats(5, 0.1f)}},
                      2, 1);
  CHECK(half.floats(1) == Floats{0.5f, 0.5f});
  CHECK(half.ints() == Ints{0});
}

TEST_CASE("LabelEncoder looks up any type; the last of equal keys counts") {
  const HostNode words(kMl, "LabelEncoder", {texts({"b", "a", "?"})},
                       {{"keys_strings", Words{"a", "b", "a"}}, {"values_int64s", Ints{1, 2, 3}}}, 1, 4);
  CHECK(words.ints() == Ints{2, 3, -1});
  const HostNode numbers(kMl, "LabelEncoder", {Tensor::of<float>({4}, {kNan, -0.0f, 1, 2})},
                         {{"keys_floats", Floats{kNan, 0, 1}}, {"values_strings", Words{"nan", "zero", "one"}}}, 1, 4);
  CHECK(numbers.strings() == Words{"nan", "zero", "one", "_Unused"});
  const HostNode old(kMl, "LabelEncoder", {texts({"b", "?"})},
                     {{"classes_strings", Words{"a", "b"}}, {"default_int64", int64_t{9}}}, 1, 1);
  CHECK(old.ints() == Ints{1, 9});
  CHECK(HostNode(kMl, "LabelEncoder", {texts({"b"})}, {{"keys_int64s", Ints{1}}, {"values_int64s", Ints{2}}}, 1, 4)
            .says("X is string, the keys are int64"));
  CHECK(HostNode(kMl, "LabelEncoder", {texts({"b"})},
                 {{"keys_strings", Words{"b"}}, {"values_int64s", Ints{2}}, {"default_tensor", Tensor::scalar<int64_t>(4)}}, 1, 4)
            .says("default_tensor is of rank 0, needs 1"));
  const HostNode close(kMl, "LabelEncoder", {Tensor::of<int64_t>({8}, {-3, -2, -1, 5, 6, INT64_MIN, INT64_MAX, -4})},
                       {{"keys_int64s", Ints{5, -3, -1, 5}}, {"values_int64s", Ints{10, 20, 30, 40}}}, 1, 4);
  CHECK(close.ints() == Ints{20, -1, 30, 40, -1, -1, -1, -1});
  const HostNode far(kMl, "LabelEncoder", {Tensor::of<int64_t>({5}, {INT64_MIN, INT64_MAX, 0, -1, 1})},
                     {{"keys_int64s", Ints{INT64_MAX, INT64_MIN, 1}}, {"values_floats", Floats{1, 2, 3}}}, 1, 4);
  CHECK(far.floats() == Floats{2, 1, -0.0f, -0.0f, 3});
  const HostNode whole(kMl, "LabelEncoder", {Tensor::of<float>({9}, {-2, 3, 3.5f, -0.0f, 0, 4, kNan, 1e30f, -INFINITY})},
                       {{"keys_floats", Floats{3, -2, 0, 3}}, {"values_int64s", Ints{1, 2, 3, 4}}}, 1, 4);
  CHECK(whole.ints() == Ints{2, 4, -1, 3, 3, -1, -1, -1, -1});
  const uint64_t natural = UINT64_MAX;
  CHECK(HostNode(kMl, "LabelEncoder", {texts({"b"})}, {{"keys_tensor", Tensor::wrap(DType::u64, {1}, &natural, nullptr)}, {"values_int64s", Ints{2}}},
                 1, 4)
            .says("X is string, the keys are uint64"));
  CHECK(
      HostNode(kMl, "CategoryMapper", {texts({"b", "?"})}, {{"cats_strings", Words{"a", "b"}}, {"cats_int64s", Ints{4, 5}}}, 1, 1)
          .ints() == Ints{5, -1});
}

TEST_CASE("OneHotEncoder leaves out what it does not know, or refuses it") {
  const auto hot = [](int64_t zeros) {
    return HostNode(kMl, "OneHotEncoder", {texts({"b", "?"})}, {{"cats_strings", Words{"a", "b"}}, {"zeros", zeros}}, 1, 1);
  };
  CHECK(hot(1).floats() == Floats{0, 1, 0, 0});
  CHECK(hot(0).says("element 1 is none of the categories"));
}

TEST_CASE("Maps become rows, and rows maps") {
  const Tensor map = map_of(Tensor::of<int64_t>({3}, {4, 0, 2}), Tensor::of<float>({3}, {40, 0.5f, 20}));
  CHECK(HostNode(kMl, "CastMap", {map}, {}, 1, 1).floats() == Floats{0.5f, 20, 40});
  CHECK(HostNode(kMl, "CastMap", {map}, {{"map_form", std::string("SPARSE")}, {"max_map", int64_t{4}}}, 1, 1).floats() ==
        Floats{0.5f, 0, 20, 0});
  CHECK(HostNode(kMl, "CastMap", {map}, {{"cast_to", std::string("TO_INT64")}}, 1, 1).ints() == Ints{0, 20, 40});
  const Tensor words = map_of(texts({"a", "b"}), Tensor::of<float>({2}, {1, 2}));
  CHECK(HostNode(kMl, "DictVectorizer", {words}, {{"string_vocabulary", Words{"b", "c", "a"}}}, 1, 1).floats() ==
        Floats{2, 0, 1});
  CHECK(HostNode(kMl, "DictVectorizer", {map_of(texts({"a", "b", "a"}), Tensor::of<float>({3}, {1, 2, 3}))},
                 {{"string_vocabulary", Words{"b", "a", "a", ""}}}, 1, 1)
            .floats() == Floats{2, 1, 1, 0});
  const HostNode zipped(kMl, "ZipMap", {Tensor::of<float>({2, 2}, {1, 2, 3, 4})}, {{"classlabels_strings", Words{"x", "y"}}}, 1,
                        1);
  REQUIRE(zipped.outputs[0].items().size() == 2);
  CHECK(zipped.outputs[0].items()[1].items()[0].strings()[1] == "y");
  CHECK(zipped.outputs[0].items()[1].items()[1].data<float>()[1] == 4);
  CHECK(HostNode(kMl, "ZipMap", {Tensor::of<float>({1, 2}, {1, 2})}, {{"classlabels_int64s", Ints{1}}}, 1, 1)
            .says("1 class labels for 2 scores"));
}
}  // namespace ml_test
