// Inputs of a network from what people have at hand, one sample after another, for commands that look at many.
//
//   folder    with input_0, ... or test_data_set_N folders (data_set.h)    each set is a sample
//             with images                                                  each image
//             that is a data set (runtime/dataset/open.h)                  rows of it; fields go to inputs by name, else in order
//   file      .npy, .npz, .pb, IDX                                         rows of it; of an .npz by the inputs' names
//             image                                                        that image
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "importers/image/image.h"
#include "runtime/session.h"
#include "tools/support/command_line.h"
#include "validate/quantize/calibrate.h"

namespace svengine::tool {

struct SampleOptions {
  std::vector<std::string> paths;
  ImageOptions image;  // mean, std, range, order of channels
  std::string resize;  // as of `svengine run`
  int64_t batch = 1;   // rows of a sample where the network leaves that open
  int64_t most = 256;  // samples; of more, so many at equal distances are taken
};
void add_sample_options(Command& command, SampleOptions& options);

/// Errors name the path, and say what would fit.
Result<std::unique_ptr<validate::InputSamples>> open_samples(const std::vector<Session::Port>& ports, const SampleOptions& options);

}  // namespace svengine::tool
