#include "doubles/paged_bytes.h"

#include <algorithm>
#include <cstring>

namespace ecosort::io {

namespace {

// Calls visit(page, offset in the page, offset from `begin`, bytes) for every page that [begin, begin + size) touches.
template <typename Visit>
void for_each_page(std::uint64_t begin, std::uint64_t size, Visit visit) {
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t at = begin + done;
    const std::uint64_t within = at % PagedBytes::page_bytes;
    const std::uint64_t bytes = std::min(size - done, PagedBytes::page_bytes - within);
    visit(static_cast<std::size_t>(at / PagedBytes::page_bytes), static_cast<std::size_t>(within), static_cast<std::size_t>(done),
          static_cast<std::size_t>(bytes));
    done += bytes;
  }
}

}  // namespace

PagedBytes::Page& PagedBytes::writable(std::size_t page) {
  if (page >= pages_.size()) pages_.resize(page + 1);
  std::shared_ptr<Page>& slot = pages_[page];
  if (!slot) {
    slot = std::make_shared<Page>();
    ++pages_allocated_;
  } else if (slot.use_count() > 1) {
    slot = std::make_shared<Page>(*slot);
  }
  return *slot;
}

void PagedBytes::drop(std::size_t page) {
  if (page >= pages_.size() || !pages_[page]) return;
  pages_[page] = nullptr;
  --pages_allocated_;
}

std::size_t PagedBytes::read(std::uint64_t offset, std::byte* data, std::size_t size) const {
  if (offset >= size_) return 0;
  const std::uint64_t readable = std::min<std::uint64_t>(size, size_ - offset);
  for_each_page(offset, readable, [&](std::size_t page, std::size_t within, std::size_t done, std::size_t bytes) {
    if (page < pages_.size() && pages_[page])
      std::memcpy(data + done, pages_[page]->data() + within, bytes);
    else
      std::memset(data + done, 0, bytes);
  });
  return static_cast<std::size_t>(readable);
}

bool PagedBytes::holds(std::string_view text) const {
  static constexpr Page zeros{};
  if (text.size() != size_) return false;
  bool is_equal = true;
  for_each_page(0, size_, [&](std::size_t page, std::size_t within, std::size_t done, std::size_t bytes) {
    const Page& found = page < pages_.size() && pages_[page] ? *pages_[page] : zeros;
    is_equal = is_equal && std::memcmp(found.data() + within, text.data() + done, bytes) == 0;
  });
  return is_equal;
}

void PagedBytes::write(std::uint64_t offset, const std::byte* data, std::size_t size) {
  if (size == 0) return;
  for_each_page(offset, size, [&](std::size_t page, std::size_t within, std::size_t done, std::size_t bytes) {
    std::memcpy(writable(page).data() + within, data + done, bytes);
  });
  size_ = std::max(size_, offset + size);
}

void PagedBytes::zero(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  for_each_page(begin, end - begin, [&](std::size_t page, std::size_t within, std::size_t, std::size_t bytes) {
    if (page < pages_.size() && pages_[page]) std::memset(writable(page).data() + within, 0, bytes);
  });
}

void PagedBytes::resize(std::uint64_t size) {
  const std::uint64_t pages = (size + page_bytes - 1) / page_bytes;
  for (std::size_t page = static_cast<std::size_t>(pages); page < pages_.size(); ++page) drop(page);
  pages_.resize(std::min<std::size_t>(pages_.size(), static_cast<std::size_t>(pages)));
  zero(size, std::min(size_, pages * page_bytes));  // what a later extension would otherwise show again
  size_ = size;
}

void PagedBytes::release(std::uint64_t offset, std::uint64_t size) {
  for_each_page(offset, size, [&](std::size_t page, std::size_t, std::size_t done, std::size_t bytes) {
    if (bytes == page_bytes)
      drop(page);
    else
      zero(offset + done, offset + done + bytes);
  });
}

void PagedBytes::reserve(std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return;
  for_each_page(offset, size, [&](std::size_t page, std::size_t, std::size_t, std::size_t) { (void)writable(page); });
  size_ = std::max(size_, offset + size);
}

std::uint64_t PagedBytes::missing_bytes(std::uint64_t offset, std::uint64_t size) const {
  std::uint64_t pages = 0;
  for_each_page(offset, size, [&](std::size_t page, std::size_t, std::size_t, std::size_t) {
    if (page >= pages_.size() || !pages_[page]) ++pages;
  });
  return pages * page_bytes;
}

}  // namespace ecosort::io
