// Networks with seeded weights: the architectures that everybody measures, without downloading anything.
#pragma once
#include <span>
#include <string>

#include "engine/graph/builder.h"
#include "tools/zoo/weights.h"

namespace svengine::tool {

struct ZooNetwork {
  const char* name;
  const char* description;
  void (*build)(Builder& builder, Weights& weights);
};

std::span<const ZooNetwork> zoo_networks();

/// Inputs and outputs are named and dynamic as PyTorch's exports of the same networks usually are. Errors name the network.
Result<Graph> build_zoo_network(const ZooNetwork& network, uint64_t seed);

/// He and others, Deep Residual Learning, in the form of torchvision (v1.5: stride in the 3x3 convolution). float32 input
/// [N, 3, 224, 224], output logits [N, 1000]; batch norms are nodes of their own.
void build_resnet18(Builder& builder, Weights& weights);
void build_resnet50(Builder& builder, Weights& weights);
/// The network of examples/00_fashion_mnist: input image [N, 1, 28, 28], output logits [N, 10].
void build_resnet_28(Builder& builder, Weights& weights);

/// CosmoFlow of MLPerf HPC: input volume [N, 4, 128, 128, 128], output parameters [N, 4].
void build_cosmoflow(Builder& builder, Weights& weights);

/// Devlin and others, BERT: encoder and pooler. int64 inputs input_ids, attention_mask, token_type_ids [N, S], S <= 512;
/// outputs last_hidden_state [N, S, hidden] and pooler_output [N, hidden]. base: 12 layers of 768; tiny: 2 layers of 128.
void build_bert_base(Builder& builder, Weights& weights);
void build_bert_base_mlm(Builder& builder, Weights& weights);
void build_bert_tiny(Builder& builder, Weights& weights);

}  // namespace svengine::tool
