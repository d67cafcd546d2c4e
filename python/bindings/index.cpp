#include "index.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.h"
#include "base/parallel.h"
#include "index/index.h"
#include "index/insert_batch.h"

using namespace gossamer;

namespace {

void check_rows(const Index& index, const IdRow& ids, const FloatMatrix& vectors) {
  check_dim(vectors.shape(1), index.options().dim);
  if (ids.size() != vectors.shape(0)) {
    fail(Reason::kInvalidArgument,
         "expected one id for each vector: " + std::to_string(ids.size()) + " ids and " +
             std::to_string(vectors.shape(0)) + " vectors came");
  }
}

void check_codes(const ByteMatrix& codes, std::size_t count, std::size_t code_bytes) {
  if (codes.shape(0) == count && codes.shape(1) == code_bytes) return;
  fail(Reason::kInvalidArgument, "expected a code of " + std::to_string(code_bytes) +
                                     " bytes for each of " + std::to_string(count) + " ids; " +
                                     std::to_string(codes.shape(0)) + " codes of " +
                                     std::to_string(codes.shape(1)) + " bytes came");
}

BuildRun make_run(unsigned threads, std::uint64_t seed, std::size_t calibration_queries,
                  bool refine_order = false) {
  return {resolve_threads(threads), seed, calibration_queries, refine_order};
}

std::unique_ptr<Index> build(const IndexOptions& options, std::shared_ptr<Codebook> codebook,
                             const FloatMatrix& vectors, const std::optional<IdRow>& ids,
                             const std::optional<FloatMatrix>& queries, unsigned threads,
                             std::uint64_t seed, std::size_t calibration_queries, bool refine_order,
                             Progress* progress) {
  check_dim(vectors.shape(1), options.dim);
  if (queries) check_dim(queries->shape(1), options.dim);
  if (ids && ids->size() != vectors.shape(0)) {
    fail(Reason::kInvalidArgument, "expected one id for each vector");
  }
  const nb::gil_scoped_release release;
  return Index::build(options, std::move(codebook), vectors.data(), vectors.shape(0),
                      ids ? ids->data() : nullptr, queries ? queries->data() : nullptr,
                      queries ? queries->shape(0) : 0,
                      make_run(threads, seed, calibration_queries, refine_order), progress);
}

void recalibrate(Index& index, const std::optional<FloatMatrix>& queries, unsigned threads,
                 std::uint64_t seed, std::size_t calibration_queries, Progress* progress) {
  if (queries) check_dim(queries->shape(1), index.options().dim);
  index.recalibrate(queries ? queries->data() : nullptr, queries ? queries->shape(0) : 0,
                    make_run(threads, seed, calibration_queries), progress);
}

std::unique_ptr<Index> open(const ByteRow& file, std::shared_ptr<Codebook> codebook) {
  const nb::gil_scoped_release release;
  return Index::open({file.data(), file.size()}, std::move(codebook));
}

// A file's parts as they will be written: Python writes them one after the other.
class SavedFile {
 public:
  SavedFile(const Index& index, const Index::Saved& saved) : parts_(index.save(image_, saved)) {}

  std::size_t size() const { return parts_.size(); }
  nb::ndarray<nb::numpy, const std::uint8_t> part(std::size_t i) const {
    const std::size_t shape[1] = {parts_.at(i).size()};
    return nb::ndarray<nb::numpy, const std::uint8_t>(parts_[i].data(), 1, shape, nb::find(this));
  }

