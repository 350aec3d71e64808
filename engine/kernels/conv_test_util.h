// What the tests of convolutions share: a problem, its operands in every layout, guarded, and a run of it on a kernel set beside the
// reference.
#pragma once
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/conv.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/conv.h"
#include "engine/kernels/reference/conv_winograd.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace svengine::tests::conv {

using namespace svengine::kernels;

inline size_t volume(const ConvExtent& e) { return static_cast<size_t>(e.depth * e.height * e.width); }
inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// The output size for padding at both ends, rounded down as ONNX does.
inline int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
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

inline Problem square(int64_t in_channels, int64_t out_channels, int64_t size, int64_t kernel, int64_t stride = 1, int64_t pad = 0) {
  Problem p{in_channels, out_channels, {1, size, size}, {1, kernel, kernel}};
  p.stride = {1, stride, stride};
  p.pad = p.pad_end = {0, pad, pad};
  return p;
}

inline Problem grouped(Problem p, int64_t groups) {
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

inline std::vector<float> random_floats(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& x : values) x = uniform(random);
  return values;
}

/// The operands of a problem in ONNX order and what is right of them, whichever kernel set and kind computes it.
class Operands {
 public:
  explicit Operands(const Problem& p) : problem(p), shape(p.shape()) {
    std::mt19937 random(static_cast<unsigned>(p.in_channels * 31 + p.out_channels * 7 + p.in.width + p.kernel.width));
    input = random_floats(size_t(p.batch * p.in_channels) * volume(p.in), random);
    weights = random_floats(size_t(p.out_channels * p.in_channels / p.groups) * volume(p.kernel), random);
    bias = random_floats(size_t(p.out_channels), random);
    residual = random_floats(size_t(p.batch * p.out_channels) * volume(shape.out), random);
  }

  /// Computed when first asked for: the double reference takes its time.
  const ReferenceConv& want(ConvKind kind) const {
    std::optional<ReferenceConv>& kept = kind == ConvKind::kWinograd ? of_winograd_ : of_plain_sums_;
    if (!kept) {
      const auto reference = kind == ConvKind::kWinograd ? reference_winograd : reference_conv;
      kept = reference(shape, input.data(), weights.data(), problem.bias ? bias.data() : nullptr,
                       problem.residual || problem.in_place ? residual.data() : nullptr, problem.activation);
    }
    return *kept;
  }

  const Problem problem;
  const ConvShape shape;
  std::vector<float> input, weights, bias, residual;

 private:
  mutable std::optional<ReferenceConv> of_plain_sums_, of_winograd_;
};

/// The buffers of a problem for one kernel set and kind.
struct Instance {
  const KernelTable& set;
  const Operands& plain;
  const Problem& problem;
  const ConvShape& shape;
  ConvKind kind;
  Layout in, out;
  GuardedBuffer<float> input, weights, packed, bias, residual, output;
  std::unique_ptr<GuardedBuffer<float>> workspace;
  ConvArgs args;

  Instance(const KernelTable& set, const Operands& plain, ConvKind kind)
      : set(set), plain(plain), problem(plain.problem), shape(plain.shape), kind(kind),
        in{shape.batch, shape.in_channels, int64_t(volume(shape.in)), set.lanes, kind != ConvKind::kPlain && kind != ConvKind::kFirstLayer},
        out{shape.batch, shape.out_channels, int64_t(volume(shape.out)), set.lanes, kind != ConvKind::kPlain},
        input(in.floats()), weights(plain.weights.size()), packed(size_t(set.conv->packed_bytes(set.conv->packing(shape, kind))) / 4),
        bias(size_t(round_up(shape.out_channels, set.lanes))), residual(out.floats()), output(out.floats()) {
    in.store(plain.input, 1e30f, input);  // finite, and ruinous if a padding lane counted
    std::copy(plain.weights.begin(), plain.weights.end(), weights.begin());
    for (float& x : bias) x = 0;
    std::copy(plain.bias.begin(), plain.bias.end(), bias.begin());
    args.shape = shape, args.kind = kind;
    args.input = input.data(), args.weights = packed.data(), args.output = output.data();
    args.bias = problem.bias ? bias.data() : nullptr;
    args.residual = problem.in_place ? output.data() : problem.residual ? residual.data() : nullptr;
    args.activation = problem.activation;
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
    out.store(plain.residual, 0.0f, problem.in_place ? output : residual);
    workspace->refill();
    const int64_t prepare_tasks = set.conv->prepare_tasks(args);
    for (int64_t part = parts - 1; part >= 0; --part)
      set.conv->prepare(args, prepare_tasks * part / parts, prepare_tasks * (part + 1) / parts);
    run_tasks(TaskKernel<ConvArgs>{set.conv->tasks, set.conv->scratch_bytes, set.conv->run}, args, parts);
  }
};

inline void check_values(const Instance& i) {
  const Problem& p = i.problem;
  const ReferenceConv& want = i.plain.want(i.kind);
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

inline void check(const KernelTable& set, const Operands& plain, ConvKind kind) {
  const Problem& p = plain.problem;
  Instance i(set, plain, kind);
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
inline std::vector<ConvKind> allowed_kinds(const KernelTable& set, const ConvShape& s) {
  std::vector<ConvKind> kinds{ConvKind::kPlain};
  const bool flat = is_flat(s);
  if (flat) kinds.push_back(ConvKind::kGrouped);
  const bool whole = s.in_channels / s.groups % set.lanes == 0 && s.out_channels / s.groups % set.lanes == 0;
  if (s.groups == 1 || whole) kinds.push_back(ConvKind::kDirect);
  if (s.groups == 1 && s.in_channels <= 4) kinds.push_back(ConvKind::kFirstLayer);
  const int64_t steps = s.stride.height * s.stride.width * s.dilation.height * s.dilation.width;
  if (s.groups == 1 && s.kernel.height == 3 && s.kernel.width == 3 && steps == 1) kinds.push_back(ConvKind::kWinograd);
  if (!flat) return kinds;
  if (s.groups == s.in_channels && s.groups == s.out_channels) kinds.push_back(ConvKind::kDepthwise);
  return kinds;
}

inline void check_all(const Problem& p) {
  const Operands plain(p);
  for (const KernelTable* set : tested_kernel_sets()) {
    const std::vector<ConvKind> kinds = allowed_kinds(*set, p.shape());
    CHECK(std::count(kinds.begin(), kinds.end(), set->conv->choose(p.shape(), false)) == 1);
    CHECK(std::count(kinds.begin(), kinds.end(), set->conv->choose(p.shape(), true)) == 1);
    for (ConvKind kind : kinds) check(*set, plain, kind);
  }
}

/// Where the other kinds see nothing new: the double reference takes its time.
inline void check_winograd(const Problem& p) {
  const Operands plain(p);
  for (const KernelTable* set : tested_kernel_sets()) check(*set, plain, ConvKind::kWinograd);
}

}  // namespace svengine::tests::conv
