#include "engine/kernels/contract.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/kernels/data.h"
#include "engine/kernels/gradient.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/quantized.h"
#include "engine/kernels/recurrent.h"

namespace contract_test {
using namespace svengine::kernels;

namespace {

/// "" when the contract is kept.
template <class Args>
std::string broken(const Args& args) {
  const char* rule = violation(args);
  return rule ? rule : "";
}

const float* input() {
  static std::vector<float> memory(4096);
  return memory.data();
}
float* output() {
  static std::vector<float> memory(4096);
  return memory.data();
}

BinaryArgs rows_and_a_column() {
  BinaryArgs args;
  args.a = input(), args.b = input() + 1000, args.y = output();
  args.broadcast = {2, {3, 5}, {{5, 1}, {1, 0}}};
  return args;
}

}  // namespace

TEST_CASE("operands of two are contiguous or repeated along rows, and the result is none of them otherwise laid out") {
  BinaryArgs args = rows_and_a_column();
  CHECK(broken(args) == "");
  args.broadcast.stride[1][1] = 2;
  CHECK(broken(args) == "elementwise: an innermost broadcast.stride is neither 0 nor 1");
  args = rows_and_a_column();
  args.y = const_cast<void*>(args.a);
  CHECK(broken(args) == "");
  args.y = static_cast<float*>(args.y) + 1;
  CHECK(broken(args) == "elementwise binary: y overlaps a and is not laid out like it");
  args = rows_and_a_column();
  args.y = const_cast<void*>(args.b);
  CHECK(broken(args) == "elementwise binary: y overlaps b and is not laid out like it");
  args = rows_and_a_column();
  args.broadcast.rank = 9;
  CHECK(broken(args) == "elementwise: broadcast.rank is not 1 to 8");
}

TEST_CASE("one operand is the result or apart from it") {
  UnaryArgs args;
  args.x = output(), args.y = output(), args.n = 10;
  CHECK(broken(args) == "");
  args.x = output() + 1;
  CHECK(broken(args) == "elementwise unary: y overlaps x and is not x");
  args.x = output() + 10;
  CHECK(broken(args) == "");
  args.x = nullptr;
  CHECK(broken(args) == "elementwise unary: x or y is null");
}

TEST_CASE("windows have taps, strides and an image of a size that is counted in 32 bits") {
  PoolArgs pool;
  pool.input = input(), pool.output = output();
  CHECK(broken(pool) == "");
  pool.shape.kernel.width = 0;
  CHECK(broken(pool) == "pool: a kernel, stride or dilation is not positive");
  pool.shape.kernel.width = 1, pool.shape.in = {1, 1 << 16, 1 << 15};
  CHECK(broken(pool) == "pool: an image has 2^31 positions or more");

  ConvArgs conv;
  conv.input = conv.weights = input(), conv.output = output();
  CHECK(broken(conv) == "");
  conv.shape.groups = 2;
  CHECK(broken(conv) == "conv: groups does not divide the channels");
  conv.shape.groups = 1, conv.kind = ConvKind::kWinograd;
  CHECK(broken(conv) == "conv: kWinograd without 3 x 3 taps, stride 1 and dilation 1");
  conv.shape.kernel = {1, 3, 3};
  CHECK(broken(conv) == "");
  conv.shape.in.depth = 2;
  CHECK(broken(conv) == "");
  conv.kind = ConvKind::kGrouped;
  CHECK(broken(conv) == "conv: a kind without depth on images with depth");
}

TEST_CASE("products have room for their rows") {
  GemmArgs gemm;
  gemm.a = gemm.b = input(), gemm.c = output();
  gemm.m = 2, gemm.n = 5, gemm.k = 3, gemm.ldc = 5;
  CHECK(broken(gemm) == "");
  gemm.ldc = 4;
  CHECK(broken(gemm) == "gemm: ldc is less than n");
  gemm.ldc = 5, gemm.batch.inner = 2;
  CHECK(broken(gemm) == "gemm: c_stride is 0 where the batch is more than 1");
  gemm.c_stride.inner = 10;
  CHECK(broken(gemm) == "");
  GemmRowsArgsOf<float> rows{.product = gemm, .ldb = 5};
  CHECK(broken(rows) == "");
  rows.ldb = 4;
  CHECK(broken(rows) == "gemm rows: ldb is less than n");
  rows.b_transposed = true;
  CHECK(broken(rows) == "gemm rows: lda is less than k");
}

TEST_CASE("norms and reductions have something to work on") {
  GroupNormArgs group;
  group.x = input(), group.y = output(), group.batch = group.spatial = 2, group.channels = 4;
  CHECK(broken(group) == "");
  group.groups = 0;
  CHECK(broken(group) == "group norm: groups does not divide channels");

  RowNormArgs row;
  row.x = input(), row.y = output(), row.rows = 2, row.n = row.x_stride = row.y_stride = 7;
  CHECK(broken(row) == "");
  row.y_stride = 6;
  CHECK(broken(row) == "row norm: rows of x or y overlap");

  ReduceArgs reduce;
  reduce.x = input(), reduce.y = output(), reduce.rank = 9;
  CHECK(broken(reduce) == "reduce: rank is not 0 to 8");

  TopKArgs top;
  top.x = input(), top.outer = 1, top.n = 3, top.k = 4;
  CHECK(broken(top) == "top k: k is not 0 to n");
}

namespace {

/// What a process that makes this call says before it aborts; empty when it does not.
std::string last_words(const std::function<void()>& call) {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(pipe_ends[1], STDERR_FILENO);
    call();
    _exit(0);
  }
  close(pipe_ends[1]);
  char said[500] = {};
  const ssize_t length = read(pipe_ends[0], said, sizeof said - 1);
  close(pipe_ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return length > 0 && WIFSIGNALED(status) ? said : "";
}

/// A call of every kind of kernel table, with arguments that are null.
std::vector<std::pair<const char*, std::function<void()>>> broken_calls(const KernelTable& set) {
  BinaryArgs binary = rows_and_a_column();
  binary.b = nullptr;
  AttentionArgs attention;
  attention.queries = attention.keys = attention.size = attention.value_size = 1;
  RecurrentArgs step;
  step.batch = step.hidden = 1;
  RecurrentArgsOf<double> no_directions;
  no_directions.directions = 0;
  QuantizedGemmArgs gemm;
  gemm.m = gemm.n = gemm.k = 1;
  QuantizedPackArgs pack;
  pack.k = pack.n = pack.ld = 1;
  ActivationGradArgs slope;
  slope.n = 1;
  LayerwiseArgs norms;
  norms.n = 1;
  return {
      {"elementwise binary: a, b or y is null", [=, &set] { set.elementwise->binary.run(binary, 0, 1, nullptr); }},
      {"attention: k or v is null", [=, &set] { set.attention->pack.run(attention, 0, 1, nullptr); }},
      {"attention: k or v is null", [=, &set] { set.attention->attention.run(attention, 0, 1, nullptr); }},
      {"copy: src or dst is null", [=, &set] { set.data->copy.run({}, 0, 1, nullptr); }},
      {"activation gradient: n is not positive, or dy, v or dx is null",
       [=, &set] { set.gradient->activation.run(slope, 0, 1, nullptr); }},
      {"layerwise optimizer: n is not positive, or x, g or partials is null",
       [=, &set] { set.gradient->layerwise_norms.run(norms, 0, 1, nullptr); }},
      {"quantized pack: source or packed is null", [=, &set] { set.quantized->pack(pack, 0, 1); }},
      {"quantized gemm: a, b or c is null", [=, &set] { set.quantized->gemm.run(gemm, 0, 1, nullptr); }},
      {"recurrent: sums, weights or h is null", [=, &set] { set.recurrent->step.run(step, 0, 1, nullptr); }},
      {"recurrent: directions is neither 1 nor 2", [=, &set] { set.recurrent_f64->step.run(no_directions, 0, 1, nullptr); }},
  };
}

}  // namespace

TEST_CASE("builds that check contracts end with the rule that a call breaks") {
  if (!contract_checks) {
    WARN("not tested: ctest sets SVENGINE_CHECK_CONTRACTS=1");
    return;
  }
  for (const KernelTable* set : available_kernel_sets())
    for (const auto& [rule, call] : broken_calls(*set)) {
      INFO(set->name << ": " << rule);
      CHECK(last_words(call).find(rule) != std::string::npos);
    }
}
}  // namespace contract_test
