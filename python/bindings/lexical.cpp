#include "lexical.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "lexical/bm25.h"
#include "lexical/postings.h"
#include "lexical/query.h"
#include "read_range.h"

namespace gossamer {
namespace {

using NumberRow = nb::ndarray<const ChunkNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Where chunks stand in their texts. Spans that follow each other with the same number are one
// chunk (its headings and its body).
struct Spans {
  std::span<const std::uint64_t> starts;
  std::span<const std::uint64_t> ends;
  std::span<const ChunkNumber> numbers;

  Spans(const IdRow& starts_row, const IdRow& ends_row, const NumberRow& numbers_row)
      : starts(starts_row.data(), starts_row.size()),
        ends(ends_row.data(), ends_row.size()),
        numbers(numbers_row.data(), numbers_row.size()) {
    expect(starts.size() == numbers.size() && ends.size() == numbers.size(),
           Reason::kInvalidArgument, "expected a start, an end and a chunk number for each span");
  }
};

// Spans of one file that are read together.
struct Piece {
  std::size_t file;
  std::size_t first;  // of the spans
  std::size_t last;   // behind the last one
  std::uint64_t begin;
  std::uint64_t end;
};

// Files are read in pieces of about this size, so that large ones are shared between threads.
constexpr std::uint64_t kPieceBytes = 1 << 20;
// Beyond such a gap the next chunk is read on its own.
constexpr std::uint64_t kGapBytes = 1 << 16;
// No chunk is as long as this; spans of a damaged index may be.
constexpr std::uint64_t kLongestPiece = 1 << 26;

// One thread's part of a pass.
struct Worker {
  explicit Worker(const LexicalQuery& query) : counter(query), counts(query.terms().size()) {}

  TermCounter counter;
  ChunkCounts counts;
  std::unique_ptr<char[]> buffer;
  std::size_t capacity = 0;

  std::span<char> room_for(std::size_t bytes) {
    if (bytes > capacity) {
      buffer = std::make_unique_for_overwrite<char[]>(bytes);
      capacity = bytes;
    }
    return {buffer.get(), bytes};
  }
};

// One question over texts of files and buffers. Buffers may be added from several threads.
class LexicalPass {
 public:
  LexicalPass(const nb::bytes& question, const std::optional<BoolRow>& allowed)
      : query_(text_of(question)) {
    if (allowed) allowed_.emplace(allowed->data(), allowed->data() + allowed->size());
  }

  auto add_files(const nb::typed<nb::list, nb::bytes>& paths, const IdRow& bounds,
                 const IdRow& starts, const IdRow& ends, const NumberRow& numbers, unsigned threads,
                 Progress* progress) {
    std::vector<std::string> files;
    for (const nb::handle path : paths) files.emplace_back(text_of(nb::cast<nb::bytes>(path)));
    const Spans spans(starts, ends, numbers);
    expect(bounds.size() == files.size() + 1 && bounds.data()[0] == 0 &&
               std::is_sorted(bounds.data(), bounds.data() + bounds.size()) &&
               bounds.data()[files.size()] == spans.starts.size(),
           Reason::kInvalidArgument,
           "bounds must rise from 0 to the number of spans, one step for each file");
    std::vector<std::uint32_t> failed;
    {
      const nb::gil_scoped_release release;
      failed = count_files(files, {bounds.data(), bounds.size()}, spans, threads, progress);
    }
    const std::size_t count = failed.size();
    return to_numpy(std::move(failed), {count});
  }

  void add_buffer(const ByteRow& text, const IdRow& starts, const IdRow& ends,
                  const NumberRow& numbers) {
    const Spans spans(starts, ends, numbers);
    const nb::gil_scoped_release release;
    const Lease worker(*this);
    const std::string_view bytes(reinterpret_cast<const char*>(text.data()), text.size());
    bytes_read_ += bytes.size();
    count_spans(spans, {0, 0, spans.starts.size(), 0, bytes.size()}, bytes, *worker);
  }

