#include "engine/kernels/conv.h"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/conv.h"
#include "engine/kernels/reference/conv_winograd.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

size_t volume(const ConvExtent& e) { return static_cast<size_t>(e.depth * e.height * e.width); }
int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// The output size for padding at both ends, rounded down as ONNX does.
int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

struct Problem {
  int64_t in_channels, out_channels;
  ConvExtent in, kernel;
  ConvExtent stride = {}, dilation = {};
  ConvExtent pad = {0, 0, 0}, pad_end = {0, 0, 0};
  int64_t groups = 1;
  int64_t batch = 1;
  bool bias = false, residual = false, in_place = false;
  ActivationArgs activation = {};

  ConvShape shape() const {
    ConvShape s;
    s.batch = batch, s.in_channels = in_channels, s.out_channels = out_channels, s.groups = groups;
    s.in = in, s.kernel = kernel, s.stride = stride, s.dilation = dilation, s.pad = pad;
    s.out = {out_size(in.depth, kernel.depth, stride.depth, dilation.depth, pad.depth + pad_end.depth),
             out_size(in.height, kernel.height, stride.height, dilation.height, pad.height + pad_end.height),
             out_size(in.width, kernel.width, stride.width, dilation.width, pad.width + pad_end.width)};
    return s;
  }
};

Problem square(int64_t in_channels, int64_t out_channels, int64_t size, int64_t kernel, int64_t stride = 1, int64_t pad = 0) {
  Problem p{in_channels, out_channels, {1, size, size}, {1, kernel, kernel}};
  p.stride = {1, stride, stride};
  p.pad = p.pad_end = {0, pad, pad};
  return p;
}

Problem grouped(Problem p, int64_t groups) {
  p.groups = groups;
  return p;
}

/// Plain [N][C][size] to or from blocked [N][C / c][size][c]; blocked padding lanes are set to `filler`.
struct Layout {
  int64_t batch, channels, size, lanes;
  bool blocked;
  size_t floats() const { return static_cast<size_t>(batch * (blocked ? round_up(channels, lanes) : channels) * size); }
  size_t at(int64_t n, int64_t c, int64_t q) const {
    if (!blocked) return static_cast<size_t>((n * channels + c) * size + q);
    return static_cast<size_t>(((n * (round_up(channels, lanes) / lanes) + c / lanes) * size + q) * lanes + c % lanes);
  }
  void store(const std::vector<float>& plain, float filler, GuardedBuffer<float>& to) const {
    for (float& x : to) x = filler;
    size_t i = 0;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t q = 0; q < size; ++q) to[at(n, c, q)] = plain[i++];
  }
};

std::vector<float> random_floats(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& x : values) x = uniform(random);
  return values;
}

/// The buffers of a problem for one kernel set and kind.
struct Instance {
  const KernelTable& set;
  Problem problem;
  ConvShape shape;
  ConvKind kind;
  Layout in, out;
  std::vector<float> plain_input, plain_weights, plain_bias, plain_residual;
  GuardedBuffer<float> input, weights, packed, bias, residual, output;
  std::unique_ptr<GuardedBuffer<float>> workspace;
  ConvArgs args;

  Instance(const KernelTable& set, const Problem& p, ConvKind kind)
      : set(set), problem(p), shape(p.shape()), kind(kind),
        in{p.batch, p.in_channels, int64_t(volume(p.in)), set.lanes, kind != ConvKind::kPlain && kind != ConvKind::kFirstLayer},
        out{p.batch, p.out_channels, int64_t(volume(shape.out)), set.lanes, kind != ConvKind::kPlain},
        input(in.floats()), weights(size_t(p.out_channels * p.in_channels / p.groups) * volume(p.kernel)),
        packed(size_t(set.conv->packed_bytes(set.conv->packing(shape, kind))) / 4), bias(size_t(round_up(p.out_channels, set.lanes))),
        residual(out.floats()), output(out.floats()) {
    std::mt19937 random(static_cast<unsigned>(p.in_channels * 31 + p.out_channels * 7 + p.in.width + p.kernel.width));
    plain_input = random_floats(size_t(p.batch * p.in_channels) * volume(p.in), random);
    plain_weights = random_floats(weights.size(), random);
    plain_bias = random_floats(size_t(p.out_channels), random);
    plain_residual = random_floats(size_t(p.batch * p.out_channels) * volume(shape.out), random);
    in.store(plain_input, 1e30f, input);  // finite, and ruinous if a padding lane counted
    std::copy(plain_weights.begin(), plain_weights.end(), weights.begin());
    for (float& x : bias) x = 0;
    std::copy(plain_bias.begin(), plain_bias.end(), bias.begin());
    args.shape = shape, args.kind = kind;
    args.input = input.data(), args.weights = packed.data(), args.output = output.data();
    args.bias = p.bias ? bias.data() : nullptr;
    args.residual = p.in_place ? output.data() : p.residual ? residual.data() : nullptr;
    args.activation = p.activation;
    workspace = std::make_unique<GuardedBuffer<float>>(size_t(set.conv->workspace_bytes(args)) / 4);
    args.workspace = workspace->data();
  }

