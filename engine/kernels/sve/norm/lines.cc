// Lines divided by a norm, or by the deviation, of theirs, in double. Where lines lie beside each other (inner > 1) a column is a lane, and a row of
// them is widened first, so that there is one body of code for both types.
#include <wide_lanes.h>

#include "engine/kernels/sve/lines_f64.h"
#include "engine/kernels/sve/norm/channel.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {
namespace {

constexpr int64_t kColumns = 64, kTogether = 4;

template <class T>
TaskPartition lines_cut(const LineNormArgsOf<T>& args) {
  return TaskPartition(args.lines.count() * ceil_div(args.inner, kColumns), args.segments.count() * args.n * smaller(args.inner, kColumns));
}

[[gnu::noinline]] int64_t start_of(const NestOffsets& nest, int64_t i) { return nest.at(i); }

/// f(i, end, lanes) for i = 0, kStep, ... below n: elements from i to end, which is i + kStep, a constant's way from i, but in the last step.
template <class F>
SVENGINE_INLINE void each_step(int64_t n, const F& f) {
  const Lanes all = some_lanes<kMany>(0, kStep);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) f(i, i + kStep, all);
  if (i < n) f(i, n, some_lanes<kMany>(i, n));
}

/// Elements i, i + 1, ... below n as doubles; `p` says the same.
SVENGINE_INLINE Vectors load_doubles(const double* x, int64_t i, int64_t, const Lanes& p) { return load(p, x + i); }
SVENGINE_INLINE Vectors load_doubles(const float* x, int64_t i, int64_t n, const Lanes&) {
  Vectors v;
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; u += 2, i += kLanes) {
    const vf some = svld1(svwhilelt_b32(i, n), x + i);
    v.at[u] = sve_wide::lower(some), v.at[u + 1] = sve_wide::upper(some);
  }
  return v;
}
SVENGINE_INLINE void store_doubles(double* y, int64_t i, int64_t, const Lanes& p, const Vectors& v) { store(p, y + i, v); }
SVENGINE_INLINE void store_doubles(float* y, int64_t i, int64_t n, const Lanes&, const Vectors& v) {
  SVENGINE_UNROLL
  for (int u = 0; u < kMany; u += 2, i += kLanes) svst1(svwhilelt_b32(i, n), y + i, vf(sve_wide::joined(v.at[u], v.at[u + 1])));
}

/// Rows of columns: as doubles, where doubles of y go, and how they come there.
const double* widened(const double* x, int64_t, double*) { return x; }
[[gnu::noinline]] const double* widened(const float* x, int64_t n, double* to) {
  each_step(n, [=](int64_t i, int64_t end, const Lanes& p) SVENGINE_INLINE_LAMBDA { store(p, to + i, load_doubles(x, i, end, p)); });
  return to;
}
double* doubles_for(double* y, double*) { return y; }
double* doubles_for(float*, double* row) { return row; }
void deliver(const double*, double*, int64_t) {}
[[gnu::noinline]] void deliver(const double* from, float* y, int64_t n) {
  each_step(n, [=](int64_t i, int64_t end, const Lanes& p) SVENGINE_INLINE_LAMBDA { store_doubles(y, i, end, p, load(p, from + i)); });
}

/// What is added up.
enum class Share : uint8_t { kValue, kSize, kSquare, kSquareFromCenter };

template <Share kShare>
SVENGINE_INLINE Vectors share_of(const Vectors& x, const Vectors& center) {
  if constexpr (kShare == Share::kValue) return x;
  if constexpr (kShare == Share::kSize) return vabs(x);
  if constexpr (kShare == Share::kSquare) return vmul(x, x);
  const Vectors d = vsub(x, center);
  return vmul(d, d);
}

template <class T>
using AddUp = double (*)(const T* x, int64_t n, double center);
template <class T, Share kShare>
double add_up(const T* x, int64_t n, double center) {
  vd total = vdup(0.0);
  for (int64_t first = 0; first < n; first += kBlock * kStep) {  // as sum_line() does it
    Vectors sum = many_of<kMany>(0);
    each_step(smaller(n - first, kBlock * kStep), [&](int64_t i, int64_t end, const Lanes& p) SVENGINE_INLINE_LAMBDA {
      add(p, sum, share_of<kShare>(load_doubles(x + first, i, end, p), many_of<kMany>(center)));
    });
    total = vadd(total, vadd(vadd(sum.at[0], sum.at[1]), vadd(sum.at[2], sum.at[3])));
  }
  return svaddv(svptrue_b64(), total);
}

