#include "query/meaning.h"

#include <algorithm>

#include "base/append.h"

namespace gossamer {
namespace {

// Of what a round wants: if more cannot be had, a search would go on for what happens to be at
// hand.
constexpr double kMuch = 0.5;

void add_chunks(const Collection& collection, std::size_t source, std::vector<std::uint64_t>& ids) {
  const RowRange rows = collection.catalogue().documents_of(source);
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Catalogue::Place place = collection.catalogue().document(row);
    const auto first =
        static_cast<std::uint64_t>(place.group->rows.document_alone(place.row).first_chunk);
    const std::size_t count = place.group->rows.chunks_of(place.row).size();
    for (std::size_t i = 0; i < count; ++i) ids.push_back(first + i);
  }
}

}  // namespace

MeaningSearch::MeaningSearch(const Index& vectors, PassageReader& reader,
                             std::span<const float> question, QuestionTokens tokens)
    : vectors_(vectors),
      reader_(reader),
      question_(question.begin(), question.end()),
      tokens_(std::move(tokens)) {
  if (const std::size_t dim = vectors.space().dim(); question.size() != dim)
    fail(Reason::kWrongDimension, "expected a vector of " + std::to_string(dim) +
                                      " numbers for the question, got " +
                                      std::to_string(question.size()));
  check_finite(question.data(), 1, question.size());
}

void MeaningSearch::begin(const Query& query, const Scope& scope) {
  const bool wants_candidates = query.reranks_best() || query.rescores;
  k_ = (wants_candidates ? std::max(query.k, query.candidates()) : query.k) + scope.spare;
  depth_ = scope.depth + query.k;
  wants_more_ = query.mode == QueryMode::kHybrid || query.per_file > 0;
  is_measuring_ = ranks_below_ = false;
  ids_.clear();
  distances_.clear();
  estimates_.clear();
  is_cut_off_ = false;
  out_of_reach_.clear();
  bool is_empty = false;
  allowed_ = allow(scope, is_empty);
  stage_ = Stage::kOver;
  if (is_empty) return;
  const bool has_rows =
      vectors_.options().keep == Keep::kAll && (!vectors_.is_detached() || query.reads_rows);
  if (query.reranks_best() && !query.recall && vectors_.codebook() && !has_rows)
    return search_by_codes();
  SearchRequest request;
  request.k = k_;
  request.recall = query.recall.value_or(Query::kUsualRecall);
  request.allowed = allowed_;
  search_.emplace(vectors_, question_.data(), 1, std::move(request));
  strategy_ = search_->strategy();
  has_searched_ = true;
  if (vectors_.is_detached() && query.reads_rows)
    stage_ = Stage::kRows;
  else
    next_round();
}

void MeaningSearch::search_by_codes() {
  ranks_below_ = true;
  add_estimates(estimate_nearest(vectors_, question_.data(), depth_, allowed_));
  strategy_ = Strategy::kScan;
  has_searched_ = true;
  counters_ = {};
  counters_.codes_touched = vectors_.node_count();
}

std::optional<Bitmap> MeaningSearch::allow(const Scope& scope, bool& is_empty) const {
  const Collection& collection = reader_.collection();
  if (scope.holds_all()) return std::nullopt;
  std::vector<std::uint64_t> ids;
  if (scope.allowed || scope.chunks) {
    ids = scope.ids(collection.layout());
    is_empty = ids.empty();
    return is_empty ? Bitmap() : vectors_.allow_ids(ids);
  }
  append(ids, scope.excluded);
  for (const std::size_t source : scope.stale) add_chunks(collection, source, ids);
  return vectors_.allow_all_but(ids);
}

// Asks for what is not known; where all is, the search goes on at once.
void MeaningSearch::next_round() {
  while (!is_cut_off_ && !search_->wanted().empty()) {
    begin_round(search_->wanted());
    if (!wanted_.empty()) return;
    finish_round();
  }
  finish();
}

