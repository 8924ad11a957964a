// The part of {fmt} that is compiled once. Systems that have it as a shared library only would make every start longer with that,
// and with the C++ library that it wants to share. Its header declares the templates below to be instantiated here.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
