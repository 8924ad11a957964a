// A thread with little stack: what calls itself as often as its input says so ends the program there.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace ecosort {

inline constexpr std::size_t small_stack_bytes = std::size_t{128} << 10U;

template <class Work>
void on_small_stack(Work work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, small_stack_bytes), 0);
  pthread_t thread{};
  const auto body = [](void* argument) -> void* {
    (*static_cast<Work*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &work), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

}  // namespace ecosort
