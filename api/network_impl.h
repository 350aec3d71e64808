// What stands behind Network.
#pragma once
#include "api/caller.h"
#include "runtime/float_mode.h"

namespace svengine {

struct Network::Impl {
  std::shared_ptr<SharedNetwork> shared;
  std::unique_ptr<Caller> caller;  // of run(); null: load() has failed
  std::vector<TensorLayout> inputs, results;
  LastError error;
  std::string cache_problem;

  Status open(Graph graph, const NetworkOptions& options);
  Status run(const std::vector<TensorView>& views, std::vector<TensorView>& out);
  void give_up() noexcept;
};

/// What other parts of the API may do with networks.
struct NetworkAccess {
  /// Of a graph as imported. As load(): look at the result before using it.
  static Network of(Graph graph, const NetworkOptions& options) noexcept;
  /// One that could not be loaded.
  static Network failed(const std::string& problem) noexcept;
  template <class Open>
  static Network made(const Open& open) noexcept;
};

}  // namespace svengine
