#include "tests/differential/moves.h"

namespace svengine::differential {
namespace {

constexpr Move kMoves[] = {
    {"sample", 8, add_sample},
    {"unary", 5, add_unary},
    {"binary", 6, add_binary},
    {"variadic", 4, add_variadic},
    {"clip", 2, add_clip},
    {"comparison", 2, add_comparison},
    {"integers", 2, add_integers},
    {"convolution", 8, add_convolution},
    {"parallel_convolutions", 2, add_parallel_convolutions},
    {"shared_weight", 1, add_shared_weight},
    {"pool", 4, add_pool},
    {"norm", 2, add_norm},
    {"residual", 3, add_residual},
    {"transpose", 3, add_transpose},
    {"between_transposes", 6, add_between_transposes},
    {"reshape", 3, add_reshape},
    {"concat", 3, add_concat},
    {"split", 2, add_split},
    {"slice", 2, add_slice},
    {"pad", 2, add_pad},
    {"reduce", 3, add_reduce},
    {"resize", 1, add_resize},
    {"product", 5, add_product},
    {"dense_layers", 2, add_dense_layers},
    {"layer_norm", 2, add_layer_norm},
    {"gelu", 2, add_gelu},
    {"attention", 2, add_attention},
    {"byte_function", 3, add_byte_function},
    {"branch", 2, add_branch},
    {"loop", 2, add_loop},
    {"scan", 2, add_scan},
    {"sequence", 3, add_sequence},
    {"optional", 1, add_optional},
};

const Move& choose_move(Choices& choose) {
  int total = 0;
  for (const Move& m : kMoves) total += m.weight;
  auto left = static_cast<int>(choose.below(static_cast<uint64_t>(total)));
  for (const Move& m : kMoves)
    if ((left -= m.weight) < 0) return m;
  return kMoves[0];
}

}  // namespace

std::span<const Move> moves() { return kMoves; }

void add_moves(GraphMaker& m, size_t wanted) {
  for (size_t tries = 0; tries < 3 * wanted && m.nodes() < wanted; ++tries) choose_move(m.choose).add(m);
}

Result<RandomGraph> random_graph(uint64_t seed, const kernels::KernelTable& kernels, const Progress& progress) {
  GraphMaker maker(seed, kernels, progress);
  const auto wanted = static_cast<size_t>(maker.choose.chance(0.5) ? maker.choose.between(1, 5) : maker.choose.between(5, 14));
  add_moves(maker, wanted);
  return maker.finish();
}

}  // namespace svengine::differential
