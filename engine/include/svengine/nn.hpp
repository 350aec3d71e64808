// Building and training networks from C++ programs.
//
//     namespace nn = svengine::nn;
//     nn::Net net(1);                                              // first values are drawn by this seed
//     nn::Var x = net.input("x", svengine::ElementType::float32, {-1, 1, 28, 28});
//     nn::Var scores = net.apply(nn::Sequential({nn::Conv2d(1, 16, 3), nn::BatchNorm(16), nn::ReLU(), nn::MaxPool2d(2),
//                                                nn::Flatten(), nn::Linear(16 * 13 * 13, 10)}), x);
//     net.output(scores, "scores");
//     nn::Trainer trainer = nn::Trainer::create(net, {});
//     for (const nn::Batch& batch : batches)
//       if (!trainer.step(batch, 0.1)) return fail(trainer.error());
//     if (!trainer.save("trained.onnx")) return fail(trainer.error());
//
// Trainer::fit() is the loop over epochs with all that long runs need: evaluation, checkpoints and resuming, logs, limits of
// time.
//
// Layers are PyTorch's modules by meaning, default options, first values, and names of parameters ("0.weight"); sequences are
// [batch, length, features]. A net is ONNX nodes from the start, so whatever can be built can be saved, and run by
// svengine::Network.
//
// Gradients of an expression, as every tutorial has it:
//
//     nn::Net net;
//     nn::Var x = net.variable({1}, {3});
//     nn::Var y = x * x;
//     y.backward();
//     std::printf("%g\n", x.gradient().at(0));  // 6
//
// As in svengine.hpp no exception crosses, nothing is printed, and C++17 is enough. What goes wrong while a net is built is kept:
// later calls do nothing, and error() says what was first.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "svengine/svengine.hpp"

namespace svengine::nn {

struct NetState;
struct LayerState;

/// A value of a net: an input, a variable, or what was computed of them. Copies are the same value. One that could not be made
/// has an empty name.
class SVENGINE_API Var {
 public:
  Var() noexcept = default;
  std::string name() const noexcept;
  /// -1: decided by each run.
  std::vector<int64_t> shape() const noexcept;

  /// The elements, computed now; float32, and of variables and constants alone: what depends on an input has none. Empty after a
  /// failure, which error() says.
  std::vector<float> value() const noexcept;
  /// Computes the gradients of this value, which has one element, with respect to all variables and parameters of its net.
  bool backward() const noexcept;
  /// What the last backward() of the net found for this variable; empty before.
  std::vector<float> gradient() const noexcept;
  /// Of the last failed call of value() or backward(), or the net's.
  std::string error() const noexcept;

 private:
  friend struct NetState;
  std::shared_ptr<NetState> net_;
  void* value_ = nullptr;
};

/// Broadcasting as in NumPy. A number is a float32.
SVENGINE_API Var operator+(const Var& a, const Var& b) noexcept;
SVENGINE_API Var operator-(const Var& a, const Var& b) noexcept;
SVENGINE_API Var operator*(const Var& a, const Var& b) noexcept;
SVENGINE_API Var operator/(const Var& a, const Var& b) noexcept;
SVENGINE_API Var operator-(const Var& a) noexcept;
SVENGINE_API Var operator+(const Var& a, float b) noexcept;
SVENGINE_API Var operator-(const Var& a, float b) noexcept;
SVENGINE_API Var operator*(const Var& a, float b) noexcept;
SVENGINE_API Var operator/(const Var& a, float b) noexcept;
SVENGINE_API Var operator+(float a, const Var& b) noexcept;
SVENGINE_API Var operator-(float a, const Var& b) noexcept;
SVENGINE_API Var operator*(float a, const Var& b) noexcept;
SVENGINE_API Var operator/(float a, const Var& b) noexcept;
SVENGINE_API Var matmul(const Var& a, const Var& b) noexcept;
/// Of all elements.
SVENGINE_API Var sum(const Var& a) noexcept;
SVENGINE_API Var mean(const Var& a) noexcept;
/// An attribute of an ONNX node, by its name and of its kind: {"axis", 1}, {"mode", "edge"}, {"pads", std::vector<int64_t>{1, 1}}.
struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>> value;
};
/// An operator of ONNX with one output: op("Exp", {x}), op("Concat", {x, y}, {{"axis", 1}}). One of another domain has that in front of its name:
/// op("ai.svengine::ComplexMatMul", {a, b}).
SVENGINE_API Var op(const std::string& name, const std::vector<Var>& inputs, const std::vector<Attribute>& attributes = {}) noexcept;

