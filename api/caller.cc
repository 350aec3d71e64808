#include "api/caller.h"

#include <algorithm>
#include <cstring>

#include "api/convert.h"

namespace svengine {
namespace {

bool is_real(const TensorInfo& port) {
  return port.type == ElementType::float16 || port.type == ElementType::bfloat16 || port.type == ElementType::float32 ||
         port.type == ElementType::float64;
}

Status in_port(Status status, const char* what, const std::string& name) {
  if (status.ok()) return status;
  return std::move(status).error().in(fmt::format("{} '{}'", what, name));
}

Status refuse_count(size_t got, size_t wanted, const char* what) {
  if (got == wanted) return {};
  return error("got {} {}, the network has {}", got, what, wanted);
}

}  // namespace

Status Caller::open() {
  SV_ASSIGN(Line * plain, line(SharedNetwork::Purpose::run));
  (void)plain;
  return {};
}

Result<Caller::Line*> Caller::line(SharedNetwork::Purpose purpose) {
  Line& line = lines_[static_cast<size_t>(purpose)];
  if (line.session) return &line;
  SV_ASSIGN(std::shared_ptr<CompiledModel> model, network_->model(purpose));
  SV_ASSIGN(line.session, Session::create(std::move(model), options_));
  const size_t inputs = line.session->inputs().size(), outputs = line.session->outputs().size();
  line.inputs.resize(inputs);
  line.sources.resize(inputs);
  line.gathered.resize(inputs);
  line.zeros.resize(inputs);
  line.outputs.resize(outputs);
  line.places.resize(outputs);
  return &line;
}

Status Caller::check(const Line& line) const {
  const auto check_type = [&](const TensorLayout& t, const Session::Port& port) -> Status {
    if (t.type == port.type.dtype || (network_->converts() && is_convertible(t.type, port.type.dtype))) return {};
    return error("needs {}, got {}{}", to_string(port.type), name_of(t.type),
                 is_convertible(t.type, port.type.dtype) ? "; ask for conversion when the network is loaded, if that is meant" : "");
  };
  for (size_t i = 0; i < line.inputs.size(); ++i) {
    const Session::Port& port = line.session->inputs()[i];
    SV_TRY(in_port(check_layout(line.inputs[i], false), "input", port.name));
    SV_TRY(in_port(check_type(line.inputs[i], port), "input", port.name));
  }
  for (size_t o = 0; o < line.outputs.size(); ++o) {
    if (!line.outputs[o].data) continue;
    const Session::Port& port = line.session->outputs()[o];
    SV_TRY(in_port(check_layout(line.outputs[o], true), "output", port.name));
    SV_TRY(in_port(check_type(line.outputs[o], port), "output", port.name));
  }
  return {};
}

bool Caller::lies_on_output(const Line& line, const TensorLayout& input) {
  if (line.session->owns(input.data)) return true;  // an output of the call before
  const auto bytes = [](const TensorLayout& t) {
    size_t count = 1;
    for (const int64_t n : t.dims) count *= static_cast<size_t>(n);
    return count * size_of(t.type);
  };
  const auto begin = reinterpret_cast<uintptr_t>(input.data), end = begin + bytes(input);
  return std::ranges::any_of(line.outputs, [&](const TensorLayout& o) {
    const auto at = reinterpret_cast<uintptr_t>(o.data);
    return o.data && is_dense(o) && at < end && begin < at + bytes(o);
  });
}

Status Caller::gather_inputs(Line& line) {
  for (size_t i = 0; i < line.inputs.size(); ++i) {
    const TensorLayout& t = line.inputs[i];
    const DType type = line.session->inputs()[i].type.dtype;
    line.sources[i] = {type, t.dims, t.data};
    if (t.type == type && is_dense(t) && !lies_on_output(line, t)) continue;
    MutableTensor& copy = line.gathered[i];
    if (copy.type() != type || !std::ranges::equal(copy.dims(), t.dims)) {
      SV_ASSIGN(copy, Tensor::allocate(type, Dims(t.dims.begin(), t.dims.end())));
    }
    gather_elements(t, type, copy.raw());
    line.sources[i].data = copy.raw();
  }
  return {};
}

Status Caller::scatter_outputs(Line& line) {
  for (size_t o = 0; o < line.outputs.size(); ++o) {
    TensorLayout& t = line.outputs[o];
    const Binding& place = line.places[o];
    if (place.data == t.data) continue;
    if (!t.data) {
      t = {.type = place.type, .dims = place.dims, .data = place.data};
      continue;
    }
    if (!std::ranges::equal(t.dims, place.dims)) {
      return error("output '{}' has the shape {}; the place given for it has {}", line.session->outputs()[o].name,
                   to_string(Dims(place.dims.begin(), place.dims.end())), to_string(Dims(t.dims.begin(), t.dims.end())));
    }
    scatter_elements(place.data, place.type, t);
  }
  return {};
}

Status Caller::call(Line& line) {
  arguments_refused_ = true;
  // Memory that an output was filled in with is no place of the caller's when it is given back. Only what a session still has counts:
  // an address that it gave up long ago may be the caller's own by now.
  const auto is_ours = [&](const void* data) {
    return std::ranges::any_of(lines_, [&](const Line& l) { return l.session && l.session->owns(data); });
  };
  for (TensorLayout& t : line.outputs)
    if (t.data && is_ours(t.data)) t = {};
  SV_TRY(check(line));
  SV_TRY(gather_inputs(line));
  for (size_t o = 0; o < line.outputs.size(); ++o) {
    const TensorLayout& t = line.outputs[o];
    const bool in_place = t.data && t.type == line.session->outputs()[o].type.dtype && is_dense(t);
    line.places[o] = {};
    if (t.data) line.places[o] = {line.session->outputs()[o].type.dtype, t.dims, in_place ? t.data : nullptr};  // nothing is computed for a wrong one
  }
  Status called = line.session->call(line.sources, line.places);
  if (!called.ok()) {
    arguments_refused_ = line.session->refuses(line.sources, line.places);
    return called;
  }
  SV_TRY(scatter_outputs(line));
  arguments_refused_ = false;
  return {};
}

Status Caller::run(std::span<const TensorLayout> inputs, std::span<TensorLayout> outputs) {
  arguments_refused_ = true;
  SV_TRY(refuse_count(inputs.size(), network_->inputs().size(), "inputs"));
  SV_TRY(refuse_count(outputs.size(), network_->outputs().size(), "places for outputs"));
  SV_ASSIGN(Line * line, this->line(SharedNetwork::Purpose::run));
  std::ranges::copy(inputs, line->inputs.begin());
  std::ranges::copy(outputs, line->outputs.begin());
  SV_TRY(call(*line));
  std::ranges::copy(line->outputs, outputs.begin());
  return {};
}

Status Caller::put_zeros(Line& line, size_t index, DType type, std::span<const int64_t> dims) {
  MutableTensor& zeros = line.zeros[index];
  if (zeros.type() != type || !std::ranges::equal(zeros.dims(), dims)) {
    SV_ASSIGN(zeros, Tensor::allocate(type, Dims(dims.begin(), dims.end())));
    if (zeros.byte_size()) std::memset(zeros.raw(), 0, zeros.byte_size());
  }
  line.inputs[index] = {.type = type, .dims = zeros.dims(), .data = zeros.raw()};
  return {};
}

Status Caller::run_vjp(std::span<const TensorLayout> inputs, std::span<const TensorLayout> output_gradients, std::span<TensorLayout> outputs,
                       std::span<TensorLayout> input_gradients) {
  arguments_refused_ = true;
  SV_TRY(refuse_count(inputs.size(), network_->inputs().size(), "inputs"));
  SV_TRY(refuse_count(output_gradients.size(), network_->outputs().size(), "gradients of outputs"));
  SV_TRY(refuse_count(input_gradients.size(), network_->inputs().size(), "places for gradients of inputs"));
  if (!outputs.empty()) SV_TRY(refuse_count(outputs.size(), network_->outputs().size(), "places for outputs"));
  SV_ASSIGN(Line * line, this->line(SharedNetwork::Purpose::vjp));
  std::ranges::copy(inputs, line->inputs.begin());
  const bool some_are_zeros = std::ranges::any_of(output_gradients, [](const TensorLayout& t) { return t.type == DType::undefined; });
  SV_ASSIGN(Line * plain, this->line(SharedNetwork::Purpose::run));
  if (some_are_zeros) {  // of the shapes that the outputs have
    std::ranges::copy(inputs, plain->inputs.begin());
    std::ranges::fill(plain->outputs, TensorLayout());
    SV_TRY(call(*plain));
    arguments_refused_ = true;
  }
  size_t at = inputs.size();
  for (size_t o = 0; o < output_gradients.size(); ++o) {
    if (!is_real(network_->outputs()[o])) continue;
    line->inputs[at] = output_gradients[o];
    if (output_gradients[o].type == DType::undefined) SV_TRY(put_zeros(*line, at, plain->outputs[o].type, plain->outputs[o].dims));
    ++at;
  }
  std::ranges::fill(line->outputs, TensorLayout());
  std::ranges::copy(outputs, line->outputs.begin());
  at = network_->outputs().size();
  for (size_t i = 0; i < input_gradients.size(); ++i)
    if (is_real(network_->inputs()[i])) line->outputs[at++] = input_gradients[i];
  SV_TRY(call(*line));
  std::copy_n(line->outputs.begin(), outputs.size(), outputs.begin());
  at = network_->outputs().size();
  for (size_t i = 0; i < input_gradients.size(); ++i)
    if (is_real(network_->inputs()[i])) input_gradients[i] = line->outputs[at++];
  return {};
}

Status Caller::run_jvp(std::span<const TensorLayout> inputs, std::span<const TensorLayout> input_tangents, std::span<TensorLayout> outputs,
                       std::span<TensorLayout> output_tangents) {
  arguments_refused_ = true;
  SV_TRY(refuse_count(inputs.size(), network_->inputs().size(), "inputs"));
  SV_TRY(refuse_count(input_tangents.size(), inputs.size(), "tangents of inputs"));
  SV_TRY(refuse_count(output_tangents.size(), network_->outputs().size(), "places for tangents of outputs"));
  if (!outputs.empty()) SV_TRY(refuse_count(outputs.size(), network_->outputs().size(), "places for outputs"));
  SV_ASSIGN(Line * line, this->line(SharedNetwork::Purpose::jvp));
  std::ranges::copy(inputs, line->inputs.begin());
  size_t at = inputs.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_real(network_->inputs()[i])) continue;
    line->inputs[at] = input_tangents[i];
    if (input_tangents[i].type == DType::undefined) SV_TRY(put_zeros(*line, at, inputs[i].type, inputs[i].dims));
    ++at;
  }
  std::ranges::fill(line->outputs, TensorLayout());
  std::ranges::copy(outputs, line->outputs.begin());
  at = network_->outputs().size();
  for (size_t o = 0; o < output_tangents.size(); ++o)
    if (is_real(network_->outputs()[o])) line->outputs[at++] = output_tangents[o];
  SV_TRY(call(*line));
  std::copy_n(line->outputs.begin(), outputs.size(), outputs.begin());
  at = network_->outputs().size();
  for (size_t o = 0; o < output_tangents.size(); ++o)
    if (is_real(network_->outputs()[o])) output_tangents[o] = line->outputs[at++];
  return {};
}

}  // namespace svengine
