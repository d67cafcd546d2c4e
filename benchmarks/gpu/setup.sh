#!/bin/sh
# Makes the benchmarks run on a machine without a package index, from folders carried there:
#   .gpu/base/wheels/*.whl     what gossamer needs besides numpy
#   .gpu/base/nanobind/        nanobind's package folder
#   .gpu/base/_core*.so        the core built elsewhere for this Python; without it it is built here
#   .gpu/model/                a sentence-transformers model in half precision, weights packed by xz
#   .gpu/text-*/SET/           the texts; a file too long for one folder as NAME.1of3, NAME.2of3, ...
# Run it in the root of the repository, again after more folders came: what is done is not redone.
# Then `. .gpu/env && python3 -m benchmarks.run gpu_rounds growth`.
set -eu
python=${PYTHON:-python3}
kit=$PWD/.gpu

if [ ! -d "$kit/packages" ]; then
    "$python" - "$kit" <<'PROGRAM'
import sys, zipfile
from pathlib import Path
kit = Path(sys.argv[1])
for wheel in sorted((kit / "base/wheels").glob("*.whl")):
    zipfile.ZipFile(wheel).extractall(kit / "packages")
PROGRAM
    echo "unpacked the wheels"
fi

export PYTHONPATH="$kit/packages:$PWD/python${PYTHONPATH:+:$PYTHONPATH}"

if [ -n "$(ls "$kit"/base/_core*.so 2> /dev/null)" ]; then
    mv "$kit"/base/_core*.so python/gossamer/
    "$python" -c 'import gossamer._core' || rm python/gossamer/_core*.so
fi
if [ -z "$(ls python/gossamer/_core*.so 2> /dev/null)" ]; then
    # As scikit-build-core would: it is SKBUILD that asks for the Python module.
    cmake -S . -B "$kit/build" -G Ninja -DSKBUILD=2 -DCMAKE_BUILD_TYPE=Release \
        -Dnanobind_DIR="$kit/base/nanobind/cmake" \
        -DPython_EXECUTABLE="$(command -v "$python")"
    cmake --build "$kit/build"
    cmake --install "$kit/build" --prefix "$PWD/python"
    echo "built the core"
fi

for packed in "$kit"/model/*.xz; do
    [ -e "$packed" ] || continue
    "$python" -c 'import lzma, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[1][:-3], "wb") as file:
    shutil.copyfileobj(packed, file)' "$packed"
    rm "$packed"
    echo "unpacked the model"
done

# The same weights in single precision, to tell what half of it gains.
if [ -e "$kit/model/model.safetensors" ] && [ ! -e "$kit/model-single" ]; then
    cp -r "$kit/model" "$kit/model-single"
    sed -i 's/float16/float32/' "$kit/model-single/config.json"
    "$python" -c 'import sys, numpy, safetensors.numpy as files
path = sys.argv[1]
found = files.load_file(path)
single = {k: v.astype("f4") if v.dtype == numpy.float16 else v for k, v in found.items()}
files.save_file(single, path, {"format": "pt"})' "$kit/model-single/model.safetensors"
    echo "made it in single precision, too"
fi

for part in "$kit"/text-*; do
    [ -d "$part" ] || continue
    mkdir -p "$kit/data"
    cp -r "$part"/. "$kit/data/"
    rm -r "$part"
    echo "took ${part##*/} in"
done

for first in "$kit"/data/*/*.1of*; do
    [ -e "$first" ] || continue
    whole=${first%.1of*}
    count=${first##*.1of}
    [ "$(ls "$whole".*of"$count" | wc -l)" -eq "$count" ] || continue
    for number in $(seq "$count"); do
        cat "$whole.${number}of$count"
    done > "$whole"
    rm "$whole".*of"$count"
    echo "joined ${whole##*/}"
done

cat > "$kit/env" <<ENVIRONMENT
export PYTHONPATH="$PYTHONPATH" PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=true
export GOSSAMER_DATA="$kit/data/mdn" GOSSAMER_BENCH_GPU_MODEL="$kit/model:$kit/model-single"
ENVIRONMENT
"$python" -c 'import gossamer, numpy; print("gossamer works with numpy", numpy.__version__)'
