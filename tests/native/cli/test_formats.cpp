// Every format that import reads: what it means, and what it says about faulty files.
#include <cmath>
#include <cstring>

#include <hdf5.h>
#include <catch2/catch_test_macros.hpp>

#include "run.h"

namespace {

// Three rows of two values, in every format.
const std::vector<float> kRows = {1, 2, 3, 4, 5, 6.5};

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string vecs(const std::vector<int>& lengths) {
  std::string bytes;
  float value = 1;
  for (const int length : lengths) {
    append(bytes, static_cast<int32_t>(length));
    for (int i = 0; i < length; ++i) append(bytes, value++);
  }
  return bytes;
}

std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::string& data, char version = 1) {
  std::string dictionary =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  if (version == 1) {
    append(bytes, static_cast<uint16_t>(dictionary.size()));
  } else {
    append(bytes, static_cast<uint32_t>(dictionary.size()));
  }
  return bytes + dictionary + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void write_hdf5(const std::string& path, const char* name, hid_t type, const void* data,
                std::vector<hsize_t> shape) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Fclose(file);
}

std::vector<float> stored_vector(const std::string& store, const std::string& id) {
  return succeed({"get", store, id, "--json"}).json().at("vector").get<std::vector<float>>();
}

// Imports the file into a new store and checks that it has the three rows.
void check_rows(const TestFolder& folder, const std::string& file,
                const std::vector<std::string>& more = {}) {
  const std::string store =
      folder.path("store of " + std::filesystem::path(file).filename().string());
  std::vector<std::string> arguments = {"import",   store, "--from", file,
                                        "--metric", "l2",  "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  CHECK(succeed(arguments).json().at("records") == 3);
  for (int row = 0; row < 3; ++row) {
    CHECK(stored_vector(store, std::to_string(row)) ==
          std::vector<float>(kRows.begin() + 2 * row, kRows.begin() + 2 * row + 2));
  }
}

// Imports the file into a new store, which must fail and leave none.
void check_refused(const TestFolder& folder, const std::string& file,
                   const std::vector<std::string>& words,
                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"import", folder.path("none"), "--from",
                                        file,     "--metric",          "l2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  fail(2, words, arguments);
  CHECK_FALSE(folder.has("none"));
}

}  // namespace

TEST_CASE("f32 files") {
  const TestFolder folder;
  check_rows(folder, folder.write_values("a.f32", kRows), {"--dimensions", "2"});
  check_refused(folder, folder.path("a.f32"), {"24 bytes", "multiple of 20"},
                {"--dimensions", "5"});
  check_refused(folder, folder.path("a.f32"), {"--dimensions"});
  check_refused(folder, folder.write("empty.f32", ""), {"no rows"}, {"--dimensions", "2"});
  check_refused(folder, folder.write_values<float>("nan.f32", {1, 2, 3, NAN}),
                {"nan.f32", "row 1", "value 1", "nan"}, {"--dimensions", "2"});
  check_refused(folder, folder.write_values<float>("inf.f32", {1, INFINITY}), {"row 0", "inf"},
                {"--dimensions", "2"});
}

TEST_CASE("fvecs and bvecs files") {
  const TestFolder folder;
  std::string rows;
  for (size_t i = 0; i < 3; ++i) {
    append(rows, int32_t{2});
    rows += bytes_of(std::vector<float>(kRows.begin() + 2 * i, kRows.begin() + 2 * i + 2));
  }
  check_rows(folder, folder.write("a.fvecs", rows));
  check_refused(folder, folder.path("a.fvecs"), {"2 dimensions", "expected 3"},
                {"--dimensions", "3"});
  check_refused(folder, folder.write("cut.fvecs", rows.substr(0, 30)), {"30 bytes", "12"});
  check_refused(folder, folder.write("mixed.fvecs", vecs({2, 1, 2, 3})), {"row 1", "1 dimensions"});
  check_refused(folder, folder.write("short.fvecs", "ab"), {"ends early"});
  check_refused(folder, folder.write("negative.fvecs", std::string(8, '\xff')), {"-1"});

  const std::string store = folder.path("bytes");
  succeed({"import", store, "--from", folder.write("b.bvecs", std::string("\2\0\0\0\7\xff", 6)),
           "--metric", "l2"});
  CHECK(stored_vector(store, "0") == std::vector<float>{7, 255});
}

