// A host program for the tests of the capture: it copies texels into an image, adds them to another
// image on the device, and reads that back.
//
//   images KERNEL.spv [FAULT]
//
// FAULT leaves out or spoils one thing, and the program runs on: `missing-barrier` (before the result
// is copied), `wrong-layout` (the descriptor of the source names another layout than the source is
// in), `flagged-binding` (a binding is PARTIALLY_BOUND, which the device need not offer: for what is
// recorded alone), `none`.
#include <string.h>

#include "common.h"

enum { WIDTH = 8, HEIGHT = 4, TEXELS = WIDTH * HEIGHT, BYTES = TEXELS * 4, CLEARED = 7 };

static const char *fault = "none";
static VkPhysicalDevice physical;
static VkDevice device;

static int has_fault(const char *name) { return strcmp(fault, name) == 0; }

static VkDeviceMemory memory_for(VkMemoryRequirements needs) {
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = host_visible_type(physical, needs.memoryTypeBits)};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(device, &allocate, NULL, &memory));
    return memory;
}

static VkBuffer made_buffer(VkDeviceMemory *memory) {
    VkBufferCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = BYTES,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &create, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    *memory = memory_for(needs);
    CHECK(vkBindBufferMemory(device, buffer, *memory, 0));
    return buffer;
}

static VkImage made_image(VkFormat format, VkImageUsageFlags usage, VkImageView *view) {
    VkImageCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {WIDTH, HEIGHT, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkImage image;
    CHECK(vkCreateImage(device, &create, NULL, &image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, image, &needs);
    CHECK(vkBindImageMemory(device, image, memory_for(needs), 0));
    VkImageViewCreateInfo view_create = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    CHECK(vkCreateImageView(device, &view_create, NULL, view));
    return image;
}

struct scope {
    VkPipelineStageFlags stages;
    VkAccessFlags access;
    VkImageLayout layout;
};

static const struct scope NOTHING = {VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0,
                                     VK_IMAGE_LAYOUT_UNDEFINED};
static const struct scope WRITTEN = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};
static const struct scope SAMPLED = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                     VK_ACCESS_SHADER_READ_BIT,
                                     VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
static const struct scope STORED = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                                    VK_IMAGE_LAYOUT_GENERAL};
static const struct scope COPIED = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT,
                                    VK_IMAGE_LAYOUT_GENERAL};

static void barrier(VkCommandBuffer commands, VkImage image, struct scope before,
                    struct scope behind) {
    VkImageMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                   .srcAccessMask = before.access,
                                   .dstAccessMask = behind.access,
                                   .oldLayout = before.layout,
                                   .newLayout = behind.layout,
                                   .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                   .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                   .image = image,
                                   .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, before.stages, behind.stages, 0, 0, NULL, 0, NULL, 1, &memory);
}

static VkDescriptorSetLayout made_set_layout(void) {
    // The last binding is never written, and the kernel does not use it.
    VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    VkDescriptorBindingFlags flags[] = {0, 0, VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT};
    VkDescriptorSetLayoutBindingFlagsCreateInfo flags_create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = 3,
        .pBindingFlags = flags};
    VkDescriptorSetLayoutCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = has_fault("flagged-binding") ? &flags_create : NULL,
        .bindingCount = 3,
        .pBindings = bindings};
    VkDescriptorSetLayout layout;
    CHECK(vkCreateDescriptorSetLayout(device, &create, NULL, &layout));
    return layout;
}

static VkDescriptorSet made_set(VkDescriptorSetLayout layout, VkImageView source,
                                VkImageView result) {
    VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
                                    {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1},
                                    {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    VkDescriptorPoolCreateInfo pool_create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 3,
        .pPoolSizes = sizes};
    VkDescriptorPool pool;
    CHECK(vkCreateDescriptorPool(device, &pool_create, NULL, &pool));
    VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout};
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(device, &allocate, &set));
    VkSamplerCreateInfo sampler_create = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                          .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                          .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                          .maxLod = VK_LOD_CLAMP_NONE};
    VkSampler sampler;
    CHECK(vkCreateSampler(device, &sampler_create, NULL, &sampler));
    VkImageLayout named = has_fault("wrong-layout") ? VK_IMAGE_LAYOUT_GENERAL : SAMPLED.layout;
    VkDescriptorImageInfo infos[] = {{sampler, source, named},
                                     {VK_NULL_HANDLE, result, VK_IMAGE_LAYOUT_GENERAL}};
    VkWriteDescriptorSet writes[] = {
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = set,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .pImageInfo = &infos[0]},
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = set,
         .dstBinding = 1,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
         .pImageInfo = &infos[1]}};
    vkUpdateDescriptorSets(device, 2, writes, 0, NULL);
    return set;
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    if (argc > 2) fault = argv[2];
    VkInstance instance = open_instance("images", VK_API_VERSION_1_2, &physical);
    VkQueue queue;
    device = open_device(physical, &queue);

    VkDeviceMemory staging_memory, read_memory;
    VkBuffer staging = made_buffer(&staging_memory), read = made_buffer(&read_memory);
    VkImageView source_view, result_view;
    VkImage source =
        made_image(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_SAMPLED_BIT, &source_view);
    VkImage result = made_image(VK_FORMAT_R32_UINT, VK_IMAGE_USAGE_STORAGE_BIT, &result_view);
    uint8_t *texels;
    CHECK(vkMapMemory(device, staging_memory, 0, VK_WHOLE_SIZE, 0, (void **)&texels));
    for (int index = 0; index < BYTES; index++) texels[index] = (uint8_t)index;
    vkUnmapMemory(device, staging_memory);

    VkDescriptorSetLayout set_layout = made_set_layout();
    VkDescriptorSet set = made_set(set_layout, source_view, result_view);
    VkPipelineLayoutCreateInfo layout_create = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout};
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &layout_create, NULL, &layout));
    VkComputePipelineCreateInfo pipeline_create = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = load_module(device, argv[1]),
                  .pName = "main"},
        .layout = layout};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_create, NULL, &pipeline));

    VkCommandPoolCreateInfo pool_create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(device, &pool_create, NULL, &pool));
    VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &allocate, &commands));
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageExtent = {WIDTH, HEIGHT, 1}};
    barrier(commands, source, NOTHING, WRITTEN);
    vkCmdCopyBufferToImage(commands, staging, source, WRITTEN.layout, 1, &region);
    barrier(commands, source, WRITTEN, SAMPLED);
    barrier(commands, result, NOTHING, WRITTEN);
    VkClearColorValue color = {.uint32 = {CLEARED, 0, 0, 0}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, result, WRITTEN.layout, &color, 1, &range);
    barrier(commands, result, WRITTEN, STORED);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(commands, 1, 1, 1);
    if (!has_fault("missing-barrier")) barrier(commands, result, STORED, COPIED);
    vkCmdCopyImageToBuffer(commands, result, COPIED.layout, read, 1, &region);
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &to_host, 0, NULL, 0, NULL);
    CHECK(vkEndCommandBuffer(commands));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(queue));
    uint32_t *sums;
    CHECK(vkMapMemory(device, read_memory, 0, VK_WHOLE_SIZE, 0, (void **)&sums));
    uint32_t sum = 0;
    for (int index = 0; index < TEXELS; index++) sum += sums[index];
    vkUnmapMemory(device, read_memory);
    printf("sum %u\n", sum);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
