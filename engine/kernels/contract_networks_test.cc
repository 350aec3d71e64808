// The contracts of attention, recurrent and quantised networks: a right call, and every rule broken once.
#include "engine/kernels/contract_attention.h"
#include "engine/kernels/contract_quantized.h"
#include "engine/kernels/contract_recurrent.h"
#include "engine/kernels/contract_test_util.h"

namespace contract_networks_test {
using namespace svengine::kernels;
using namespace svengine::kernels::contract_test;

namespace {

AttentionArgs attention() {
  AttentionArgs a;
  a.batch = 1, a.heads = 2, a.queries = 3, a.keys = 4, a.size = 5, a.value_size = 6;
  a.q = place(0), a.k = place(1), a.v = place(2), a.y = place(3);
  a.q_stride = {30, 15, 5}, a.k_stride = {40, 20, 5}, a.v_stride = {48, 24, 6}, a.y_stride = {36, 18, 6};
  return a;
}

QuantizedGemmArgs product() {
  QuantizedGemmArgs a;
  a.m = 2, a.n = 3, a.k = 4, a.a = place(0), a.lda = 4, a.b = place(1), a.c = place(2), a.ldc = 3;
  return a;
}

}  // namespace

TEST_CASE("attention's contract") {
  using A = AttentionArgs;
  check<A>(attention(), {
                            {"attention: batch or heads is not positive", [](A& a) { a.heads = 0; }},
                            {"attention: a size is negative", [](A& a) { a.keys = -1; }},
                            {"attention: packed_k or packed_v is not 256-byte aligned", [](A& a) { a.packed_v = place(5) + 1; }},
                            {"attention: k or v is null", [](A& a) { a.v = nullptr; }},
                            {"attention: q or y is null", [](A& a) { a.q = nullptr; }},
                            {"attention: rows of y overlap", [](A& a) { a.y_stride.row = 5; }},
                            {"attention: y overlaps q", [](A& a) { a.q = a.y + 1; }},
                            {"attention: y overlaps k", [](A& a) { a.k = a.y; }},
                            {"attention: y overlaps v", [](A& a) { a.v = a.y; }},
                            {"attention: y overlaps mask", [](A& a) { a.mask = a.y; }},
                        });
  A pack = attention();
  pack.q = nullptr, pack.y = nullptr;
  CHECK(pack_violation(pack) == nullptr);
}

TEMPLATE_TEST_CASE("the contracts of recurrent steps", "", float, double) {
  using T = TestType;
  using A = RecurrentArgsOf<T>;
  static const int32_t lengths[] = {2, 4};
  A right;
  right.cell = RecurrentCell::kLstm, right.length = 3, right.batch = 2, right.hidden = 4;
  right.sums = place<T>(0), right.weights = place<T>(1), right.h = place<T>(2), right.c = place<T>(3), right.y = place<T>(4);
  right.y_stride = {8, 4, 24};
  check<A>(right, {
                      {"recurrent: directions is neither 1 nor 2", [](A& a) { a.directions = 3; }},
                      {"recurrent: batch or hidden is not positive, or length negative", [](A& a) { a.hidden = 0; }},
                      {"recurrent: step is not below length", [](A& a) { a.step = 3; }},
                      {"recurrent: clip is negative", [](A& a) { a.clip = -1; }},
                      {"recurrent: one of lengths is not 0 to length", [](A& a) { a.lengths = lengths; }},
                      {"recurrent: sums, weights or h is null", [](A& a) { a.sums = nullptr; }},
                      {"recurrent: c of an LSTM is null", [](A& a) { a.c = nullptr; }},
                      {"recurrent: reset of a GRU is null", [](A& a) { a.cell = RecurrentCell::kGru; }},
                      {"recurrent: peepholes of another cell than LSTM",
                       [](A& a) { a.cell = RecurrentCell::kRnn, a.peepholes = place<T>(5); }},
                      {"recurrent: h, c and reset overlap", [](A& a) { a.c = a.h + 15; }},
                      {"recurrent: rows of y overlap", [](A& a) { a.y_stride.row = 3; }},
                      {"recurrent: rows of gates overlap", [](A& a) { a.gates = place<T>(5), a.gates_stride = {32, 15, 0}; }},
                      {"recurrent: rows of cells overlap", [](A& a) { a.cells = place<T>(5), a.cells_stride = {3, 4, 0}; }},
                  });
  using P = RecurrentPackArgsOf<T>;
  check<P>({RecurrentCell::kRnn, 4, place<T>(0), place<T>(1)},
           {
               {"recurrent pack: hidden is not positive", [](P& a) { a.hidden = 0; }},
               {"recurrent pack: source or packed is null", [](P& a) { a.source = nullptr; }},
               {"recurrent pack: packed overlaps source", [](P& a) { a.packed = place<T>(0) + 15; }},
           });
}

TEST_CASE("the contracts of quantised products") {
  using A = QuantizedGemmArgs;
  const auto windows = [](A& a) {
    a.windows = true, a.window.pixel_bytes = a.window.channels = 4;
    a.window.in[2] = a.window.out[2] = 2, a.lda = 0;
  };
  check<A>(product(), {
                          {"quantized gemm: m or n is not positive, or k is negative", [](A& a) { a.n = 0; }},
                          {"quantized gemm: a, b or c is null", [](A& a) { a.a = nullptr; }},
                          {"quantized gemm: b is not 256-byte aligned", [](A& a) { a.b = place<char>(1) + 64; }},
                          {"quantized gemm: ldc is less than n", [](A& a) { a.ldc = 2; }},
                          {"quantized gemm: lda is less than k", [](A& a) { a.lda = 3; }},
                          {"quantized gemm: a_zero_step is neither 0 nor 1", [](A& a) { a.a_zero_step = 2; }},
                          {"quantized gemm: a_zero_step with windows", [=](A& a) { windows(a), a.a_zero_step = 1; }},
                          {"quantized gemm: k is not taps times channels", [=](A& a) { windows(a), a.k = 5; }},
                          {"quantized gemm: m is not images times pixels", [=](A& a) { windows(a), a.m = 3; }},
                          {"quantized: a window has more channels than a pixel", [=](A& a) { windows(a), a.window.channels = 5; }},
                          {"quantized: a kernel, stride or dilation is not positive", [=](A& a) { windows(a), a.window.strides[2] = 0; }},
                          {"quantized: scale is null where the output is not int32",
                           [](A& a) { a.epilogue.output = QuantizedOutput::kUint8; }},
                          {"quantized: low, high or zero is beyond the output's type",
                           [](A& a) { a.epilogue.output = QuantizedOutput::kInt8, a.epilogue.scale = place(3), a.epilogue.high = 128; }},
                          {"quantized gemm: bias_ld is less than n", [](A& a) { a.epilogue.bias_ld = 2; }},
                          {"quantized gemm: c overlaps a", [](A& a) { a.c = place<char>(0) + 7; }},
                      });
  A right = product();
  windows(right);
  CHECK(violation(right) == nullptr);
  using P = QuantizedPackArgs;
  P pack;
  pack.source = place(0), pack.packed = place(1), pack.k = 4, pack.n = 3, pack.ld = 3;
  check<P>(pack, {{"quantized pack: ld is less than a line", [](P& a) { a.column_major = true; }},
                  {"quantized pack: packed is not 256-byte aligned", [](P& a) { a.packed = place(1) + 4; }}});
}

TEST_CASE("the contracts of quantised images and elements") {
  using D = QuantizedDepthwiseArgs;
  D depthwise;
  depthwise.batch = 1, depthwise.window.pixel_bytes = depthwise.window.channels = 8;
  depthwise.x = place(0), depthwise.w = place<int32_t>(1), depthwise.y = place(2);
  check<D>(depthwise, {{"quantized depthwise: channels is not pixel_bytes", [](D& a) { a.window.channels = 7; }},
                       {"quantized depthwise: row_scale or bias_ld, which it has not", [](D& a) { a.epilogue.row_scale = place(3); }},
                       {"quantized depthwise: row_scale or bias_ld, which it has not", [](D& a) { a.epilogue.bias_ld = 8; }},
                       {"quantized depthwise: y overlaps x", [](D& a) { a.y = place<char>(0) + 7; }}});
  using S = QuantizedBinaryArgs;
  S sum;
  sum.count = 10, sum.a = place(0), sum.b = place(1), sum.y = place(0);
  check<S>(sum, {{"quantized binary: low and high are no range of the type", [](S& a) { a.is_signed = true; }},
                 {"quantized binary: y overlaps a or b and is not it", [](S& a) { a.y = place<char>(1) + 9; }}});
  using Q = QuantizeArgs;
  Q quantize;
  quantize.count = 10, quantize.x = place(0), quantize.y = place(1), quantize.scale = place(2);
  check<Q>(quantize, {{"quantize: y overlaps x", [](Q& a) { a.y = place(0); }}});
  using R = QuantizedRangeArgs;
  check<R>({10, place(0), place(1), place(2)},
           {{"quantized range: low or high is null, or both are one", [](R& a) { a.high = a.low; }}});
}
}  // namespace contract_networks_test
