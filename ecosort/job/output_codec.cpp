#include "job/output_codec.h"

#include <optional>

#include "codec/codec.h"

namespace ecosort::job {

std::string output_codec_word(const Request& request) {
  const std::optional<codec::OutputCodec> output = codec::output_codec_of(request.compression, request.place.output);
  return output ? codec::name_of(output->codec) : "none";
}

std::string codec_names() { return codec::names_with_bars(); }
std::string codec_endings() { return codec::endings(); }
std::string codec_levels() { return codec::levels(); }
std::vector<std::string_view> endings_of_inputs() { return codec::endings_of_inputs(); }

}  // namespace ecosort::job
