// A host program for the tests of the capture that is right and does what few programs do.
//
//   unusual WHAT [FILE]
//
// WHAT: `plain`, `close-files` (closes every descriptor that it has and writes FILE meanwhile),
// `few-files` (may open few files), `fork` (the child makes an instance of its own behind its
// parent's), `exec` (becomes `plain`), `cancel` (a thread is asked to end before it submits),
// `at-exit` (works in a handler that was there before the instance), `threads` (four devices of four
// threads), `abort` (behind its work), `replaced` (another file has the name of its capture).
// Each run fills a buffer with a word and reads it back.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { WORDS = 256 };

struct device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
};

static struct device made_device(void) {
    struct device made;
    made.instance = open_instance("unusual", VK_API_VERSION_1_1, &made.physical);
    made.device = open_device(made.physical, &made.queue);
    return made;
}

static void destroy(struct device *made) {
    vkDestroyDevice(made->device, NULL);
    vkDestroyInstance(made->instance, NULL);
}

static void record_fill(VkCommandBuffer commands, VkBuffer buffer, uint32_t word) {
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, word);
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                              .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &memory, 0, NULL, 0, NULL);
    CHECK(vkEndCommandBuffer(commands));
}

// Fills a buffer, waits, and ends the program where another word is in it.
static void fill(struct device *made, uint32_t word) {
    VkDevice device = made->device;
    VkBufferCreateInfo buffer_create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                        .size = WORDS * 4,
                                        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &buffer_create, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = host_visible_type(made->physical, needs.memoryTypeBits)};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(device, &allocate, NULL, &memory));
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));
    VkCommandPoolCreateInfo pool_create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(device, &pool_create, NULL, &pool));
    VkCommandBufferAllocateInfo command_allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &command_allocate, &commands));
    record_fill(commands, buffer, word);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(made->queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(made->queue));
    uint32_t *words;
    CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&words));
    for (int index = 0; index < WORDS; index++)
        if (words[index] != word) exit(72);
    vkUnmapMemory(device, memory);
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
}

static void plain(uint32_t word) {
    struct device made = made_device();
    fill(&made, word);
    destroy(&made);
}

static struct device global;

static void work_at_exit(void) {
    fill(&global, 7);
    destroy(&global);
}

static void *filling_thread(void *word) {
    plain((uint32_t)(uintptr_t)word);
    return NULL;
}

static void *canceled_thread(void *ignored) {
    (void)ignored;
    // What is asked for now happens at the next point at which threads end.
    pthread_cancel(pthread_self());
    CHECK(vkQueueSubmit(global.queue, 0, NULL, VK_NULL_HANDLE));
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return "submitted";
}

static void write_own_files(const char *path) {
    global = made_device();
    fill(&global, 1);
    for (int descriptor = 3; descriptor < 4096; descriptor++) close(descriptor);
    int descriptors[1100];
    for (int index = 0; index < 1100; index++) {
        descriptors[index] = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (descriptors[index] != index + 3) break;
    }
    if (write(descriptors[0], "own\n", 4) != 4) exit(73);
    fill(&global, 2);
    fill(&global, 3);
    destroy(&global);
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    const char *what = argv[1];
    if (strcmp(what, "plain") == 0) plain(1);
    if (strcmp(what, "close-files") == 0 && argc > 2) write_own_files(argv[2]);
    if (strcmp(what, "few-files") == 0) {
        struct rlimit limit = {16, 16};
        setrlimit(RLIMIT_NOFILE, &limit);
        plain(1);
        printf("next descriptor %d\n", open("/dev/null", O_RDONLY));
    }
    if (strcmp(what, "fork") == 0) {
        plain(1);
        pid_t child = fork();
        plain(child == 0 ? 2 : 3);
        int status = 0;
        if (child != 0 && (waitpid(child, &status, 0) != child || status != 0)) return 74;
        if (child == 0) return 0;
    }
    if (strcmp(what, "exec") == 0) {
        plain(1);
        execl(argv[0], argv[0], "plain", NULL);
        return 75;
    }
    if (strcmp(what, "cancel") == 0) {
        global = made_device();
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, canceled_thread, NULL);
        pthread_join(thread, &result);
        printf("%s\n", result == PTHREAD_CANCELED ? "canceled" : (const char *)result);
        destroy(&global);
    }
    if (strcmp(what, "at-exit") == 0) {
        atexit(work_at_exit);
        global = made_device();
        fill(&global, 1);
    }
    if (strcmp(what, "threads") == 0) {
        pthread_t threads[4];
        for (uintptr_t index = 0; index < 4; index++)
            pthread_create(&threads[index], NULL, filling_thread, (void *)(index + 1));
        for (int index = 0; index < 4; index++) pthread_join(threads[index], NULL);
    }
    if (strcmp(what, "abort") == 0) {
        global = made_device();
        fill(&global, 1);
        abort();
    }
    if (strcmp(what, "replaced") == 0) {
        global = made_device();
        fill(&global, 1);
        for (int descriptor = 3; descriptor < 4096; descriptor++) close(descriptor);
        char command[4096];
        const char *folder = getenv("VKCERT_CAPTURE_FOLDER");
        if (folder) {
            snprintf(command, sizeof command, "mv %s/%d.capture %s/moved && echo mine > %s/%d.capture",
                     folder, getpid(), folder, folder, getpid());
            if (system(command) != 0) return 76;
        }
        fill(&global, 2);
        destroy(&global);
        if (folder) {
            snprintf(command, sizeof command, "grep -qx mine %s/%d.capture", folder, getpid());
            if (system(command) != 0) return 77;
            snprintf(command, sizeof command, "rm %s/%d.capture", folder, getpid());
            if (system(command) != 0) return 78;
        }
    }
    printf("right\n");
    return 0;
}
