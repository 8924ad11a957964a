#include "io/stxxl_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/errors.h"

namespace ecosort::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "ecosort_stxxl.so";

[[nodiscard]] fs::path module_path() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  // As built (the tests lie a directory deeper), and as installed.
  for (const fs::path& place : {program, program / "..", program / ".." / "lib" / "ecosort"})
    if (fs::exists(place / module_name, none)) return place / module_name;
  return module_name;
}

// Its only function.
using MakeQueue = Queue*(unsigned depth);

[[nodiscard]] MakeQueue* load() {
  void* const module = ::dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const make = module == nullptr ? nullptr : ::dlsym(module, "ecosort_make_stxxl_queue");
  if (make == nullptr) throw UsageError(fmt::format("STXXL is not here ({}); use --io uring or --io pool", ::dlerror()));
  return reinterpret_cast<MakeQueue*>(make);
}

}  // namespace

std::unique_ptr<Queue> load_stxxl_queue(unsigned depth) { return std::unique_ptr<Queue>(load()(depth)); }

}  // namespace ecosort::io
