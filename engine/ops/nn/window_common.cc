#include "engine/ops/nn/window_common.h"

#include <algorithm>

namespace svengine::ops {
namespace {

// Of an attribute's value and of a window's reach, and of an image with its padding: kernels count columns in 32 bits, and the last
// window may reach beyond the padding by as much as its own size.
constexpr int64_t kMost = int64_t{1} << 29, kMostPadded = int64_t{1} << 30;

Result<Dims> list(const Attributes& attributes, const char* name, size_t count, const Dims& default_value, int64_t least) {
  const auto* values = attributes.get<std::vector<int64_t>>(name);
  if (!values || values->empty()) return default_value;
  if (values->size() != count)
    return error("attribute '{}' has {} values, needs {} for the input's spatial dimensions", name, values->size(), count);
  for (int64_t v : *values)
    if (v < least || v > kMost) return error("attribute '{}' holds {}, needs values from {} to {}", name, v, least, kMost);
  return *values;
}

/// Output size of one dimension; `same` gives ceil(in / stride) and the padding that it takes.
Result<int64_t> output_size(Window& w, size_t i, const std::string& auto_pad, bool ceil_mode) {
  const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
  if (reach > kMost) return error("kernel {} with dilation {} is too large", w.kernel[i], w.dilations[i]);
  if (w.in[i] > kMostPadded - w.pads_begin[i] - w.pads_end[i])
    return unimplemented("spatial dimension {} with its padding, {} + {} + {}, is above the supported {}", i, w.in[i], w.pads_begin[i],
                         w.pads_end[i], kMostPadded);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    const int64_t out = (w.in[i] + w.strides[i] - 1) / w.strides[i];
    const int64_t total = std::max<int64_t>(0, (out - 1) * w.strides[i] + reach - w.in[i]);
    w.pads_begin[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.pads_end[i] = total - w.pads_begin[i];
    return out;
  }
  // floor or ceil(room / stride) + 1. Rounded up, a window that reaches less than a stride over the end still counts.
  const int64_t room = w.in[i] + w.pads_begin[i] + w.pads_end[i] - reach;
  if (room < 0 && (!ceil_mode || -room >= w.strides[i]))
    return error("kernel of reach {} does not fit the padded input of {} + {} + {} in spatial dimension {}", reach, w.in[i],
                 w.pads_begin[i], w.pads_end[i], i);
  int64_t out = (room + (ceil_mode ? w.strides[i] - 1 : 0)) / w.strides[i] + 1;
  // The last window must start inside the input or its left padding (PyTorch's rule, ONNX's since opset 19).
  if (ceil_mode && (out - 1) * w.strides[i] >= w.in[i] + w.pads_begin[i]) --out;
  return out;
}

}  // namespace

std::vector<AttributeDef> window_attributes(std::vector<AttributeDef> more, bool with_dilations, bool with_ceil) {
  std::vector<AttributeDef> all{{"auto_pad", AttributeKind::kString, false, "NOTSET"},
                                {"kernel_shape", AttributeKind::kInts},
                                {"pads", AttributeKind::kInts},
                                {"strides", AttributeKind::kInts}};
  if (with_dilations) all.push_back({"dilations", AttributeKind::kInts});
  if (with_ceil) all.push_back({"ceil_mode", AttributeKind::kInt, false, 0});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Result<Window> window_of(const Attributes& attributes, const Dims& spatial, const Dims& kernel) {
  const size_t rank = spatial.size();
  Window w;
  w.in = spatial;
  SV_ASSIGN(w.kernel, list(attributes, "kernel_shape", rank, kernel, 1));
  if (w.kernel.size() != rank) return error("kernel of rank {} for {} spatial dimensions", w.kernel.size(), rank);
  if (!kernel.empty() && w.kernel != kernel)
    return error("kernel_shape {} does not agree with the weights' kernel {}", fmt::join(w.kernel, "x"), fmt::join(kernel, "x"));
  for (int64_t k : w.kernel)  // of the weights, too
    if (k < 1 || k > kMost) return error("kernel of {} taps, needs 1 to {} in every spatial dimension", k, kMost);
  SV_ASSIGN(w.strides, list(attributes, "strides", rank, Dims(rank, 1), 1));
  SV_ASSIGN(w.dilations, list(attributes, "dilations", rank, Dims(rank, 1), 1));
  SV_ASSIGN(Dims pads, list(attributes, "pads", 2 * rank, Dims(2 * rank, 0), 0));
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
  w.pads_end.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
  const std::string auto_pad = attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
    return error("auto_pad '{}' is not NOTSET, VALID, SAME_UPPER or SAME_LOWER", auto_pad);
  if (auto_pad == "VALID") w.pads_begin = w.pads_end = Dims(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    SV_ASSIGN(int64_t out, output_size(w, i, auto_pad, attributes.get_int("ceil_mode") != 0));
    w.out.push_back(out);
  }
  return w;
}

Status check_spatial_rank(const Shape& shape, const char* what) {
  if (!shape.has_rank() || (shape.rank() >= 3 && shape.rank() <= 5)) return {};
  if (shape.rank() > 5) return unimplemented("{} {} has {} spatial dimensions, at most 3 are supported", what, to_string(shape), shape.rank() - 2);
  return error("{} {} is of rank {}, needs two dimensions and 1 to 3 spatial ones", what, to_string(shape), shape.rank());
}

Dims known_taps(const Attributes& attributes, std::span<const Dim> kernel) {
  const std::vector<int64_t> declared = attributes.get_ints("kernel_shape");
  Dims taps;
  for (size_t i = 0; i < kernel.size(); ++i)
    taps.push_back(kernel[i].is_static() ? kernel[i].value() : declared.size() == kernel.size() ? declared[i] : 1);
  return taps;
}

Result<std::vector<Dim>> window_output(const Attributes& attributes, const Shape& input, std::span<const Dim> kernel) {
  const auto rank = static_cast<size_t>(input.rank() - 2);
  const bool declared = !attributes.get_ints("kernel_shape").empty();
  // Sizes that are not known yet are checked with ones that always fit, and come out unknown.
  Dims spatial;
  for (size_t i = 0; i < rank; ++i) spatial.push_back(input[i + 2].is_static() ? input[i + 2].value() : kMost);
  SV_ASSIGN(Window w, window_of(attributes, spatial, known_taps(attributes, kernel)));
  const auto known = [&](size_t i) { return input[i + 2].is_static() && (declared || kernel[i].is_static()); };
  std::vector<Dim> out;
  for (size_t i = 0; i < rank; ++i) out.push_back(known(i) ? Dim(w.out[i]) : Dim());
  return out;
}

Status check_padded(const Window& w) {
  Dims padded;
  for (size_t i = 0; i < w.rank(); ++i) padded.push_back(w.in[i] + w.pads_begin[i] + w.pads_end[i]);
  if (Status status = check_dims(padded); !status.ok()) return std::move(status).error().in("the image with its padding");
  return {};
}

std::array<int64_t, 3> to_three(const Dims& values, int64_t fill) {
  std::array<int64_t, 3> three{fill, fill, fill};
  std::copy(values.begin(), values.end(), three.end() - static_cast<int64_t>(values.size()));
  return three;
}

}  // namespace svengine::ops
