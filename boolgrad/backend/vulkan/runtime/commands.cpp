#include "boolgrad/backend/vulkan/runtime/commands.h"

#include <array>

#include "boolgrad/backend/vulkan/runtime/memory.h"

namespace boolgrad::vulkan {

// ------------------------------------------------------------------ buffers

BufferSet::BufferSet(Context& context, std::span<const Buffer* const> buffers) : context_(context) {
  const Functions& vk = context.functions();
  const VkDescriptorPoolSize size{.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .descriptorCount = max_bindings};
  const VkDescriptorPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .maxSets = 1,
                                        .poolSizeCount = 1,
                                        .pPoolSizes = &size};
  check(vk.CreateDescriptorPool(context.device(), &pool, nullptr, &pool_),
        "create a descriptor set");
  const VkDescriptorSetLayout layout = context.set_layout();
  const VkDescriptorSetAllocateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                         .pNext = nullptr,
                                         .descriptorPool = pool_,
                                         .descriptorSetCount = 1,
                                         .pSetLayouts = &layout};
  check(vk.AllocateDescriptorSets(context.device(), &info, &set_), "create a descriptor set");
  const Buffer* any = nullptr;
  for (const Buffer* buffer : buffers) any = buffer != nullptr ? buffer : any;
  std::array<VkDescriptorBufferInfo, max_bindings> infos{};
  std::array<VkWriteDescriptorSet, max_bindings> writes{};
  for (std::uint32_t i = 0; i < max_bindings; ++i) {
    const Buffer* buffer = i < buffers.size() && buffers[i] != nullptr ? buffers[i] : any;
    infos[i] = {.buffer = buffer->handle(), .offset = 0, .range = VK_WHOLE_SIZE};
    writes[i] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                 .pNext = nullptr,
                 .dstSet = set_,
                 .dstBinding = i,
                 .dstArrayElement = 0,
                 .descriptorCount = 1,
                 .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                 .pImageInfo = nullptr,
                 .pBufferInfo = &infos[i],
                 .pTexelBufferView = nullptr};
  }
  vk.UpdateDescriptorSets(context.device(), max_bindings, writes.data(), 0, nullptr);
}

BufferSet::~BufferSet() {
  context_.functions().DestroyDescriptorPool(context_.device(), pool_, nullptr);
}

// ------------------------------------------------------------------ commands

CommandRecorder::CommandRecorder(Context& context) : context_(context) {
  if (DispatchTimes::are_enabled(context.physical())) times_.emplace(context);
}

CommandRecorder::~CommandRecorder() {
  if (buffers_.empty()) return;
  context_.functions().FreeCommandBuffers(context_.device(), context_.command_pool(),
                                          static_cast<std::uint32_t>(buffers_.size()),
                                          buffers_.data());
}

VkCommandBuffer CommandRecorder::current() {
  if (is_open_) return buffers_.back();
  const Functions& vk = context_.functions();
  const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .pNext = nullptr,
                                         .commandPool = context_.command_pool(),
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
  VkCommandBuffer buffer = nullptr;
  check(vk.AllocateCommandBuffers(context_.device(), &info, &buffer), "allocate a command buffer");
  buffers_.push_back(buffer);
  const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .pNext = nullptr,
                                       .flags = 0,
                                       .pInheritanceInfo = nullptr};
  check(vk.BeginCommandBuffer(buffer, &begin), "begin recording commands");
  is_open_ = true;
  work_ = 0;
  if (times_) times_->begin(buffer);
  return buffer;
}

void CommandRecorder::end() {
  if (!is_open_) return;
  barrier_for_all();  // for the host, or for the next command buffer
  check(context_.functions().EndCommandBuffer(buffers_.back()), "end recording commands");
  is_open_ = false;
}

void CommandRecorder::dispatch(VkPipeline pipeline, const BufferSet& buffers,
                               std::span<const std::byte> push, std::uint32_t groups, double work) {
  if (work_ > 0 && work_ + work > 1) end();
  const Functions& vk = context_.functions();
  VkCommandBuffer commands = current();
  work_ += work;
  vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  const VkDescriptorSet set = buffers.handle();
  vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, context_.pipeline_layout(), 0,
                           1, &set, 0, nullptr);
  vk.CmdPushConstants(commands, context_.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                      static_cast<std::uint32_t>(push.size()), push.data());
  vk.CmdDispatch(commands, groups, 1, 1);
  if (times_) times_->after(commands, context_.name_of(pipeline));
}

void CommandRecorder::wait(VkPipelineStageFlags before, VkAccessFlags written,
                           VkPipelineStageFlags after, VkAccessFlags read) {
  const VkMemoryBarrier memory{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .pNext = nullptr,
                               .srcAccessMask = written,
                               .dstAccessMask = read};
  context_.functions().CmdPipelineBarrier(current(), before, after, 0, 1, &memory, 0, nullptr, 0,
                                          nullptr);
}

void CommandRecorder::barrier() {
  wait(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
       VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void CommandRecorder::barrier_for_all() {
  constexpr VkPipelineStageFlags stages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  wait(stages, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
       stages | VK_PIPELINE_STAGE_HOST_BIT,
       VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
           VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
}

void CommandRecorder::copy(const Buffer& from, std::size_t from_at, const Buffer& to,
                           std::size_t to_at, std::size_t bytes) {
  barrier_for_all();
  const VkBufferCopy region{.srcOffset = from_at, .dstOffset = to_at, .size = bytes};
  context_.functions().CmdCopyBuffer(current(), from.handle(), to.handle(), 1, &region);
  barrier_for_all();
}

void CommandRecorder::clear(const Buffer& buffer) {
  barrier_for_all();
  context_.functions().CmdFillBuffer(current(), buffer.handle(), 0, VK_WHOLE_SIZE, 0);
  barrier_for_all();
}

void CommandRecorder::run() {
  end();
  context_.run(buffers_);
  if (times_) times_->read();
}

}  // namespace boolgrad::vulkan
