// Lines of JSON enter the index.
#include <algorithm>
#include <utility>

#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/enter_rows.h"

namespace ecosort::jsonl {
namespace {

// Takes rows out of stretches of bytes that the kernel has split, reads each, and leaves out those that are blank.
class JsonlFramer {
 public:
  struct Row {
    Text text;
    records::KeyWindow window;
  };

  JsonlFramer(const lines::LineRun& run, const JsonlFormat& format, lines::Part& part)
      : run_(run), bytes_(run.bytes()), format_(format), part_(part), begin_(part.begin), next_(part.begin) {
    part.key_counts.resize(format.levels());
  }

  std::size_t next(lines::HashedRow<JsonlFramer>* rows, std::size_t most) {
    std::size_t count = 0;
    while (count < most && !is_ended_ && find()) {
      const Text text(bytes_ + begin_, at_ + ends_[taken_] - begin_);
      if (format_.is_blank(text)) [[unlikely]] {
        lines::leave_out(part_, text);
        ++part_.blank_lines;
      } else {
        rows[count].row = {text, format_.take_values(text, part_.key_counts, part_.fault)};
        if (!part_.fault) [[likely]]
          ++count;
        else
          take_bad(text);
        if (part_.fault) break;
      }
      begin_ += text.size() + 1;
      ++taken_;
    }
    return count;
  }
  [[nodiscard]] static records::KeyWindow window(const Row& row) noexcept { return row.window; }
  [[nodiscard]] std::size_t end() const noexcept { return begin_; }

 private:
  // Finds the end of another row, and returns whether there is one.
  bool find() noexcept {
    for (; taken_ == found_; taken_ = 0) {
      at_ = next_;
      if (at_ >= part_.end) return false;
      found_ = kernels_.split(bytes_ + at_, std::min(lines::split_bytes, part_.end - at_), '\n', ends_);
      next_ = at_ + lines::split_bytes;
    }
    return true;
  }

  // Takes a row that cannot be sorted; it may be the last one of the part.
  void take_bad(Text row) {
    part_.fault->at += begin_;
    is_ended_ = true;
    if (!format_.leaves_out_bad_rows()) return;
    formats::uncount(part_.key_counts, [&](auto& counts, auto& fault) { (void)format_.take_values(row, counts, fault); });
    is_ended_ = !lines::leave_out_bad(run_, part_, row, *std::exchange(part_.fault, std::nullopt));
  }

  const lines::LineKernels& kernels_ = lines::line_kernels();
  const lines::LineRun& run_;
  const char* bytes_;
  const JsonlFormat& format_;
  lines::Part& part_;
  std::size_t begin_;   // of the next row
  std::size_t at_ = 0;  // of the stretch
  std::size_t next_;    // stretch
  std::size_t found_ = 0, taken_ = 0;
  bool is_ended_ = false;
  std::uint32_t ends_[lines::split_room];
};

}  // namespace

void JsonlFormat::enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const {
  JsonlFramer framer(run, *this, part);
  lines::enter_rows(run, framer, part, seen);
}

}  // namespace ecosort::jsonl
