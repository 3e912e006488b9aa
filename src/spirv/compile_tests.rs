//! What tests compile kernels with.

use super::TargetEnv;

/// Compiles GLSL for `env` without optimisation and with debug lines.
pub(crate) fn compile(source: &str, env: TargetEnv) -> Vec<u32> {
    thread_local!(static COMPILER: shaderc::Compiler = shaderc::Compiler::new().expect("compiler"));
    let mut options = shaderc::CompileOptions::new().expect("options");
    let version = match env {
        TargetEnv::Vulkan1_0 => shaderc::EnvVersion::Vulkan1_0,
        TargetEnv::Vulkan1_1 | TargetEnv::Vulkan1_1Spirv1_4 => shaderc::EnvVersion::Vulkan1_1,
        TargetEnv::Vulkan1_2 => shaderc::EnvVersion::Vulkan1_2,
        TargetEnv::Vulkan1_3 | TargetEnv::Vulkan1_4 | TargetEnv::Universal1_6 => {
            shaderc::EnvVersion::Vulkan1_3
        }
    };
    options.set_target_env(shaderc::TargetEnv::Vulkan, version as u32);
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    options.set_generate_debug_info();
    let text = format!("#version 460\n{source}");
    let artifact = COMPILER.with(|compiler| {
        compiler.compile_into_spirv(
            &text,
            shaderc::ShaderKind::Compute,
            "test.comp",
            "main",
            Some(&options),
        )
    });
    artifact.unwrap_or_else(|error| panic!("{error}\n{text}")).as_binary().to_vec()
}