TEST_CASE("npy files") {
  const TestFolder folder;
  const std::string floats = bytes_of(kRows);
  check_rows(folder, folder.write("a.npy", npy("<f4", "False", "(3, 2)", floats)));
  check_rows(folder, folder.write("v2.npy", npy("<f4", "False", "(3, 2)", floats, 2)));
  check_rows(folder, folder.write("f8.npy",
                                  npy("<f8", "False", "(3, 2)",
                                      bytes_of(std::vector<double>(kRows.begin(), kRows.end())))));
  succeed({"import", folder.path("u1"), "--metric", "l2", "--from",
           folder.write("u1.npy", npy("|u1", "False", "(1, 2)", "\x01\xfe"))});
  CHECK(stored_vector(folder.path("u1"), "0") == std::vector<float>{1, 254});

  check_refused(folder, folder.write("i4.npy", npy("<i4", "False", "(3, 2)", floats)),
                {"<i4", "<f4"});
  check_refused(folder, folder.write("order.npy", npy("<f4", "True", "(3, 2)", floats)),
                {"Fortran"});
  check_refused(folder, folder.write("flat.npy", npy("<f4", "False", "(6,)", floats)),
                {"two dimensions"});
  check_refused(folder, folder.write("cut.npy", npy("<f4", "False", "(4, 2)", floats)), {"4 rows"});
  check_refused(folder,
                folder.write("huge.npy", npy("<f4", "False", "(4611686018427387905, 2)", floats)),
                {"huge.npy"});
  check_refused(folder, folder.write("none.npy", "no npy file at all"), {"no npy file"});
  check_refused(
      folder,
      folder.write("big.npy", npy("<f8", "False", "(1, 1)", bytes_of(std::vector<double>{1e300}))),
      {"row 0", "finite"});
}

TEST_CASE("hdf5 files") {
  const TestFolder folder;
  const std::vector<int> integers = {1, 2, 3, 4, 5, 6};
  write_hdf5(folder.path("a.hdf5"), "train", H5T_NATIVE_FLOAT, kRows.data(), {3, 2});
  check_rows(folder, folder.path("a.hdf5"));
  write_hdf5(folder.path("other.h5"), "vectors", H5T_NATIVE_FLOAT, kRows.data(), {3, 2});
  check_rows(folder, folder.path("other.h5"), {"--dataset", "vectors"});
  check_refused(folder, folder.path("other.h5"), {"\"train\"", "--dataset"});
  const std::vector<double> doubles(kRows.begin(), kRows.end());
  write_hdf5(folder.path("f8.h5"), "train", H5T_NATIVE_DOUBLE, doubles.data(), {3, 2});
  check_rows(folder, folder.path("f8.h5"));
  write_hdf5(folder.path("int.h5"), "train", H5T_NATIVE_INT, integers.data(), {3, 2});
  succeed({"import", folder.path("int"), "--metric", "l2", "--from", folder.path("int.h5")});
  CHECK(stored_vector(folder.path("int"), "2") == std::vector<float>{5, 6});

  write_hdf5(folder.path("flat.h5"), "train", H5T_NATIVE_FLOAT, kRows.data(), {6});
  check_refused(folder, folder.path("flat.h5"), {"two dimensions"});
  const std::string whole = read_file(folder.path("a.hdf5"));
  check_refused(folder, folder.write("cut.h5", whole.substr(0, whole.size() / 2)), {"cut.h5"});
  check_refused(folder, folder.write("none.h5", "no HDF5 at all"), {"no HDF5 file"});
}

