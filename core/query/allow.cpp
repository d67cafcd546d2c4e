#include "filters/filter.h"
#include "filters/scope.h"
#include "query/collection.h"

namespace gossamer {

std::shared_ptr<const Allowed> Collection::allow(const std::string& filter) const {
  if (auto known = find_allowed(filter)) return known;
  auto allowed =
      std::make_shared<const Allowed>(allowed_documents(*catalogue_, Filter::read(filter)));
  remember(filter, allowed);
  return allowed;
}

}  // namespace gossamer
