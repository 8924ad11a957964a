#include "formats/keys/order_bytes.h"

#include <iterator>
#include <utility>

#include "ecosort/value_types.hpp"
#include "formats/lines/order_bytes.h"

namespace ecosort::keys {
namespace {

constexpr std::uint64_t with_argument = 256;  // is added to a type whose argument follows

}  // namespace

void add_keys(ByteWriter& out, const std::vector<ValueKey>& keys) {
  out.add(std::uint64_t{keys.size()});
  for (const ValueKey& key : keys) {
    out.add(key.name);
    out.add(static_cast<std::uint64_t>(key.type) + (key.argument.empty() ? 0 : with_argument));
    out.add(std::uint64_t{key.descends});
    if (key.is_collated())
      lines::add_collation(out, key.argument);
    else if (!key.argument.empty())
      out.add(key.argument);
  }
}

std::vector<ValueKey> next_keys(ByteReader& in) {
  std::vector<ValueKey> keys;
  for (std::uint64_t left = in.next_count(3 * sizeof(std::uint64_t)); left > 0; --left) {
    ValueKey key;
    key.name = in.next_text();
    const std::uint64_t type = in.next_below(with_argument + std::size(value_types));
    const bool has_argument = type >= with_argument;
    in.require(has_argument || type < std::size(value_types));
    key.type = static_cast<ValueType>(has_argument ? type - with_argument : type);
    key.descends = in.next_flag();
    if (has_argument) key.argument = key.type == ValueType::text ? lines::next_collation(in) : in.next_text();
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace ecosort::keys