  void run(int64_t parts) {
    packed.refill();
    const ConvPacking packing = set.conv->packing(shape, kind);
    const int64_t pack_tasks = set.conv->pack_tasks(packing);
    for (int64_t part = 0; part < parts; ++part)
      set.conv->pack(packing, weights.data(), packed.data(), pack_tasks * part / parts, pack_tasks * (part + 1) / parts);
    output.refill();
    out.store(plain_residual, 0.0f, problem.in_place ? output : residual);
    workspace->refill();
    const int64_t prepare_tasks = set.conv->prepare_tasks(args);
    for (int64_t part = parts - 1; part >= 0; --part)
      set.conv->prepare(args, prepare_tasks * part / parts, prepare_tasks * (part + 1) / parts);
    run_tasks(TaskKernel<ConvArgs>{set.conv->tasks, set.conv->scratch_bytes, set.conv->run}, args, parts);
  }
};

void check_values(const Instance& i) {
  const Problem& p = i.problem;
  const auto reference = i.kind == ConvKind::kWinograd ? reference_winograd : reference_conv;
  const float* residual = p.residual || p.in_place ? i.plain_residual.data() : nullptr;
  const ReferenceConv want = reference(i.shape, i.plain_input.data(), i.plain_weights.data(), p.bias ? i.plain_bias.data() : nullptr,
                                       residual, p.activation);
  std::vector<bool> seen(i.output.size());
  size_t plain = 0;
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t c = 0; c < p.out_channels; ++c)
      for (int64_t q = 0; q < i.out.size; ++q, ++plain) {
        const size_t at = i.out.at(n, c, q);
        seen[at] = true;
        const double got = i.output[at];
        if (std::fabs(got - want.output[plain]) <= want.error[plain]) continue;
        INFO("image " << n << " channel " << c << " pixel " << q << " got " << got << " want " << want.output[plain] << " within "
                      << want.error[plain]);
        FAIL("wrong");
      }
  for (size_t at = 0; at < seen.size(); ++at)
    if (!seen[at] && !std::isfinite(i.output[at])) FAIL("padding lane " << at << " is " << i.output[at]);
}

void check(const KernelTable& set, const Problem& p, ConvKind kind) {
  Instance i(set, p, kind);
  INFO(set.name << " kind " << static_cast<int>(kind) << ": " << p.batch << " x " << p.in_channels << " -> " << p.out_channels << " groups "
                << p.groups << " in " << p.in.depth << "x" << p.in.height << "x" << p.in.width << " kernel " << p.kernel.depth << "x"
                << p.kernel.height << "x" << p.kernel.width << " stride " << p.stride.height << "x" << p.stride.width << " dilation "
                << p.dilation.height << "x" << p.dilation.width << " pad " << p.pad.height << "x" << p.pad.width << " activation "
                << static_cast<int>(p.activation.kind));
  i.run(1);
  check_values(i);
  CHECK(i.output.intact());
  CHECK(i.packed.intact());
  const std::vector<float> whole(i.output.begin(), i.output.end());
  for (int64_t parts : {2, 7}) {
    i.run(parts);
    CHECK(same_values(whole.data(), i.output.data(), whole.size()));
  }
}

/// The kinds that the table in conv.h allows.
std::vector<ConvKind> allowed_kinds(const KernelTable& set, const ConvShape& s) {
  std::vector<ConvKind> kinds{ConvKind::kPlain};
  const bool flat = s.in.depth == 1 && s.out.depth == 1 && s.kernel.depth == 1;
  if (flat) kinds.push_back(ConvKind::kGrouped);
  const bool whole = s.in_channels / s.groups % set.lanes == 0 && s.out_channels / s.groups % set.lanes == 0;
  if (s.groups == 1 || whole) kinds.push_back(ConvKind::kDirect);
  if (s.groups == 1 && s.in_channels <= 4) kinds.push_back(ConvKind::kFirstLayer);
  if (!flat) return kinds;
  if (s.groups == s.in_channels && s.groups == s.out_channels) kinds.push_back(ConvKind::kDepthwise);
  const int64_t steps = s.stride.height * s.stride.width * s.dilation.height * s.dilation.width;
  if (s.groups == 1 && s.kernel.height == 3 && s.kernel.width == 3 && steps == 1) kinds.push_back(ConvKind::kWinograd);
  return kinds;
}

void check_all(const Problem& p) {
  for (const KernelTable* set : tested_kernel_sets()) {
    const std::vector<ConvKind> kinds = allowed_kinds(*set, p.shape());
    CHECK(std::count(kinds.begin(), kinds.end(), set->conv->choose(p.shape(), false)) == 1);
    CHECK(std::count(kinds.begin(), kinds.end(), set->conv->choose(p.shape(), true)) == 1);
    for (ConvKind kind : kinds) check(*set, p, kind);
  }
}

/// Where the other kinds see nothing new: the double reference takes its time.
void check_winograd(const Problem& p) {
  for (const KernelTable* set : tested_kernel_sets()) check(*set, p, ConvKind::kWinograd);
}

}  // namespace

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

TEST_CASE("three dimensions") {
  Problem p{5, 7, {4, 5, 6}, {2, 3, 3}};
  check_all(p);
  p.pad = {1, 1, 0}, p.pad_end = {0, 2, 1}, p.stride = {2, 1, 2}, p.dilation = {1, 2, 1};
  check_all(p);
  check_all(grouped(Problem{6, 9, {3, 4, 40}, {3, 1, 2}}, 3));
  check_all(grouped(Problem{64, 32, {3, 4, 5}, {2, 2, 2}}, 2));
  for (int64_t channels : {1, 3, 16, 37}) {
    Problem q{channels, 35, {5, 6, 7}, {3, 3, 3}};
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
