// ONNX's experimental operators, which ONNX 1.5 took away. They have no opsets of their own.
#pragma once

namespace svengine::ops {

/// The newest opset with which ONNX Runtime 1.32 runs them.
inline constexpr int kLastExperimental = 9;

}  // namespace svengine::ops
