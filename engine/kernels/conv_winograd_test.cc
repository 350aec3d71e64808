// Convolutions by Winograd's algorithm, where the other kinds see nothing new.
#include "engine/kernels/conv_test_util.h"

namespace conv_winograd_test {
using namespace svengine::kernels;
using namespace svengine::tests::conv;

TEST_CASE("Winograd at every edge and channel count") {
  for (int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 14}) check_all(square(20, 18, size, 3, 1, 1));
  for (int64_t channels : {1, 16, 31, 100}) check_winograd(square(channels, 130 - channels, 7, 3, 1, 1));
  Problem p{18, 20, {1, 9, 14}, {1, 3, 3}};
  for (int64_t begin : {-1, 0, 1, 2, 5})
    for (int64_t end : {-2, 0, 1, 4}) {
      p.pad = {0, begin, 1}, p.pad_end = {0, 1, end};
      check_winograd(p);
      p.pad = {0, 1, begin}, p.pad_end = {0, end, 1};
      check_winograd(p);
    }
}

TEST_CASE("Winograd with weights transformed on the way") {
  Problem p = square(150, 140, 5, 3, 1, 1);
  p.bias = p.residual = true;
  p.activation.kind = Activation::kRelu;
  check_winograd(p);
  p.batch = 11;  // several groups of tiles where the L2 cache is small
  p.in_place = true;
  p.activation = {Activation::kClip, -0.5f, 2.0f};
  check_winograd(p);
  check_winograd(square(520, 40, 4, 3, 1, 1));  // several chunks of channels
  p = square(144, 130, 6, 3, 1, 0);
  p.activation.kind = Activation::kSigmoid;
  check_winograd(p);
}

TEST_CASE("Winograd in the planes of kernels with depth") {
  Problem p{20, 35, {4, 9, 6}, {3, 3, 3}};
  p.batch = 2;
  p.pad = p.pad_end = {1, 1, 1};
  p.bias = p.in_place = true;
  p.activation.kind = Activation::kRelu;
  check_winograd(p);
  p.stride.depth = 2, p.dilation.depth = 2, p.pad.depth = 3;
  check_winograd(p);
  p.kernel.depth = 1, p.dilation.depth = 1;
  check_winograd(p);
  Problem many{150, 140, {2, 6, 9}, {3, 3, 3}};  // weights transformed on the way
  many.pad = many.pad_end = {1, 1, 1};
  many.bias = many.residual = true;
  many.activation.kind = Activation::kSigmoid;
  check_winograd(many);
  check_winograd(Problem{150, 140, {3, 5, 6}, {3, 3, 3}});  // of one output plane
}
}  // namespace conv_winograd_test
