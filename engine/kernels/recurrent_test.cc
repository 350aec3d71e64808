#include "engine/kernels/recurrent.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/recurrent.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace recurrent_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

struct RecurrentCase {
  RecurrentCell cell;
  int64_t hidden, batch, length = 3, directions = 1;
  bool ragged = false, extras = false;  // rows of different lengths; peepholes, clip, unusual activations
};

template <class T>
const RecurrentKernelsOf<T>& kernels_of(const KernelTable& set) {
  if constexpr (std::is_same_v<T, double>) return *set.recurrent_f64;
  else return *set.recurrent;
}

/// All of a call's memory, and the call.
template <class T>
struct RecurrentCall {
  RecurrentCase shape;
  GuardedBuffer<T> r, packed, sums, bias, peepholes, h, c, reset, y, gates, cells;
  GuardedBuffer<int32_t> lengths;
  RecurrentArgsOf<T> args;

  static size_t size(int64_t n) { return static_cast<size_t>(n); }
  RecurrentCall(const KernelTable& set, const RecurrentCase& k)
      : shape(k),
        r(size(k.directions * gates_of(k.cell) * k.hidden * k.hidden)),
        packed(size(k.directions * kernels_of<T>(set).packed_bytes(k.cell, k.hidden) / int64_t(sizeof(T)))),
        sums(size(k.length * rows() * gates_of(k.cell) * k.hidden)),
        bias(size(k.directions * k.hidden)),
        peepholes(size(k.directions * 3 * k.hidden)),
        h(size(2 * rows() * k.hidden)),
        c(size(rows() * k.hidden)),
        reset(size(2 * rows() * k.hidden)),
        y(size(k.length * rows() * k.hidden)),
        gates(size(k.length * rows() * kept_gates_of(k.cell) * k.hidden)),
        cells(size(k.length * rows() * k.hidden)),
        lengths(size(k.batch)) {
    std::mt19937 random(static_cast<unsigned>(k.hidden * 31 + k.batch));
    fill(random, r, 1 / std::sqrt(static_cast<T>(k.hidden)));
    for (auto* buffer : {&sums, &bias, &peepholes}) fill(random, *buffer, T(1.5));
    for (int64_t b = 0; b < k.batch; ++b) lengths[size(b)] = static_cast<int32_t>(k.ragged ? (b * 2 + 1) % (k.length + 1) : k.length);
    bind();
    pack(set);
    start();
  }
  int64_t rows() const { return shape.directions * shape.batch; }

  template <class B>
  static void fill(std::mt19937& random, B& buffer, T range) {
    std::uniform_real_distribution<T> uniform(-range, range);
    for (T& x : buffer) x = uniform(random);
  }
  void start() {
    std::mt19937 random(7);
    for (auto* buffer : {&h, &c, &reset, &y, &gates, &cells}) buffer->refill();
    for (size_t i = 0; i < h.size() / 2; ++i) h[i] = std::uniform_real_distribution<T>(-1, 1)(random);
    for (T& x : c) x = std::uniform_real_distribution<T>(-1, 1)(random);
  }
  void bind() {
    const RecurrentCase& k = shape;
    const int64_t n = gates_of(k.cell) * k.hidden, kept = kept_gates_of(k.cell) * k.hidden;
    args.cell = k.cell, args.directions = k.directions, args.length = k.length, args.batch = k.batch, args.hidden = k.hidden;
    args.reverse[1] = true;
    for (auto& direction : args.activation) {
      direction[0] = {k.cell == RecurrentCell::kRnn ? RecurrentFunction::kTanh : RecurrentFunction::kSigmoid};
      if (k.extras) direction[1] = {RecurrentFunction::kElu, 0.75f}, direction[2] = {RecurrentFunction::kSoftsign};
    }
    if (k.extras) args.clip = 1.25f;
    args.sums = sums.data(), args.sums_stride = {k.batch * k.directions * n, k.directions * n, n};
    args.weights = packed.data();
    if (k.cell == RecurrentCell::kGruResetAfter) args.state_bias = bias.data(), args.state_bias_direction = k.hidden;
    if (k.extras && k.cell == RecurrentCell::kLstm) args.peepholes = peepholes.data();
    if (k.ragged) args.lengths = lengths.data();
    args.h = h.data();
    if (k.cell == RecurrentCell::kLstm) args.c = c.data(), args.cells = cells.data();
    if (k.cell == RecurrentCell::kGru) args.reset = reset.data();
    args.y = y.data(), args.y_stride = {k.directions * k.batch * k.hidden, k.hidden, k.batch * k.hidden};
    args.gates = gates.data(), args.gates_stride = {k.batch * k.directions * kept, k.directions * kept, kept};
    args.cells_stride = {k.batch * k.directions * k.hidden, k.directions * k.hidden, k.hidden};
  }
  void pack(const KernelTable& set) {
    const int64_t given = gates_of(shape.cell) * shape.hidden * shape.hidden;
    for (int64_t d = 0; d < shape.directions; ++d) {
      const int64_t each = kernels_of<T>(set).packed_bytes(shape.cell, shape.hidden) / int64_t(sizeof(T));
      run_tasks(kernels_of<T>(set).pack,
                RecurrentPackArgsOf<T>{shape.cell, shape.hidden, r.data() + d * given, packed.data() + d * each});
    }
  }
};

