#include "index/model_pack.h"

#include "storage/container.h"

namespace gossamer {

Bytes ModelPack::to_bytes() const {
  FileImage image;
  if (!calibration.empty()) image.add(SectionKind::kCalibration, calibration.to_bytes());
  image.add(SectionKind::kCodebook, codebook->to_bytes());
  Bytes bytes;
  for (const ByteView part : image.finish()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

ModelPack ModelPack::from_bytes(ByteView bytes) {
  const Container file = Container::parse(bytes);
  ModelPack pack;
  pack.codebook =
      std::make_shared<Codebook>(Codebook::from_bytes(file.required(SectionKind::kCodebook)));
  if (file.has(SectionKind::kCalibration)) {
    pack.calibration = Calibration::from_bytes(file.verified(SectionKind::kCalibration));
  }
  return pack;
}

}  // namespace gossamer
