#include "api/c_support.h"

#include <algorithm>
#include <cstring>

namespace svengine::c {
namespace {

constexpr size_t kMostWords = 4096;
thread_local char words_of_thread[kMostWords] = "";

}  // namespace

svengine_status fail(svengine_status status, std::string_view words) noexcept {
  const size_t length = std::min(words.size(), kMostWords - 1);
  std::memmove(words_of_thread, words.data(), length);
  words_of_thread[length] = 0;
  return status;
}

svengine_status fail(svengine_status status, const Error& error) noexcept {
  return fail(error.is_limit() ? SVENGINE_UNIMPLEMENTED : status, error.message());
}

const char* last_error() noexcept { return words_of_thread; }

Status layouts_of(const svengine_tensor* tensors, int32_t count, const char* what, std::vector<TensorLayout>& out) {
  if (count < 0 || (count > 0 && !tensors)) return error("{} {} are announced, at {}", count, what, static_cast<const void*>(tensors));
  out.resize(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    const svengine_tensor& t = tensors[i];
    if (t.type == SVENGINE_UNKNOWN && !t.data) {
      out[static_cast<size_t>(i)] = {};
      continue;
    }
    const DType type = to_dtype(static_cast<ElementType>(t.type));
    if (type == DType::undefined) return error("{} {}: there is no element type {}", what, i, static_cast<int>(t.type));
    if (t.rank < 0 || (t.rank > 0 && !t.shape))
      return error("{} {}: rank {} with its shape at {}", what, i, t.rank, static_cast<const void*>(t.shape));
    out[static_cast<size_t>(i)] = {.type = type, .dims = {t.shape, static_cast<size_t>(t.rank)}, .strides = t.strides, .rows = t.rows,
                                   .extent = t.extent, .first_row = t.first_row, .data = t.data};
  }
  return {};
}

void put_back(const std::vector<TensorLayout>& layouts, svengine_tensor* tensors) {
  for (size_t i = 0; tensors && i < layouts.size(); ++i) {
    const TensorLayout& l = layouts[i];
    tensors[i] = {static_cast<svengine_type>(to_element_type(l.type)),
                  static_cast<int32_t>(l.dims.size()),
                  l.dims.data(),
                  l.strides,
                  l.rows,
                  l.extent,
                  l.first_row,
                  l.data};
  }
}

svengine_status give_network(std::shared_ptr<SharedNetwork> shared, svengine_network** out) {
  auto object = std::make_unique<NetworkObject>();
  for (const std::vector<TensorInfo>* ports : {&shared->inputs(), &shared->outputs()})
    for (const TensorInfo& port : *ports) {
      object->names.emplace_back();
      for (const std::string& name : port.shape_names) object->names.back().push_back(name.c_str());
    }
  object->shared = std::move(shared);
  *out = static_cast<svengine_network*>(make_handle(HandleKind::network, object.get()));
  if (!*out) return fail(SVENGINE_OUT_OF_MEMORY, "no memory for another handle");
  (void)object.release();
  return SVENGINE_OK;
}

Result<SessionOptions> session_options_of(const svengine_options& options) {
  NetworkOptions out;
  out.threads = 1;
  if (options.kernels) out.kernels = options.kernels;
  if (options.cache) out.cache = options.cache;
  out.exact_convolution = options.exact_convolution != 0;
  if (options.seeded) out.seed = options.seed;
  return session_options(out);
}

}  // namespace svengine::c
