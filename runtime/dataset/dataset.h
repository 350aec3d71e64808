// What a network is trained on: numbered samples, each of a few tensors whose types and shapes are the same for all samples.
//
//     open_dataset("/usr/share/datasets/fashion-mnist")  ->  60000 samples of  image uint8[1x28x28], label int64[]
//
// One file per source: idx_files (MNIST), cifar, image_folder, arrays (.npy, .npz), text (tokens). open.h recognises which one
// a path is. combine.h cuts data sets and joins them. loader.h makes batches of them.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/shape.h"

namespace svengine {

/// One tensor of a sample.
struct Field {
  std::string name;
  DType type = DType::undefined;
  Dims dims;  // of one sample, without the batch: {1, 28, 28}; {} is one number

  size_t bytes() const { return static_cast<size_t>(element_count(dims)) * size_of(type); }
  friend bool operator==(const Field&, const Field&) = default;
};

/// "image uint8[1x28x28], label int64[scalar]"
std::string to_string(const std::vector<Field>& fields);

/// The two parts most data sets come in. `test` is whatever is held out: t10k, test_batch, val.
enum class Split { train, test };

/// All functions may be called by any number of threads at once.
class DataSet {
 public:
  virtual ~DataSet() = default;
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  int64_t size() const { return size_; }
  const std::vector<Field>& fields() const { return fields_; }

  /// How many classes the field "label" tells apart, each label being in 0 .. classes-1; 0 if there is no such field.
  int64_t classes() const { return classes_; }
  /// One for each class, or none.
  const std::vector<std::string>& class_names() const { return class_names_; }

  /// Writes sample `index` to destination[f], which has room for fields()[f].bytes(), for every field f. Fails on an index or a
  /// number of destinations that does not exist, and on what cannot be read, naming its file; what was written is then
  /// undefined. The same sample is the same bytes every time. What read_sample() throws becomes an error too.
  Status read(int64_t index, std::span<std::byte* const> destination) const;

 protected:
  DataSet(int64_t size, std::vector<Field> fields, int64_t classes = 0, std::vector<std::string> class_names = {})
      : size_(size), fields_(std::move(fields)), classes_(classes), class_names_(std::move(class_names)) {}

 private:
  /// read() with index and destinations checked.
  virtual Status read_sample(int64_t index, std::span<std::byte* const> destination) const = 0;

  int64_t size_;
  std::vector<Field> fields_;
  int64_t classes_;
  std::vector<std::string> class_names_;
};

using DataSetPtr = std::shared_ptr<const DataSet>;

}  // namespace svengine
