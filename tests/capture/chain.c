// A host program for the tests of the capture: dispatches that are given what earlier ones wrote, in
// memory of the device that the host never maps.
//
//   chain KERNEL.spv [WAY]
//
// WAY is how the two dispatches are submitted: `one` (in one submission), `two` (in two, the host waits
// between them), `again` (one command buffer, submitted twice), `indirect` (as `one`, the workgroups of
// the second read from a buffer that a copy filled), `secondary` (the second in a secondary command
// buffer), `simultaneous` (as `again`, with SIMULTANEOUS_USE), `levels` (as `one`, the view of the image
// sees a second level that no barrier named).
#include <string.h>

#include "common.h"

enum { WIDTH = 8, COUNT = WIDTH * WIDTH, BYTES = COUNT * 4, CLEARED = 5 };

struct parameters {
    uint32_t count;
    uint32_t step;
};

static const char *way = "one";
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static VkPipeline pipeline;
static VkPipelineLayout layout;
static VkDescriptorSet set;
static VkImage image;
static VkBuffer staging, values, results, workgroups;

static int is_way(const char *name) { return strcmp(way, name) == 0; }

static uint32_t device_type(uint32_t allowed) {
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(physical, &properties);
    for (uint32_t index = 0; index < properties.memoryTypeCount; index++) {
        VkMemoryPropertyFlags flags = properties.memoryTypes[index].propertyFlags;
        if ((flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) && (allowed >> index & 1)) return index;
    }
    exit(71);
}

static VkDeviceMemory allocated(VkMemoryRequirements needs, uint32_t type) {
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(device, &allocate, NULL, &memory));
    return memory;
}

// A buffer of the device, or one that stays mapped.
static VkBuffer made_buffer(VkBufferUsageFlags usage, uint32_t **mapped) {
    VkBufferCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = BYTES, .usage = usage};
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &create, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    uint32_t type = mapped ? host_visible_type(physical, needs.memoryTypeBits)
                           : device_type(needs.memoryTypeBits);
    VkDeviceMemory memory = allocated(needs, type);
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));
    if (mapped) CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)mapped));
    return buffer;
}

static VkImageView made_image(void) {
    uint32_t levels = is_way("levels") ? 2 : 1;
    VkImageCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R32_UINT,
        .extent = {WIDTH, WIDTH, 1},
        .mipLevels = levels,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    CHECK(vkCreateImage(device, &create, NULL, &image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, image, &needs);
    VkDeviceMemory memory = allocated(needs, device_type(needs.memoryTypeBits));
    CHECK(vkBindImageMemory(device, image, memory, 0));
    VkImageViewCreateInfo view_create = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R32_UINT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, 1}};
    VkImageView view;
    CHECK(vkCreateImageView(device, &view_create, NULL, &view));
    return view;
}

static VkDescriptorSetLayout made_set_layout(void) {
    VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    VkDescriptorSetLayoutCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 3,
        .pBindings = bindings};
    VkDescriptorSetLayout set_layout;
    CHECK(vkCreateDescriptorSetLayout(device, &create, NULL, &set_layout));
    return set_layout;
}

static void make_set(VkDescriptorSetLayout set_layout, VkImageView view) {
    VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2},
                                    {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1}};
    VkDescriptorPoolCreateInfo pool_create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 2,
        .pPoolSizes = sizes};
    VkDescriptorPool descriptor_pool;
    CHECK(vkCreateDescriptorPool(device, &pool_create, NULL, &descriptor_pool));
    VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = descriptor_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &set_layout};
    CHECK(vkAllocateDescriptorSets(device, &allocate, &set));
    VkDescriptorBufferInfo buffers[] = {{values, 0, VK_WHOLE_SIZE}, {results, 0, VK_WHOLE_SIZE}};
    VkDescriptorImageInfo texels = {VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet writes[] = {{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = set,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffers[0]},
                                     {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = set,
                                      .dstBinding = 1,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                      .pImageInfo = &texels},
                                     {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = set,
                                      .dstBinding = 2,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffers[1]}};
    vkUpdateDescriptorSets(device, 3, writes, 0, NULL);
}

static VkCommandBuffer begun(VkCommandBufferLevel level, VkCommandBufferUsageFlags flags) {
    VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = level,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &allocate, &commands));
    VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = flags,
                                      .pInheritanceInfo = &inheritance};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

