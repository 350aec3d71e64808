#include "engine/ops/nn/conv_grad_input_common.h"

#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

using kernels::ConvArgs;
using kernels::ConvKind;
using kernels::ConvShape;

/// One phase of one axis.
struct Phase {
  int64_t first, count;  // inputs first, first + stride, ...
  int64_t tap, taps;     // kernel rows tap, tap + stride, ...; none: the phase is zero
  int64_t pad;           // of the convolution over dy
};

Phase phase_of(int64_t r, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  const int64_t tap = (r + pad) % stride;
  const int64_t taps = tap < kernel ? (kernel - tap + stride - 1) / stride : 0;
  return {r, (in - r + stride - 1) / stride, tap, taps, (taps - 1) * dilation - (r + pad - tap) / stride};
}

/// W [O][I][KH][KW] to [I][O][rows][columns] of a phase, both turned round.
Buffer emit_turn(LowerContext& c, const ConvGrad& g, const Phase& rows, const Phase& columns) {
  const int64_t outs = g.out_channels, ins = g.window.channels, height = g.window.kernel.height, width = g.window.kernel.width;
  const int64_t down = g.window.stride.height, across = g.window.stride.width;
  const Buffer turned = c.temporary(outs * ins * rows.taps * columns.taps * 4);
  CopyView view;
  view.dims = {ins, outs, rows.taps, columns.taps};
  view.in_strides = {height * width, ins * height * width, -down * width, -across};
  view.out_strides = strides_of(view.dims);
  view.in_offset = (rows.tap + down * (rows.taps - 1)) * width + columns.tap + across * (columns.taps - 1);
  emit_copies(c, "conv_grad_turn", 4, {{c.in(1), turned, view}});
  return turned;
}

/// The phase of both axes, to `out`: dense, blocked.
void emit_phase(LowerContext& c, const ConvGrad& g, const Phase& rows, const Phase& columns, Buffer out) {
  ConvArgs args;
  ConvShape& s = args.shape;
  s.batch = g.window.batch;
  s.in_channels = g.out_channels, s.out_channels = g.window.channels;
  s.in = g.window.out;
  s.out = {1, rows.count, columns.count};
  s.kernel = {1, rows.taps, columns.taps};
  s.dilation = g.window.dilation;
  s.pad = {0, rows.pad, columns.pad};
  args.kind = c.kernels().conv->choose(s, c.options().exact_convolution);
  if (args.kind == ConvKind::kFirstLayer) args.kind = ConvKind::kDirect;  // dy is blocked
  const Buffer turned = emit_turn(c, g, rows, columns);
  emit_conv(c, args, c.in(0), {emit_conv_pack(c, s, args.kind, turned), {}}, {}, out);
}

/// A phase's pixels from their dense form to their places in dx.
Copy spread(const ConvGrad& g, const Phase& rows, const Phase& columns, int64_t lanes, Buffer from, Buffer to) {
  const int64_t planes = g.window.batch * ((g.window.channels + lanes - 1) / lanes);
  const int64_t row = g.window.in.width * lanes;
  CopyView view;
  view.dims = {planes, rows.count, columns.count, lanes};
  view.in_strides = strides_of(view.dims);
  view.out_strides = {g.window.in.height * row, g.window.stride.height * row, g.window.stride.width * lanes, 1};
  view.out_offset = rows.first * row + columns.first * lanes;
  return {from, to, view};
}

}  // namespace

bool can_block_conv_grad_input(const Node& node, int) {
  const Type &dy = node.input(0)->type, &w = node.input(1)->type, &dx = node.output()->type;
  if (node.attributes.integer("group", 1) != 1 || dx.shape.rank() != 4) return false;
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
  const kernels::PoolShape& s = g.window;
  const int64_t down = s.stride.height, across = s.stride.width, lanes = c.kernels().lanes;
  std::vector<Copy> copies;
  bool holes = false;
  for (int64_t y = 0; y < down; ++y)
    for (int64_t x = 0; x < across; ++x) {
      const Phase rows = phase_of(y, s.in.height, s.kernel.height, down, s.dilation.height, s.pad.height);
      const Phase columns = phase_of(x, s.in.width, s.kernel.width, across, s.dilation.width, s.pad.width);
      if (rows.count <= 0 || columns.count <= 0) continue;
      const bool whole = down * across == 1;
      if (rows.taps == 0 || columns.taps == 0) {
        holes = true;
        continue;
      }
      const int64_t planes = s.batch * ((s.channels + lanes - 1) / lanes);
      const Buffer out = whole ? c.out() : c.temporary(planes * rows.count * columns.count * lanes * 4);
      emit_phase(c, g, rows, columns, out);
      if (!whole) copies.push_back(spread(g, rows, columns, lanes, out, c.out()));
    }
  if (holes) emit_fill(c, c.out(), s.batch * ((s.channels + lanes - 1) / lanes) * lanes * g.inputs(), 4, 0);
  if (!copies.empty()) emit_copies(c, "conv_grad_spread", 4, std::move(copies));
  return {};
}

}  // namespace svengine::ops