TEST_CASE("jsonl files") {
  const TestFolder folder;
  check_rows(
      folder,
      folder.write("a.jsonl", "{\"vector\":[1,2]}\n\n{\"vector\":[3,4]}\r\n{\"vector\":[5,6.5]}"));
  const std::string store = folder.path("records");
  succeed(
      {"import", store, "--metric", "l2", "--from",
       folder.write("ids.jsonl", R"({"id":7,"vector":[1,2],"metadata":{"tag":"x","deep":{"a":[1]}}}
{"id":"7","vector":[3,4],"title":"Zürich 東京","price":9.5}
{"id":-9223372036854775808,"vector":[5,6],"metadata":{"a":1},"b":null}
)")});
  const Json first = succeed({"get", store, "7", "--json"}).json();
  CHECK(first == Json::parse(R"({"id":7,"vector":[1,2],"metadata":{"tag":"x","deep":{"a":[1]}}})"));
  const Json second = succeed({"get", store, "7", "--text-id", "--json"}).json();
  CHECK(second ==
        Json::parse(R"({"id":"7","vector":[3,4],"metadata":{"title":"Zürich 東京","price":9.5}})"));
  const Json third = succeed({"get", store, "-9223372036854775808", "--json"}).json();
  CHECK(third.at("metadata") == Json::parse(R"({"a":1,"b":null})"));

  int number = 0;
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    check_refused(folder, folder.write("bad" + std::to_string(number++) + ".jsonl", text), words);
  };
  refused("", {"no rows"});
  refused("{\"vector\":[1,2]}\n{\"vector\":[1,2,3]}\n", {"line 2", "3 values", "expected 2"});
  refused("{\"vector\":[1,2]}\n{\"vector\":[1,", {"line 2", "JSON"});
  refused("{\"vector\":[1,\"2\"]}", {"line 1", "numbers only"});
  refused("{\"vector\":[1,1e39]}", {"line 1", "finite"});
  refused("{\"vector\":[1,1e999]}", {"line 1", "too large"});
  refused("{\"vector\":[]}", {"0 dimensions"});
  refused("{\"vector\":7}", {"line 1", "array"});
  refused("[1,2]", {"line 1", "object"});
  refused("{\"id\":1}", {"line 1", "\"vector\"", "missing"});
  refused("{\"id\":1.5,\"vector\":[1]}", {"line 1", "1.5", "integer"});
  refused("{\"id\":\"\",\"vector\":[1]}", {"line 1", "empty"});
  refused("{\"id\":18446744073709551615,\"vector\":[1]}", {"line 1", "64-bit"});
  refused("{\"id\":\"" + std::string(1025, 'x') + "\",\"vector\":[1]}", {"line 1", "1025"});
  refused("{\"id\":1,\"vector\":[1]}\n{\"vector\":[2]}", {"line 2", "no id"});
  refused("{\"vector\":[1]}\n{\"id\":1,\"vector\":[2]}", {"line 2", "has an id"});
  refused("{\"vector\":[1],\"metadata\":7,\"a\":1}", {"line 1", "no object"});
  refused("{\"vector\":[1],\"vector\":[1]}", {"line 1", "twice"});
  refused("{\"vector\":[1],\"metadata\":{\"a\":1},\"a\":2}", {"line 1", "\"a\""});
  refused("{\"vector\":[1],\"a\":\"\xff\"}", {"line 1"});
  refused("{\"vector\":[1],\"a\":" + std::string(100000, '['), {"line 1", "no valid JSON"});
}

TEST_CASE("metadata of any kind is kept as it stands") {
  const TestFolder folder;
  const std::string deep = std::string(50000, '[') + std::string(50000, ']');
  const std::vector<std::string> values = {"7",
                                           "\"text\"",
                                           "null",
                                           "[1, {\"a\":[]}]",
                                           "{}",
                                           "1.10",
                                           R"("\ud800")",
                                           "12345678901234567890123",
                                           "{\"a\": 1e5}",
                                           deep};
  std::string lines;
  for (size_t i = 0; i < values.size(); ++i) {
    lines += "{\"id\":" + std::to_string(i) + ",\"vector\":[1],\"metadata\":" + values[i] + "}\n";
  }
  const std::string store = folder.path("store");
  succeed({"import", store, "--metric", "l2", "--from", folder.write("in.jsonl", lines)});
  succeed({"export", store, folder.path("out.jsonl"), "--format", "jsonl"});
  CHECK(read_file(folder.path("out.jsonl")) == lines);
}

TEST_CASE("csv files") {
  const TestFolder folder;
  check_rows(folder, folder.write("a.csv", "v0,v1\n1,2\n3,4\n5,6.5\n"));
  check_rows(folder, folder.write("plain.csv", "1,2\r\n3, 4\r\n5,6.5"));
  check_rows(folder, folder.write("id.csv", "2,5,6.5\n1,3,4\n0,1,2\n"), {"--dimensions", "2"});
  check_rows(folder, folder.write("array.csv", "vector\n\"[1,2]\"\n\"[3,4]\"\n\"[5,6.5]\"\n"));

  const std::string store = folder.path("records");
  succeed({"import", store, "--metric", "l2", "--from",
           folder.write("all.csv",
                        "\xef\xbb\xbfid,title,v1,price,v0,new\n"
                        "a,\"one, \"\"two\"\"\nthree\",2,9.5,1,true\n007,,4,01,3,\n")});
  CHECK(succeed({"get", store, "a", "--json"}).json() == Json::parse(R"({"id":"a","vector":[1,2],
                        "metadata":{"title":"one, \"two\"\nthree","price":9.5,"new":true}})"));
  CHECK(succeed({"get", store, "007", "--json"}).json() ==
        Json::parse(R"({"id":"007","vector":[3,4],"metadata":{"price":"01"}})"));

  int number = 0;
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    check_refused(folder, folder.write("bad" + std::to_string(number++) + ".csv", text), words);
  };
  refused("", {"no rows"});
  refused("v0,v1\n", {"no rows"});
  refused("id,v0\n1,1\n\xff,2\n", {"line 3", "UTF-8"});
  refused("v0,a\n1,\xff\n", {"line 2", "UTF-8"});
  refused("v0,a,a\n1,2,3\n", {"line 1", "two columns", "\"a\""});
  refused("id,id,v0\n1,2,3\n", {"line 1", "two columns"});
  refused("v00\n1\n", {"line 1", "v00"});
  refused("v0,v99999999999\n1,2\n", {"line 1", "v99999999999"});
  refused("v0,v1\n1,2\n3\n", {"line 3", "1 fields", "expected 2"});
  refused("v0,v1\n1,x\n", {"line 2", "\"x\""});
  refused("v0,v1\n1,nan\n", {"line 2", "finite"});
  refused("v0,v1\n1,1e39\n", {"line 2", "finite"});
  refused("v0,v2\n1,2\n", {"line 1", "v2"});
  refused("a,b\n1,2\n", {"line 1", "v0"});
  refused("v0,a\n1,\"open\n", {"line 2", "not closed"});
  refused("id,v0\n,1\n", {"line 2", "empty"});
}

TEST_CASE("formats are chosen by name or by extension") {
  const TestFolder folder;
  const std::string file = folder.write_values("rows.bin", kRows);
  check_refused(folder, file, {"--format"}, {"--dimensions", "2"});
  check_refused(folder, file, {"--format", "parquet", "jsonl"}, {"--format", "parquet"});
  check_rows(folder, file, {"--format", "f32", "--dimensions", "2"});
}
