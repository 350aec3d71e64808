// Between the API's types and the engine's.
#pragma once
#include "runtime/session.h"
#include "svengine/svengine.hpp"

namespace svengine {

/// Between the API's element types and the engine's. What one of them lacks is unknown to the other.
ElementType to_element_type(DType type);
DType to_dtype(ElementType type);

TensorInfo describe_port(const Session::Port& port);
Result<SessionOptions> session_options(const NetworkOptions& options);
/// Borrows the caller's memory for one run; `index` is for the message.
Result<Tensor> borrow(const TensorView& view, size_t index);

}  // namespace svengine