/// One unit of what the oracle says of a row, its state being h and c.
template <class T>
ReferenceUnit unit_of(const RecurrentCall<T>& call, int64_t d, int64_t b, int64_t t, int64_t i, const std::vector<double>& h,
                      double c) {
  const RecurrentArgsOf<T>& a = call.args;
  ReferenceUnit u{.cell = a.cell, .activation = a.activation[d], .clip = static_cast<double>(a.clip), .input_forget = false};
  for (int64_t g = 0; g < gates_of(a.cell); ++g) {
    u.x[g] = a.sums[a.sums_stride.at(t, b, d) + g * a.hidden + i];
    const T* row = call.r.data() + ((d * gates_of(a.cell) + g) * a.hidden + i) * a.hidden;
    for (int64_t k = 0; k < a.hidden; ++k) u.q[g] += row[k] * h[static_cast<size_t>(k)];
  }
  if (a.state_bias) u.state_bias = a.state_bias[d * a.hidden + i];
  u.has_peepholes = a.peepholes != nullptr;
  for (int64_t p = 0; a.peepholes && p < 3; ++p) u.peepholes[p] = a.peepholes[(d * 3 + p) * a.hidden + i];
  u.h = h[static_cast<size_t>(i)], u.c = c;
  return u;
}

/// Some eight times the worst of all cases here: 7.2e-7 of floats and 1.4e-15 of doubles, to which the oracle itself rounds.
template <class T>
constexpr double kTolerance = std::is_same_v<T, double> ? 1.2e-14 : 6e-6;

template <class T>
void check_close(const char* what, const RecurrentCall<T>& call, T got, double want) {
  const double bound = kTolerance<T> * (1 + std::fabs(want));
  if (std::isnan(want) ? std::isnan(got) : std::isinf(want) ? got == want : std::fabs(got - want) <= bound) return;
  const RecurrentActivation* functions = call.args.activation[0];
  INFO(what << ": cell " << static_cast<int>(call.shape.cell) << " hidden " << call.shape.hidden << " batch " << call.shape.batch << " got "
            << got << " want " << want << ", functions " << static_cast<int>(functions[0].function) << ' '
            << static_cast<int>(functions[1].function) << ' ' << static_cast<int>(functions[2].function) << ", clip " << call.args.clip);
  FAIL("wrong");
}

template <class T>
void check_row(const RecurrentCall<T>& call, int64_t d, int64_t b, std::vector<double> h, std::vector<double> c) {
  const RecurrentArgsOf<T>& a = call.args;
  const int64_t steps = a.lengths ? a.lengths[b] : a.length, n = a.hidden;
  for (int64_t s = 0; s < a.length; ++s) {
    const bool live = s < steps;
    const int64_t t = live && a.reverse[d] ? steps - 1 - s : s;
    std::vector<double> reset(h), next(h);
    if (live && a.cell == RecurrentCell::kGru)
      for (int64_t i = 0; i < n; ++i) reset[static_cast<size_t>(i)] *= reference_gate(unit_of(call, d, b, t, i, h, 0), 1);
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      ReferenceState state;
      if (live) {
        ReferenceUnit u = unit_of(call, d, b, t, i, h, c[at]);
        if (a.cell == RecurrentCell::kGru) u.q[2] = unit_of(call, d, b, t, i, reset, 0).q[2];
        state = reference_unit(u);
        next[at] = state.h, c[at] = state.c;
      }
      for (int64_t g = 0; g < kept_gates_of(a.cell); ++g)
        check_close("gate", call, call.gates[static_cast<size_t>(a.gates_stride.at(t, b, d) + g * n + i)], state.gates[g]);
      if (a.cells) check_close("cell", call, call.cells[static_cast<size_t>(a.cells_stride.at(t, b, d) + i)], state.c);
      check_close("y", call, call.y[static_cast<size_t>(a.y_stride.at(t, b, d) + i)], state.h);
    }
    h = next;
  }
  const int64_t own = (d * a.batch + b) * n, half = a.length % 2 * call.rows() * n;
  for (int64_t i = 0; i < n; ++i) {
    check_close("last h", call, call.h[static_cast<size_t>(half + own + i)], h[static_cast<size_t>(i)]);
    if (a.c) check_close("last c", call, call.c[static_cast<size_t>(own + i)], c[static_cast<size_t>(i)]);
  }
}

template <class T>
void run_steps(const KernelTable& set, RecurrentArgsOf<T> args, int64_t parts) {
  for (args.step = 0; args.step < args.length; ++args.step) {
    run_tasks(kernels_of<T>(set).step, args, parts);
    if (args.cell == RecurrentCell::kGru) run_tasks(kernels_of<T>(set).candidate, args, parts);
  }
}