void MeaningSearch::begin_round(std::span<const std::uint64_t> ids) {
  round_size_ = ids.size();
  wanted_.clear();
  for (const std::uint64_t id : ids)
    if (!places_.contains(id) || (wants_tokens() && !likeness_.contains(id))) wanted_.push_back(id);
  stage_ = Stage::kVectors;
  is_away_ = false;
  unreachable_ = 0;
}

void MeaningSearch::measure(std::span<const std::uint64_t> ids) {
  is_measuring_ = true;
  measured_.assign(ids.begin(), ids.end());
  if (!wants_tokens()) take_stored(ids);
  begin_round(ids);
  if (wanted_.empty())
    finish_measuring();
  else
    ++counters_.rounds;
}

// Of an index that keeps its vectors, those need not be embedded.
void MeaningSearch::take_stored(std::span<const std::uint64_t> ids) {
  if (vectors_.options().keep != Keep::kAll || vectors_.is_detached()) return;
  std::vector<std::uint64_t> known;
  for (const std::uint64_t id : ids)
    if (!places_.contains(id) && vectors_.contains(id)) known.push_back(id);
  const std::vector<float> rows = vectors_.vectors_of(known);
  for (std::size_t i = 0; i < known.size(); ++i)
    remember(known[i], rows.data() + i * question_.size());
}

void MeaningSearch::finish_measuring() {
  const Space space(vectors_.space().metric(), Scalar::kF32, question_.size());
  RowBytes prepared, row(space.row_bytes());
  space.prepare_query(question_.data(), prepared);
  for (const std::uint64_t id : measured_) {
    const std::uint64_t* place = places_.find(id);
    if (place == nullptr) continue;
    space.encode_row(known_.data() + *place, row.data());
    distances_[id] = space.public_distance(space.from_query(prepared.data(), row.data()));
  }
  stage_ = Stage::kOver;
}

// Hands the search all that is known of what it wants; the rest cannot be had.
void MeaningSearch::finish_round() {
  if (is_measuring_) return finish_measuring();
  const std::size_t dim = question_.size(), count = search_->wanted().size();
  std::vector<float> rows(count * dim);
  const auto missing = std::make_unique<bool[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t* place = places_.find(search_->wanted()[i]);
    missing[i] = place == nullptr;
    if (place != nullptr)
      std::copy_n(known_.begin() + static_cast<std::ptrdiff_t>(*place), dim,
                  rows.begin() + static_cast<std::ptrdiff_t>(i * dim));
  }
  search_->supply(rows, {missing.get(), count});
}

void MeaningSearch::remember(std::uint64_t id, const float* row) {
  places_.set(id, known_.size());
  append(known_, std::span(row, question_.size()));
}

void MeaningSearch::supply(std::span<const Supplied> states, std::span<const float> rows) {
  const std::size_t dim = question_.size();
  expect(stage_ == Stage::kVectors, Reason::kWrongState, "no vectors were asked for");
  expect(states.size() == wanted_.size() && rows.size() == wanted_.size() * dim,
         Reason::kInvalidArgument, "expected a row for each vector that was asked for");
  std::vector<std::uint64_t> to_embed;
  const Catalogue& catalogue = reader_.collection().catalogue();
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (states[i] == Supplied::kGiven) check_finite(rows.data() + i * dim, 1, dim);
    // A graph goes on to lead through chunks that were removed.
    if (states[i] == Supplied::kEmbed && catalogue.has(wanted_[i])) to_embed.push_back(wanted_[i]);
  }
  if (!is_away_) reader_.begin(to_embed, false);
  // What was given is right: from here on nothing fails.
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (states[i] == Supplied::kGiven) remember(wanted_[i], rows.data() + i * dim);
    if (states[i] != Supplied::kOutOfReach) continue;
    ++unreachable_;
    out_of_reach_.insert(wanted_[i]);
  }
  if (!is_away_) {
    to_embed_ = std::move(to_embed);
    wanted_ = reader_.take_away();
    is_away_ = true;
    if (!wanted_.empty()) return;
  }
  const auto much = kMuch * static_cast<double>(round_size_);
  is_cut_off_ = static_cast<double>(unreachable_) > much;
  stage_ = Stage::kTexts;
  if (reader_.is_over()) take_texts();
}

