#include "engine/rows/row_output.h"

namespace ecosort::engine::rows {

void RowOutput::reserve(io::File& file) {
  file_ = &file;
  if (job_.reserved_bytes > 0 && !file.facts().is_stream)
    is_reserved_ = bench_.storage.reserve_patiently(file, 0, job_.reserved_bytes);
}

void RowOutput::open(const RowTools& tools, const std::string& top) {
  top_ = &top;
  if (job_.split)
    out_ = &split_.emplace(tools, *job_.split, top, memory_, job_.codecs.packing);
  else if (job_.codecs.packing)
    out_ = &packed_.emplace(tools, *file_, memory_, *job_.codecs.packing);
  else
    out_ = &sink_.emplace(tools, *file_, is_reserved_);
}

void RowOutput::set_total(std::uint64_t bytes) {
  if (split_) split_->set_total(bytes);
}

Task<void> RowOutput::merge(MergeParts& parts) {
  if (split_)
    co_await parts.merge_whole(*split_, nothing_);
  else if (packed_)
    co_await parts.merge_whole(*packed_, *top_);
  else
    co_await parts.merge_to(*sink_, *top_);
}

Task<void> RowOutput::complete() {
  if (packed_) co_await packed_->finish();
  if (split_) co_await split_->finish();
  if (!split_ && !file_->facts().is_stream && (packed_ || sink_->is_padded())) bench_.storage.set_size(*file_, file_bytes());
}

void RowOutput::report_to(LinesReport& report) const {
  report.output_bytes = split_ ? split_->plain_bytes() : out_->bytes();
  if (packed_) report.packed_bytes = packed_->file_bytes();
  if (!split_) return;
  report.files = split_->files();
  if (job_.codecs.packing) report.packed_bytes = split_->file_bytes();
  report.peak_memory_bytes += split_->peak_memory_bytes();
}

}  // namespace ecosort::engine::rows
