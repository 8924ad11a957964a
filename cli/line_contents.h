// The first bytes of an input of `ecosort lines` show what a user should know: as they are, their order may not be what was
// meant. Checks of lines print the same notices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/plan_codecs.h"

namespace ecosort::cli {

// An input that is compressed, and read as it is.
struct CompressedInput {
  std::string name;
  std::string_view codec;
};

// Each kind of contents is reported once, of the first input that has it. Not thread-safe.
class LineContents {
 public:
  // `separator`: of -t, where there are keys that it cuts. `tells_compressed`: of compressed data and of what is
  // no text, too. `tells_nul`: of data with NUL bytes that is none of the known kinds.
  LineContents(std::optional<char> separator, bool tells_compressed, bool tells_nul)
      : separator_(separator), told_compressed_(!tells_compressed), told_foreign_(!tells_compressed), tells_nul_(tells_nul) {}

  // One notice that names all of these, which then count as reported: nothing for none.
  [[nodiscard]] std::string compressed_notice(const std::vector<CompressedInput>& inputs);

  // Notices about an input of this name that begins with `first`: compressed data, what is no text, a byte order mark,
  // quoted fields.
  [[nodiscard]] std::vector<std::string> look(const std::string& name, std::string_view first);

 private:
  [[nodiscard]] bool has_quoted_field(std::string_view first) const;

  std::optional<char> separator_;
  bool told_compressed_, told_foreign_, tells_nul_, told_mark_ = false, told_quotes_ = false;
};

}  // namespace ecosort::cli