using AddColumns = void (*)(const double* x, int64_t n, const double* center, double* sum);
template <Share kShare>
void add_columns(const double* x, int64_t n, const double* center, double* sum) {
  for_steps(n, [=](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA {
    store(p, sum + i, vadd(load(p, sum + i), share_of<kShare>(load(p, x + i), load(p, center + i))));
  });
}

template <class T>
AddUp<T> add_up_for(LineNorm norm) {
  return norm == LineNorm::kL1   ? add_up<T, Share::kSize>
         : norm == LineNorm::kL2 ? add_up<T, Share::kSquare>
                                 : add_up<T, Share::kSquareFromCenter>;
}
AddColumns add_columns_for(LineNorm norm) {
  return norm == LineNorm::kL1   ? add_columns<Share::kSize>
         : norm == LineNorm::kL2 ? add_columns<Share::kSquare>
                                 : add_columns<Share::kSquareFromCenter>;
}

/// From the sum over a line of `count`.
double divisor_of(LineNorm norm, double sum, int64_t count, double guard) {
  if (norm == LineNorm::kL1) return sum;
  return norm == LineNorm::kL2 ? __builtin_sqrt(sum) : __builtin_sqrt(sum / double(count)) + guard;
}

/// How quotients are made: kProduct, by the reciprocal, is good to a bit or two of a double, which is enough for floats. kCorrected adds what that
/// leaves of x; it needs divisors whose reciprocals are normal, of which none is infinite. kDivision takes any.
enum class Quotient : uint8_t { kProduct, kCorrected, kDivision };

template <class T>
Quotient quotient_for(LineNorm norm, bool corrected) {
  if (norm == LineNorm::kDeviation || sizeof(T) == sizeof(float)) return Quotient::kProduct;
  return corrected ? Quotient::kCorrected : Quotient::kDivision;
}
bool has_reciprocal(double divisor) { return divisor > 0x1p-500 && divisor < 0x1p500; }

SVENGINE_INLINE Vectors quotient_of(Quotient how, const Vectors& x, const Vectors& divisor, const Vectors& factor) {
  if (how == Quotient::kDivision)
    return veach([](vd a, vd b) SVENGINE_INLINE_LAMBDA { return vd(svdiv_x(svptrue_b64(), a, b)); }, x, divisor);
  const Vectors product = vmul(x, factor);
  return how == Quotient::kProduct ? product : vfma(vfnma(product, divisor, x), factor, product);
}

template <class T>
void divide(const T* x, T* y, int64_t n, Quotient how, double center, double divisor) {
  const Vectors middle = many_of<kMany>(center), by = many_of<kMany>(divisor), factor = many_of<kMany>(1 / divisor);
  each_step(n, [=](int64_t i, int64_t end, const Lanes& p) SVENGINE_INLINE_LAMBDA {
    store_doubles(y, i, end, p, quotient_of(how, vsub(load_doubles(x, i, end, p), middle), by, factor));
  });
}

/// Where the divisor is 0, which no deviation is, the result is.
[[gnu::noinline]] void divide_columns(const double* x, double* y, int64_t n, Quotient how, const double* center, const double* divisor,
                                      const double* factor) {
  for_steps(n, [=](int64_t i, const Lanes& p) SVENGINE_INLINE_LAMBDA {
    const Vectors by = load(p, divisor + i);
    const Vectors q = quotient_of(how, vsub(load(p, x + i), load(p, center + i)), by, load(p, factor + i));
    store(p, y + i, veach([](vd d, vd v) SVENGINE_INLINE_LAMBDA { return vd(svsel(svcmpne(svptrue_b64(), d, vdup(0.0)), v, vdup(0.0))); }, by, q));
  });
}

template <class T>
double line_total(const LineNormArgsOf<T>& args, int64_t start, AddUp<T> sum_of, double center) {
  const int64_t segments = args.segments.count();
  double sum = 0;
  for (int64_t s = 0; s < segments; ++s) sum += sum_of(args.x + start + start_of(args.segments, s), args.n, center);
  return sum;
}

/// Each step for all of `lines` before the next, so that they need not wait for one another's roots and reciprocals.
template <class T>
void norm_lines(const LineNormArgsOf<T>& args, int64_t first, int64_t lines) {
  const int64_t segments = args.segments.count(), count = segments * args.n;
  const AddUp<T> sum_of = add_up_for<T>(args.norm);
  int64_t start[kTogether];
  double center[kTogether] = {}, divisor[kTogether];
  for (int64_t l = 0; l < lines; ++l) start[l] = start_of(args.lines, first + l);
  for (int64_t l = 0; l < lines && args.norm == LineNorm::kDeviation; ++l)
    center[l] = line_total<T>(args, start[l], add_up<T, Share::kValue>, 0) / double(count);
  for (int64_t l = 0; l < lines; ++l) divisor[l] = line_total(args, start[l], sum_of, center[l]);
  for (int64_t l = 0; l < lines; ++l) divisor[l] = divisor_of(args.norm, divisor[l], count, args.guard);
  for (int64_t l = 0; l < lines; ++l) {
    const Quotient how = quotient_for<T>(args.norm, has_reciprocal(divisor[l]));
    for (int64_t s = 0; s < segments; ++s) {
      const int64_t at = start[l] + start_of(args.segments, s);
      if (divisor[l] == 0 && args.norm != LineNorm::kDeviation)
        for (int64_t i = 0; i < args.n; ++i) args.y[at + i] = T(0);
      else
        divide(args.x + at, args.y + at, args.n, how, center[l], divisor[l]);
    }
  }
}

/// f(offset) for every row of the columns' elements.
template <class T, class F>
SVENGINE_INLINE void each_row(const LineNormArgsOf<T>& args, int64_t start, const F& f) {
  const int64_t segments = args.segments.count();
  for (int64_t s = 0; s < segments; ++s)
    for (int64_t i = 0; i < args.n; ++i) f(start + start_of(args.segments, s) + i * args.inner);
}

template <class T>
void norm_columns(const LineNormArgsOf<T>& args, int64_t start, int64_t columns) {
  const int64_t count = args.segments.count() * args.n;
  double row[kColumns], center[kColumns] = {}, divisor[kColumns] = {}, factor[kColumns];
  if (args.norm == LineNorm::kDeviation) {
    each_row(args, start, [&](int64_t at) SVENGINE_INLINE_LAMBDA {
      add_columns<Share::kValue>(widened(args.x + at, columns, row), columns, center, center);
    });
    for (int64_t c = 0; c < columns; ++c) center[c] /= double(count);
  }
  const AddColumns add = add_columns_for(args.norm);
  each_row(args, start, [&](int64_t at) SVENGINE_INLINE_LAMBDA { add(widened(args.x + at, columns, row), columns, center, divisor); });
  bool corrected = true;
  for (int64_t c = 0; c < columns; ++c) {
    divisor[c] = divisor_of(args.norm, divisor[c], count, args.guard);
    factor[c] = 1 / divisor[c];
    corrected &= has_reciprocal(divisor[c]);
  }
  const Quotient how = quotient_for<T>(args.norm, corrected);
  each_row(args, start, [&](int64_t at) SVENGINE_INLINE_LAMBDA {
    double* to = doubles_for(args.y + at, row);
    divide_columns(widened(args.x + at, columns, row), to, columns, how, center, divisor, factor);
    deliver(to, args.y + at, columns);
  });
}

template <class T>
void norm_items(const LineNormArgsOf<T>& args, int64_t begin, int64_t end) {
  const TaskPartition partition = lines_cut(args);
  const int64_t blocks = ceil_div(args.inner, kColumns), last = partition.begin(end);
  int64_t item = partition.begin(begin);
  for (; item < last && args.inner == 1; item += kTogether) norm_lines(args, item, smaller(kTogether, last - item));
  for (; item < last; ++item) {
    const int64_t first = item % blocks * kColumns;
    norm_columns(args, start_of(args.lines, item / blocks) + first, smaller(kColumns, args.inner - first));
  }
}

}  // namespace

int64_t line_norm_tasks(const LineNormArgs& args) noexcept { return lines_cut(args).tasks(); }
void line_norm_run(const LineNormArgs& args, int64_t begin, int64_t end, void*) noexcept { norm_items(args, begin, end); }
int64_t line_norm_f64_tasks(const LineNormArgsF64& args) noexcept { return lines_cut(args).tasks(); }
void line_norm_f64_run(const LineNormArgsF64& args, int64_t begin, int64_t end, void*) noexcept { norm_items(args, begin, end); }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
