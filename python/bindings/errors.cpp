#include "errors.h"

#include <cstring>

#include "base/error.h"

namespace nb = nanobind;

namespace gossamer {
namespace {

// The class in gossamer.errors that carries a reason.
const char* class_name(Reason reason) {
  switch (reason) {
    case Reason::kInvalidArgument:
      return "InvalidArgument";
    case Reason::kWrongDimension:
      return "WrongDimension";
    case Reason::kNotFinite:
      return "NotFinite";
    case Reason::kEmpty:
      return "Empty";
    case Reason::kDuplicateId:
      return "DuplicateId";
    case Reason::kUnknownId:
      return "UnknownId";
    case Reason::kWrongState:
      return "WrongState";
    case Reason::kMissingCodebook:
      return "MissingCodebook";
    case Reason::kCodebookMismatch:
      return "CodebookMismatch";
    case Reason::kNotGossamer:
      return "NotGossamer";
    case Reason::kUnknownVersion:
      return "UnknownVersion";
    case Reason::kTruncated:
      return "Truncated";
    case Reason::kDamaged:
      return "Damaged";
    case Reason::kTooLarge:
      return "TooLarge";
    case Reason::kCancelled:
      return "Cancelled";
  }
  return "GossamerError";
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type =
        nb::module_::import_("gossamer.errors").attr(class_name(error.reason()));
    // Names of files and questions may hold lone surrogates.
    const auto message = nb::steal(PyUnicode_DecodeUTF8(
        error.what(), static_cast<Py_ssize_t>(std::strlen(error.what())), "surrogatepass"));
    if (message.is_valid()) PyErr_SetObject(type.ptr(), message.ptr());
  }
}

}  // namespace
}  // namespace gossamer

void bind_errors(nb::module_&) { nb::register_exception_translator(gossamer::translate); }