 private:
  FileImage image_;
  std::vector<ByteView> parts_;
};

void bind_stats(nb::module_& m) {
  nb::class_<IndexStats>(m, "IndexStats")
      .def_ro("count", &IndexStats::count)
      .def_ro("deleted", &IndexStats::deleted)
      .def_ro("kept", &IndexStats::kept)
      .def_ro("mean_degree", &IndexStats::mean_degree)
      .def_ro("levels", &IndexStats::levels)
      .def_ro("codes_bytes", &IndexStats::codes_bytes)
      .def_ro("codebook_bytes", &IndexStats::codebook_bytes)
      .def_ro("vectors_bytes", &IndexStats::vectors_bytes)
      .def_ro("graph_bytes", &IndexStats::graph_bytes)
      .def_ro("source_graph_bytes", &IndexStats::source_graph_bytes)
      .def_ro("ids_bytes", &IndexStats::ids_bytes)
      .def_ro("rebuild_hint", &IndexStats::rebuild_hint)
      .def_ro("prune_s", &IndexStats::prune_s);
}

void bind_updates(nb::class_<Index>& index) {
  index
      .def(
          "add",
          [](Index& self, const IdRow& ids, const FloatMatrix& vectors, Progress* progress) {
            check_rows(self, ids, vectors);
            self.add(view_of(ids), vectors.data(), progress);
          },
          nb::arg("ids"), nb::arg("vectors"), nb::arg("progress").none(), Release())
      .def(
          "add_codes",
          [](Index& self, const IdRow& ids, const ByteMatrix& codes) {
            if (self.codebook()) check_codes(codes, ids.size(), self.codebook()->code_bytes());
            self.add_codes(view_of(ids), {codes.data(), codes.size()});
          },
          nb::arg("ids"), nb::arg("codes"), Release())
      .def(
          "begin_add",
          [](Index& self, const IdRow& ids, const FloatMatrix& vectors) {
            check_rows(self, ids, vectors);
            return self.begin_add(view_of(ids), vectors.data());
          },
          nb::arg("ids"), nb::arg("vectors"), nb::keep_alive<0, 1>(), Release())
      .def(
          "remove", [](Index& self, const IdRow& ids) { self.remove(view_of(ids)); },
          nb::arg("ids"), Release())
      .def(
          "compact", [](Index& self, unsigned threads) { self.compact(resolve_threads(threads)); },
          nb::arg("threads"), Release())
      .def(
          "remember",
          [](Index& self, const IdRow& ids, const FloatMatrix& vectors) {
            check_rows(self, ids, vectors);
            self.remember(view_of(ids), vectors.data());
          },
          nb::arg("ids"), nb::arg("vectors"), Release())
      .def("recalibrate", &recalibrate, nb::arg("queries").none(), nb::arg("threads"),
           nb::arg("seed"), nb::arg("calibration_queries"), nb::arg("progress").none(), Release());
}

void bind_delta_log(nb::class_<Index>& index) {
  index.def("track", &Index::track, Release())
      .def("take_delta",
           [](Index& self) { return bytes_of(release_for([&] { return self.take_delta(); })); })
      .def(
          "apply_delta",
          [](Index& self, const nb::bytes& delta) {
            const ByteView view = view_of(delta);
            release_for([&] { self.apply_delta(view); });
          },
          nb::arg("delta"));
}

void bind_reading(nb::class_<Index>& index) {
  index
      .def(
          "save",
          [](const Index& self, bool codebook, bool calibration, bool source) {
            return std::make_unique<SavedFile>(self, Index::Saved{codebook, calibration, source});
          },
          nb::arg("codebook"), nb::arg("calibration"), nb::arg("source"), nb::keep_alive<0, 1>(),
          Release())
      .def("verify", &Index::verify, Release())
      .def("stats", &Index::stats, Release())
      .def_prop_ro("options", &Index::options, nb::rv_policy::copy)
      .def_prop_ro(
          "codebook",
          [](const Index& self) { return std::const_pointer_cast<Codebook>(self.codebook()); })
      .def_prop_rw("calibration", &Index::calibration, &Index::set_calibration)
      .def_prop_ro("count", &Index::count, Release())
      .def("contains", &Index::contains, nb::arg("id"), Release())
      .def("ids",
           [](const Index& self) { return to_numpy(release_for([&] { return self.ids(); })); })
      .def(
          "vectors_of",
          [](const Index& self, const IdRow& ids) {
            return to_numpy(release_for([&] { return self.vectors_of(view_of(ids)); }),
                            {ids.size(), self.options().dim});
          },
          nb::arg("ids"))
      .def(
          "codes_of",
          [](const Index& self, const IdRow& ids) {
            Bytes codes = release_for([&] { return self.codes_of(view_of(ids)); });
            return to_numpy(std::move(codes), {ids.size(), self.codebook()->code_bytes()});
          },
          nb::arg("ids"));
}

}  // namespace

void bind_index(nb::module_& m) {
  bind_stats(m);
  nb::class_<SavedFile>(m, "SavedFile")
      .def("__len__", &SavedFile::size)
      .def("part", &SavedFile::part, nb::arg("index"));
  nb::class_<InsertBatch>(m, "InsertBatch")
      .def("wanted", [](const InsertBatch& self) { return to_numpy(self.wanted()); })
      .def(
          "supply",
          [](InsertBatch& self, const FloatMatrix& vectors) {
            self.supply({vectors.data(), vectors.size()});
          },
          nb::arg("vectors"))
      .def("finish", &InsertBatch::finish, Release());
  nb::class_<Index> index(m, "Index");
  index
      .def_static("build", &build, nb::arg("options"), nb::arg("codebook").none(),
                  nb::arg("vectors"), nb::arg("ids").none(), nb::arg("queries").none(),
                  nb::arg("threads"), nb::arg("seed"), nb::arg("calibration_queries"),
                  nb::arg("refine_order"), nb::arg("progress").none())
      .def_static(
          "create",
          [](std::shared_ptr<Codebook> codebook, const Calibration& calibration) {
            return Index::create(std::move(codebook), calibration);
          },
          nb::arg("codebook"), nb::arg("calibration"))
      .def_static("open", &open, nb::arg("file").noconvert(), nb::arg("codebook").none(),
                  nb::keep_alive<0, 1>());
  bind_updates(index);
  bind_delta_log(index);
  bind_reading(index);
}
