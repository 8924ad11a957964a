// Lines enter the index.
#include "formats/lines/enter_rows.h"
#include "formats/lines/line_order.h"

namespace ecosort::lines {
namespace {

// Takes lines of a stretch of bytes that the kernel has split.
class LineFramer {
 public:
  struct Row {
    Text text;
  };

  LineFramer(const LineRun& run, const LineOrder& order, const Part& part)
      : bytes_(run.bytes()),
        order_(order),
        terminator_(run.terminator),
        begin_(part.begin),
        part_end_(part.end),
        next_(part.begin) {}

  std::size_t next(HashedRow<LineFramer>* rows, std::size_t most) noexcept {
    while (taken_ == found_) {
      at_ = next_;
      if (at_ >= part_end_) return 0;
      found_ = kernels_.split(bytes_ + at_, std::min(split_bytes, part_end_ - at_), terminator_, ends_);
      next_ = at_ + split_bytes;
      taken_ = 0;
    }
    const std::size_t count = std::min(found_ - taken_, most);
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].row.text = Text(bytes_ + begin_, at_ + ends_[taken_ + i] - begin_);
      begin_ = at_ + ends_[taken_ + i] + 1;
    }
    taken_ += count;
    return count;
  }
  [[nodiscard]] records::KeyWindow window(const Row& row) const { return order_.window(row.text); }
  [[nodiscard]] std::size_t end() const noexcept { return begin_; }

 private:
  const LineKernels& kernels_ = line_kernels();
  const char* bytes_;
  const LineOrder& order_;
  char terminator_;
  std::size_t begin_;  // of the next line
  std::size_t part_end_;
  std::size_t at_ = 0;  // of the stretch
  std::size_t next_;    // stretch
  std::size_t found_ = 0, taken_ = 0;
  std::uint32_t ends_[split_room];
};

}  // namespace

void LineOrder::enter(LineRun& run, Part& part, DuplicateFilter* seen) const {
  LineFramer framer(run, *this, part);
  enter_rows(run, framer, part, seen);
}

}  // namespace ecosort::lines
