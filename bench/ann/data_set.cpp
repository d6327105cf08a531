#include "data_set.h"

#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace bench {
namespace {

std::vector<float> read_values(const std::string& path, size_t count) {
  std::vector<float> values(count);
  const size_t bytes = count * sizeof(float);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  if (!file || file.peek() != std::ifstream::traits_type::eof()) {
    throw std::runtime_error(path + ": expected " + std::to_string(bytes) + " bytes");
  }
  return values;
}

}  // namespace

DataSet read_set(const std::string& folder, const std::string& name) {
  DataSet set;
  set.prefix = folder + "/" + name;
  std::ifstream file(set.prefix + ".meta.json");
  if (!file) {
    throw std::runtime_error(set.prefix +
                             ".meta.json is missing; run node bench/datasets/prepare.mjs " + name);
  }
  const auto meta = nlohmann::json::parse(file);
  set.metric = meta.at("metric");
  set.dimensions = meta.at("dimensions");
  set.rows = meta.at("rows");
  set.queries = meta.at("queries");
  return set;
}

std::vector<float> read_base(const DataSet& set) {
  return read_values(set.prefix + ".base.f32", set.rows * set.dimensions);
}

std::vector<float> read_queries(const DataSet& set) {
  return read_values(set.prefix + ".query.f32", set.queries * set.dimensions);
}

}  // namespace bench
