// Between the API's types and the engine's.
#pragma once
#include "api/layout.h"
#include "runtime/session.h"
#include "svengine/svengine.hpp"

namespace svengine {

/// Between the API's element types and the engine's. What one of them lacks is unknown to the other.
ElementType to_element_type(DType type);
DType to_dtype(ElementType type);

TensorInfo describe_port(const Session::Port& port);
Result<SessionOptions> session_options(const NetworkOptions& options);
/// Borrows the caller's memory for one run; `index` is for the message. The view is dense.
Result<Tensor> borrow(const TensorView& view, size_t index);

/// The caller's tensors, whose shapes, strides and lists stay theirs. A view of unknown type without data is one that nobody gives.
Status layouts_of(const std::vector<TensorView>& views, const char* what, std::vector<TensorLayout>& out);
Status places_of(const std::vector<MutableTensorView>& views, const char* what, std::vector<TensorLayout>& out);
/// What a call has filled in.
void put_back(const std::vector<TensorLayout>& layouts, std::vector<MutableTensorView>& views);

}  // namespace svengine
