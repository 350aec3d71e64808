#include "api/convert.h"

namespace svengine {

TensorInfo describe_port(const Session::Port& port) {
  TensorInfo out;
  out.name = port.name;
  out.type = static_cast<ElementType>(port.type.dtype);
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
  if (options.threads < 0) return error("{} threads are asked for", options.threads);
  if (!options.topology.empty()) {
    SV_ASSIGN(out.topology, parse_topology(options.topology));
  } else {
    out.topology = detect_topology(options.threads);
  }
  if (options.kernels.empty()) return out;
  out.kernels = kernels::find_kernel_set(options.kernels);
  if (!out.kernels) return error("kernel set '{}' is not built in, or this processor cannot run it", options.kernels);
  return out;
}

/// Borrows the caller's memory for one run.
Result<Tensor> borrow(const TensorView& view, size_t index) {
  const auto type = static_cast<DType>(view.type);
  if (size_of(type) == 0) return error("input {} has no element type", index);
  Status fits = check_dims(view.shape);
  if (!fits.ok()) return std::move(fits).error().in(fmt::format("input {}", index));
  if (!view.data && element_count(view.shape) > 0) return error("input {} has no data (null pointer)", index);
  return Tensor::wrap(type, view.shape, view.data, nullptr);
}

}  // namespace svengine
