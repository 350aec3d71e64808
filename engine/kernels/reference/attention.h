// Attention in double precision: the oracle of the attention kernels.
#pragma once
#include <cstdint>
#include <vector>

namespace svengine::kernels {

/// One head: softmax(scale * q k' + mask) v for dense q [queries, size], k [keys, size], v [keys, value_size]; mask is
/// [queries, keys] or empty. -> [queries, value_size]
std::vector<double> reference_attention(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                                        const std::vector<double>& mask, int64_t queries, int64_t keys, int64_t size,
                                        int64_t value_size, double scale);

}  // namespace svengine::kernels
