// What DepthToSpace and SpaceToDepth share: blocks of blocksize x blocksize pixels traded for channels.
#pragma once
#include "engine/ops/infer_util.h"

namespace svengine::ops {

/// The attribute, checked: at least 1.
Result<int64_t> block_size(const Attributes& attributes);

/// Attribute "mode", the order of the parts of a channel's number: DCR or CRD.
Status check_depth_mode(const Attributes& attributes);

/// A dimension divided by a number; `what` names it in the error when it does not divide.
Result<Dim> divide(const Dim& d, int64_t by, const char* what);

}  // namespace svengine::ops
