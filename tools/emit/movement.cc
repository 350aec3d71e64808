// What only moves elements: copies with strides, by tables of places, and by indices.
#include "engine/graph/axes.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/tensor/pad_common.h"
#include "engine/ops/tensor/slice_common.h"
#include "tools/emit/lines.h"
#include "tools/emit/moves.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

/// to[..] = from[..]; offsets in elements.
void emit_copy(NodeContext& c, const std::string& to, int64_t to_offset, const std::string& from, int64_t from_offset, Nest nest) {
  nest = merged(std::move(nest));
  open_loops(c.code(), nest.sizes);
  c.code().line("{}[{}] = {}[{}];", to, element_of(nest.operands[0], to_offset), from, element_of(nest.operands[1], from_offset));
  close_loops(c.code(), nest.sizes);
}

/// Of input 0, whole, to output 0.
void emit_copy_of(NodeContext& c, Dims sizes, Strides from, int64_t offset = 0) {
  Strides to = dense_strides(sizes);
  emit_copy(c, c.out(), 0, c.in(0), offset, {std::move(sizes), {std::move(to), std::move(from)}});
}

/// Index `text` of an axis, counted from its end where negative; the function fails where it is outside.
void emit_index(NodeContext& c, const std::string& text, int64_t size) {
  c.may_fail();
  c.code().line("ptrdiff_t at = (ptrdiff_t){};", text);
  c.code().line("if (at < 0) at += {};", size);
  c.code().line("if (at < 0 || at >= {}) return 1;", size);
}

}  // namespace

void emit_mapped(NodeContext& c, const std::vector<std::vector<int32_t>>& maps, const std::string& outside) {
  const Dims out = c.out_dims();
  const Strides in = dense_strides(c.in_dims(0));
  std::string from, missing;
  open_loops(c.code(), out);
  for (size_t d = 0; d < out.size(); ++d) {
    bool straight = true, holes = false;
    for (size_t i = 0; i < maps[d].size(); ++i) straight = straight && maps[d][i] == static_cast<int32_t>(i), holes = holes || maps[d][i] < 0;
    const std::string place = straight ? fmt::format("i{}", d) : fmt::format("{}[i{}]", c.array(std::span<const int32_t>(maps[d])), d);
    from += fmt::format("{}{} * {}", from.empty() ? "" : " + ", place, in[d]);
    if (holes) missing += fmt::format("{}{} < 0", missing.empty() ? "" : " || ", place);
  }
  const std::string value = fmt::format("{}[{}]", c.in(0), from.empty() ? "0" : from);
  c.code().line("{}[{}] = {};", c.out(), element_of(dense_strides(out)),
                missing.empty() ? value : fmt::format("{} ? {} : {}", missing, outside, value));
  close_loops(c.code(), out);
}

Status emit_concat(NodeContext& c) {
  const Dims out = c.out_dims();
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(out.size())));
  const Strides to = dense_strides(out);
  int64_t offset = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Dims in = c.in_dims(i);
    if (element_count(in) > 0) emit_copy(c, c.out(), offset, c.in(i), 0, {in, {to, dense_strides(in)}});
    offset += in[static_cast<size_t>(axis)] * to[static_cast<size_t>(axis)];
  }
  return {};
}

Status emit_split(NodeContext& c) {
  const Dims in = c.in_dims(0);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(in.size())));
  const Strides from = dense_strides(in);
  int64_t offset = 0;
  for (size_t i = 0; i < c.node().outputs().size(); ++i) {
    const Dims out = c.out_dims(i);
    if (c.wants(i)) emit_copy(c, c.out(i), 0, c.in(0), offset, {out, {dense_strides(out), from}});
    offset += out[static_cast<size_t>(axis)] * from[static_cast<size_t>(axis)];
  }
  return {};
}

Status emit_slice(NodeContext& c) {
  const Dims in = c.in_dims(0);
  SV_ASSIGN(const ops::Bounds b, ops::complete({c.integers(1), c.integers(2), c.integers(3), c.integers(4)}, c.has_input(3), c.has_input(4),
                                               static_cast<int64_t>(in.size())));
  Strides from = dense_strides(in);
  int64_t offset = 0;
  for (size_t i = 0; i < b.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(b.axes[i]);
    const ops::Range r = ops::range_in(in[axis], b.starts[i], b.ends[i], b.steps[i]);
    offset += r.start * from[axis];
    from[axis] = r.count == 1 ? 0 : from[axis] * r.step;
  }
  emit_copy_of(c, c.out_dims(), from, offset);
  return {};
}

