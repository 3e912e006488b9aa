// What the host programs for the tests of the capture have in common.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

#define CHECK(call)                                            \
    do {                                                       \
        VkResult result = (call);                              \
        if (result != VK_SUCCESS) {                            \
            fprintf(stderr, "%s: result %d\n", #call, result); \
            exit(70);                                          \
        }                                                      \
    } while (0)

static inline VkShaderModule load_module(VkDevice device, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(66);
    }
    static uint32_t words[1 << 16];
    size_t bytes = fread(words, 1, sizeof words, file);
    fclose(file);
    VkShaderModuleCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = bytes,
                                       .pCode = words};
    VkShaderModule module;
    CHECK(vkCreateShaderModule(device, &create, NULL, &module));
    return module;
}

// The first memory type of those allowed that the host sees without flushes.
static inline uint32_t host_visible_type(VkPhysicalDevice physical, uint32_t allowed) {
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(physical, &properties);
    VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t index = 0; index < properties.memoryTypeCount; index++) {
        int suits = (properties.memoryTypes[index].propertyFlags & wanted) == wanted;
        if (suits && (allowed >> index & 1)) return index;
    }
    exit(71);
}

// Ends the program with 69 where there is no device.
static inline VkInstance open_instance(const char *name, uint32_t version,
                                       VkPhysicalDevice *physical) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = name,
                                     .apiVersion = version};
    VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                   .pApplicationInfo = &application};
    VkInstance instance;
    CHECK(vkCreateInstance(&create, NULL, &instance));
    uint32_t devices = 1;
    if (vkEnumeratePhysicalDevices(instance, &devices, physical) < 0 || devices == 0) exit(69);
    return instance;
}

// A device with one queue of the first family.
static inline VkDevice open_device(VkPhysicalDevice physical, VkQueue *queue) {
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue_create = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueCount = 1,
                                            .pQueuePriorities = &priority};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue_create};
    VkDevice device;
    CHECK(vkCreateDevice(physical, &create, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, queue);
    return device;
}
