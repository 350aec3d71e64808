#include "runtime/batch_parallel.h"

#include <algorithm>

#include "engine/base/round.h"

namespace svengine {
namespace {

bool leads_with(const Type& type, const std::string& symbol) {
  return type.shape.has_rank() && type.shape.rank() > 0 && type.shape[0].is_symbolic() && type.shape[0].symbol() == symbol;
}

bool has_inside(const Type& type, const std::string& symbol) {
  for (size_t i = 1; type.shape.has_rank() && i < type.shape.dims().size(); ++i)
    if (type.shape[i].is_symbolic() && type.shape[i].symbol() == symbol) return true;
  return false;
}

Result<std::string> batch_symbol(const Ports& inputs) {
  for (const CompiledModel::Port& p : inputs)
    if (p.type.shape.has_rank() && p.type.shape.rank() > 0 && p.type.shape[0].is_symbolic()) return p.type.shape[0].symbol();
  return error("shard mode cuts the batch, but no input has a symbolic leading dimension; export the network with a dynamic batch");
}

}  // namespace

BatchParallel::Group& BatchParallel::group_of(int thread) {
  auto it = groups.begin();
  while (thread >= it->first_thread + it->team.threads()) ++it;
  return *it;
}

int64_t BatchParallel::batch_of(const std::vector<Tensor>& inputs) const {
  const auto cut = std::find(split_inputs.begin(), split_inputs.end(), true) - split_inputs.begin();
  return inputs[static_cast<size_t>(cut)].dims()[0];
}

Result<BatchParallel> make_batch_parallel(const Ports& inputs, const Ports& outputs, const Team& team) {
  SV_ASSIGN(const std::string symbol, batch_symbol(inputs));
  BatchParallel batch_parallel;
  for (const CompiledModel::Port& p : inputs) {
    if (has_inside(p.type, symbol))
      return error("shard mode cuts the batch '{}', but it is an inner dimension of input '{}', {}", symbol, p.name,
                   to_string(p.type));
    batch_parallel.split_inputs.push_back(leads_with(p.type, symbol));
  }
  for (const CompiledModel::Port& p : outputs)
    if (!leads_with(p.type, symbol) || has_inside(p.type, symbol))
      return error("shard mode cuts the batch '{}', which is not the leading dimension of output '{}', {}", symbol, p.name,
                   to_string(p.type));
  int first = 0;
  for (const CoreGroup& group : team.topology().groups) {
    if (group.threads > 0) {
      Topology own;
      own.groups = {group};
      own.imagined = team.topology().imagined;
      batch_parallel.groups.emplace_back(std::move(own), first, team.flush_denormals(), team.threads() - group.threads);
    }
    first += group.threads;
  }
  return batch_parallel;
}

RowRange rows_of(int64_t batch, size_t group, size_t groups) {
  const auto g = static_cast<int64_t>(group), n = static_cast<int64_t>(groups);
  return {ceil_div(batch * g, n), ceil_div(batch * (g + 1), n)};
}

}  // namespace svengine
