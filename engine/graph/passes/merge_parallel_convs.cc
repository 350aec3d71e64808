// The sum of convolutions of one image becomes one convolution, with the sum of their weights (structural re-parameterization: Ding et al.,
// RepVGG, 2021). RepVGG, MobileOne, RepViT, FastViT and kin are trained as such sums and often exported so:
//
//        x                                  x            3x3 + 1x1 + scale of the norm:
//     /  |  \                               |              w w w     . . .     . . .
//   3x3 1x1 norm       becomes             3x3             w w w  +  . v .  +  . s .
//     \  |  /                               |              w w w     . . .     . . .
//       Add
//
// A norm of x, or in a depthwise sum x itself, is a convolution of kernel 1 with one group for each channel. The taps of the smaller kernel
// must be taps of the larger one, so nothing is computed that was not before. Sums are made in double and rounded once. Of an infinity that two
// branches multiply by weights of opposite signs the sum was NaN, and is an infinity.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "engine/base/memory.h"
#include "engine/graph/builder.h"
#include "engine/graph/fused_conv.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/norm_affine.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// A linear function of an image: a convolution with constant weights, a norm with known statistics, or nothing at all.
struct Branch {
  const Node* node = nullptr;  // null: the image itself
  Value* image = nullptr;
  int64_t groups = 1;
  Dims weights;  // [output channels, channels of a group, kernel...]
  Dims strides, dilations, before, after;
  std::optional<NormAffine> channels;  // of all but convolutions

  bool is_conv() const { return !channels; }
  size_t spatial() const { return strides.size(); }
};

bool is_constant(const Value* value) { return !value || value->is_constant(); }

std::optional<Branch> conv_branch(const Node& conv) {
  if (conv.inputs().size() > kConvResidual && conv.input(kConvResidual)) return {};
  if (!conv.attributes.get_string("activation").empty() || !conv.input(1)->is_constant() || !is_constant(conv.input(2))) return {};
  const std::string auto_pad = conv.attributes.get_string("auto_pad", "NOTSET");
  const Tensor& weights = conv.input(1)->constant();
  if ((auto_pad != "NOTSET" && auto_pad != "VALID") || weights.type() != DType::f32 || weights.count() == 0) return {};
  Branch out{&conv, conv.input(0), conv.attributes.get_int("group", 1), weights.dims(), {}, {}, {}, {}, {}};
  if (out.groups < 1 || out.weights[0] % out.groups != 0) return {};
  const size_t n = weights.dims().size() - 2;
  const auto ints = [&](const char* name, int64_t otherwise) {
    Dims values = conv.attributes.get_ints(name);
    values.resize(n * (otherwise ? 1 : 2), otherwise);
    return values;
  };
  out.strides = ints("strides", 1), out.dilations = ints("dilations", 1);
  const Dims pads = auto_pad == "VALID" ? Dims(2 * n, 0) : ints("pads", 0);
  out.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(n));
  out.after.assign(pads.begin() + static_cast<int64_t>(n), pads.end());
  const auto small = [](const Dims& values) {  // enough to be multiplied by a kernel's size: a file may name any number
    return std::all_of(values.begin(), values.end(), [](int64_t v) { return std::abs(v) < int64_t{1} << 31; });
  };
  if (!small(out.dilations) || !small(pads)) return {};
  return out;
}

NormAffine unchanged(int64_t channels) {
  return {std::vector<double>(static_cast<size_t>(channels), 1.0), std::vector<double>(static_cast<size_t>(channels))};
}

/// Every channel by itself, with kernel 1.
std::optional<Branch> channel_branch(const Node* node, Value* image, NormAffine numbers) {
  const Shape& shape = image->type.shape;
  if (!shape.has_rank() || shape.rank() < 3 || image->type.dtype != DType::f32) return {};
  const auto n = static_cast<size_t>(shape.rank() - 2);
  const auto channels = static_cast<int64_t>(numbers.scale.size());
  Dims weights(n + 2, 1);
  weights[0] = channels;
  return Branch{node, image, channels, weights, Dims(n, 1), Dims(n, 1), Dims(n, 0), Dims(n, 0), std::move(numbers)};
}

std::optional<Branch> branch_of(const Graph& graph, const Value* value) {
  const Node* node = value->producer();
  if (!node || !only_used_once(graph, value)) return {};
  if (is_op(node, "Conv") || is_op(node, "FusedConv")) return conv_branch(*node);
  std::optional<NormAffine> norm = known_norm(*node);
  return norm ? channel_branch(node, node->input(0), std::move(*norm)) : std::nullopt;
}

/// For each spatial dimension, which tap of `large` each tap of `small` is. Nothing where one is none, or where the two do not give
/// equally many outputs for every size of image.
std::optional<std::vector<Dims>> taps_within(const Branch& large, const Branch& small) {
  if (large.strides != small.strides || large.weights[0] != small.weights[0]) return {};
  if (small.groups % large.groups != 0 || small.weights[1] * small.groups != large.weights[1] * large.groups) return {};
  std::vector<Dims> taps(large.spatial());
  for (size_t i = 0; i < taps.size(); ++i) {
    const int64_t size = large.weights[i + 2], step = large.dilations[i];
    const auto reach = [i](const Branch& b) { return b.before[i] + b.after[i] - b.dilations[i] * (b.weights[i + 2] - 1); };
    if (reach(large) != reach(small)) return {};
    for (int64_t t = 0; t < small.weights[i + 2]; ++t) {
      const int64_t at = large.before[i] - small.before[i] + t * small.dilations[i];
      if (at < 0 || at % step != 0 || at / step >= size) return {};
      taps[i].push_back(at / step);
    }
  }
  return taps;
}

