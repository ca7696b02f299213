// SPDX-License-Identifier: Apache-2.0
// Adds rows to a store, all or none.
//
//   JC_ASSIGN_OR_RETURN(StoreWriter writer, StoreWriter::begin(store));
//   JC_RETURN_IF_ERROR(writer.add(row, 0));
//   JC_RETURN_IF_ERROR(writer.commit());
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "store/store.h"

namespace joulecast {

class StoreWriter {
 public:
  // Begins a transaction. The store must outlive the writer.
  static Result<StoreWriter> begin(Store& store);

  StoreWriter(StoreWriter&&) noexcept = default;
  StoreWriter& operator=(StoreWriter&&) = delete;
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;
  // Without commit() the store stays as it was.
  ~StoreWriter();

  // Errors: those of the database.
  Result<void> add(const Measurement& row, std::int64_t occurrence);
  // Rows that were not there before.
  Result<std::size_t> flush();
  Result<void> commit();

 private:
  explicit StoreWriter(Store& store) : store_(&store) {}
  struct Batch;
  Result<void> insert_shared(const Batch& batch);

  struct Ended {
    void operator()(Database* database) const;
  };
  Store* store_;
  std::unique_ptr<Database, Ended> open_;  // rolls back
  std::vector<Measurement> rows_;
  std::vector<std::int64_t> occurrences_;
  std::size_t inserted_ = 0;
  std::unordered_set<std::int64_t> known_[3];  // ids this transaction has inserted or seen, as many as fit
};

// Why a row cannot be kept in a database: text that is no UTF-8 or has a zero byte. kInvalidInput.
Result<void> check_texts(const Measurement& row);

}  // namespace joulecast
