// Says how the output of a request is compressed, and what may compress one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecosort/request.hpp"

namespace ecosort::job {

// Returns the word of the codec, or "none": for a caller that gives the output another name than the sort sees. Throws UsageError
// for a word or a level that there is not.
[[nodiscard]] std::string output_codec_word(const Request& request);

// Say it of all codecs: "gzip|zstd|...", the endings of their files ".gz .zst ...", and "gzip 1 to 12, zstd 1 to 19, ...".
[[nodiscard]] std::string codec_names();
[[nodiscard]] std::string codec_endings();
[[nodiscard]] std::string codec_levels();
// Returns the endings of names by which inputs are decompressed.
[[nodiscard]] std::vector<std::string_view> endings_of_inputs();

}  // namespace ecosort::job