/// How to make a part of a net. Copies are cheap, and a layer may be applied any number of times: each time has parameters of its
/// own. One that could not be made, because memory was out, is a layer like others; the net that it is applied to says so.
class SVENGINE_API Layer {
 public:
  explicit Layer(std::shared_ptr<const LayerState> state) noexcept : state_(std::move(state)) {}

 private:
  friend struct LayerState;
  std::shared_ptr<const LayerState> state_;
};

/// One after the other; parameters are named "0.", "1.", ..
SVENGINE_API Layer Sequential(const std::vector<Layer>& layers) noexcept;
/// x + layer(x).
SVENGINE_API Layer Residual(const Layer& layer) noexcept;

SVENGINE_API Layer Linear(int64_t ins, int64_t outs, bool bias = true) noexcept;
struct WindowOptions {
  int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
  bool bias = true;
};
SVENGINE_API Layer Conv2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options = {}) noexcept;
SVENGINE_API Layer ConvTranspose2d(int64_t ins, int64_t outs, int64_t kernel, const WindowOptions& options = {},
                                   int64_t output_padding = 0) noexcept;
SVENGINE_API Layer BatchNorm(int64_t channels, double epsilon = 1e-5, double momentum = 0.1) noexcept;
SVENGINE_API Layer LayerNorm(const std::vector<int64_t>& dims, double epsilon = 1e-5) noexcept;
SVENGINE_API Layer Embedding(int64_t count, int64_t features) noexcept;
SVENGINE_API Layer Dropout(double probability = 0.5) noexcept;
/// "relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "leaky_relu", "elu", "hardswish", "softmax", "log_softmax".
SVENGINE_API Layer Activation(const std::string& name) noexcept;
inline Layer ReLU() noexcept { return Activation("relu"); }
inline Layer GELU() noexcept { return Activation("gelu"); }
inline Layer SiLU() noexcept { return Activation("silu"); }
inline Layer Tanh() noexcept { return Activation("tanh"); }
inline Layer Sigmoid() noexcept { return Activation("sigmoid"); }
inline Layer Softmax() noexcept { return Activation("softmax"); }
inline Layer LogSoftmax() noexcept { return Activation("log_softmax"); }
/// stride 0: that of the kernel.
SVENGINE_API Layer MaxPool2d(int64_t kernel, int64_t stride = 0, int64_t padding = 0) noexcept;
SVENGINE_API Layer AvgPool2d(int64_t kernel, int64_t stride = 0, int64_t padding = 0) noexcept;
/// AdaptiveAvgPool2d(1).
SVENGINE_API Layer GlobalAvgPool() noexcept;
SVENGINE_API Layer Flatten(int64_t start = 1) noexcept;