  // The best chunks, their scores, and how many chunks each term stands in.
  auto top(std::size_t best) {
    std::vector<ChunkNumber> numbers;
    std::vector<float> scores;
    std::vector<std::uint64_t> chunks_with;
    {
      const nb::gil_scoped_release release;
      const ChunkCounts all = total();
      for (const ScoredChunk& chunk : all.top(best)) {
        numbers.push_back(chunk.chunk);
        scores.push_back(chunk.score);
      }
      chunks_with.assign(all.chunks_with().begin(), all.chunks_with().end());
    }
    const std::size_t count = numbers.size();
    return std::make_tuple(to_numpy(std::move(numbers), {count}),
                           to_numpy(std::move(scores), {count}), chunks_with);
  }

  const LexicalQuery& query() const { return query_; }
  std::uint64_t chunks() {
    const std::lock_guard lock(mutex_);
    std::uint64_t chunks = 0;
    for (const auto& worker : workers_) chunks += worker->counts.chunks();
    return chunks;
  }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t files_opened() const { return files_opened_; }
  std::uint64_t chunks_unreadable() const { return chunks_unreadable_; }

 private:
  // A worker for as long as one call needs it; what it remembers of words serves the next one.
  class Lease {
   public:
    explicit Lease(LexicalPass& pass) : pass_(pass) {
      const std::lock_guard lock(pass.mutex_);
      if (pass.idle_.empty()) {
        pass.workers_.push_back(std::make_unique<Worker>(pass.query_));
        pass.idle_.reserve(pass.workers_.size());
        worker_ = pass.workers_.back().get();
      } else {
        worker_ = pass.idle_.back();
        pass.idle_.pop_back();
      }
    }
    ~Lease() {
      const std::lock_guard lock(pass_.mutex_);
      pass_.idle_.push_back(worker_);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Worker& operator*() const { return *worker_; }

   private:
    LexicalPass& pass_;
    Worker* worker_;
  };

  ChunkCounts total() {
    const std::lock_guard lock(mutex_);
    ChunkCounts all(query_.terms().size());
    for (const auto& worker : workers_) all.add(worker->counts);
    return all;
  }

  bool allows(ChunkNumber number) const {
    return !allowed_ || (number < allowed_->size() && (*allowed_)[number]);
  }

  std::vector<std::uint32_t> count_files(const std::vector<std::string>& files,
                                         std::span<const std::uint64_t> bounds, const Spans& spans,
                                         unsigned threads, Progress* progress) {
    std::vector<Piece> pieces;
    for (std::size_t file = 0; file < files.size(); ++file)
      cut_file(spans, file, bounds[file], bounds[file + 1], pieces);
    if (progress) progress->start(pieces.size());

    std::mutex failed_mutex;
    std::vector<std::uint32_t> failed;
    const auto count_piece = [&](std::size_t i, unsigned) {
      if (progress) progress->throw_if_cancelled();
      const Piece& piece = pieces[i];
      const Lease lease(*this);
      const std::span<char> room =
          (*lease).room_for(std::min(piece.end - piece.begin, kLongestPiece));
      const std::size_t size = read_range(files[piece.file], piece.begin, room);
      bytes_read_ += size;
      files_opened_ += i == 0 || pieces[i - 1].file != piece.file;
      if (!count_spans(spans, piece, {room.data(), size}, *lease)) {
        const std::lock_guard lock(failed_mutex);
        failed.push_back(static_cast<std::uint32_t>(piece.file));
      }
      if (progress) progress->advance();
    };
    parallel_for(pieces.size(), resolve_threads(threads), 8, count_piece);

    std::sort(failed.begin(), failed.end());
    failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
    return failed;
  }

  // Adds the pieces of one file, whose spans are [first, last); what is not allowed is not read.
  void cut_file(const Spans& spans, std::size_t file, std::size_t first, std::size_t last,
                std::vector<Piece>& pieces) const {
    bool is_open = false;
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t start = spans.starts[i];
      const std::uint64_t end = std::max(start, spans.ends[i]);
      if (!allows(spans.numbers[i])) continue;
      if (is_open) {
        Piece& piece = pieces.back();
        const std::uint64_t begin = std::min(piece.begin, start);
        const bool is_near = start <= piece.end + kGapBytes && end - begin <= kPieceBytes &&
                             piece.end - begin <= kPieceBytes;
        if (is_near || spans.numbers[i] == spans.numbers[i - 1]) {
          piece = {file, piece.first, i + 1, begin, std::max(piece.end, end)};
          continue;
        }
      }
      pieces.push_back({file, i, i + 1, start, end});
      is_open = true;
    }
  }

