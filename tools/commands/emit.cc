// svengine emit: writes a model as C that needs no engine.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/file.h"
#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/emit/c_text.h"
#include "tools/emit/compile.h"
#include "tools/emit/emit.h"
#include "tools/emit/prepare.h"
#include "tools/support/json.h"
#include "tools/support/network.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace emit_command {

struct Options {
  ModelFile model;
  std::string folder = ".", name, compiler = "cc";
  bool compile = false, json = false;
  InputOptions inputs;
};

/// Dimensions of the inputs. None may be open: memory has fixed sizes in C.
Result<std::vector<Dims>> dims_of(const Graph& graph, const InputOptions& options) {
  InputOptions sizes = options;
  sizes.only_types = true;
  SV_ASSIGN(const Inputs inputs, make_inputs(input_ports(graph), sizes, {}));
  if (!inputs.assumed.empty()) {
    std::string missing;
    for (const std::string& option : inputs.assumed) missing += (missing.empty() ? "" : ", ") + option;
    return error("the inputs have dimensions of unknown size, and memory has fixed sizes in C: give {}", missing);
  }
  std::vector<Dims> out;
  for (const Tensor& t : inputs.tensors) out.push_back(t.dims());
  return out;
}

/// A header of one of these names would be found in place of C's.
bool is_header_of_c(std::string_view name) {
  static constexpr std::string_view kHeaders[] = {"assert", "complex", "ctype",  "errno",  "fenv",   "float",  "inttypes", "iso646",
                                                  "limits", "locale",  "math",   "setjmp", "signal", "stdarg", "stdint",   "stddef",
                                                  "stdio",  "stdlib",  "string", "tgmath", "time",   "wchar",  "wctype"};
  return std::find(std::begin(kHeaders), std::end(kHeaders), name) != std::end(kHeaders);
}

Result<std::string> name_of(const Options& options) {
  const std::string wanted = options.name.empty() ? std::filesystem::path(options.model.path).stem().string() : options.name;
  std::string name = emit::c_identifier(wanted);
  if (is_header_of_c(name)) name += "_network";
  if (options.name.empty() || name == wanted) return name;
  return error("--name {}: no name for functions and a header in C and C++; {} is one", options.name, name);
}

Status write_file(const std::string& path, const std::string& text) {
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(text));
  return file.finish();
}

Result<emit::Emitted> emit_model(const Options& options, const std::string& name) {
  SV_ASSIGN(Model model, load_model(options.model));
  SV_ASSIGN(const std::vector<Dims> dims, dims_of(model.graph, options.inputs));
  SessionOptions session;
  SV_TRY(choose_kernels(session));
  PassContext context = pass_context(*session.kernels);
  context.block = 0;
  Result<Graph> graph = emit::prepare(std::move(model.graph), dims, context);
  if (!graph.ok()) return std::move(graph).error().in(printable(options.model.path));
  Result<emit::Emitted> emitted = emit::emit_c(*graph, name, std::filesystem::path(options.model.path).filename().string());
  if (!emitted.ok()) return std::move(emitted).error().in(printable(options.model.path));
  return emitted;
}

Json to_json(const Options& options, const std::vector<std::string>& files, const emit::Emitted& emitted) {
  Json operators = Json::object();
  for (const auto& [op, count] : emitted.operators) operators[op] = count;
  return {{"model", options.model.path}, {"files", files}, {"workspace_bytes", emitted.workspace_bytes}, {"constant_bytes", emitted.constant_bytes},
          {"source_bytes", emitted.source.size()}, {"multiply_adds", emitted.multiply_adds}, {"operators", operators}};
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const std::string name, name_of(options));
  SV_ASSIGN(const emit::Emitted emitted, emit_model(options, name));
  const std::filesystem::path folder(options.folder);
  const std::string source = (folder / (name + ".c")).string(), library = (folder / ("lib" + name + ".a")).string();
  std::vector<std::string> files{(folder / (name + ".h")).string(), source};
  SV_TRY(write_file(files[0], emitted.header));
  SV_TRY(write_file(source, emitted.source));
  if (options.compile) {
    SV_TRY(emit::compile_library(source, library, options.compiler));
    files.push_back(library);
  }
  if (options.json) {
    put_json(to_json(options, files, emitted));
    return kSuccess;
  }
  for (const std::string& file : files) print("{}\n", printable(file));
  print("{} multiply-adds, {} of constants, {} of workspace\n", grouped(emitted.multiply_adds),
        bytes_text(static_cast<double>(emitted.constant_bytes)), bytes_text(static_cast<double>(emitted.workspace_bytes)));
  return kSuccess;
}

}  // namespace emit_command

Action add_emit(Command& program) {
  using namespace emit_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("emit", "Write a model as C source, weights and all, that needs no engine");
  add_model(command, options->model);
  command.add_option("-o,--output", options->folder, "The folder for NAME.h and NAME.c (default: this one)")->type_name("DIR");
  command.add_option("--name", options->name, "Begins all names in C (default: the file's)")->type_name("NAME");
  command.add_flag("--compile", options->compile, "Make libNAME.a, too");
  command.add_option("--cc", options->compiler, "The C compiler and its options (default: cc)")->type_name("CC");
  add_json(command, options->json);
  add_shape_options(command, options->inputs);
  command.footer(
      "The source is C99 and needs the C library and libm. NAME_run() and NAME_run_in() are described in NAME.h. All dimensions\n"
      "have to be known: --dim and --shape. What has no C is in one error, exit code 2.\n"
      "Examples:\n  svengine emit trigger.onnx -o src --name trigger --dim N=1\n"
      "  svengine emit model.onnx -o lib --compile --cc \"gcc -march=native\"");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
