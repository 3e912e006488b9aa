"""Runs two dispatches of a compute pass on wgpu's Vulkan back end and checks what they leave.

The second one reads what the first one wrote. Ends with 69 where there is no Vulkan device.
"""

import struct
import sys

import wgpu

COUNT = 100

CODE = """
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&input) {
        output[id.x] = input[id.x] * 3.0 + 1.0;
    }
}
"""

try:
    adapter = wgpu.gpu.request_adapter_sync()
except RuntimeError:
    sys.exit(69)
device = adapter.request_device_sync()
values = struct.pack(f"{COUNT}f", *range(COUNT))
storage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
first = device.create_buffer_with_data(data=values, usage=storage)
second = device.create_buffer(size=4 * COUNT, usage=storage)
third = device.create_buffer(size=4 * COUNT, usage=storage)
pipeline = device.create_compute_pipeline(
    layout="auto",
    compute={"module": device.create_shader_module(code=CODE), "entry_point": "main"},
)
encoder = device.create_command_encoder()
compute = encoder.begin_compute_pass()
compute.set_pipeline(pipeline)
for read, written in [(first, second), (second, third)]:
    entries = [
        {"binding": 0, "resource": {"buffer": read}},
        {"binding": 1, "resource": {"buffer": written}},
    ]
    layout = pipeline.get_bind_group_layout(0)
    compute.set_bind_group(0, device.create_bind_group(layout=layout, entries=entries))
    compute.dispatch_workgroups((COUNT + 31) // 32)
compute.end()
device.queue.submit([encoder.finish()])
outputs = struct.unpack(f"{COUNT}f", device.queue.read_buffer(third))
print(outputs)
sys.exit(0 if outputs == tuple(9.0 * index + 4.0 for index in range(COUNT)) else 1)