  // Counts the allowed chunks of a piece, whose bytes are given as far as they could be read.
  // Gives whether all were there.
  bool count_spans(const Spans& spans, const Piece& piece, std::string_view bytes, Worker& worker) {
    std::uint64_t missing = 0;
    for (std::size_t i = piece.first; i < piece.last;) {
      const ChunkNumber number = spans.numbers[i];
      const bool is_allowed = allows(number);
      bool is_there = true;
      std::uint64_t length = 0;
      for (; i < piece.last && spans.numbers[i] == number; ++i) {
        if (!is_allowed) continue;
        const std::uint64_t start = spans.starts[i] - piece.begin;
        is_there = is_there && spans.starts[i] <= spans.ends[i] &&
                   spans.ends[i] - piece.begin <= bytes.size();
        if (!is_there) continue;
        const std::uint64_t size = spans.ends[i] - spans.starts[i];
        worker.counter.add(bytes.substr(start, size));
        length += size;
      }
      if (is_allowed && is_there) worker.counts.add(number, length, worker.counter);
      if (is_allowed && !is_there) ++missing;
      worker.counter.clear();
    }
    chunks_unreadable_ += missing;
    return missing == 0;
  }

  LexicalQuery query_;
  std::optional<std::vector<bool>> allowed_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<std::uint64_t> files_opened_{0};
  std::atomic<std::uint64_t> chunks_unreadable_{0};
};

void bind_terms(nb::module_& m) {
  m.def(
      "question_terms",
      [](const nb::bytes& question) { return LexicalQuery(text_of(question)).terms(); },
      nb::arg("question"), "What a question asks for: its terms, each once.");
  m.def(
      "find_terms",
      [](const nb::bytes& text, const nb::bytes& question) {
        return LexicalQuery(text_of(question)).find_in(text_of(text));
      },
      nb::arg("text"), nb::arg("question"), "Where terms of a question stand in a text, in bytes.");
  m.def(
      "spaced_terms", [](const nb::bytes& text) { return spaced_terms(text_of(text)); },
      nb::arg("text"), "The terms of a text, with spaces between them.");
}

void bind_postings(nb::module_& m) {
  nb::class_<PostingsWriter>(m, "PostingsWriter")
      .def(nb::init<>())
      .def(
          "add",
          [](PostingsWriter& self, std::uint32_t chunk, const nb::bytes& text) {
            self.add(chunk, text_of(text));
          },
          nb::arg("chunk"), nb::arg("text"))
      .def(
          "finish",
          [](const PostingsWriter& self, std::uint32_t chunks, const NumberRow& numbers) {
            return bytes_of(self.finish(chunks, {numbers.data(), numbers.size()}));
          },
          nb::arg("chunks"), nb::arg("numbers"));
}

void bind_pass(nb::module_& m) {
  nb::class_<LexicalPass>(m, "LexicalPass")
      .def(nb::init<const nb::bytes&, const std::optional<BoolRow>&>(), nb::arg("question"),
           nb::arg("allowed").none())
      .def("add_files", &LexicalPass::add_files, nb::arg("paths"), nb::arg("bounds"),
           nb::arg("starts"), nb::arg("ends"), nb::arg("numbers"), nb::arg("threads"),
           nb::arg("progress").none())
      .def("add_buffer", &LexicalPass::add_buffer, nb::arg("text"), nb::arg("starts"),
           nb::arg("ends"), nb::arg("numbers"))
      .def("top", &LexicalPass::top, nb::arg("best"))
      .def_prop_ro("terms", [](const LexicalPass& self) { return self.query().terms(); })
      .def_prop_ro("chunks", &LexicalPass::chunks)
      .def_prop_ro("chunks_unreadable", &LexicalPass::chunks_unreadable)
      .def_prop_ro("bytes_read", &LexicalPass::bytes_read)
      .def_prop_ro("files_opened", &LexicalPass::files_opened);
}

}  // namespace
}  // namespace gossamer

void bind_lexical(nanobind::module_& m) {
  gossamer::bind_terms(m);
  gossamer::bind_postings(m);
  gossamer::bind_pass(m);
}
