// hdf5: one dataset of two dimensions, as the ann-benchmarks files have it; HDF5 converts floats
// of any width and integers.
#include <algorithm>
#include <utility>

#include <hdf5.h>

#include "failure.h"
#include "files.h"
#include "readers/reader.h"

namespace nearfield::cli {
namespace {

// Closes an HDF5 handle; a negative one is none.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: implicit on purpose

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

hid_t open_file(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are ours to print
  input_size(path);                             // throws when it is missing
  return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
}

class Hdf5Reader final : public Reader {
 public:
  explicit Hdf5Reader(const ReaderOptions& options)
      : path_(options.path),
        file_(open_file(options.path), H5Fclose),
        dataset_(file_ < 0 ? -1 : H5Dopen2(file_, options.dataset.c_str(), H5P_DEFAULT), H5Dclose),
        space_(dataset_ < 0 ? -1 : H5Dget_space(dataset_), H5Sclose) {
    if (file_ < 0) throw bad_input(path_ + ": is no HDF5 file, or a damaged one");
    const std::string name = path_ + ": the dataset \"" + options.dataset + "\"";
    if (dataset_ < 0) throw bad_input(name + " is not there; give --dataset NAME");
    const Handle type(H5Dget_type(dataset_), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
      throw bad_input(name + " holds neither floats nor integers");
    }
    hsize_t shape[2] = {0, 0};
    if (H5Sget_simple_extent_ndims(space_) != 2) {
      throw bad_input(name + " is expected to have two dimensions (rows, values)");
    }
    H5Sget_simple_extent_dims(space_, shape, nullptr);
    check_dimensions(path_, shape[1], options.dimensions);
    rows_ = shape[0];
    dimensions_ = static_cast<uint32_t>(shape[1]);
  }

  uint32_t dimensions() const override { return dimensions_; }

  bool next(Rows& rows, size_t limit) override {
    rows.clear();
    rows.count = std::min<uint64_t>(limit, rows_ - done_);
    if (rows.count == 0) return false;
    rows.vectors.resize(rows.count * dimensions_);
    const hsize_t start[2] = {done_, 0};
    const hsize_t shape[2] = {rows.count, dimensions_};
    const Handle memory(H5Screate_simple(2, shape, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(space_, H5S_SELECT_SET, start, nullptr, shape, nullptr) < 0 ||
        H5Dread(dataset_, H5T_NATIVE_FLOAT, memory, space_, H5P_DEFAULT, rows.vectors.data()) < 0) {
      throw bad_input(path_ + ": rows from " + std::to_string(done_) +
                      " on cannot be read, the file is damaged");
    }
    check_finite(path_, done_, rows, dimensions_);
    done_ += rows.count;
    return true;
  }

  double share_read() const override {
    return rows_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(rows_);
  }

 private:
  std::string path_;
  Handle file_;
  Handle dataset_;
  Handle space_;
  uint64_t rows_ = 0;
  uint64_t done_ = 0;
  uint32_t dimensions_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_hdf5(const ReaderOptions& options) {
  return std::make_unique<Hdf5Reader>(options);
}

}  // namespace nearfield::cli
