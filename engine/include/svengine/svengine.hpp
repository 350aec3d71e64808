// SVEngine for C++ programs: load an ONNX network, run it.
//
//     svengine::Network network = svengine::Network::load("model.onnx");
//     if (!network) return fail(network.error());
//     std::vector<float> image(3 * 224 * 224);
//     std::vector<svengine::TensorView> outputs;
//     if (!network.run({svengine::view({1, 3, 224, 224}, image.data())}, outputs)) return fail(network.error());
//     const float* logits = outputs[0].as<float>();
//
// In a program of many threads every one has a context, and all share the network's weights:
//
//     #pragma omp parallel
//     {
//       svengine::Context context = network.context();
//       std::vector<svengine::MutableTensorView> drag = {{svengine::ElementType::float64, {rows, 126}, out}};
//       for (int step = 0; step < steps; ++step)
//         if (!context.run({svengine::view({rows, 191}, columns)}, drag)) return fail(context.error());
//     }
//
// To build and train networks there is svengine/nn.hpp beside it. Both need C++17 and include nothing but the standard library. No
// exception crosses them, nothing is printed, nothing ends the program: what goes wrong is a message that names file, node and
// shapes. Threads come from OpenMP, so OMP_NUM_THREADS, OMP_PLACES and cpusets work as usual, and the caller's floating-point
// mode is never changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// Which rows of an array take part: row i of the tensor is row rows[i] - first of the array, which has `extent` rows. The list is the
/// caller's, has as many numbers as the tensor has rows, and lasts as long as the call.
struct RowList {
  const int64_t* rows = nullptr;  // null: all rows, in order
  int64_t extent = 0, first = 0;
};

/// Elements that somebody else owns. Dense ones are read in place; others are gathered into memory of the network or context.
struct TensorView {
  ElementType type = ElementType::unknown;
  std::vector<int64_t> shape;
  const void* data = nullptr;
  std::vector<int64_t> strides = {};  // in elements; empty: row-major and dense
  RowList rows = {};

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

/// Memory for results: the caller's, or where data is null the context's, which then fills everything in.
struct MutableTensorView {
  ElementType type = ElementType::unknown;
  std::vector<int64_t> shape;
  void* data = nullptr;
  std::vector<int64_t> strides = {};
  RowList rows = {};  // rows that are not named are left alone

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

inline TensorView view(std::vector<int64_t> shape, const float* data) { return {ElementType::float32, std::move(shape), data, {}, {}}; }
inline TensorView view(std::vector<int64_t> shape, const double* data) { return {ElementType::float64, std::move(shape), data, {}, {}}; }
inline TensorView view(std::vector<int64_t> shape, const int32_t* data) { return {ElementType::int32, std::move(shape), data, {}, {}}; }
inline TensorView view(std::vector<int64_t> shape, const int64_t* data) { return {ElementType::int64, std::move(shape), data, {}, {}}; }
inline TensorView view(std::vector<int64_t> shape, const uint8_t* data) { return {ElementType::uint8, std::move(shape), data, {}, {}}; }
inline TensorView view(std::vector<int64_t> shape, const bool* data) { return {ElementType::boolean, std::move(shape), data, {}, {}}; }

struct NetworkOptions {
  int threads = 0;              // 0: OMP_NUM_THREADS, or every cpu this process may use
  std::string topology;         // "4x12": groups of threads; empty: the machine's, with `threads`
  std::string kernels;          // "avx2", "avx512", "sve512", "reference" (double precision, slow), "openblas" (CPP.md); empty: the best there is
  bool flush_denormals = true;  // inside runs, in the engine's threads
  bool exact_convolution = false;  // never by Winograd's algorithm: slower, rounding errors of 3 x 3 convolutions a tenth
  std::string cache;  // a folder for packed weights, which later starts then map instead of packing; empty: none
  bool convert = false;  // floats of 16, 32 and 64 bits are taken for each other, and converted
  std::optional<uint64_t> seed;  // of nodes that draw numbers and have no seed of their own: networks with it draw the same, run by run
};

struct ContextOptions {
  int threads = 1;              // 1: the calling thread alone, also inside its own parallel regions; 0: as in NetworkOptions
  std::string topology;         // "4x12"; empty: the machine's, with `threads`
  bool flush_denormals = true;
};

/// What one caller's calls of a network need: threads, memory, bindings. Weights and plans are the network's. Make one for every thread of
/// yours, or one with a team of threads. Move-only; one call at a time; it may outlive the network.
class SVENGINE_API Context {
 public:
  ~Context();
  Context(Context&& other) noexcept;
  Context& operator=(Context&& other) noexcept;

