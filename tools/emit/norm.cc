// Normalisation: over rows, over groups of channels, and with statistics that are known.
#include "engine/ops/broadcast.h"
#include "tools/emit/lines.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

std::string epsilon_of(const NodeContext& c) { return c_number(c.attributes().get_float("epsilon", 1e-5f), c.out_type()); }

/// `mean` and `factor` of row "x" of n elements; the mean is 0 where only squares count.
void emit_statistics(NodeContext& c, int64_t n, bool centred) {
  const DType type = c.out_type();
  const std::string_view t = c_type(type);
  if (centred) c.code().line("const {} mean = {}(x, {}) / {};", t, c.helper("sum", type), n, n);
  c.code().line("const {} factor = 1 / {}({}(x, {}, {}) / {} + {});", t, c_function("sqrt", type), c.helper("square_sum", type),
                centred ? "mean" : "0", n, n, epsilon_of(c));
}

/// y = y scale + bias, with the inputs that are there, which broadcast to it.
void emit_affine(NodeContext& c) {
  const Dims dims = c.out_dims();
  Nest nest{dims, {dense_strides(dims)}};
  for (size_t i = 1; i < 3; ++i)
    nest.operands.push_back(c.has_input(i) ? ops::broadcast_strides(c.in_dims(i), dims) : Strides(dims.size(), 0));
  nest = merged(std::move(nest));
  open_loops(c.code(), nest.sizes);
  const std::string y = fmt::format("{}[{}]", c.out(), element_of(nest.operands[0]));
  const std::string bias = c.has_input(2) ? " + " + c.element(2, element_of(nest.operands[2])) : "";
  c.code().line("{0} = {0} * {1}{2};", y, c.element(1, element_of(nest.operands[1])), bias);
  close_loops(c.code(), nest.sizes);
}

void emit_rows_of(NodeContext& c, int64_t rows) {
  c.code().loop("r", rows);
  for (const auto& [qualifier, name, pointer] : {std::tuple("const ", "x", c.in(0)), std::tuple("", "y", c.out())})
    c.code().line("{}{} *const {} = {} + r * {};", qualifier, c_type(c.out_type()), name, pointer, c.out_count() / rows);
}

}  // namespace

Status emit_row_norm(NodeContext& c) {
  const Dims dims = c.in_dims(0);
  const bool centred = c.node().op().name == std::string_view("LayerNormalization");
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), static_cast<int64_t>(dims.size())));
  const int64_t rows = element_count(std::span(dims).first(static_cast<size_t>(axis))), n = c.in_count(0) / rows;
  emit_rows_of(c, rows);
  emit_statistics(c, n, centred);
  c.code().line("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = (x[i]{}) * factor;", n, centred ? " - mean" : "");
  if (c.wants(1)) c.code().line("{}[r] = (float)mean;", c.out(1));
  if (c.wants(2)) c.code().line("{}[r] = (float)factor;", c.out(2));
  c.code().close();
  emit_affine(c);
  return {};
}

Status emit_group_norm(NodeContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t channels = dims[1], groups = c.attributes().get_int("num_groups", channels), each = channels / groups;
  const int64_t pixels = element_count(std::span(dims).subspan(2));
  emit_rows_of(c, dims[0] * groups);
  emit_statistics(c, each * pixels, true);
  c.code().loop("k", each);
  const std::string channel = fmt::format("r % {} * {} + k", groups, each);
  c.code().line("const {} scale = factor * {}, shift = {};", c_type(c.out_type()), c.element(1, channel), c.element(2, channel));
  c.code().line("for (ptrdiff_t i = k * {0}; i < k * {0} + {0}; ++i) y[i] = (x[i] - mean) * scale + shift;", pixels);
  c.code().close(2);
  return {};
}

Status emit_batch_norm(NodeContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t channels = dims.size() < 2 ? 1 : dims[1], rows = dims.size() < 2 ? 1 : dims[0] * channels;
  emit_rows_of(c, rows);
  const std::string channel = fmt::format("r % {}", channels);
  c.code().line("const {} scale = {} / {}({} + {});", c_type(c.out_type()), c.element(1, channel), c_function("sqrt", c.out_type()),
                c.element(4, channel), epsilon_of(c));
  c.code().line("const {} mean = {}, shift = {};", c_type(c.out_type()), c.element(3, channel), c.element(2, channel));
  c.code().line("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = (x[i] - mean) * scale + shift;", c.out_count() / rows);
  c.code().close();
  return {};
}

}  // namespace svengine::tool::emit
