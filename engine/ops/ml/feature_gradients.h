// Gradient rules of ai.onnx.ml's operators on features, made of other operators.
#pragma once
#include "engine/graph/gradient.h"

namespace svengine::ops {

Status scaler_gradient(GradientContext& c);
/// What was there passes; what was put in its place is a constant.
Status imputer_gradient(GradientContext& c);
Status normalizer_gradient(GradientContext& c);
Status feature_vectorizer_gradient(GradientContext& c);
Status array_feature_extractor_gradient(GradientContext& c);

}  // namespace svengine::ops
