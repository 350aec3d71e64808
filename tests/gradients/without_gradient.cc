#include "tests/gradients/without_gradient.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace svengine::tests {
namespace {

constexpr const char *kHandles = "sequences and optional values are handles, gradients are tensors",
                     *kNoNumbers = "it works on text, files or categories",
                     *kFixed = "coefficients are attributes that other programs have fitted",
                     *kTraining = "a step of training is not itself differentiated",
                     *kQuantized = "operands are rounded to integers";

constexpr WithoutGradient kWithout[] = {
    {"", "BitCast", "it looks at bits, not at numbers"},
    {"", "DynamicQuantizeLinear", "y is rounded: a gradient through the scale alone would be half of one"},
    {"", "MelWeightMatrix", "its numbers make a table; no peer differentiates by them"},
    {"", "Range", "its numbers decide how many elements there are; no peer differentiates by them"},
    {"", "Unique", "its values are compared; no peer differentiates it"},
    // Handles: gradients are tensors.
    {"", "Optional", kHandles},
    {"", "OptionalGetElement", kHandles},
    {"", "SequenceEmpty", kHandles},
    {"", "SequenceConstruct", kHandles},
    {"", "SequenceAt", kHandles},
    {"", "SequenceErase", kHandles},
    {"", "SequenceInsert", kHandles},
    {"", "SequenceLength", kHandles},
    {"", "SequenceMap", kHandles},
    {"", "SplitToSequence", kHandles},
    {"", "ConcatFromSequence", kHandles},
    // Text and images as files.
    {"", "ImageDecoder", kNoNumbers},
    {"", "RegexFullMatch", kNoNumbers},
    {"", "StringConcat", kNoNumbers},
    {"", "StringNormalizer", kNoNumbers},
    {"", "StringSplit", kNoNumbers},
    {"ai.onnx.ml", "CastMap", kNoNumbers},
    {"ai.onnx.ml", "CategoryMapper", kNoNumbers},
    {"ai.onnx.ml", "DictVectorizer", kNoNumbers},
    {"ai.onnx.ml", "OneHotEncoder", kNoNumbers},
    {"ai.onnx.ml", "ZipMap", kNoNumbers},
    // Coefficients are attributes, which nothing trains; gradients by the features pass no part of a network that is trained.
    {"ai.onnx.ml", "LinearClassifier", kFixed},
    {"ai.onnx.ml", "LinearRegressor", kFixed},
    {"ai.onnx.ml", "SVMClassifier", kFixed},
    {"ai.onnx.ml", "SVMRegressor", kFixed},
    {"ai.onnx.preview.training", "Adagrad", kTraining},
    {"ai.onnx.preview.training", "Adam", kTraining},
    {"ai.onnx.preview.training", "Gradient", kTraining},
    {"ai.onnx.preview.training", "Momentum", kTraining},
    {"com.microsoft", "DynamicQuantizeMatMul", kQuantized},
    {"com.microsoft", "MatMulIntegerToFloat", kQuantized},
    // Differentiated through the nodes that they become; of these alone inference knows the sizes, without which nothing is checked here.
    {"com.microsoft", "LinearAttention", "it becomes ai.onnx's, which is checked in float32"},
    {"com.microsoft", "GatedDeltaNet", "it becomes gates, which are checked, and LinearAttention, which is checked in float32"},
    {"com.microsoft", "NhwcConv", "it becomes Transpose and Conv, which are checked"},
    {"com.microsoft", "NhwcFusedConv", "it becomes Transpose, Conv and an activation, which are checked"},
    {"com.microsoft", "MatMulFpQ4", "it becomes MatMulNBits, which is checked by a formula"},
    {"com.microsoft", "MurmurHash3", "a hash"},
    {"com.microsoft", "BeamSearch", "tokens are chosen, not computed"},
    {"com.microsoft", "WhisperBeamSearch", "tokens are chosen, not computed"},
    {"com.microsoft", "NGramRepeatBlock", "a search's rule, which nothing trains"},
    {"com.microsoft", "QAttention", kQuantized},
    {"com.microsoft", "QEmbedLayerNormalization", kQuantized},
    {"com.microsoft", "QGemm", kQuantized},
    {"com.microsoft", "QLinearConv", kQuantized},
    {"com.microsoft", "Unique", "its values are compared; no peer differentiates it"},
};

}  // namespace

std::span<const WithoutGradient> operators_without_gradient() { return kWithout; }

bool has_single_gradient(const OpDef& op) {
  // Backward kernels of losses are float32's alone; packed weights have scales of float32.
  constexpr std::string_view kNames[] = {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "MatMulNBits",
                                         "NBitsMatMul"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

const char* reason_without_gradient(const OpDef& op) {
  for (const WithoutGradient& entry : kWithout)
    if (std::string_view(entry.domain) == op.domain && std::string_view(entry.name) == op.name) return entry.reason;
  return nullptr;
}

}  // namespace svengine::tests
