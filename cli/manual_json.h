// The tables of options as JSON, for the queue, the cluster and other programs that read a command line.
#pragma once

#include <string>

namespace ecosort::cli {

// A document of the schema "ecosort.manual/1".
[[nodiscard]] std::string manual_json();

}  // namespace ecosort::cli
