// Convolution and pooling in double.
#pragma once
#include "tests/gradients/double_forward.h"

namespace svengine::tests {

std::vector<Array> conv(const Node& node, const std::vector<Array>& in);
std::vector<Array> conv_transpose(const Node& node, const std::vector<Array>& in);  // explicit padding only
std::vector<Array> max_pool(const Node& node, const std::vector<Array>& in);
std::vector<Array> average_pool(const Node& node, const std::vector<Array>& in);
std::vector<Array> lp_pool(const Node& node, const std::vector<Array>& in);
std::vector<Array> local_response(const Node& node, const std::vector<Array>& in);
std::vector<Array> global_max_pool(const Node& node, const std::vector<Array>& in);
std::vector<Array> global_average_pool(const Node& node, const std::vector<Array>& in);

}  // namespace svengine::tests
