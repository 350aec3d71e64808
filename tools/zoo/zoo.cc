#include "tools/zoo/zoo.h"

#include "engine/ops/registry.h"

namespace svengine::tool {

std::span<const ZooNetwork> zoo_networks() {
  static constexpr ZooNetwork kNetworks[] = {
      {"resnet18", "ResNet-18 v1.5 for 224x224 images", build_resnet18},
      {"resnet50", "ResNet-50 v1.5 for 224x224 images", build_resnet50},
      {"resnet-28", "small ResNet for grey 28x28 images, 10 classes", build_resnet_28},
      {"cosmoflow", "CosmoFlow of MLPerf HPC for volumes of 128x128x128", build_cosmoflow},
      {"bert-base", "BERT encoder, 12 layers of 768", build_bert_base},
      {"bert-base-mlm", "BERT-base with scores of all words, for training", build_bert_base_mlm},
      {"bert-tiny", "BERT encoder, 2 layers of 128", build_bert_tiny},
  };
  return kNetworks;
}

Result<Graph> build_zoo_network(const ZooNetwork& network, uint64_t seed) {
  Graph graph;
  graph.name = network.name;
  Builder builder(graph, all_ops());
  Weights weights(graph, seed);
  network.build(builder, weights);
  // Weights first: an absent one makes the builder fail too.
  Status status = weights.status().ok() ? builder.status() : weights.status();
  if (!status.ok()) return std::move(status).error().in(network.name);
  return graph;
}

}  // namespace svengine::tool