template <class T>
void check(const KernelTable& set, RecurrentCall<T>& call) {
  const RecurrentCase& k = call.shape;
  const std::vector<T> h(call.h.begin(), call.h.end()), c(call.c.begin(), call.c.end());
  const auto check_rows = [&] {
    for (int64_t row = 0; row < call.rows(); ++row) {
      const auto first = static_cast<size_t>(row * k.hidden), last = first + static_cast<size_t>(k.hidden);
      check_row(call, row / k.batch, row % k.batch, std::vector<double>(h.begin() + first, h.begin() + last),
                std::vector<double>(c.begin() + first, c.begin() + last));
    }
  };
  run_steps(set, call.args, 1);
  check_rows();
  const std::vector<T> once(call.y.begin(), call.y.end());
  call.start();
  run_steps(set, call.args, 5);
  REQUIRE(same_values(call.y.data(), once.data(), once.size()));
  call.start();
  run_tasks(kernels_of<T>(set).sequence, call.args, 3);
  check_rows();
}

template <class T>
void check(const KernelTable& set, const RecurrentCase& k) {
  INFO(set.name);
  RecurrentCall<T> call(set, k);
  check(set, call);
}

/// The values that arithmetic treats apart, and some that make them: infinity times 0, the difference of infinities.
template <class T>
void check_special_values(const KernelTable& set, RecurrentCell cell, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  RecurrentCall<T> call(set, {.cell = cell, .hidden = 3, .batch = 2, .length = 2, .extras = below(2) == 1});
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T values[] = {0, 1, -1, 0.5, -0.25, 2, kInfinity, -kInfinity, std::numeric_limits<T>::quiet_NaN()};
  const int kinds = 6 + below(4);  // of some graphs no NaN, of some no infinity
  for (auto* buffer : {&call.r, &call.sums, &call.bias, &call.peepholes})
    for (T& x : *buffer) x = below(3) ? values[below(6)] : values[below(kinds)];
  for (auto& activation : call.args.activation[0])
    activation = {static_cast<RecurrentFunction>(below(static_cast<int>(RecurrentFunction::kSoftplus) + 1)), 0.5f, 0.25f};
  if (below(2)) call.args.clip = 0;
  call.pack(set);
  INFO("seed " << seed);
  check(set, call);
}

constexpr RecurrentCell kCells[] = {RecurrentCell::kRnn, RecurrentCell::kGru, RecurrentCell::kGruResetAfter, RecurrentCell::kLstm};

}  // namespace

TEMPLATE_TEST_CASE("recurrent steps and sequences of every cell are those of the formulas", "", float, double) {
  using T = TestType;
  for (const KernelTable* set : tested_kernel_sets())
    for (const RecurrentCell cell : kCells) {
      for (int64_t hidden : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 50})
        check<T>(*set, {.cell = cell, .hidden = hidden, .batch = 2});
      for (int64_t batch : {1, 3, 4, 5, 6, 7, 8, 9, 13, 50}) check<T>(*set, {.cell = cell, .hidden = 19, .batch = batch});
    }
}

TEMPLATE_TEST_CASE("recurrent rows of different lengths, both directions, and what the usual cells lack", "", float, double) {
  using T = TestType;
  for (const KernelTable* set : tested_kernel_sets())
    for (const RecurrentCell cell : kCells) {
      check<T>(*set, {.cell = cell, .hidden = 21, .batch = 7, .length = 4, .directions = 2, .ragged = true});
      check<T>(*set, {.cell = cell, .hidden = 18, .batch = 3, .length = 5, .directions = 2, .ragged = true, .extras = true});
    }
}

TEMPLATE_TEST_CASE("recurrent cells of infinities and NaN are those of the formulas", "", float, double) {
  using T = TestType;
  for (const KernelTable* set : tested_kernel_sets())
    for (const RecurrentCell cell : kCells)
      for (unsigned seed = 0; seed < 300; ++seed) check_special_values<T>(*set, cell, seed);
}

TEMPLATE_TEST_CASE("recurrent functions are those of double precision", "", float, double) {
  using T = TestType;
  constexpr double kFunctionTolerance = std::is_same_v<T, double> ? 8e-16 : 4e-7;
  for (const KernelTable* set : tested_kernel_sets())
    for (int f = 0; f <= static_cast<int>(RecurrentFunction::kSoftplus); ++f) {
      RecurrentCall<T> call(*set, {.cell = RecurrentCell::kRnn, .hidden = 33, .batch = 1, .length = 1});
      call.args.activation[0][0] = {static_cast<RecurrentFunction>(f), 0.625f, 0.375f};
      for (T& x : call.r) x = 0;
      call.pack(*set);
      for (size_t i = 0; i < call.sums.size(); ++i) call.sums[i] = (static_cast<T>(i) - 16) * T(0.7);
      run_tasks(kernels_of<T>(*set).step, call.args);
      for (size_t i = 0; i < call.sums.size(); ++i) {
        const double want = reference_function(call.args.activation[0][0], call.sums[i]);
        INFO(set->name << " function " << f << " of " << call.sums[i]);
        REQUIRE(std::fabs(call.y[i] - want) <= kFunctionTolerance * std::max(1.0, std::fabs(want)));
      }
    }
}
}  // namespace recurrent_test