static void submit(VkCommandBuffer commands) {
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &commands};
    VkFenceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    CHECK(vkCreateFence(device, &create, NULL, &fence));
    CHECK(vkQueueSubmit(queue, 1, &info, fence));
    CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
    vkDestroyFence(device, fence, NULL);
}

static void full_barrier(VkCommandBuffer commands) {
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    vkCmdPipelineBarrier(commands, all, all | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory, 0, NULL, 0,
                         NULL);
}

static void image_barrier(VkCommandBuffer commands, VkImageLayout before, VkImageLayout behind) {
    VkImageMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = before,
        .newLayout = behind,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    vkCmdPipelineBarrier(commands, all, all, 0, 0, NULL, 0, NULL, 1, &memory);
}

// The contents that the first dispatch is given.
static void fill(VkCommandBuffer commands) {
    VkBufferCopy region = {.size = BYTES};
    vkCmdCopyBuffer(commands, staging, values, 1, &region);
    if (is_way("indirect")) vkCmdCopyBuffer(commands, staging, workgroups, 1, &region);
    vkCmdFillBuffer(commands, results, 0, VK_WHOLE_SIZE, 0);
    image_barrier(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    VkClearColorValue color = {.uint32 = {CLEARED, 0, 0, 0}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &color, 1, &range);
    image_barrier(commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL);
    full_barrier(commands);
}

static void dispatch(VkCommandBuffer commands, uint32_t step) {
    struct parameters parameters = {COUNT, step};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &parameters);
    if (is_way("indirect") && step == 2)
        vkCmdDispatchIndirect(commands, workgroups, 0);
    else
        vkCmdDispatch(commands, 1, 1, 1);
    full_barrier(commands);
}

static void submit_dispatches(void) {
    int is_secondary = is_way("secondary"), is_simultaneous = is_way("simultaneous");
    VkCommandBuffer secondary = VK_NULL_HANDLE;
    if (is_secondary) {
        secondary = begun(VK_COMMAND_BUFFER_LEVEL_SECONDARY, 0);
        dispatch(secondary, 2);
        CHECK(vkEndCommandBuffer(secondary));
    }
    VkCommandBuffer commands = begun(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    fill(commands);
    if (is_way("again") || is_simultaneous) {
        CHECK(vkEndCommandBuffer(commands));
        submit(commands);
        VkCommandBufferUsageFlags flags =
            is_simultaneous ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0;
        commands = begun(VK_COMMAND_BUFFER_LEVEL_PRIMARY, flags);
        dispatch(commands, 1);
        CHECK(vkEndCommandBuffer(commands));
        submit(commands);
        submit(commands);
        return;
    }
    dispatch(commands, 1);
    if (is_way("two")) {
        CHECK(vkEndCommandBuffer(commands));
        submit(commands);
        commands = begun(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    }
    if (is_secondary)
        vkCmdExecuteCommands(commands, 1, &secondary);
    else
        dispatch(commands, 2);
    CHECK(vkEndCommandBuffer(commands));
    submit(commands);
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    if (argc > 2) way = argv[2];
    VkInstance instance = open_instance("chain", VK_API_VERSION_1_1, &physical);
    device = open_device(physical, &queue);

    uint32_t *given, *printed;
    VkBufferUsageFlags storage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkBufferUsageFlags target = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    staging = made_buffer(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &given);
    values = made_buffer(storage | target, NULL);
    results = made_buffer(storage | target, &printed);
    workgroups = made_buffer(VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | target, NULL);
    // The first three are the workgroups of the indirect dispatch, too.
    for (uint32_t index = 0; index < COUNT; index++) given[index] = index < 3 ? 1 : index * 7;

    VkDescriptorSetLayout set_layout = made_set_layout();
    make_set(set_layout, made_image());
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout_create = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    CHECK(vkCreatePipelineLayout(device, &layout_create, NULL, &layout));
    VkComputePipelineCreateInfo pipeline_create = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = load_module(device, argv[1]),
                  .pName = "main"},
        .layout = layout};
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_create, NULL, &pipeline));
    VkCommandPoolCreateInfo pool_create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    CHECK(vkCreateCommandPool(device, &pool_create, NULL, &pool));

    submit_dispatches();
    for (int index = 0; index < COUNT; index++) printf("%u\n", printed[index]);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
