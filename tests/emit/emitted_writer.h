// Graphs as C, with inputs and expected outputs, for compare_samples.c.
#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "engine/graph/op_def.h"
#include "tools/emit/interface.h"

namespace svengine::tests {

class EmittedWriter {
 public:
  explicit EmittedWriter(std::string folder) : folder_(std::move(folder)), data_(folder_ + "/samples.bin", std::ios::binary) {}

  Status add(const Graph& graph, const std::string& title, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
             Tolerance tolerance);
  void finish();
  int count() const { return count_; }

 private:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }
  void add_to_table(const std::string& title, const tool::emit::Interface& interface, Tolerance tolerance);

  std::string folder_, all_, calls_, table_;
  std::ofstream data_;
  int count_ = 0;
};

}  // namespace svengine::tests