struct Numbers {
  std::vector<double> weights, bias;
};

Numbers numbers_of(const Branch& branch) {
  if (branch.channels) return {branch.channels->scale, branch.channels->shift};
  const auto channels = static_cast<size_t>(branch.weights[0]);
  const Node& conv = *branch.node;
  const Tensor& weights = conv.input(1)->constant();
  Numbers out{as_doubles(weights), conv.inputs().size() > 2 && conv.input(2) ? as_doubles(conv.input(2)->constant()) : std::vector<double>()};
  release_pages(weights.owner(), {weights.raw(), weights.byte_size()});  // of the model's file: mostly nobody reads them again
  out.bias.resize(channels);
  if (conv.inputs().size() <= kConvWeightScale || !conv.input(kConvWeightScale)) return out;
  const double* scale = conv.input(kConvWeightScale)->constant().data<double>().data();
  const size_t each = out.weights.size() / channels;
  for (size_t i = 0; i < out.weights.size(); ++i) out.weights[i] *= scale[i / each];
  return out;
}

/// Adds the smaller branch's numbers to the larger one's.
void add_numbers(const Branch& large, Numbers& sum, const Branch& small, const std::vector<Dims>& taps) {
  const Numbers other = numbers_of(small);
  const int64_t outputs = large.weights[0], large_inputs = large.weights[1], small_inputs = small.weights[1];
  const Dims kernel(small.weights.begin() + 2, small.weights.end());
  const int64_t window = element_count(kernel), large_window = element_count(large.weights) / outputs / large_inputs;
  for (int64_t o = 0; o < outputs; ++o) {
    sum.bias[static_cast<size_t>(o)] += other.bias[static_cast<size_t>(o)];
    const int64_t first = o / (outputs / small.groups) * small_inputs - o / (outputs / large.groups) * large_inputs;
    for (int64_t c = 0; c < small_inputs; ++c)
      for (int64_t t = 0; t < window; ++t) {
        int64_t at = 0, rest = t, block = window;
        for (size_t i = 0; i < kernel.size(); ++i) {
          block /= kernel[i];
          at = at * large.weights[i + 2] + taps[i][static_cast<size_t>(rest / block)];
          rest %= block;
        }
        sum.weights[static_cast<size_t>((o * large_inputs + first + c) * large_window + at)] +=
            other.weights[static_cast<size_t>((o * small_inputs + c) * window + t)];
      }
  }
}

Result<Tensor> rounded(const std::vector<double>& numbers, const Dims& dims) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, dims));
  std::transform(numbers.begin(), numbers.end(), out.data<float>().begin(), [](double x) { return static_cast<float>(x); });
  return Tensor(std::move(out));
}

bool finite(const Tensor& tensor) {
  const auto numbers = tensor.data<float>();
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

/// Puts the smaller branch of the sum `add` into the larger one; false where they are not of that kind.
Result<bool> merge(Graph& graph, Node& add, size_t side) {
  const std::optional<Branch> large = branch_of(graph, add.input(side));
  if (!large || !large->is_conv()) return false;
  Value* other = add.input(1 - side);
  std::optional<Branch> small = branch_of(graph, other);
  const bool depthwise = large->weights[1] == 1 && large->groups == large->weights[0];
  if (other == large->image) small = depthwise ? channel_branch(nullptr, other, unchanged(large->groups)) : std::nullopt;
  if (!small || small->image != large->image || small->spatial() != large->spatial()) return false;
  const auto taps = taps_within(*large, *small);
  if (!taps) return false;
  Numbers sum = numbers_of(*large);
  add_numbers(*large, sum, *small, *taps);
  SV_ASSIGN(Tensor weights, rounded(sum.weights, large->weights));
  SV_ASSIGN(Tensor bias, rounded(sum.bias, {large->weights[0]}));
  if (!finite(weights) || !finite(bias)) return false;  // weights that overflow only as a sum
  Node* conv = add.input(side)->producer();
  graph.resize_inputs(conv, kConvResidual);
  graph.set_input(conv, 1, graph.add_constant(conv->name() + ".weights", std::move(weights)));
  graph.set_input(conv, 2, graph.add_constant(conv->name() + ".bias", std::move(bias)));
  graph.replace_uses(add.output(), conv->output());
  graph.erase(&add);
  if (small->node) graph.erase(other->producer());
  return true;
}

}  // namespace

Status merge_parallel_convs(Graph& graph, const PassContext&) {
  bool changed = false;
  for (Node* add : graph.snapshot()) {
    if (!is_op(add, "Add") || add->inputs().size() != 2) continue;
    SV_ASSIGN(bool merged, merge(graph, *add, 0));
    if (!merged) {
      SV_ASSIGN(merged, merge(graph, *add, 1));
    }
    changed = changed || merged;
  }
  if (changed) graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
