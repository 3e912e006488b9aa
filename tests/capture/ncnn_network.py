"""Runs a network of two layers on ncnn's Vulkan back end and holds its outputs against numpy.

Ends with 69 where there is no Vulkan device.
"""

import sys

import ncnn
import numpy

PARAMETERS = """7767517
3 3
Input input 0 1 data
InnerProduct product 1 1 data sums 0=6 1=1 2=48
ReLU clipped 1 1 sums outputs
"""

if ncnn.get_gpu_count() == 0:
    sys.exit(69)

weights = (numpy.arange(48, dtype=numpy.float32).reshape(6, 8) % 7 - 3) / 4
offsets = numpy.array([0.5, -1, 2, -3, 0, 1], dtype=numpy.float32)
values = numpy.arange(8, dtype=numpy.float32) / 2 - 1

with open("network.param", "w") as file:
    file.write(PARAMETERS)
with open("network.bin", "wb") as file:
    # The first word says that weights are 32-bit floats.
    file.write(numpy.uint32(0).tobytes() + weights.tobytes() + offsets.tobytes())

network = ncnn.Net()
network.opt.use_vulkan_compute = True
network.opt.use_fp16_packed = False
network.opt.use_fp16_storage = False
network.opt.use_fp16_arithmetic = False
if network.load_param("network.param") != 0 or network.load_model("network.bin") != 0:
    sys.exit(70)
extractor = network.create_extractor()
extractor.input("data", ncnn.Mat(values))
result, outputs = extractor.extract("outputs")
outputs = numpy.array(outputs)

expected = numpy.maximum(weights @ values + offsets, 0)
print(result, outputs.tolist())
# Every sum is exact in 32-bit floats, in whatever order it is made.
sys.exit(0 if result == 0 and numpy.array_equal(outputs, expected) else 1)
