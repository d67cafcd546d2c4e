#include "index/model_pack.h"

#include <doctest/doctest.h>

#include "index_fixture.h"

using namespace gossamer;
using namespace gossamer::testing;

namespace {

ModelPack small_pack(const World& world) {
  ModelPack pack{world.codebook, {}};
  pack.calibration.add({Strategy::kScan, 10, {{0.9f, Effort{0, 4.0f}, 20}}});
  return pack;
}

}  // namespace

TEST_CASE("a pack gives back the codebook and the calibration that went in") {
  const World world(300);
  const ModelPack pack = small_pack(world);

  const ModelPack again = ModelPack::from_bytes(pack.to_bytes());

  CHECK(again.codebook->fingerprint() == world.codebook->fingerprint());
  CHECK(again.calibration.to_bytes() == pack.calibration.to_bytes());
  CHECK(ModelPack::from_bytes(ModelPack{world.codebook, {}}.to_bytes()).calibration.empty());
}

TEST_CASE("a pack that is cut short is refused, and so is a file without a codebook") {
  const World world(300);
  const Bytes bytes = small_pack(world).to_bytes();
  const auto index = Index::create(world.codebook, {});

  for (std::size_t size = 0; size < bytes.size(); size += 101) {
    CHECK(reason_of([&] { ModelPack::from_bytes(ByteView(bytes).first(size)); }) == "truncated");
  }
  CHECK(reason_of([&] { ModelPack::from_bytes(saved(*index, false)); }) == "damaged");
  CHECK(ModelPack::from_bytes(saved(*index)).codebook->dim() == world.dim);
}

TEST_CASE("an index made with a pack answers like one that was built") {
  const World world(300);
  const ModelPack pack = ModelPack::from_bytes(small_pack(world).to_bytes());
  const auto index = Index::create(pack.codebook, pack.calibration);
  Ids ids;
  for (std::uint64_t id = 0; id < world.count(); ++id) ids.push_back(id);

  index->add(ids, world.vectors.data(), nullptr);

  const auto built = build_small(world, small_options(world, Keep::kNone, GraphKind::kNone));
  const Model model(world);
  CHECK(index->codes_of(ids) == built->codes_of(ids));
  for (std::size_t q = 0; q < 10; ++q) {
    CHECK(run_search(*index, model, world.query(q), request_of(5, Strategy::kScan)).hits ==
          model.nearest_ids(world.query(q), 5));
  }
}
