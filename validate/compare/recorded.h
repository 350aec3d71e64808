// Values of a run that were written down: here, on another machine, or by another program.
//
//   DIR/index.tsv, value_00000.npy, ...   as Recorder writes them: a line for each value, its file, a tab, its name
//   DIR/NAME.npy, DIR/NAME.pb             otherwise: the file's name is the value's, as it is or with '_' for what no file name
//   has DIR/input_0.pb, output_0.pb           ONNX's test data: numbers of the model's inputs and outputs FILE.npz arrays with
//   the values' names: NumPy's savez of an ONNX Runtime's or Polygraphy's outputs
#pragma once
#include <map>
#include <memory>

#include "validate/compare/reference.h"

namespace svengine::validate {

class Recorded : public Reference {
 public:
  /// Only names are read; values when they are asked for.
  static Result<std::unique_ptr<Recorded>> open(const std::string& path, const Graph& model);

  bool has(const std::string& name) const override { return files_.count(name) > 0; }
  void expect(const std::string&) override {}
  Result<Tensor> value(const std::string& name) override;
  void release(const std::string& name) override { held_.erase(name); }
  Status finish() override { return {}; }
  size_t size() const { return files_.size(); }

 private:
  Status open_folder(const std::string& path, const Graph& model);
  Status read_index(const std::string& folder, const std::string& path);

  std::string archive_;                       // of an .npz
  std::map<std::string, std::string> files_;  // by name of the value; of an archive, the array's name
  std::map<std::string, Tensor> held_;        // read and not released
  std::map<std::string, DType> kinds_;        // of the model's sequences, optionals and maps
};

/// Writes values into a folder, up to so many bytes together: numbers as .npy, bfloat16 and narrower as float32; strings, sequences,
/// optionals and maps as .pb. Values that would exceed them, and integers of 4 and 2 bits, are left out.
class Recorder {
 public:
  static Result<std::unique_ptr<Recorder>> create(const std::string& folder, int64_t most_bytes);

  Status add(const std::string& name, const Tensor& value, const SessionOptions& options);
  /// Writes the index: the record is complete.
  Status finish();

  size_t written() const { return written_; }
  size_t left_out() const { return left_out_; }
  int64_t bytes() const { return bytes_; }

 private:
  Recorder() = default;
  Status add_handle(const std::string& name, const Tensor& value);

  std::string folder_, index_;
  int64_t most_bytes_ = 0, bytes_ = 0;
  size_t written_ = 0, left_out_ = 0;
};

}  // namespace svengine::validate
