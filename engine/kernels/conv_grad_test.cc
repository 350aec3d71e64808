// Weight gradients of convolutions: odd sizes, strides, dilations, padding and channel counts, against the reference.
#include "engine/kernels/conv_grad.h"

#include "engine/kernels/gradient_test_util.h"
#include "engine/kernels/reference/conv_winograd.h"
#include "tests/support/tested_kernels.h"

namespace conv_grad_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

namespace {

ConvShape shape_of(int64_t batch, int64_t in_channels, int64_t out_channels, Extent in, Extent kernel, Extent stride = {},
                   Extent pad = {0, 0, 0}, Extent dilation = {}, Extent pad_end = {-1, -1, -1}) {
  if (pad_end.height < 0) pad_end = pad;
  const auto size = [](int64_t n, int64_t k, int64_t s, int64_t d, int64_t pads) { return (n + pads - (k - 1) * d - 1) / s + 1; };
  ConvShape s;
  s.batch = batch, s.in_channels = in_channels, s.out_channels = out_channels;
  s.in = in, s.kernel = kernel, s.stride = stride, s.dilation = dilation, s.pad = pad;
  s.out = {1, size(in.height, kernel.height, stride.height, dilation.height, pad.height + pad_end.height),
           size(in.width, kernel.width, stride.width, dilation.width, pad.width + pad_end.width)};
  return s;
}

std::vector<ConvShape> shapes() {
  return {
      shape_of(1, 64, 64, {1, 7, 7}, {1, 1, 1}),                            // the image is its own panel
      shape_of(2, 37, 90, {1, 13, 22}, {1, 1, 1}),                          // several chunks of an image, odd channels
      shape_of(7, 17, 5, {1, 5, 6}, {1, 1, 1}),                             // several images in a chunk
      shape_of(9, 32, 21, {1, 7, 7}, {1, 1, 1}),                            // the same in ONNX order
      shape_of(2, 48, 130, {1, 20, 21}, {1, 1, 1}),                         // several parts in ONNX order
      shape_of(2, 20, 130, {1, 14, 14}, {1, 3, 3}, {}, {0, 1, 1}),
      shape_of(1, 20, 33, {1, 27, 31}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}),
      shape_of(3, 40, 16, {1, 9, 10}, {1, 1, 1}, {1, 2, 2}),                // strided 1 x 1
      shape_of(3, 64, 100, {1, 9, 10}, {1, 1, 1}, {1, 2, 3}),               // the same in ONNX order
      shape_of(1, 32, 37, {1, 40, 42}, {1, 1, 1}, {1, 2, 2}),
      shape_of(1, 16, 520, {1, 6, 6}, {1, 3, 3}, {}, {0, 1, 1}),            // several groups of output blocks share a panel
      shape_of(2, 3, 70, {1, 30, 33}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}),     // a first layer
      shape_of(1, 1, 3, {1, 4, 5}, {1, 2, 19}, {1, 1, 2}, {0, 1, 20}),      // columns that see nothing but padding
      shape_of(2, 18, 20, {1, 12, 9}, {1, 3, 2}, {}, {0, 2, 3}, {1, 2, 3}, {0, 1, 2}),
      shape_of(1, 4, 4, {1, 2, 2}, {1, 5, 5}, {1, 1, 1}, {0, 4, 4}),        // an image smaller than the kernel
  };
}

ConvShape in_groups(int64_t groups, ConvShape s) {
  s.groups = groups;
  return s;
}

/// Groups within a block, of every kernel width that has a loop of its own and some that are made of several.
std::vector<ConvShape> grouped_shapes() {
  return {
      in_groups(37, shape_of(2, 37, 37, {1, 14, 15}, {1, 3, 3}, {}, {0, 1, 1})),
      in_groups(16, shape_of(1, 16, 16, {1, 9, 20}, {1, 5, 5}, {}, {0, 2, 2})),
      in_groups(20, shape_of(3, 20, 20, {1, 11, 13}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1})),
      in_groups(18, shape_of(1, 18, 18, {1, 13, 12}, {1, 7, 4}, {1, 2, 1}, {0, 3, 3}, {1, 1, 2})),
      in_groups(5, shape_of(40, 5, 5, {1, 4, 3}, {1, 2, 2})),
      in_groups(4, shape_of(1, 4, 4, {1, 2, 2}, {1, 5, 8}, {}, {0, 4, 9})),                        // an image smaller than the kernel
      in_groups(33, shape_of(1, 33, 33, {1, 6, 7}, {1, 1, 1}, {}, {0, -1, -2})),                   // cut at its borders
      in_groups(10, shape_of(2, 40, 40, {1, 8, 9}, {1, 3, 3}, {}, {0, 1, 1})),                     // four channels
      in_groups(9, shape_of(1, 18, 18, {1, 7, 8}, {1, 3, 2}, {1, 1, 2}, {0, 1, 1}, {1, 2, 1})),    // two, not all of a block
  };
}