Status emit_transpose(NodeContext& c) {
  const Dims in = c.in_dims(0);
  std::vector<int64_t> order = c.attributes().get_ints("perm");
  for (size_t i = in.size(); order.size() < in.size(); --i) order.push_back(static_cast<int64_t>(i) - 1);
  SV_ASSIGN(order, normalise_axes(order, static_cast<int64_t>(in.size()), "perm"));
  const Strides strides = dense_strides(in);
  Strides from;
  for (const int64_t axis : order) from.push_back(strides[static_cast<size_t>(axis)]);
  emit_copy_of(c, c.out_dims(), from);
  return {};
}

Status emit_expand(NodeContext& c) {
  emit_copy_of(c, c.out_dims(), ops::broadcast_strides(c.in_dims(0), c.out_dims()));
  return {};
}

Status emit_tile_op(NodeContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  const Strides strides = dense_strides(in);
  Dims sizes;
  Strides from;
  for (size_t i = 0; i < in.size(); ++i) {
    sizes.insert(sizes.end(), {out[i] / in[i], in[i]});
    from.insert(from.end(), {0, strides[i]});
  }
  emit_copy_of(c, sizes, from);
  return {};
}

Status emit_depth_to_space(NodeContext& c) {
  const Dims in = c.in_dims(0);
  const int64_t b = c.attributes().get_int("blocksize"), n = in[0], h = in[2], w = in[3], channels = in[1] / (b * b), plane = h * w;
  const bool dcr = c.attributes().get_string("mode", "DCR") == "DCR";
  const int64_t row = dcr ? b * channels * plane : b * plane, column = dcr ? channels * plane : plane;
  emit_copy_of(c, {n, channels, h, b, w, b}, {channels * b * b * plane, dcr ? plane : b * b * plane, w, row, 1, column});
  return {};
}

Status emit_space_to_depth(NodeContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  const int64_t b = c.attributes().get_int("blocksize"), n = in[0], channels = in[1], w = in[3], plane = in[2] * w;
  if (c.attributes().get_string("mode", "DCR") == "DCR")
    emit_copy_of(c, {n, b, b, channels, out[2], out[3]}, {channels * plane, w, 1, plane, b * w, b});
  else
    emit_copy_of(c, {n, channels, b, b, out[2], out[3]}, {channels * plane, plane, w, 1, b * w, b});
  return {};
}

Status emit_pad(NodeContext& c) {
  const Dims in = c.in_dims(0);
  SV_ASSIGN(const std::optional<Pads> pads, read_pads(c.node(), static_cast<int64_t>(in.size())));
  std::vector<std::vector<int32_t>> maps;
  for (size_t i = 0; i < in.size(); ++i) maps.push_back(kernels::pad_map(ops::pad_mode(c.attributes()), in[i], pads->before[i], pads->after[i]));
  if (c.in_count(0) > 0) {
    emit_mapped(c, maps, c.has_input(2) ? c.element(2, "0") : "0");
    return {};
  }
  c.code().line("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = {};", c.out_count(), c.out(), c.has_input(2) ? c.element(2, "0") : "0");
  return {};
}

Status emit_gather(NodeContext& c) {
  const Dims data = c.in_dims(0);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(data.size())));
  const Lines lines = lines_along(data, static_cast<size_t>(axis));
  const int64_t indices = c.in_count(1);
  c.code().loop("o", lines.outer);
  c.code().loop("k", indices);
  emit_index(c, c.element(1, "k"), lines.count);
  c.code().line("memcpy({0} + (o * {1} + k) * {2}, {3} + (o * {4} + at) * {2}, sizeof(*{0}) * {2});", c.out(), indices, lines.inner, c.in(0),
                lines.count);
  c.code().close(2);
  return {};
}

Status emit_gather_elements(NodeContext& c) {
  const Dims data = c.in_dims(0), indices = c.in_dims(1);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(data.size())));
  Strides from = dense_strides(data);
  const int64_t step = from[static_cast<size_t>(axis)];
  from[static_cast<size_t>(axis)] = 0;
  const std::string place = element_of(dense_strides(indices));
  open_loops(c.code(), indices);
  emit_index(c, c.element(1, place), data[static_cast<size_t>(axis)]);
  c.code().line("{}[{}] = {}[{} + at * {}];", c.out(), place, c.in(0), element_of(from), step);
  close_loops(c.code(), indices);
  return {};
}

}  // namespace svengine::tool::emit
