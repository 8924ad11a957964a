#include "io/stxxl_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "base/trusted_place.h"

namespace ecosort::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "ecosort_stxxl.so";

[[noreturn]] void refuse(const std::string& reason) { throw BackendUnusable(fmt::format("STXXL is not here ({})", reason)); }

// A loaded module runs with this user's rights, so it is loaded only from where no one else can have put it.
[[nodiscard]] std::string module_path() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  // The first two are places of a build (the tests lie a directory deeper), the last one is that of an installation.
  for (const fs::path& place : {program, program / "..", program / ".." / "lib" / "ecosort"}) {
    const std::string path = place / module_name;
    if (!fs::exists(fs::symlink_status(path, none))) continue;
    const std::string reason = reason_to_distrust_place(path, root_and_user());
    if (!reason.empty()) refuse(fmt::format("'{}' was not loaded, because {}", path, reason));
    return path;
  }
  refuse(fmt::format("'{}' is neither beside the program nor in ../lib/ecosort", module_name));
}

// Its only function.
using MakeQueue = Queue*(unsigned depth);

[[nodiscard]] MakeQueue* load() {
  void* const module = ::dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const make = module == nullptr ? nullptr : ::dlsym(module, "ecosort_make_stxxl_queue");
  if (make == nullptr) refuse(::dlerror());
  return reinterpret_cast<MakeQueue*>(make);
}

}  // namespace

std::unique_ptr<Queue> load_stxxl_queue(unsigned depth) { return std::unique_ptr<Queue>(load()(depth)); }

}  // namespace ecosort::io