void MeaningSearch::take_texts() {
  std::erase_if(to_embed_, [&](std::uint64_t id) { return reader_.find(id) == nullptr; });
  stage_ = Stage::kEmbeddings;
  if (to_embed_.empty()) supply_embeddings({}, {});
}

std::vector<std::string_view> MeaningSearch::texts() const {
  std::vector<std::string_view> texts;
  for (const std::uint64_t id : to_embed_) texts.push_back(reader_.find(id)->embedded);
  return texts;
}

void MeaningSearch::supply_embeddings(std::span<const float> rows, const TokenRows& tokens) {
  const std::size_t dim = question_.size();
  expect(stage_ == Stage::kEmbeddings, Reason::kWrongState, "no texts were to be embedded");
  expect(rows.size() == to_embed_.size() * dim, Reason::kInvalidArgument,
         "expected a vector for each text that was to be embedded");
  check_finite(rows.data(), to_embed_.size(), dim);
  if (wants_tokens() && !(tokens.rows.empty() && tokens.counts.empty())) {
    const auto split = split_rows(tokens, dim, to_embed_.size());
    for (std::size_t i = 0; i < split.size(); ++i)
      likeness_[to_embed_[i]] = {tokens_.compare(split[i].rows),
                                 {split[i].starts.begin(), split[i].starts.end()}};
  }
  for (std::size_t i = 0; i < to_embed_.size(); ++i) remember(to_embed_[i], rows.data() + i * dim);
  finish_round();
  if (!is_measuring_) next_round();
}

SearchBatch& MeaningSearch::search() {
  expect(stage_ == Stage::kRows, Reason::kWrongState, "no rows were asked for");
  return *search_;
}

void MeaningSearch::finish_rows() {
  expect(search().wanted().empty(), Reason::kWrongState, "the search still wants rows");
  finish();
}

void MeaningSearch::finish() {
  for (const SearchHit& hit : search_->nearest(0)) {
    ids_.push_back(hit.id);
    distances_[hit.id] = hit.distance;
  }
  counters_ = search_->counters();
  stage_ = Stage::kOver;
  ranks_below_ = (wants_more_ || !out_of_reach_.empty()) && vectors_.codebook() != nullptr;
  if (!ranks_below_) return;
  std::vector<SearchHit> more = search_->estimated(depth_);
  if (more.empty()) {
    counters_.codes_touched += vectors_.node_count();
    more = estimate_nearest(vectors_, question_.data(), depth_, allowed_);
  }
  add_estimates(more);
}

void MeaningSearch::add_estimates(std::span<const SearchHit> hits) {
  for (const SearchHit& hit : hits) {
    estimates_[hit.id] = hit.distance;
    if (!distances_.contains(hit.id)) ids_.push_back(hit.id);
  }
}

std::optional<float> MeaningSearch::distance_of(std::uint64_t id) const {
  const auto found = distances_.find(id);
  return found == distances_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<float> MeaningSearch::likely_distance_of(std::uint64_t id) const {
  if (const auto exact = distance_of(id)) return exact;
  const auto found = estimates_.find(id);
  return found == estimates_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<float> MeaningSearch::match_of(std::uint64_t id) const {
  const auto found = likeness_.find(id);
  if (found == likeness_.end()) return std::nullopt;
  return tokens_.match(found->second.values);
}

const TokenLikeness* MeaningSearch::likeness_of(std::uint64_t id) const {
  const auto found = likeness_.find(id);
  return found == likeness_.end() || found->second.starts.empty() ? nullptr : &found->second;
}

std::optional<float> MeaningSearch::nearness_of(std::uint64_t id) {
  const std::optional<float> distance = likely_distance_of(id);
  if (!distance) return std::nullopt;
  if (!background_)
    background_.emplace(sample_distances(vectors_, question_.data(), Background::kSample));
  return background_->nearness_of(*distance);
}

std::string_view MeaningSearch::strategy() const {
  return has_searched_ ? std::string_view(strategy_name(strategy_)) : std::string_view();
}

}  // namespace gossamer
