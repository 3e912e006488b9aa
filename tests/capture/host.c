// A host program for the tests of the capture: it scales an array twice on the device and reads it.
//
//   host KERNEL.spv [FAULT] [DISPATCHES]
//
// FAULT leaves out or spoils one thing, and the program runs on: `missing-barrier` (between the two
// dispatches), `missing-host-barrier` (before the array is read), `swapped-struct` (the host's push
// constants lie the other way round), `killed` (it does not come to its end), `none`. DISPATCHES
// repeats the pair in one command buffer.
#include <signal.h>
#include <string.h>
#include <time.h>

#include "common.h"

enum { COUNT = 1000, LOCAL_SIZE = 64 };

struct parameters {
    uint32_t count;
    float factor;
};

struct swapped_parameters {
    float factor;
    uint32_t count;
};

static const char *fault = "none";

static int has_fault(const char *name) { return strcmp(fault, name) == 0; }

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags target, VkAccessFlags access) {
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                              .dstAccessMask = access};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, target, 0, 1, &memory, 0,
                         NULL, 0, NULL);
}

static void push(VkCommandBuffer commands, VkPipelineLayout layout, float factor) {
    struct parameters ordinary = {COUNT, factor};
    struct swapped_parameters swapped = {factor, COUNT};
    const void *values = has_fault("swapped-struct") ? (const void *)&swapped : &ordinary;
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, values);
}

static void pair_of_dispatches(VkCommandBuffer commands, VkPipelineLayout layout) {
    VkAccessFlags shader = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    uint32_t groups = (COUNT + LOCAL_SIZE - 1) / LOCAL_SIZE;
    push(commands, layout, 2.0f);
    vkCmdDispatch(commands, groups, 1, 1);
    if (!has_fault("missing-barrier"))
        barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shader);
    push(commands, layout, 0.5f);
    vkCmdDispatch(commands, groups, 1, 1);
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    if (argc > 2) fault = argv[2];
    int repetitions = argc > 3 ? atoi(argv[3]) / 2 : 1;

    VkPhysicalDevice physical;
    VkInstance instance = open_instance("scale", VK_API_VERSION_1_1, &physical);
    VkQueue queue;
    VkDevice device = open_device(physical, &queue);

    VkBufferCreateInfo buffer_create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                        .size = COUNT * sizeof(float),
                                        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &buffer_create, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = host_visible_type(physical, needs.memoryTypeBits)};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(device, &allocate, NULL, &memory));
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));
    float *values;
    CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&values));
    for (int index = 0; index < COUNT; index++) values[index] = (float)index;
    vkUnmapMemory(device, memory);

    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set_create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    VkDescriptorSetLayout set_layout;
    CHECK(vkCreateDescriptorSetLayout(device, &set_create, NULL, &set_layout));
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout_create = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &layout_create, NULL, &layout));
    uint32_t local_size = LOCAL_SIZE;
    VkSpecializationMapEntry entry = {.constantID = 0, .size = sizeof local_size};
    VkSpecializationInfo specialization = {1, &entry, sizeof local_size, &local_size};
    VkComputePipelineCreateInfo pipeline_create = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = load_module(device, argv[1]),
                  .pName = "main",
                  .pSpecializationInfo = &specialization},
        .layout = layout};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_create, NULL, &pipeline));

    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool_create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size};
    VkDescriptorPool descriptor_pool;
    CHECK(vkCreateDescriptorPool(device, &pool_create, NULL, &descriptor_pool));
    VkDescriptorSetAllocateInfo set_allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = descriptor_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &set_layout};
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(device, &set_allocate, &set));
    VkDescriptorBufferInfo whole = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &whole};
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);

    VkCommandPoolCreateInfo command_create = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool command_pool;
    CHECK(vkCreateCommandPool(device, &command_create, NULL, &command_pool));
    VkCommandBufferAllocateInfo command_allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command_pool,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &command_allocate, &commands));

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    for (int repetition = 0; repetition < repetitions; repetition++) {
        if (repetition > 0)
            barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        pair_of_dispatches(commands, layout);
    }
    if (!has_fault("missing-host-barrier"))
        barrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    CHECK(vkEndCommandBuffer(commands));
    VkFenceCreateInfo fence_create = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    CHECK(vkCreateFence(device, &fence_create, NULL, &fence));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(queue, 1, &submit, fence));
    CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (has_fault("killed")) raise(SIGKILL);

    CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&values));
    double sum = 0;
    for (int index = 0; index < COUNT; index++) sum += values[index];
    vkUnmapMemory(device, memory);
    long long nanoseconds =
        (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec;
    printf("sum %.1f\n", sum);
    if (argc > 4) printf("microseconds %lld\n", nanoseconds / 1000);

    vkDestroyFence(device, fence, NULL);
    vkDestroyCommandPool(device, command_pool, NULL);
    vkDestroyDescriptorPool(device, descriptor_pool, NULL);
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyDescriptorSetLayout(device, set_layout, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
