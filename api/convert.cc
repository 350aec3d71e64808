#include "api/convert.h"

namespace svengine {

namespace {

struct Pair {
  ElementType api;
  DType engine;
};
constexpr Pair kTypes[] = {
    {ElementType::float32, DType::f32},   {ElementType::uint8, DType::u8},        {ElementType::int8, DType::i8},
    {ElementType::uint16, DType::u16},    {ElementType::int16, DType::i16},       {ElementType::int32, DType::i32},
    {ElementType::int64, DType::i64},     {ElementType::boolean, DType::boolean}, {ElementType::float16, DType::f16},
    {ElementType::float64, DType::f64},   {ElementType::uint32, DType::u32},      {ElementType::uint64, DType::u64},
    {ElementType::bfloat16, DType::bf16},
};

/// `data` is only written through by whom the view says it may be.
template <class View>
Status layouts_from(const std::vector<View>& views, const char* what, std::vector<TensorLayout>& out) {
  out.resize(views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    const View& v = views[i];
    out[i] = {};
    if (v.type == ElementType::unknown && !v.data) continue;
    const DType type = to_dtype(v.type);
    if (type == DType::undefined) return error("{} {}: there is no element type {}", what, i, static_cast<int>(v.type));
    if (!v.strides.empty() && v.strides.size() != v.shape.size())
      return error("{} {}: {} strides for rank {}", what, i, v.strides.size(), v.shape.size());
    out[i] = {.type = type, .dims = v.shape, .strides = v.strides.empty() ? nullptr : v.strides.data(), .rows = v.rows.rows, .extent = v.rows.extent,
              .first_row = v.rows.first, .data = const_cast<void*>(static_cast<const void*>(v.data))};
  }
  return {};
}

}  // namespace

ElementType to_element_type(DType type) {
  for (const Pair& p : kTypes)
    if (p.engine == type) return p.api;
  return ElementType::unknown;
}

DType to_dtype(ElementType type) {
  for (const Pair& p : kTypes)
    if (p.api == type) return p.engine;
  return DType::undefined;
}

TensorInfo describe_port(const Session::Port& port) {
  TensorInfo out;
  out.name = port.name;
  out.type = to_element_type(port.type.dtype);
  out.has_rank = port.type.shape.has_rank();
  for (int64_t i = 0; i < port.type.shape.rank(); ++i) {
    const Dim& d = port.type.shape[static_cast<size_t>(i)];
    out.shape.push_back(d.is_static() ? d.value() : -1);
    out.shape_names.push_back(d.is_symbolic() ? d.symbol() : std::string());
  }
  return out;
}

Result<SessionOptions> session_options(const NetworkOptions& options) {
  SessionOptions out;
  out.flush_denormals = options.flush_denormals;
  out.exact_convolution = options.exact_convolution;
  out.cache = options.cache;
  out.seed = options.seed;
  if (options.threads < 0) return error("{} threads are asked for", options.threads);
  if (!options.topology.empty()) {
    SV_ASSIGN(out.topology, parse_topology(options.topology));
  } else {
    out.topology = detect_topology(options.threads);
  }
  if (options.kernels.empty()) return out;
  SV_ASSIGN(out.kernels, kernels::select_kernel_set(options.kernels));
  return out;
}

/// Borrows the caller's memory for one run.
Result<Tensor> borrow(const TensorView& view, size_t index) {
  const DType type = to_dtype(view.type);
  if (size_of(type) == 0) return error("input {} has no element type", index);
  if (!view.strides.empty() || view.rows.rows) return error("input {} is not dense; batches of training have to be", index);
  Status fits = check_dims(view.shape);
  if (!fits.ok()) return std::move(fits).error().in(fmt::format("input {}", index));
  if (!view.data && element_count(view.shape) > 0) return error("input {} has no data (null pointer)", index);
  return Tensor::wrap(type, view.shape, view.data, nullptr);
}

Status layouts_of(const std::vector<TensorView>& views, const char* what, std::vector<TensorLayout>& out) { return layouts_from(views, what, out); }
Status places_of(const std::vector<MutableTensorView>& views, const char* what, std::vector<TensorLayout>& out) {
  return layouts_from(views, what, out);
}

void put_back(const std::vector<TensorLayout>& layouts, std::vector<MutableTensorView>& views) {
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (views[i].data == layouts[i].data) continue;  // the caller's own
    views[i].type = to_element_type(layouts[i].type);
    views[i].shape.assign(layouts[i].dims.begin(), layouts[i].dims.end());
    views[i].data = layouts[i].data;
  }
}

}  // namespace svengine