  /// False when it could not be made. A failed call leaves it usable.
  explicit operator bool() const noexcept;
  /// Of the last call that failed; empty when none has.
  const std::string& error() const noexcept;
  /// Whether that call asked for what may be right, and this engine cannot do: an operator, a type, a form that it does not have.
  bool unimplemented() const noexcept;

  /// Inputs and outputs in the network's order. An empty `outputs` is given as many views without data. Calls with the shapes of the last one
  /// allocate nothing and take no lock. False: see error().
  bool run(const std::vector<TensorView>& inputs, std::vector<MutableTensorView>& outputs) noexcept;

  /// The vector-Jacobian product: what gradients of the outputs are as gradients of the inputs. Of a network with one output of one element,
  /// 1 gives the gradient itself: forces, sensitivities, adjoints. A view of unknown type is zeros; those of inputs that are no floats stay
  /// as they are.
  bool vjp(const std::vector<TensorView>& inputs, const std::vector<TensorView>& output_gradients, std::vector<MutableTensorView>& outputs,
           std::vector<MutableTensorView>& input_gradients) noexcept;
  /// The Jacobian-vector product: how the outputs change when the inputs change along the tangents; a view of unknown type is zeros.
  bool jvp(const std::vector<TensorView>& inputs, const std::vector<TensorView>& input_tangents, std::vector<MutableTensorView>& outputs,
           std::vector<MutableTensorView>& output_tangents) noexcept;

 private:
  friend class Network;
  struct Impl;
  explicit Context(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// A network ready to run. Move-only. run() is for one caller at a time; context() and what describes the network are for any number.
class SVENGINE_API Network {
 public:
  /// Never fails to return: look at the result before using it.
  static Network load(const std::string& path, const NetworkOptions& options = {}) noexcept;
  /// Of an ONNX file's bytes, which are copied; weights in other files are refused.
  static Network load(const void* bytes, size_t count, const NetworkOptions& options = {}) noexcept;
  ~Network();
  Network(Network&& other) noexcept;
  Network& operator=(Network&& other) noexcept;

  /// False when load() has failed. A failed run leaves the network usable.
  explicit operator bool() const noexcept;
  /// Of the last call that failed; empty when none has.
  const std::string& error() const noexcept;
  /// Whether that call asked for what may be right, and this engine cannot do: an operator, a type, a form that it does not have.
  bool unimplemented() const noexcept;

  /// What is wrong with the folder of NetworkOptions::cache, which is no error: weights are packed as without it. Else empty.
  const std::string& cache_problem() const noexcept;

  const std::vector<TensorInfo>& inputs() const noexcept;
  const std::vector<TensorInfo>& outputs() const noexcept;

  /// Inputs in the order of inputs(); their data must stay until the call returns, aligned to their elements. The first run with
  /// new shapes plans for them, later ones are steady. `outputs` is in the order of outputs(), and valid until the next call
  /// of this network or its end. False: see error(); `outputs` is empty then.
  bool run(const std::vector<TensorView>& inputs, std::vector<TensorView>& outputs) noexcept;

  /// A context of its own for another caller. Thread-safe.
  Context context(const ContextOptions& options = {}) const noexcept;

 private:
  friend struct NetworkAccess;
  struct Impl;
  explicit Network(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// "0.1.0".
SVENGINE_API const char* version() noexcept;

}  // namespace svengine
