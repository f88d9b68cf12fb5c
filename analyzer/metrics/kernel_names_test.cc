#include "analyzer/metrics/kernel_names.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::analyzer {
namespace {

TEST(RoleOfKernel, KnowsTheFamiliesThatMoveDataBetweenRanks) {
  const char* const comm[] = {
      "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
      "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
      "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
      "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)",
      "ncclSymDevKernel_AllGather_STMC(ncclSymDevArgs)",
      "void sglang::cross_device_reduce_2stage<__half, 4>(...)",
      "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(...)",
      "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
      "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
      "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K)",
      "nccldevkernel_broadcast_ring_ll",
      "mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
      "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
      "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
      "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 8>(...)",
      "void deep_ep::internode_ll::dispatch<3, 10, 7168>(void*, float*, int*, long*)",
      "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<...>(...)",
      "nvshmemi_transfer_rma_block",
      "aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16>"};
  for (const char* name : comm) EXPECT_EQ(RoleOfKernel(name), KernelRole::kCommunication) << name;
}

TEST(RoleOfKernel, LookAlikesStayCompute) {
  const char* const compute[] = {
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...>>(...)",
      "triton_red_fused_all_reduce_input_layernorm_3",
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<...>(...)",
      "void gather_kernel_broadcast<float>(float const*, float*, int)",
      "all_to_all_permute_index_kernel_local",
      "void split_with_sizes_copy_out_contiguous_no_cast_kernel<...>(...)"};
  for (const char* name : compute) EXPECT_EQ(RoleOfKernel(name), KernelRole::kCompute) << name;
  EXPECT_EQ(RoleOfKernel("Memcpy PtoP (Device -> Device)"), KernelRole::kPeerCopy);
}

TEST(CollectiveOfKernel, ReadsTheOperationButNeverTheProtocol) {
  EXPECT_EQ(CollectiveOfKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"),
            "all_reduce");
  EXPECT_EQ(CollectiveOfKernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), "reduce_scatter");
  EXPECT_EQ(CollectiveOfKernel("ncclKernel_AllGather_RING_LL_Sum_int8_t"), "all_gather");
  EXPECT_EQ(CollectiveOfKernel("ncclDevKernel_SendRecv(...)"), "send_recv");
  EXPECT_EQ(CollectiveOfKernel("nccldevkernel_broadcast_ring_ll"), "broadcast");
  EXPECT_EQ(CollectiveOfKernel("void deep_ep::intranode::combine<...>(...)"), "all_to_all");
  EXPECT_EQ(CollectiveOfKernel("ncclDevKernel_Generic_1(ncclDevKernelArgs)"), "");
}

TEST(CategoryOfKernel, KnowsTheKernelsOfTheFieldsLibraries) {
  const std::pair<const char*, KernelCategory> cases[] = {
      {"volta_sgemm_128x64_nt", KernelCategory::kGemm},
      {"void fbgemm_gpu::permute_2D_data_kernel<false, long, long, float>(int, int)",
       KernelCategory::kLayout},
      {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", KernelCategory::kGemm},
      {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT", KernelCategory::kGemm},
      {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN",
       KernelCategory::kGemm},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float, float>(...)", KernelCategory::kGemm},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128>>(...)",
       KernelCategory::kAttention},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
       KernelCategory::kAttention},
      {"cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_mobile_relu_tile148t_nt_v0",
       KernelCategory::kConvolution},
      {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>(...)",
       KernelCategory::kConvolution},
      {"cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)",
       KernelCategory::kConvolution},
      {"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 32, true, 1>(...)",
       KernelCategory::kNormalisation},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(...)",
       KernelCategory::kNormalisation},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 9>(...)",
       KernelCategory::kSoftmax},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<...>(...)",
       KernelCategory::kOptimizer},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(...)",
       KernelCategory::kElementwise},
      {"triton_poi_fused_add_mul_layer_norm_3", KernelCategory::kElementwise},
      {"triton_per_fused_native_layer_norm_7", KernelCategory::kNormalisation},
      {"triton_red_fused_all_reduce_sum_1", KernelCategory::kReduction},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...>>(...)",
       KernelCategory::kReduction},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<...>(...)",
       KernelCategory::kLayout},
      {"void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>(...)",
       KernelCategory::kLayout},
      {"void at::native::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, true>(...)",
       KernelCategory::kIndexing},
      {"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(...)",
       KernelCategory::kPooling},
      {"void split_embedding_codegen_forward_kernel<c10::Half>(long, fbgemm_gpu::FixedDivisor)",
       KernelCategory::kIndexing},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)", KernelCategory::kCommunication},
      {"my_very_own_kernel(float*)", KernelCategory::kOther}};
  for (const auto& [name, category] : cases) {
    EXPECT_STREQ(ToString(CategoryOfKernel(name)), ToString(category)) << name;
  }
}

TEST(UsesTensorCores, IsSaidOnlyOfKernelsThatCould) {
  const auto uses = [](const char* name) { return UsesTensorCores(name, CategoryOfKernel(name)); };
  EXPECT_EQ(uses("volta_sgemm_128x64_nt"), false);
  EXPECT_EQ(uses("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn"), true);
  EXPECT_EQ(uses("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"), true);
  EXPECT_EQ(uses("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT"), true);
  EXPECT_EQ(uses("Cijk_Ailk_Bljk_SB_MT128x64x16_MI16x16x1_SN"), true);
  EXPECT_EQ(uses("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<...>"), true);
  EXPECT_EQ(uses("void at::native::vectorized_elementwise_kernel<4, ...>(...)"), std::nullopt);
}

TEST(KernelRules, FirstRuleThatFitsDecidesWithoutRegardToCase) {
  const Result<KernelRules> rules = KernelRules::Parse(
      "# ours\n\n  communication\tacme::Ring* \r\ncompute *nccl_like*\ncopy mover_?\n"
      "compute acme::*",
      "rules.txt");
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules->RoleOf("ACME::ring_reduce<float>(float*)"), KernelRole::kCommunication);
  EXPECT_EQ(rules->RoleOf("acme::gelu"), KernelRole::kCompute);
  EXPECT_EQ(rules->RoleOf("my_nccl_like_kernel"), KernelRole::kCompute);
  EXPECT_EQ(rules->RoleOf("mover_2"), KernelRole::kPeerCopy);
  EXPECT_EQ(rules->RoleOf("mover_12"), std::nullopt);
  EXPECT_EQ(rules->RoleOf("other acme::Ring"), std::nullopt);
  EXPECT_EQ(KernelRules().RoleOf("acme::Ring"), std::nullopt);
}

TEST(KernelRules, SayWhichLineIsWrong) {
  for (const char* text : {"compute a*\nnetwork b*", "compute a*\ncompute"}) {
    const Result<KernelRules> rules = KernelRules::Parse(text, "rules.txt");
    ASSERT_FALSE(rules.ok());
    EXPECT_EQ(rules.status().code(), StatusCode::kUsage);
    EXPECT_NE(rules.status().message().find("rules.txt:2"), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti::analyzer