struct AttentionOptions {
  double dropout = 0;
  bool bias = true;
  bool causal = false;  // no position sees later ones; needs a fixed length
};
/// Of x, (x, mask), (query, key, value) or all four; the mask is added to the scores [batch, heads, length, length of keys].
SVENGINE_API Layer MultiHeadAttention(int64_t features, int64_t heads, const AttentionOptions& options = {}) noexcept;
struct TransformerOptions {
  int64_t feed_forward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";
  bool norm_first = false;
  bool causal = false;
};
/// Of x, or (x, mask).
SVENGINE_API Layer TransformerEncoderLayer(int64_t features, int64_t heads, const TransformerOptions& options = {}) noexcept;
/// Of (x, memory), or (x, memory, mask of x).
SVENGINE_API Layer TransformerDecoderLayer(int64_t features, int64_t heads, const TransformerOptions& options = {}) noexcept;
/// Of [batch, length, ins], from states of zeros. Results: every h [batch, length, hidden], the last layer's last h
/// [batch, hidden], and of LSTM its last c.
SVENGINE_API Layer LSTM(int64_t ins, int64_t hidden, int64_t layers = 1) noexcept;
SVENGINE_API Layer GRU(int64_t ins, int64_t hidden, int64_t layers = 1) noexcept;

/// A network while it is built. One thread at a time.
class SVENGINE_API Net {
 public:
  explicit Net(uint64_t seed = 1) noexcept;

  /// False after the first failure; error() says which.
  explicit operator bool() const noexcept;
  std::string error() const noexcept;

  /// The name must be new. A size of -1 is decided by each run. Dimension 0 counts the samples of a batch, and is the same for all inputs.
  Var input(const std::string& name, ElementType type, const std::vector<int64_t>& shape) noexcept;
  /// A float32 value that has a gradient, and that a Trainer changes if it has one dimension or more. A number follows a name that is taken.
  Var variable(const std::vector<int64_t>& shape, const std::vector<float>& values, const std::string& name = "variable") noexcept;
  /// A float32 value that stays.
  Var constant(const std::vector<int64_t>& shape, const std::vector<float>& values) noexcept;
  /// A list of int64, as some operators want for an input: Reshape's shape, Pad's pads.
  Var integers(const std::vector<int64_t>& values) noexcept;

  /// What the layer makes of the value, or values. `name` comes before the names of its parameters: "encoder" gives "encoder.0.weight".
  Var apply(const Layer& layer, const Var& input, const std::string& name = {}) noexcept;
  Var apply(const Layer& layer, const std::vector<Var>& inputs, const std::string& name = {}) noexcept;
  /// All results, of layers that have several.
  std::vector<Var> apply_all(const Layer& layer, const std::vector<Var>& inputs, const std::string& name = {}) noexcept;

  /// The name must be new.
  void output(const Var& value, const std::string& name) noexcept;
  /// Writes an ONNX file of opset 17, or of the oldest since that has all its operators.
  bool save(const std::string& path) noexcept;

 private:
  friend class Trainer;
  std::shared_ptr<NetState> state_;
};

struct Batch {
  std::vector<TensorView> inputs;  // in the order of Trainer::inputs()
  TensorView target;               // labels (int64) of cross_entropy and nll; else like the prediction
};

struct StepReport {
  double loss = 0;
  int64_t right = 0;    // answers that are the label
  int64_t counted = 0;  // labels that are not ignored; samples where there are no labels
};

struct TrainerOptions {
  std::string loss = "cross_entropy";  // nll, mse, l1, smooth_l1, bce_with_logits
  std::string optimizer = "sgd";       // as in `svengine train --optimizer`: "adamw:weight_decay=0.1"
  std::string loss_of;                 // the output it is of; empty: the first
  double label_smoothing = 0;
  std::optional<int64_t> ignore_index;
  std::vector<float> class_weights;  // of cross_entropy and nll; empty: all count alike
  double clip_norm = 0;              // > 0: of all gradients together
  int64_t accumulate = 1;            // batches whose mean gradient a step takes
  std::vector<std::string> freeze;   // names of what is not trained
  bool initialise = false;           // begin with new weights, drawn by the seed
  bool detect_anomaly = false;       // name the first operator whose result is not finite
  uint64_t seed = 1;
  NetworkOptions runtime;
};

/// Where the batches of a run come from. What get() makes is a function of the numbers alone, so that a resumed run sees the
/// same.
struct BatchSource {
  int64_t batches = 0;  // of an epoch
  /// Fills in a batch, counted from 0, whose data stay until the next call. False ends the run; `problem` says why.
  std::function<bool(int64_t epoch, int64_t batch, Batch& out, std::string& problem)> get;
  std::string name;  // for checkpoints, which are resumed only with the same
};

