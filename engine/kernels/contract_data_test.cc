// The contracts of kernels that move elements: a right call, and every rule broken once.
#include "engine/kernels/contract_data.h"

#include "engine/kernels/contract_test_util.h"

namespace contract_data_test {
using namespace svengine::kernels;
using namespace svengine::kernels::contract_test;

TEST_CASE("the contract of copies: elements of the destination are distinct, and apart from the source") {
  using A = CopyArgs;
  const A right{place(0), place(1), 4, 2, {3, 5}, {0, 1}, {-5, 1}};
  check<A>(right, {
                      {"copy: element_bytes is not 1, 2, 4 or 8", [](A& a) { a.element_bytes = 3; }},
                      {"copy: rank is not 0 to 8", [](A& a) { a.rank = 9; }},
                      {"copy: an extent is negative", [](A& a) { a.extent[0] = -1; }},
                      {"copy: src or dst is null", [](A& a) { a.dst = nullptr; }},
                      {"copy: elements of dst are not distinct", [](A& a) { a.dst_stride[0] = 4; }},
                      {"copy: elements of dst are not distinct", [](A& a) { a.dst_stride[1] = 0; }},
                      {"copy: dst overlaps src", [](A& a) { a.dst = place(0); }},
                  });
  const A line{place(0), place(1), 4, 1, {6}, {1}, {1}};
  check<A>(line, {{"copy: dst overlaps src", [](A& a) { a.dst = place(0) + 5; }}});
  using F = FillArgs;
  check<F>({place(0), 4, 3}, {{"fill: element_bytes is not 1, 2, 4 or 8", [](F& a) { a.element_bytes = 0; }},
                              {"fill: count is not positive, or dst is null", [](F& a) { a.dst = nullptr; }}});
  using R = ReorderArgs;
  check<R>({place(0), place(1), 2, 3, 4, 12},
           {{"reorder: src or dst is null, or both are one", [](R& a) { a.dst = place(0); }},
            {"reorder: a size is negative", [](R& a) { a.channels = -1; }},
            {"reorder: images of the plain side overlap", [](R& a) { a.plain_batch_stride = 11; }}});
  using T = TriluArgs;
  check<T>({place(0), place(0), 4, true, 1, 3, 3},
           {{"trilu: a size is negative", [](T& a) { a.rows = -1; }},
            {"trilu: y overlaps x and is not x", [](T& a) { a.y = place(0) + 1; }}});
}

TEST_CASE("the contracts of gathers and scatters: indices are checked, or there is a place for the bad one") {
  static int64_t error;
  static const int64_t indices[] = {0, -3, 2, 1, 3};
  using G = GatherArgs;
  check<G>({place(0), indices, place(2), 4, 8, 2, 3, 4, 5, &error},
           {
               {"gather: index_bytes is neither 4 nor 8", [](G& a) { a.index_bytes = 2; }},
               {"gather: a size is negative", [](G& a) { a.inner = -1; }},
               {"gather: data, indices or y is null", [](G& a) { a.indices = nullptr; }},
               {"gather: a bad index, and error is null", [](G& a) { a.error = nullptr; }},
               {"gather: y overlaps indices", [](G& a) { a.indices = place(2); }},
               {"gather: y overlaps data", [](G& a) { a.y = place(0) + 23; }},
           });
  using E = GatherElementsArgs;
  check<E>({place(0), place(1), place(2), 4, 8, 2, 1, {3, 4}, {3, 9}, &error},
           {
               {"gather or scatter elements: rank is not 1 to 8, or axis not below it", [](E& a) { a.axis = 2; }},
               {"gather or scatter elements: an index_extent is beyond data_extent", [](E& a) { a.index_extent[0] = 4; }},
               {"gather elements: y overlaps data", [](E& a) { a.y = place(0); }},
           });
  using S = ScatterElementsArgs;
  S scatter;
  scatter.y = place(0), scatter.indices = place(1), scatter.updates = place(2), scatter.error = &error;
  scatter.rank = 1, scatter.data_extent[0] = 9, scatter.index_extent[0] = 4;
  check<S>(scatter, {{"gather or scatter elements: a bad index, and error is null",
                      [](S& a) { a.error = nullptr, a.indices = indices, a.data_extent[0] = 2, a.index_extent[0] = 2; }},
                     {"scatter elements: y overlaps updates", [](S& a) { a.updates = place(0) + 8; }}});
  using N = GatherNdArgs;
  check<N>({place(0), place(1), place(2), 4, 8, 2, 1, 3, 2, {3, 4}, &error},
           {{"gather or scatter nd: depth is not 0 to 8", [](N& a) { a.depth = 9; }},
            {"gather or scatter nd: a size is negative", [](N& a) { a.extent[1] = -1; }},
            {"gather or scatter nd: indices is null", [](N& a) { a.indices = nullptr; }},
            {"gather or scatter nd: a bad index, and error is null",
             [](N& a) { a.error = nullptr, a.indices = indices, a.depth = 1, a.count = 5, a.extent[0] = 3; }},
            {"gather nd: y overlaps data", [](N& a) { a.y = place(0) + 23; }}});
  using D = ScatterNdArgs;
  D nd;
  nd.y = place(0), nd.indices = place(1), nd.updates = place(2), nd.error = &error;
  nd.depth = 1, nd.count = 2, nd.slice = 3, nd.extent[0] = 4;
  check<D>(nd, {{"scatter nd: y or updates is null", [](D& a) { a.updates = nullptr; }},
                {"scatter nd: y overlaps updates", [](D& a) { a.updates = place(0) + 11; }}});
}

TEST_CASE("the contracts of what is read through tables") {
  static const int32_t map[] = {1, 2, 3, -1, 0}, taps[] = {0, -1, 2, 9}, beyond[] = {0, 1, 3, 2};
  using M = MapArgs;
  M mapped;
  mapped.src = place(0), mapped.dst = place(1), mapped.rank = 1, mapped.extent[0] = 5, mapped.src_stride[0] = 1, mapped.map[0] = map;
  mapped.run_length = 3;
  check<M>(mapped, {{"map: rank is not 0 to 8", [](M& a) { a.rank = -1; }},
                    {"map: the map of a dimension is null", [](M& a) { a.map[0] = nullptr; }},
                    {"map: the run is not within the last map", [](M& a) { a.run_begin = 3; }},
                    {"map: the run does not ascend by one", [](M& a) { a.run_length = 4; }},
                    {"map: the last map does not double", [](M& a) { a.doubles = true; }}});
  using R = ResampleArgs;
  check<R>({place(0), place(1), 1, 3, 2, 4, 2, taps, place(2)},
           {{"resample: a size is negative, or no taps", [](R& a) { a.taps = 0; }},
            {"resample: an index is not within x", [](R& a) { a.index = beyond; }},
            {"resample: y overlaps x", [](R& a) { a.y = place(0) + 11; }}});
  using W = WeightedGatherArgs;
  check<W>({place(0), place(1), 2, 3, 9, 3, 1, taps, place(2)},
           {{"weighted gather: channels of y overlap", [](W& a) { a.y_stride = 2; }},
            {"weighted gather: y, index or weight is null", [](W& a) { a.weight = nullptr; }}});
  using O = OneHotArgs;
  check<O>({place(0), place(1), 4, 8, 2, 3, 4}, {{"one hot: index_bytes is neither 4 nor 8", [](O& a) { a.index_bytes = 1; }},
                                                 {"one hot: a size is negative", [](O& a) { a.depth = -1; }},
                                                 {"one hot: y overlaps indices", [](O& a) { a.indices = place(1) + 23; }}});
}
}  // namespace contract_data_test
