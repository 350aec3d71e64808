#include "engine/ops/nn/conv_grad_input_common.h"

#include <algorithm>

#include "engine/base/round.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

using kernels::ConvArgs;
using kernels::ConvKind;
using kernels::ConvShape;

AxisPhase phase_of(int64_t r, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  const int64_t tap = (r + pad) % stride;
  const int64_t taps = tap < kernel ? (kernel - tap + stride - 1) / stride : 0;
  return {r, (in - r + stride - 1) / stride, tap, taps, (taps - 1) * dilation - (r + pad - tap) / stride};
}

/// Phases with inputs, those without a kernel row included.
std::vector<ConvGradPhase> all_phases(const ConvGrad& g) {
  const kernels::PoolShape& s = g.window;
  std::vector<ConvGradPhase> phases;
  for (int64_t y = 0; y < s.stride.height; ++y)
    for (int64_t x = 0; x < s.stride.width; ++x) {
      const ConvGradPhase phase{phase_of(y, s.in.height, s.kernel.height, s.stride.height, s.dilation.height, s.pad.height),
                                phase_of(x, s.in.width, s.kernel.width, s.stride.width, s.dilation.width, s.pad.width)};
      if (phase.rows.count > 0 && phase.columns.count > 0) phases.push_back(phase);
    }
  return phases;
}

bool is_zero(const ConvGradPhase& phase) { return phase.rows.taps == 0 || phase.columns.taps == 0; }

int64_t planes(const ConvGrad& g, int64_t lanes) { return g.window.batch * ceil_div(g.window.channels, lanes); }

/// W [O][I][KH][KW] to [I][O][rows][columns] of a phase, both transposed round.
Buffer emit_transpose(LowerContext& c, const ConvGrad& g, const ConvGradPhase& phase) {
  const auto& [rows, columns] = phase;
  const int64_t outs = g.out_channels, ins = g.window.channels, height = g.window.kernel.height, width = g.window.kernel.width;
  const int64_t down = g.window.stride.height, across = g.window.stride.width;
  const Buffer transposed = c.temporary(outs * ins * rows.taps * columns.taps * 4);
  CopyView view;
  view.dims = {ins, outs, rows.taps, columns.taps};
  view.in_strides = {height * width, ins * height * width, -down * width, -across};
  view.out_strides = strides_of(view.dims);
  view.in_offset = (rows.tap + down * (rows.taps - 1)) * width + columns.tap + across * (columns.taps - 1);
  emit_copies(c, "conv_grad_transpose", 4, {{c.in(1), transposed, view}});
  return transposed;
}

/// To `out`: dense, blocked.
void emit_phase(LowerContext& c, const ConvGrad& g, const ConvGradPhase& phase, Buffer out) {
  ConvArgs args;
  args.shape = phase_shape(g, phase);
  args.kind = c.kernels().conv->choose(args.shape, c.options().exact_convolution);
  if (args.kind == ConvKind::kFirstLayer) args.kind = ConvKind::kDirect;  // dy is blocked
  const Buffer transposed = emit_transpose(c, g, phase);
  emit_conv(c, args, c.in(0), {emit_conv_pack(c, args.shape, args.kind, transposed), {}}, {}, out);
}

}  // namespace

bool is_whole(const ConvGrad& g) { return g.window.stride.height * g.window.stride.width == 1; }

bool has_holes(const ConvGrad& g) {
  const std::vector<ConvGradPhase> phases = all_phases(g);
  return std::any_of(phases.begin(), phases.end(), is_zero);
}

std::vector<ConvGradPhase> conv_grad_phases(const ConvGrad& g) {
  std::vector<ConvGradPhase> phases = all_phases(g);
  std::erase_if(phases, is_zero);
  return phases;
}

ConvShape phase_shape(const ConvGrad& g, const ConvGradPhase& phase) {
  ConvShape s;
  s.batch = g.window.batch;
  s.in_channels = g.out_channels, s.out_channels = g.window.channels;
  s.in = g.window.out;
  s.out = {1, phase.rows.count, phase.columns.count};
  s.kernel = {1, phase.rows.taps, phase.columns.taps};
  s.dilation = g.window.dilation;
  s.pad = {0, phase.rows.pad, phase.columns.pad};
  return s;
}

CopyView phase_scatter(const ConvGrad& g, const ConvGradPhase& phase, int64_t lanes) {
  const int64_t row = g.window.in.width * lanes;
  CopyView view;
  view.dims = {planes(g, lanes), phase.rows.count, phase.columns.count, lanes};
  view.in_strides = strides_of(view.dims);
  view.out_strides = {g.window.in.height * row, g.window.stride.height * row, g.window.stride.width * lanes, 1};
  view.out_offset = phase.rows.first * row + phase.columns.first * lanes;
  return view;
}

bool can_block_conv_grad_input(const Node& node, int) {
  const Type &dy = node.input(0)->type, &w = node.input(1)->type, &dx = node.output()->type;
  if (node.attributes.get_int("group", 1) != 1 || dx.shape.rank() != 4) return false;
  if (!dy.shape.is_static() || !w.shape.is_static() || !dx.shape.is_static()) return false;
  const Result<ConvGrad> g = conv_grad_of(node.attributes, *dx.shape.concrete(), *w.shape.concrete());
  if (!g.ok() || dx.shape.concrete()->empty() ||
      g->window.batch * g->outputs() * g->inputs() * g->window.channels * g->out_channels == 0)
    return false;
  const kernels::PoolShape& s = g->window;
  const auto fits = [](int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
    return (stride == 1 || dilation == 1) && pad <= (kernel - 1) * dilation;
  };
  return fits(s.kernel.height, s.stride.height, s.dilation.height, s.pad.height) &&
         fits(s.kernel.width, s.stride.width, s.dilation.width, s.pad.width);
}

Status lower_conv_grad_input_blocked(LowerContext& c) {
  SV_ASSIGN(const ConvGrad g, conv_grad_of(c.attributes(), c.out_dims(), c.in_dims(1)));
  const int64_t lanes = c.kernels().lanes;
  if (has_holes(g)) emit_fill(c, c.out(), planes(g, lanes) * lanes * g.inputs(), 4, 0);
  std::vector<Copy> copies;
  for (const ConvGradPhase& phase : conv_grad_phases(g)) {
    const Buffer out =
        is_whole(g) ? c.out() : c.temporary(planes(g, lanes) * phase.rows.count * phase.columns.count * lanes * 4);
    emit_phase(c, g, phase, out);
    if (!is_whole(g)) copies.push_back({out, c.out(), phase_scatter(g, phase, lanes)});
  }
  if (!copies.empty()) emit_copies(c, "conv_grad_scatter", 4, std::move(copies));
  return {};
}

}  // namespace svengine::ops