struct EpochReport {
  int64_t epoch = 0;    // from 1
  int64_t steps = 0;    // done so far
  StepReport training;  // loss: the mean over what was counted
  std::optional<StepReport> held_out;
  double rate = 0;                // of the last step
  double samples_per_second = 0;  // of training alone
};

struct Progress {
  int64_t epoch = 0, batch = 0, batches = 0;  // from 1
  double loss = 0, samples_per_second = 0;    // of the epoch so far
};

struct FitOptions {
  int64_t epochs = 1;
  double rate = 0.1;
  std::string schedule = "constant";  // as in `svengine train --schedule`: "cosine:epochs=90,warmup=5"
  BatchSource held_out;               // evaluated after every epoch; without batches: none
  /// A folder: all that a run needs to go on bitwise is written after every epoch, complete or not at all. Empty: nothing is.
  std::string checkpoint;
  int keep = 3;            // checkpoints
  int64_t save_every = 0;  // batches, besides
  /// Continue from the newest checkpoint; begin where there is none. Without it a folder that holds checkpoints is refused.
  bool resume = false;
  std::string log_dir;     // TensorBoard events, training.csv and steps.csv; empty: none
  int64_t log_every = 50;  // steps
  double max_seconds = 0;  // > 0: save and end in time
  /// The following are called by the thread that called fit(), between steps, where they are given. What they throw ends the run.
  std::function<bool()> stop;  // true: save and end. It may read a flag that another thread or a signal's handler sets.
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> note;  // what a person should know, such as where a run was resumed
};

struct FitReport {
  bool finished = false;  // all epochs are done; else stop() or the time has ended it
  bool out_of_time = false;
  int64_t steps = 0;
  std::vector<EpochReport> epochs;  // of this call
};

/// Move-only; one call at a time.
class SVENGINE_API Trainer {
 public:
  /// Never fail to return: look at the result before using it. The net may be changed or go away afterwards.
  static Trainer create(const Net& net, const TrainerOptions& options = {}) noexcept;
  static Trainer load(const std::string& path, const TrainerOptions& options = {}) noexcept;
  ~Trainer();
  Trainer(Trainer&& other) noexcept;
  Trainer& operator=(Trainer&& other) noexcept;

  explicit operator bool() const noexcept;
  /// Of the last call that failed; empty when none has.
  const std::string& error() const noexcept;
  /// Whether that call asked for what may be right, and this engine cannot do: an operator, a type, a form that it does not have.
  bool unimplemented() const noexcept;
  const std::vector<TensorInfo>& inputs() const noexcept;
  const TensorInfo& target() const noexcept;

  /// One batch forward, backward, and into the weights. `rate` is finite, and not negative. False: nothing has changed, but after a loss that is not
  /// finite.
  bool step(const Batch& batch, double rate, StepReport* report = nullptr) noexcept;
  /// With accumulate > 1: a step with what is left of a group of batches.
  bool end_group(double rate) noexcept;
  /// A whole run, from the first epoch or, with FitOptions::resume, from where another one ended. False: what went wrong, in
  /// error(); the last checkpoint is what there is then.
  bool fit(const BatchSource& training, const FitOptions& options, FitReport* report = nullptr) noexcept;
  /// The loss in inference mode; changes nothing.
  bool evaluate(const Batch& batch, StepReport& report) noexcept;
  /// The present values of a weight or running statistic, good until the next step; data is null for other names.
  TensorView weight(const std::string& name) const noexcept;
  /// Writes the network with its present weights, in inference mode.
  bool save(const std::string& path) noexcept;
  /// The same network, to be run. Later steps do not change it. As Network::load(): look at the result before using it.
  Network network(const NetworkOptions& options = {}) noexcept;

 private:
  friend struct TrainerAccess;
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace svengine::nn
