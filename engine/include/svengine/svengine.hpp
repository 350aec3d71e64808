// SVEngine for C++ programs: load an ONNX network, run it.
//
//     svengine::Network network = svengine::Network::load("model.onnx");
//     if (!network) return fail(network.error());
//     std::vector<float> image(3 * 224 * 224);
//     std::vector<svengine::TensorView> outputs;
//     if (!network.run({svengine::view({1, 3, 224, 224}, image.data())}, outputs)) return fail(network.error());
//     const float* logits = outputs[0].as<float>();
//
// To build and train networks there is svengine/nn.hpp beside it. Both need C++17 and include nothing but the standard library. No
// exception crosses them, nothing is printed, nothing ends the program: what goes wrong is a message that names file, node and
// shapes. Threads come from OpenMP, so OMP_NUM_THREADS, OMP_PLACES and cpusets work as usual, and the caller's floating-point
// mode is never changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define SVENGINE_API __attribute__((visibility("default")))

namespace svengine {

/// The numbers are those of ONNX (TensorProto.DataType).
enum class ElementType : int32_t {
  unknown = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  boolean = 9,  // one byte, 0 or 1
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
};

/// An input or output as the network declares it.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::unknown;
  bool has_rank = false;                // false: nothing is known of the shape
  std::vector<int64_t> shape;           // -1: decided by each run
  std::vector<std::string> shape_names;  // names of dimensions, "" where there is none; equal names are equal sizes
};

/// Elements in row-major order that somebody else owns.
struct TensorView {
  ElementType type = ElementType::unknown;
  std::vector<int64_t> shape;
  const void* data = nullptr;

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

inline TensorView view(std::vector<int64_t> shape, const float* data) { return {ElementType::float32, std::move(shape), data}; }
inline TensorView view(std::vector<int64_t> shape, const double* data) { return {ElementType::float64, std::move(shape), data}; }
inline TensorView view(std::vector<int64_t> shape, const int32_t* data) { return {ElementType::int32, std::move(shape), data}; }
inline TensorView view(std::vector<int64_t> shape, const int64_t* data) { return {ElementType::int64, std::move(shape), data}; }
inline TensorView view(std::vector<int64_t> shape, const uint8_t* data) { return {ElementType::uint8, std::move(shape), data}; }
inline TensorView view(std::vector<int64_t> shape, const bool* data) { return {ElementType::boolean, std::move(shape), data}; }

struct NetworkOptions {
  int threads = 0;              // 0: OMP_NUM_THREADS, or every cpu this process may use
  std::string topology;         // "4x12": groups of threads; empty: the machine's, with `threads`
  std::string kernels;          // "avx2", "avx512", "sve512", "reference" (double precision, slow); empty: the best there is
  bool flush_denormals = true;  // inside runs, in the engine's threads
  bool exact_convolution = false;  // never by Winograd's algorithm: slower, rounding errors of 3 x 3 convolutions a tenth
  std::string cache;  // a folder for packed weights, which later starts then map instead of packing; empty: none
};

/// A network ready to run. Move-only; one call at a time; different networks may be used by different threads at once.
class SVENGINE_API Network {
 public:
  /// Never fails to return: look at the result before using it.
  static Network load(const std::string& path, const NetworkOptions& options = {}) noexcept;
  ~Network();
  Network(Network&& other) noexcept;
  Network& operator=(Network&& other) noexcept;

  /// False when load() has failed. A failed run leaves the network usable.
  explicit operator bool() const noexcept;
  /// Of the last call that failed; empty when none has.
  const std::string& error() const noexcept;

  /// What is wrong with the folder of NetworkOptions::cache, which is no error: weights are packed as without it. Else empty.
  const std::string& cache_problem() const noexcept;

  const std::vector<TensorInfo>& inputs() const noexcept;
  const std::vector<TensorInfo>& outputs() const noexcept;

  /// Inputs in the order of inputs(); their data must stay until the call returns, aligned to their elements. The first run with
  /// new shapes plans for them, later ones are steady. `outputs` is in the order of outputs(), and valid until the next call
  /// of this network or its end. False: see error(); `outputs` is empty then.
  bool run(const std::vector<TensorView>& inputs, std::vector<TensorView>& outputs) noexcept;

 private:
  struct Impl;
  explicit Network(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// "0.1.0".
SVENGINE_API const char* version() noexcept;

}  // namespace svengine
