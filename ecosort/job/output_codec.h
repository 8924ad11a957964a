// Says how the output of a request is compressed, for a caller that gives it another name than the sort sees.
#pragma once

#include <string>

#include "ecosort/request.hpp"

namespace ecosort::job {

// Returns the word of the codec, or "none". Throws UsageError for a word or a level that there is not.
[[nodiscard]] std::string output_codec_word(const Request& request);

}  // namespace ecosort::job
