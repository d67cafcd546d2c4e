#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace gossamer {

template <class Signature>
class FunctionRef;

// Stands for a function, which outlives it: what a call that ends before its caller's statement is
// given. std::function can also be kept, and takes several hundred bytes of a WebAssembly module
// for each function that it is made of.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef>)
  FunctionRef(Function&& function)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* known, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Function>*>(known))(
              std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(function_, std::forward<Args>(args)...); }

 private:
  void* function_;
  Result (*call_)(void* known, Args... args);
};

}  // namespace gossamer
