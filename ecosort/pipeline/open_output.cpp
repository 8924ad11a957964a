#include "pipeline/open_output.h"

#include <filesystem>

namespace ecosort::pipeline {

io::FilePtr open_output(io::Storage& storage, const std::string& output) {
  if (output == "-") return storage.open_standard_output();
  const std::string parent = std::filesystem::path(output).parent_path().string();
  return storage.create_unnamed(parent.empty() ? "." : parent, io::Role::output, io::Caching::direct_if_possible);
}

}  // namespace ecosort::pipeline
