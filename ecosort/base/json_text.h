// How JSON becomes text, everywhere in the program: a name in a report is no reason to fail after the work.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ecosort {

// `indent`: spaces for each level, -1: all on one line. Bytes that are not UTF-8, which names of files may hold, become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace ecosort
