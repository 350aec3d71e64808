#include "engine/ops/signal/fourier_common.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/round.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

using Complex = std::complex<double>;

/// e^(-2 pi i k / n), k reduced first, so that the angle is exact to a rounding.
Complex root_of_unity(int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

struct FourierPass {
  const double *x_re, *x_im;
  double *y_re, *y_im;
  int64_t columns;   // contiguous numbers that are treated alike
  int64_t m, radix;  // of this pass: its length is m * radix
  const Complex* roots;
  int64_t root_step;  // roots are those of m * radix times this
};

void pass_of_two(const FourierPass& pass) {
  const int64_t s = pass.columns, far = s * pass.m;
  for (int64_t p = 0; p < pass.m; ++p) {
    const double c = pass.roots[p * pass.root_step].real(), d = pass.roots[p * pass.root_step].imag();
    const double *ar = pass.x_re + s * p, *ai = pass.x_im + s * p, *br = ar + far, *bi = ai + far;
    double *ur = pass.y_re + 2 * s * p, *ui = pass.y_im + 2 * s * p, *vr = ur + s, *vi = ui + s;
    for (int64_t q = 0; q < s; ++q) {
      const double r = ar[q] - br[q], i = ai[q] - bi[q];
      ur[q] = ar[q] + br[q], ui[q] = ai[q] + bi[q];
      vr[q] = r * c - i * d, vi[q] = r * d + i * c;
    }
  }
}

void pass_of_four(const FourierPass& pass) {
  const int64_t s = pass.columns, far = s * pass.m;
  for (int64_t p = 0; p < pass.m; ++p) {
    double c[4], d[4];
    for (int64_t k = 1; k < 4; ++k) {
      const Complex w = pass.roots[p * k * pass.root_step];
      c[k] = w.real(), d[k] = w.imag();
    }
    const double *xr = pass.x_re + s * p, *xi = pass.x_im + s * p;
    double *yr = pass.y_re + 4 * s * p, *yi = pass.y_im + 4 * s * p;
    for (int64_t q = 0; q < s; ++q) {
      const double er = xr[q] + xr[q + 2 * far], ei = xi[q] + xi[q + 2 * far], fr = xr[q] - xr[q + 2 * far],
                   fi = xi[q] - xi[q + 2 * far];
      const double gr = xr[q + far] + xr[q + 3 * far], gi = xi[q + far] + xi[q + 3 * far];
      const double hr = xr[q + far] - xr[q + 3 * far], hi = xi[q + far] - xi[q + 3 * far];
      const double r1 = fr + hi, i1 = fi - hr, r2 = er - gr, i2 = ei - gi, r3 = fr - hi, i3 = fi + hr;
      yr[q] = er + gr, yi[q] = ei + gi;
      yr[q + s] = r1 * c[1] - i1 * d[1], yi[q + s] = r1 * d[1] + i1 * c[1];
      yr[q + 2 * s] = r2 * c[2] - i2 * d[2], yi[q + 2 * s] = r2 * d[2] + i2 * c[2];
      yr[q + 3 * s] = r3 * c[3] - i3 * d[3], yi[q + 3 * s] = r3 * d[3] + i3 * c[3];
    }
  }
}

void pass_of_any(const FourierPass& pass) {
  const int64_t s = pass.columns, far = s * pass.m, r = pass.radix, n = pass.m * r;
  for (int64_t p = 0; p < pass.m; ++p)
    for (int64_t k = 0; k < r; ++k) {
      double *yr = pass.y_re + (p * r + k) * s, *yi = pass.y_im + (p * r + k) * s;
      std::fill_n(yr, s, 0.0);
      std::fill_n(yi, s, 0.0);
      for (int64_t j = 0; j < r; ++j) {
        const Complex w = pass.roots[(j * k * pass.m + p * k) % n * pass.root_step];
        const double c = w.real(), d = w.imag();
        const double *xr = pass.x_re + s * p + far * j, *xi = pass.x_im + s * p + far * j;
        for (int64_t q = 0; q < s; ++q) {
          yr[q] += xr[q] * c - xi[q] * d;
          yi[q] += xr[q] * d + xi[q] * c;
        }
      }
    }
}

/// The factors up to `most`, fours first; what is left is the last one where it is larger.
std::vector<int64_t> factors_of(int64_t n, int64_t most) {
  std::vector<int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (int64_t p = 2; p <= most && n > 1; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

}  // namespace

FourierPlan::FourierPlan(int64_t n) : n_(n), factors_(factors_of(n, kMostFactor)) {
  if (factors_.empty() || *std::max_element(factors_.begin(), factors_.end()) <= kMostFactor) {
    for (int64_t j = 0; j < n; ++j) roots_.push_back(root_of_unity(j, n));
    return;
  }
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  inner_ = std::make_unique<FourierPlan>(m);
  std::vector<double> re(static_cast<size_t>(m)), im(static_cast<size_t>(m));
  for (int64_t j = 0, square = 0; j < n; ++j) {
    chirp_.push_back(root_of_unity(square, 2 * n));
    square = (square + 2 * j + 1) % (2 * n);
    for (const int64_t at : {j, (m - j) % m}) {
      re[static_cast<size_t>(at)] = chirp_.back().real() / static_cast<double>(m);
      im[static_cast<size_t>(at)] = -chirp_.back().imag() / static_cast<double>(m);
    }
  }
  std::vector<double> scratch(static_cast<size_t>(inner_->scratch_numbers(1)));
  inner_->transform(re.data(), im.data(), 1, scratch.data());
  for (size_t j = 0; j < re.size(); ++j) kernel_.emplace_back(re[j], im[j]);
}

int64_t FourierPlan::scratch_numbers(int64_t lines) const {
  return inner_ ? 2 * inner_->n_ * lines + inner_->scratch_numbers(lines) : 2 * n_ * lines;
}

void FourierPlan::transform(double* re, double* im, int64_t lines, double* scratch) const {
  inner_ ? run_convolution(re, im, lines, scratch) : run_passes(re, im, lines, scratch);
}

void FourierPlan::run_passes(double* re, double* im, int64_t lines, double* scratch) const {
  double *to_re = scratch, *to_im = scratch + n_ * lines, *from_re = re, *from_im = im;
  int64_t length = n_, columns = lines;
  for (const int64_t radix : factors_) {
    const FourierPass pass{from_re, from_im, to_re, to_im, columns, length / radix, radix, roots_.data(), n_ / length};
    radix == 2 ? pass_of_two(pass) : radix == 4 ? pass_of_four(pass) : pass_of_any(pass);
    std::swap(from_re, to_re);
    std::swap(from_im, to_im);
    length /= radix, columns *= radix;
  }
  if (from_re == re) return;
  std::copy_n(from_re, n_ * lines, re);
  std::copy_n(from_im, n_ * lines, im);
}

/// With j k = (j^2 + k^2 - (k - j)^2) / 2 the transform is chirp_k times the convolution of x_j chirp_j with 1 / chirp.
void FourierPlan::run_convolution(double* re, double* im, int64_t lines, double* scratch) const {
  const int64_t m = inner_->n_;
  double *a_re = scratch, *a_im = scratch + m * lines, *rest = scratch + 2 * m * lines;
  std::fill(a_re + n_ * lines, a_re + m * lines, 0.0);
  std::fill(a_im + n_ * lines, a_im + m * lines, 0.0);
  const auto times = [lines](const Complex& w, const double* xr, const double* xi, double* yr, double* yi) {
    const double c = w.real(), d = w.imag();
    for (int64_t l = 0; l < lines; ++l) {
      const double r = xr[l], i = xi[l];
      yr[l] = r * c - i * d, yi[l] = r * d + i * c;
    }
  };
  for (int64_t j = 0, at = 0; j < n_; ++j, at += lines)
    times(chirp_[static_cast<size_t>(j)], re + at, im + at, a_re + at, a_im + at);
  inner_->transform(a_re, a_im, lines, rest);
  for (int64_t j = 0, at = 0; j < m; ++j, at += lines)  // real and imaginary parts change places: the way back is a way there
    times(kernel_[static_cast<size_t>(j)], a_re + at, a_im + at, a_re + at, a_im + at);
  inner_->transform(a_im, a_re, lines, rest);
  for (int64_t j = 0, at = 0; j < n_; ++j, at += lines)
    times(chirp_[static_cast<size_t>(j)], a_re + at, a_im + at, re + at, im + at);
}

}  // namespace svengine::ops
