// The contracts of training's kernels: a right call, and every rule broken once.
#include "engine/kernels/contract_gradient.h"

#include "engine/kernels/contract_test_util.h"

namespace contract_gradient_test {
using namespace svengine::kernels;
using namespace svengine::kernels::contract_test;

namespace {

LayerwiseArgs lamb() {
  LayerwiseArgs a;
  a.rule = LayerwiseRule::kLamb, a.n = 10;
  a.x = place(0), a.g = place(1), a.v = place(2), a.h = place(3), a.partials = place(4);
  a.x_new = place(0), a.v_new = place(2), a.h_new = place(3);
  return a;
}

}  // namespace

TEST_CASE("the contracts of element by element gradients") {
  using A = ActivationGradArgs;
  check<A>({GradientOf::kRelu, place(0), place(1), place(1), 10},
           {{"activation gradient: n is not positive, or dy, v or dx is null", [](A& a) { a.v = nullptr; }},
            {"activation gradient: dx overlaps dy or v and is not it", [](A& a) { a.dx = place(0) + 1; }}});
  using S = SoftmaxGradArgs;
  check<S>({place(0), place(1), place(1), 2, 3, 4},
           {{"softmax gradient: a size is negative", [](S& a) { a.n = -1; }},
            {"softmax gradient: dx overlaps dy or y and is not it", [](S& a) { a.dx = place(0) + 23; }}});
  using G = GatherGradArgs;
  check<G>({place(0), place(1), place(2), 8, 2, 3, 4, 5},
           {{"gather gradient: index_bytes is neither 4 nor 8", [](G& a) { a.index_bytes = 3; }},
            {"gather gradient: a size is negative", [](G& a) { a.extent = -1; }},
            {"gather gradient: dy, indices or dx is null", [](G& a) { a.dy = nullptr; }},
            {"gather gradient: dx overlaps dy", [](G& a) { a.dx = place(0); }}});
}

TEST_CASE("the contracts of windows' gradients") {
  PoolShape shape;
  shape.in = {1, 4, 4}, shape.out = {1, 3, 3}, shape.kernel = {1, 2, 2};
  using U = UnfoldArgs;
  check<U>({shape, place(0), place(1)},
           {{"window gradient: a kernel, stride or dilation is not positive", [](U& a) { a.shape.dilation.width = 0; }},
            {"window gradient: a size is negative", [](U& a) { a.shape.out.depth = -1; }},
            {"unfold: x or columns is null", [](U& a) { a.columns = nullptr; }},
            {"unfold: columns overlaps x", [](U& a) { a.columns = place(0) + 15; }}});
  using F = FoldArgs;
  check<F>({shape, place(0), place(1)}, {{"fold: dx overlaps columns", [](F& a) { a.dx = place(0) + 35; }}});
  using P = PoolGradArgs;
  P pool;
  pool.shape = shape, pool.x = place(0), pool.dy = place(1), pool.dx = place(2);
  check<P>(pool, {{"pool gradient: kind is neither max nor average", [](P& a) { a.kind = PoolKind::kLp; }},
                  {"pool gradient: x of max is null", [](P& a) { a.x = nullptr; }},
                  {"pool gradient: dx is dy or x", [](P& a) { a.dx = place(0); }}});
  using C = ConvWeightGradArgs;
  C conv;
  conv.input = place(0), conv.dy = place(1), conv.sums = place(2), conv.dw = place(3);
  check<C>(conv, {{"conv weight gradient: neither sums nor dw is there", [](C& a) { a.sums = a.dw = nullptr; }},
                  {"conv weight gradient: groups without as many outputs as inputs, or on a plain input",
                   [](C& a) { a.shape.groups = 2, a.shape.in_channels = 2, a.shape.out_channels = 4; }},
                  {"conv weight gradient: images with depth", [](C& a) { a.shape.in.depth = 2; }},
                  {"conv weight gradient: a size is not positive", [](C& a) { a.shape.batch = 0; }},
                  {"conv weight gradient: plain input with dilated columns",
                   [](C& a) { a.plain_input = true, a.shape.kernel.width = 2, a.shape.dilation.width = 2; }},
                  {"conv weight gradient: sums is not 256-byte aligned", [](C& a) { a.sums = place(2) + 16; }}});
}

TEST_CASE("a convolution's gradient is finished without its images") {
  ConvWeightGradArgs conv;
  conv.sums = place(0), conv.dw = place(1);
  CHECK(finish_violation(conv) == nullptr);
  conv.bias = true;
  CHECK(std::string(finish_violation(conv)) == "conv weight gradient: db is null");
  conv.db = place(2), conv.dw = nullptr;
  CHECK(std::string(finish_violation(conv)) == "conv weight gradient: dw is null");
}

TEST_CASE("the contracts of norms' gradients") {
  using R = RowNormGradArgs;
  check<R>({place(0), place(1), place(2), place(3), place(4), place(1), place(5), 2, 7},
           {{"row norm gradient: a size is not positive", [](R& a) { a.rows_each = 0; }},
            {"row norm gradient: x, dy, scale, mean or inv_std is null", [](R& a) { a.mean = nullptr; }},
            {"row norm gradient: dx overlaps dy and is not dy", [](R& a) { a.dx = place(1) + 1; }},
            {"row norm gradient: dx overlaps x", [](R& a) { a.dx = place(0) + 13; }}});
  using S = ChannelGradSumsArgs;
  check<S>({place(0), place(1), place(2), place(3), place(4), 1, 2, 3},
           {{"channel gradient sums: a size is negative, or no channels", [](S& a) { a.channels = 0; }},
            {"channel gradient sums: one of scale and shift without the other", [](S& a) { a.scale = place(5); }},
            {"channel gradient sums: a Relu told by scale and by y", [](S& a) { a.scale = a.shift = a.y = place(5); }},
            {"channel gradient sums: dy_more or masked without y", [](S& a) { a.masked = place(5); }}});
  using C = ChannelGradArgs;
  check<C>({place(0), place(1), place(1), place(2), place(3), place(4), 1, 2, 3},
           {{"channel gradient: a size is negative, or no channels", [](C& a) { a.spatial = -1; }},
            {"channel gradient: x, dy or dx is null", [](C& a) { a.dx = nullptr; }},
            {"channel gradient: a, b or k is null", [](C& a) { a.k = nullptr; }},
            {"channel gradient: one of scale and shift without the other", [](C& a) { a.shift = place(5); }}});
}

TEST_CASE("the contracts of losses and optimisers") {
  static const int64_t labels[] = {0, 4, -100};
  using L = CrossEntropyArgs;
  L loss;
  loss.log_p = place(0), loss.labels = labels, loss.loss = place(1), loss.batch = 3, loss.classes = 5;
  loss.has_ignore = true, loss.ignore = -100;
  check<L>(loss, {{"cross entropy: label_bytes is neither 4 nor 8", [](L& a) { a.label_bytes = 2; }},
                  {"cross entropy: a label is not one of the classes", [](L& a) { a.classes = 4; }},
                  {"cross entropy: a label is not one of the classes", [](L& a) { a.has_ignore = false; }},
                  {"cross entropy: loss is weight", [](L& a) { a.weight = a.loss; }}});
  using G = CrossEntropyGradArgs;
  check<G>({loss, place(1), false, true, place(0)},
           {{"cross entropy gradient: k or dx is null", [](G& a) { a.k = nullptr; }},
            {"cross entropy gradient: dx overlaps log_p and is not it", [](G& a) { a.dx = place(0) + 1; }}});
  using O = OptimizerArgs;
  O adam;
  adam.rule = OptimizerRule::kAdam, adam.n = 10, adam.x = place(0), adam.g = place(1), adam.v = place(2), adam.h = place(3);
  adam.x_new = place(0), adam.v_new = place(4), adam.h_new = place(3);
  check<O>(adam, {{"optimizer: n is not positive, or x, g or x_new is null", [](O& a) { a.g = nullptr; }},
                  {"optimizer: v or v_new is null", [](O& a) { a.v = nullptr; }},
                  {"optimizer: h or h_new is null", [](O& a) { a.h_new = nullptr; }},
                  {"optimizer: a result overlaps what it is not the new value of", [](O& a) { a.v_new = place(1) + 9; }},
                  {"optimizer: a result overlaps what it is not the new value of", [](O& a) { a.x_new = place(0) + 1; }},
                  {"optimizer: results overlap", [](O& a) { a.v_new = place(5), a.x_new = place(5) + 9; }}});
  using W = LayerwiseArgs;
  check<W>(lamb(), {{"layerwise optimizer: n is not positive, or x, g or partials is null", [](W& a) { a.partials = nullptr; }},
                    {"layerwise optimizer: v, v_new, h or h_new is null", [](W& a) { a.h = nullptr; }},
                    {"layerwise optimizer: v, v_new or x_new is null", [](W& a) { a.x_new = nullptr; }}});
  W norms = lamb();
  norms.x_new = nullptr;
  CHECK(norms_violation(norms) == nullptr);
}
}  // namespace contract_gradient_test