/// Layers that pay with Winograd's algorithm on every kernel set.
std::vector<ConvShape> winograd_shapes() {
  return {
      shape_of(1, 64, 64, {1, 28, 28}, {1, 3, 3}, {}, {0, 1, 1}),
      shape_of(2, 69, 131, {1, 19, 22}, {1, 3, 3}, {}, {0, 1, 1}),                      // odd channels, borders inside tiles
      shape_of(11, 32, 37, {1, 24, 25}, {1, 3, 3}, {}, {0, 0, 2}, {}, {0, 2, 0}),       // several parts, uneven padding
      shape_of(1, 150, 280, {1, 12, 12}, {1, 3, 3}, {}, {0, 1, 1}),                     // several units and bands
      shape_of(1, 40, 33, {1, 18, 18}, {1, 3, 3}, {}, {0, 6, 6}),                       // tiles in nothing but padding
  };
}

int64_t blocked_floats(int64_t batch, int64_t channels, const Extent& e, int64_t lanes) {
  return batch * ((channels + lanes - 1) / lanes) * lanes * e.height * e.width;
}

struct Gradients {
  Buffer dw, db;
};

Gradients run(const KernelTable* set, ConvWeightGradArgs args, int64_t parts) {
  const ConvWeightGradKernels& kernels = set->gradient->conv_weights;
  Buffer sums(static_cast<size_t>(kernels.sums_bytes(args) / 4), Buffer::Place::kStart);  // aligned
  const ConvShape& s = args.shape;
  Buffer dw(static_cast<size_t>(s.out_channels * (s.in_channels / s.groups) * s.kernel.height * s.kernel.width));
  Buffer db(static_cast<size_t>(args.bias ? args.shape.out_channels : 0));
  args.sums = sums.data(), args.dw = dw.data(), args.db = db.data();
  run_tasks(kernels.sums, args, parts);
  run_tasks(kernels.finish, args, parts);
  REQUIRE(sums.intact());
  return {std::move(dw), std::move(db)};
}

ReferenceGradient reference_bias(const ConvWeightGradArgs& args, int64_t lanes) {
  const ConvShape& s = args.shape;
  const int64_t pixels = s.out.height * s.out.width, blocks = (s.out_channels + lanes - 1) / lanes;
  ReferenceGradient db{std::vector<double>(size_t(s.out_channels)), std::vector<double>(size_t(s.out_channels))};
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t o = 0; o < s.out_channels; ++o)
      for (int64_t p = 0; p < pixels; ++p) {
        const double value = args.dy[((n * blocks + o / lanes) * pixels + p) * lanes + o % lanes];
        db.value[size_t(o)] += value;
        db.error[size_t(o)] += std::fabs(value) * 0x1p-24 * double(64 + s.batch + pixels / 64);
      }
  return db;
}

/// Of an exact sum and, where there is one, of Winograd's.
void check(const KernelTable* set, const ConvShape& s, bool plain, bool winograd, const std::string& what) {
  const int64_t plain_floats = s.batch * s.in_channels * s.in.height * s.in.width;
  const Buffer x = random_buffer(plain ? plain_floats : blocked_floats(s.batch, s.in_channels, s.in, set->lanes), 1);
  const Buffer dy = random_buffer(blocked_floats(s.batch, s.out_channels, s.out, set->lanes), 2);
  ConvWeightGradArgs args;
  args.shape = s, args.plain_input = plain, args.input = x.data(), args.dy = dy.data(), args.exact = !winograd;
  args.bias = s.out_channels % 3 != 0;
  const auto [dw, db] = run(set, args, 3);
  if (args.bias) require_close(db, reference_bias(args, set->lanes), what + " bias");
  require_close(dw, winograd ? reference_winograd_weight_grad(args, set->lanes) : reference_conv_weight_grad(args, set->lanes), what);
  const auto [again, bias_again] = run(set, args, 1);
  INFO(what);
  REQUIRE(same_values(dw.data(), again.data(), dw.size()));
  REQUIRE(same_values(db.data(), bias_again.data(), db.size()));
  if (!winograd) return;
  args.exact = true;
  REQUIRE(!same_values(dw.data(), run(set, args, 1).dw.data(), dw.size()));  // it is another algorithm
}

}  // namespace

TEST_CASE("convolution backward by weights", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    size_t i = 0;
    for (const ConvShape& s : shapes()) {
      const std::string what = std::string(set->name) + " shape " + std::to_string(i++);
      check(set, s, false, false, what);
      if (s.dilation.width == 1 && s.in_channels <= 4) check(set, s, true, false, what + " plain");
    }
  }
}

TEST_CASE("convolution backward by weights, in groups", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    size_t i = 0;
    for (const ConvShape& s : grouped_shapes()) check(set, s, false, false, std::string(set->name) + " shape " + std::to_string(i++));
  }
}

TEST_CASE("convolution backward by weights, Winograd's algorithm", "[gradient]") {
  for (const KernelTable* set : available_kernel_sets()) {
    size_t i = 0;
    for (const ConvShape& s : winograd_shapes()) check(set, s, false, true, std::string(set->name) + " shape " + std::to_string(i++));
  }
}
}  // namespace conv_grad_test
