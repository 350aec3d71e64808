#include <algorithm>
#include <set>

#include "tests/hostile/change_lists.h"

namespace svengine::tests {
namespace {

constexpr int64_t kHostileSizes[] = {0, 1, int64_t{1} << 31, int64_t{1} << 62};

using Set = std::function<void(RelativeInput&, size_t)>;

/// What a dimension may become, with its name.
std::vector<std::pair<std::string, Set>> dimension_kinds() {
  std::vector<std::pair<std::string, Set>> kinds;
  for (const int64_t size : kHostileSizes)
    kinds.push_back({std::to_string(size), [size](RelativeInput& in, size_t d) {
                       in.dims[d] = size;
                       if (in.declared.has_rank()) in.declared.set(d, Dim(size));
                     }});
  kinds.push_back({"symbolic", [](RelativeInput& in, size_t d) {
                     if (in.declared.has_rank()) in.declared.set(d, Dim(std::string("S") + std::to_string(in.dims[d])));
                   }});
  kinds.push_back({"unknown", [](RelativeInput& in, size_t d) {
                     if (in.declared.has_rank()) in.declared.set(d, Dim());
                   }});
  return kinds;
}

bool has_dim(const RelativeInput& in, size_t d) {
  return !in.value.defined() && d < in.dims.size() && (!in.declared.has_rank() || in.declared.dims().size() == in.dims.size());
}

void set_dims(RelativeInput& in, Dims dims) {
  if (in.value.defined()) return;
  in.declared = Shape::of(dims);
  in.dims = std::move(dims);
}

}  // namespace

void add_dimension_changes(const Relative& sample, std::vector<Change>& changes) {
  std::set<int64_t> sizes;
  for (const auto& [name, set] : dimension_kinds()) {
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      for (size_t d = 0; !sample.inputs[i].value.defined() && d < sample.inputs[i].dims.size(); ++d) {
        sizes.insert(sample.inputs[i].dims[d]);
        changes.push_back({fmt::format("dimension {} of input {} is {}", d, i, name), [i, d, set = set](Relative& r) {
                             if (i < r.inputs.size() && has_dim(r.inputs[i], d)) set(r.inputs[i], d);
                           }});
      }
    for (const int64_t size : sizes)
      changes.push_back({fmt::format("dimensions of {} are {}", size, name), [size, set = set](Relative& r) {
                           for (RelativeInput& in : r.inputs)
                             for (size_t d = 0; d < in.dims.size(); ++d)
                               if (in.dims[d] == size && has_dim(in, d)) set(in, d);
                         }});
    changes.push_back({fmt::format("all dimensions are {}", name), [set = set](Relative& r) {
                         for (RelativeInput& in : r.inputs)
                           for (size_t d = 0; d < in.dims.size(); ++d)
                             if (has_dim(in, d)) set(in, d);
                       }});
  }
}

void add_rank_changes(const Relative& sample, std::vector<Change>& changes) {
  const std::pair<const char*, Dims (*)(Dims)> kinds[] = {
      {"has no last dimension",
       [](Dims d) {
         if (!d.empty()) d.pop_back();
         return d;
       }},
      {"has no first dimension",
       [](Dims d) {
         if (!d.empty()) d.erase(d.begin());
         return d;
       }},
      {"has one more dimension in front",
       [](Dims d) {
         d.insert(d.begin(), 1);
         return d;
       }},
      {"has one more dimension at the end",
       [](Dims d) {
         d.push_back(3);
         return d;
       }},
      {"is a scalar", [](Dims) { return Dims(); }},
      {"is of rank 8",
       [](Dims d) {
         d.insert(d.begin(), d.size() < 8 ? 8 - d.size() : 0, 1);
         return d;
       }},
      {"is of rank 33",
       [](Dims d) {
         d.insert(d.begin(), d.size() < 33 ? 33 - d.size() : 0, 1);
         return d;
       }},
  };
  for (const auto& [name, of] : kinds) {
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      changes.push_back({fmt::format("input {} {}", i, name), [i, of = of](Relative& r) {
                           if (i < r.inputs.size()) set_dims(r.inputs[i], of(r.inputs[i].dims));
                         }});
    changes.push_back({fmt::format("every input {}", name), [of = of](Relative& r) {
                         for (RelativeInput& in : r.inputs) set_dims(in, of(in.dims));
                       }});
  }
  for (size_t i = 0; i < sample.inputs.size(); ++i)
    changes.push_back({fmt::format("input {} is of unknown rank", i), [i](Relative& r) {
                         if (i < r.inputs.size()) r.inputs[i].declared = Shape();
                       }});
  changes.push_back({"every input is of unknown rank", [](Relative& r) {
                       for (RelativeInput& in : r.inputs) in.declared = Shape();
                     }});
}

void add_undeclared_shapes(const Relative& sample, std::vector<Change>& changes) {
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    changes.push_back({fmt::format("input {} is of unknown rank, and has a first dimension of 2 more", i), [i](Relative& r) {
                         if (i >= r.inputs.size() || r.inputs[i].value.defined()) return;
                         r.inputs[i].dims.insert(r.inputs[i].dims.begin(), 2);
                         r.inputs[i].declared = Shape();
                       }});
    changes.push_back({fmt::format("input {} is a scalar, others are of unknown rank", i), [i](Relative& r) {
                         for (size_t j = 0; j < r.inputs.size(); ++j)
                           if (j != i) r.inputs[j].declared = Shape();
                         if (i < r.inputs.size()) set_dims(r.inputs[i], {});
                       }});
    for (size_t d = 0; !sample.inputs[i].value.defined() && d < sample.inputs[i].dims.size(); ++d)
      changes.push_back({fmt::format("dimension {} of input {} is 1, those of others are unknown", d, i), [i, d](Relative& r) {
                           for (size_t j = 0; j < r.inputs.size(); ++j)
                             for (size_t k = 0; k < r.inputs[j].dims.size(); ++k)
                               if (j != i && has_dim(r.inputs[j], k) && r.inputs[j].declared.has_rank()) r.inputs[j].declared.set(k, Dim());
                           if (i >= r.inputs.size() || !has_dim(r.inputs[i], d)) return;
                           r.inputs[i].dims[d] = 1;
                           if (r.inputs[i].declared.has_rank()) r.inputs[i].declared.set(d, Dim(1));
                         }});
  }
}

}  // namespace svengine::tests
