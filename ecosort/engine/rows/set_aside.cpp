#include "engine/rows/set_aside.h"

#include <algorithm>
#include <cstring>

#include "engine/open_output.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {

SetAside::SetAside(Bench& bench, const SetAsideTerms& terms) : bench_(bench), path_(terms.path), memory_(terms.memory_bytes) {
  if (path_.empty()) return;
  file_ = open_output(bench.storage, path_, io::Caching::buffered);
  block_ = memory_.allocate(terms.memory_bytes, "rows that are set aside", Pages::small);
}

Task<void> SetAside::add(std::string_view row) {
  lines::add_line(hash_, row.substr(0, row.size() - 1));
  while (file_ && !row.empty()) {
    const std::size_t size = std::min(row.size(), block_.size() - filled_);
    std::memcpy(block_.data() + filled_, row.data(), size);
    filled_ += size;
    row.remove_prefix(size);
    if (filled_ == block_.size()) co_await write();
  }
}

Task<void> SetAside::write() {
  co_await bench_.reactor.write(*file_, written_, block_.data(), filled_);
  written_ += filled_;
  filled_ = 0;
}

Task<void> SetAside::finish() {
  if (!file_) co_return;
  if (filled_ > 0) co_await write();
  co_await bench_.reactor.sync(*file_);
}

}  // namespace ecosort::engine::rows
