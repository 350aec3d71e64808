#include "tests/emit/emitted_writer.h"

#include "tools/emit/emit.h"

namespace svengine::tests {

using namespace tool::emit;

Status EmittedWriter::add(const Graph& graph, const std::string& title, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
                          Tolerance tolerance) {
  const std::string name = fmt::format("sample{}", count_);
  SV_ASSIGN(const Emitted emitted, emit_c(graph, name, title));
  SV_ASSIGN(const Interface interface, interface_of(graph, name));
  ++count_;
  write(name + ".h", emitted.header);
  write(name + ".c", emitted.source);
  all_ += fmt::format("#include \"{}.c\"\n", name);
  for (const std::vector<Tensor>* tensors : {&inputs, &expected})
    for (const Tensor& t : *tensors) data_.write(reinterpret_cast<const char*>(t.raw()), static_cast<std::streamsize>(t.byte_size()));
  add_to_table(title, interface, tolerance);
  return {};
}

void EmittedWriter::finish() {
  write("samples.c", all_ + "#include \"compare_samples.h\"\n" + calls_ + "const struct sample samples[] = {\n" + table_ + "};\n" +
                         fmt::format("const int sample_count = {};\n", count_));
}

void EmittedWriter::add_to_table(const std::string& title, const Interface& interface, Tolerance tolerance) {
  std::string arguments, sizes;
  for (size_t i = 0; i < interface.inputs.size(); ++i) arguments += fmt::format(", in[{}]", i);
  for (size_t i = 0; i < interface.outputs.size(); ++i) arguments += fmt::format(", out[{}]", i);
  for (const auto* ports : {&interface.inputs, &interface.outputs})
    for (const Port& p : *ports)
      sizes += fmt::format("{}{{{}, {}, '{}'}}", sizes.empty() ? "" : ", ", p.macro, size_of(p.type.dtype),
                           p.type.dtype == DType::f32 ? 'f' : p.type.dtype == DType::f64 ? 'd' : 'i');
  calls_ += fmt::format("static int call_{0}(void *w, void **in, void **out) {{ (void)in; return {0}_run_in(w{1}); }}\n", interface.name, arguments);
  table_ += fmt::format("  {{\"{}\", call_{}, {}_WORKSPACE_BYTES, {}, {}, {:g}, {:g}, {{{}}}}},\n", title, interface.name, interface.upper_name(),
                        interface.inputs.size(), interface.outputs.size(), tolerance.rtol, tolerance.atol, sizes);
}

}  // namespace svengine::tests
