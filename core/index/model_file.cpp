#include "index/model_file.h"

#include "storage/container.h"

namespace gossamer {
namespace {

constexpr auto kDescription = static_cast<SectionKind>(40);
constexpr auto kVocabulary = static_cast<SectionKind>(41);
constexpr auto kTable = static_cast<SectionKind>(42);

}  // namespace

StaticModel read_static_model(ByteView file) {
  const Container container = Container::parse(file);
  return StaticModel::from_parts(container.required(kDescription), container.required(kVocabulary),
                                 container.required(kTable));
}

}  // namespace gossamer
