#include "engine/kernels/conv_test_util.h"

namespace conv_test {
using namespace svengine::kernels;
using namespace svengine::tests::conv;

TEST_CASE("the chosen kind is the special one") {
  for (const KernelTable* set : available_kernel_sets()) {
    const auto chosen = [&](const Problem& p) { return set->conv->choose(p.shape(), false); };
    CHECK(chosen(square(64, 64, 8, 5)) == ConvKind::kDirect);
    CHECK(chosen(square(64, 64, 28, 3, 1, 1)) == ConvKind::kWinograd);
    CHECK(chosen(square(64, 64, 28, 3, 2, 1)) == ConvKind::kDirect);
    CHECK(set->conv->choose(square(64, 64, 28, 3, 1, 1).shape(), true) == ConvKind::kDirect);
    CHECK(chosen(square(5, 7, 8, 3)) == ConvKind::kDirect);
    CHECK(chosen(square(3, 64, 8, 7)) == ConvKind::kFirstLayer);
    CHECK(chosen(grouped(square(40, 40, 8, 3), 40)) == ConvKind::kDepthwise);
    CHECK(chosen(grouped(square(32, 64, 8, 3), 2)) == ConvKind::kDirect);
    CHECK(chosen(grouped(square(32, 32, 8, 3), 16)) == ConvKind::kGrouped);
    CHECK(chosen(Problem{8, 8, {3, 4, 4}, {2, 2, 2}}) == ConvKind::kDirect);
    CHECK(chosen(Problem{4, 8, {3, 4, 4}, {2, 2, 2}}) == ConvKind::kFirstLayer);
    CHECK(chosen(Problem{64, 64, {8, 30, 30}, {3, 3, 3}}) == ConvKind::kWinograd);
    CHECK(chosen(Problem{256, 256, {128, 130, 130}, {3, 3, 3}}) == ConvKind::kDirect);  // whose transformed inputs are 14 GB
    CHECK(chosen(grouped(Problem{64, 64, {3, 4, 4}, {2, 2, 2}}, 2)) == ConvKind::kDirect);
    CHECK(chosen(grouped(Problem{8, 8, {3, 4, 4}, {2, 2, 2}}, 8)) == ConvKind::kPlain);
  }
}

TEST_CASE("one by one convolutions of every channel count") {
  for (int64_t channels : {1, 5, 16, 19, 33, 64}) {
    check_all(square(channels, 20, 5, 1));
    check_all(square(20, channels, 5, 1));
  }
  for (int64_t outs : {48, 80, 130}) check_all(square(24, outs, 3, 1));
  check_all(square(48, 24, 7, 1, 2));
  Problem picked = grouped(square(64, 96, 9, 1, 3), 2);  // strides whose inputs are copied first
  picked.batch = 3;
  picked.bias = picked.in_place = true;
  check_all(picked);
  picked.pad_end = {0, 2, 5};  // and that must not be: outputs outside the image
  check_all(picked);
  check_all(square(16, 16, 1, 1));
  Problem deep = square(600, 17, 4, 1);  // several passes over the channels
  deep.bias = deep.residual = true;
  deep.activation.kind = Activation::kRelu;
  check_all(deep);
}

TEST_CASE("strides, padding and dilation") {
  for (int64_t kernel : {2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3}) check_all(square(6, 18, 11, kernel, stride, kernel / 2));
  Problem p = square(18, 35, 9, 3, 1, 0);
  p.pad = {0, 2, 0}, p.pad_end = {0, 1, 3};
  check_all(p);
  p.dilation = {1, 2, 3};
  check_all(p);
  p.stride = {1, 2, 1};
  check_all(p);
  p.kernel = {1, 1, 5};
  check_all(p);
  p.kernel = {1, 4, 1};
  check_all(p);
}

TEST_CASE("images smaller than the kernel, and mostly padding") {
  check_all(square(17, 16, 1, 3, 1, 1));
  check_all(square(17, 16, 2, 5, 1, 2));
  check_all(square(3, 16, 2, 7, 2, 3));
  check_all(square(4, 9, 3, 3, 2, 5));  // whole tiles outside
  Problem crop = square(20, 20, 12, 3);
  crop.pad = {0, -1, -2}, crop.pad_end = {0, -1, 0};
  check_all(crop);
}

TEST_CASE("planes and rows that see nothing but padding") {
  for (const int64_t channels : {3, 16, 20})
    for (const int64_t groups : {int64_t{1}, channels})
      for (const ConvExtent kernel : {ConvExtent{1, 1, 1}, ConvExtent{1, 3, 3}}) {
        Problem p{channels, channels, {1, 7, 5}, kernel};
        p.groups = groups;
        p.stride.depth = 3, p.pad.depth = p.pad_end.depth = 1;  // one output plane, before the input's
        check_all(p);
        Problem rows{channels, channels, {1, 1, 5}, {1, 1, kernel.width}};
        rows.groups = groups;
        rows.stride.height = 3, rows.pad.height = rows.pad_end.height = 1;
        check_all(rows);
      }
}

TEST_CASE("first layers whose pixels share addresses, and others") {
  for (int64_t channels : {1, 2, 3, 4})
    for (int64_t stride : {1, 2, 3})
      for (int64_t outs : {16, 32, 48, 64})
        for (int64_t size : {9, 25}) check_all(square(channels, outs, size, 3, stride, 1));
  Problem p = square(3, 32, 30, 3, 1, 2);
  p.dilation = {1, 2, 2};
  check_all(p);
  p = Problem{4, 32, {5, 7, 26}, {3, 3, 3}};
  p.pad = {1, 1, 1}, p.pad_end = {1, 2, -2}, p.batch = 2, p.dilation.depth = 2;
  check_all(p);
  p.pad.width = -3;
  check_all(p);
}

TEST_CASE("wide and tall images") {
  check_all(Problem{16, 64, {1, 1, 61}, {1, 1, 3}});
  check_all(Problem{3, 33, {1, 5, 40}, {1, 3, 3}});
  check_all(Problem{17, 5, {1, 40, 3}, {1, 3, 3}});
  check_all(square(32, 64, 14, 3, 1, 1));  // tiles across rows
}

TEST_CASE("groups") {
  check_all(grouped(square(32, 32, 6, 3, 1, 1), 8));     // 4 channels a group
  check_all(grouped(square(24, 48, 6, 3, 2, 1), 3));     // 8 -> 16
  check_all(grouped(square(20, 30, 5, 3, 1, 1), 10));    // 2 -> 3
  check_all(grouped(square(36, 12, 5, 1), 12));          // 3 -> 1
  check_all(grouped(square(58, 58, 4, 5, 1, 2), 2));     // 29 channels: lanes from three blocks
  check_all(grouped(square(64, 96, 5, 3, 1, 1), 2));     // whole blocks
  check_all(grouped(square(12, 36, 7, 3, 1, 1), 12));    // depthwise with multiplier 3
  check_all(grouped(square(40, 8, 5, 7, 2, 3), 4));
}

TEST_CASE("depthwise") {
  for (int64_t kernel : {3, 5, 7})
    for (int64_t stride : {1, 2, 3}) check_all(grouped(square(21, 21, 13, kernel, stride, kernel / 2), 21));
  check_all(grouped(Problem{16, 16, {1, 3, 50}, {1, 3, 3}}, 16));
  Problem p = grouped(square(33, 33, 9, 3, 1, 2), 33);
  p.dilation = {1, 2, 2};
  check_all(p);
  check_all(grouped(square(5, 5, 2, 5, 1, 2), 5));
}

TEST_CASE("depthwise kernels of every width, on images narrower and wider, with padding up to beyond the kernel") {
  for (int64_t width : {1, 2, 3, 4, 5, 6, 8, 11})
    for (int64_t columns : {4, 19, 37})
      for (int64_t pad : {int64_t{0}, width / 2, width + 2})
        for (int64_t stride : {1, 2}) {
          Problem p = grouped(Problem{5, 5, {1, 3, columns}, {1, 2, width}}, 5);
          p.pad.width = pad, p.pad_end.width = pad / 2 + 1, p.stride.width = stride;
          p.dilation.width = columns == 19 ? 2 : 1;
          if (columns + pad + p.pad_end.width > (width - 1) * p.dilation.width) check_all(p);
        }
}

TEST_CASE("three dimensions") {
  Problem p{5, 7, {4, 5, 6}, {2, 3, 3}};
  check_all(p);
  p.pad = {1, 1, 0}, p.pad_end = {0, 2, 1}, p.stride = {2, 1, 2}, p.dilation = {1, 2, 1};
  check_all(p);
  check_all(grouped(Problem{6, 9, {3, 4, 40}, {3, 1, 2}}, 3));
  check_all(grouped(Problem{64, 32, {3, 4, 5}, {2, 2, 2}}, 2));
  for (int64_t channels : {1, 3, 16, 37}) {
    Problem q{channels, 35, {4, 5, 6}, {3, 3, 3}};
    q.batch = 2;
    q.pad = q.pad_end = {1, 1, 1};
    q.bias = q.residual = true;
    q.activation.kind = Activation::kRelu;
    check_all(q);
    q.stride = {2, 2, 2};
    q.in_place = true;
    check_all(q);
    q.dilation = {2, 1, 1};
    q.pad = {4, 0, 1}, q.pad_end = {5, 1, 0};  // the first output planes see no input
    check_all(q);
  }
  check_all(Problem{20, 24, {7, 5, 5}, {1, 1, 1}});
  check_all(Problem{20, 24, {7, 5, 5}, {3, 1, 1}});
  check_all(Problem{20, 24, {1, 5, 5}, {1, 3, 3}});
  check_all(Problem{600, 17, {3, 3, 3}, {2, 1, 2}});  // several passes over the channels of a kernel plane
}

TEST_CASE("bias, residual and every activation") {
  for (int kind = 0; kind < kActivationCount; ++kind) {
    for (Problem p : {square(20, 40, 5, 3, 1, 1), square(3, 40, 9, 3, 2, 1), grouped(square(24, 24, 5, 3, 1, 1), 24),
                      grouped(square(24, 24, 5, 3, 1, 1), 6)}) {
      p.batch = 2;
      p.activation = {static_cast<Activation>(kind), 0.25f, 0.75f};
      p.bias = kind % 2 == 0;
      p.residual = kind % 3 != 0;
      p.in_place = kind % 4 == 1;
      check_all(p);
    }
  }
}

TEST_CASE("batches with the weights outside or inside") {
  Problem p = square(64, 64, 3, 3, 1, 1);  // weights larger than the image
  p.batch = 5;
  p.bias = p.in_place = true;
  check_all(p);
  p = square(16, 16, 20, 1);
  p.batch = 3;
  check_all(p);
}

TEST_CASE("an empty batch has no tasks") {
  for (const KernelTable* set : tested_kernel_sets()) {
    ConvArgs args;
    args.shape = square(16, 16, 5, 3).shape();
    args.shape.batch = 0;
    for (int kind = 0; kind < kConvKindCount; ++kind) {
      args.kind = static_cast<ConvKind>(kind);
      CHECK(set->conv->tasks(args) == 0);
      CHECK(set->conv->scratch_bytes(args) == 0);
    }
  }
}
}  // namespace conv_test
