//! The SPIR-V validator and disassembler that are part of the pinned compiler.
//!
//! Knows: the C interface of SPIRV-Tools, whose code lies inside shaderc's static library; so the
//! rules are those of the pinned compiler and no outside program is needed.
//! Promises: any sequence of words is answered with `Ok` or a message; nothing crashes on garbage.
//! Layouts that a device feature permits (scalar, std430 in uniform blocks) are accepted; whether
//! the device has it is the engine's check.
//! Does not cover: rules that hold only at run time (the engines look for those).

use super::rewrite::outline;
use rspirv::spirv::Op;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use vkcert_crash::{NativePart, NativeScope};

/// The environment whose rules a module must obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetEnv {
    /// Vulkan 1.0.
    Vulkan1_0,
    /// Vulkan 1.1.
    Vulkan1_1,
    /// Vulkan 1.1 with VK_KHR_spirv_1_4.
    Vulkan1_1Spirv1_4,
    /// Vulkan 1.2.
    Vulkan1_2,
    /// Vulkan 1.3.
    Vulkan1_3,
    /// Vulkan 1.4.
    Vulkan1_4,
    /// SPIR-V 1.6 without any rule of a client interface.
    Universal1_6,
}

impl TargetEnv {
    /// Every environment with the name that SPIRV-Tools and the contract's `target_env` use.
    pub const ALL: &'static [(TargetEnv, &'static CStr)] = &[
        (TargetEnv::Vulkan1_0, c"vulkan1.0"),
        (TargetEnv::Vulkan1_1, c"vulkan1.1"),
        (TargetEnv::Vulkan1_1Spirv1_4, c"vulkan1.1spv1.4"),
        (TargetEnv::Vulkan1_2, c"vulkan1.2"),
        (TargetEnv::Vulkan1_3, c"vulkan1.3"),
        (TargetEnv::Vulkan1_4, c"vulkan1.4"),
        (TargetEnv::Universal1_6, c"spv1.6"),
    ];

    /// The environment called `name` (`vulkan1.2`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, listed_name)| listed_name.to_bytes() == name.as_bytes())
            .map(|(target_env, _)| *target_env)
    }

    /// The oldest Vulkan environment that takes a module's SPIR-V version (header word 1), for
    /// modules that come without one (Vulkan specification, "Versions and Formats" of the SPIR-V
    /// environment).
    pub fn for_version(words: &[u32]) -> Self {
        match words.get(1).map_or(0, |version| version >> 8 & 0xFFFF) {
            0..=0x100 => TargetEnv::Vulkan1_0,
            0x101..=0x103 => TargetEnv::Vulkan1_1,
            0x104 => TargetEnv::Vulkan1_1Spirv1_4,
            0x105 => TargetEnv::Vulkan1_2,
            _ => TargetEnv::Vulkan1_4,
        }
    }

    fn c_name(self) -> &'static CStr {
        Self::ALL
            .iter()
            .find(|(listed_env, _)| *listed_env == self)
            .map(|(_, name)| *name)
            .expect("ALL lists every environment")
    }
}

/// The module breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid SPIR-V: {message}")]
pub struct ValidationError {
    /// The validator's own sentence, with the instruction it is about.
    pub message: String,
    /// Index of the word (or, for rules about an instruction, of the instruction) that the
    /// validator names, where it names one.
    pub word: Option<u64>,
}

/// Checks `words` by the rules of `env`.
pub fn validate(words: &[u32], target_env: TargetEnv) -> Result<(), ValidationError> {
    validate_with(words, target_env, LayoutRules::Permitted)
}

/// The same, but block layouts that the feature scalarBlockLayout permits are not accepted (those
/// of uniformBufferStandardLayout are, which every Vulkan 1.2 device has).
pub fn validate_standard_layout(
    words: &[u32],
    target_env: TargetEnv,
) -> Result<(), ValidationError> {
    validate_with(words, target_env, LayoutRules::Standard)
}

/// Which layouts of blocks are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LayoutRules {
    /// Those that some device feature permits.
    Permitted,
    Standard,
}

fn validate_with(
    words: &[u32],
    target_env: TargetEnv,
    layout_rules: LayoutRules,
) -> Result<(), ValidationError> {
    // The C library would read a foreign byte order; everything behind this reads the host's.
    if words.first() != Some(&rspirv::spirv::MAGIC_NUMBER) {
        let message = "the first word is not the SPIR-V magic number 0x07230203".to_owned();
        return Err(ValidationError { message, word: Some(0) });
    }
    // A module with large functions is as valid as one that has them outlined, and that takes far
    // less time.
    if let Some(outlined) = outline::outline_functions(words, outline::SIZES)
        && run_validator(&outlined, target_env, IdNames::Numbers, layout_rules).is_ok()
    {
        return Ok(());
    }
    validate_uncut(words, target_env, layout_rules)
}

/// Checks `words` as they stand, which must begin as a module does.
#[cfg(test)]
pub(super) fn validate_whole(words: &[u32], target_env: TargetEnv) -> Result<(), ValidationError> {
    validate_uncut(words, target_env, LayoutRules::Permitted)
}

fn validate_uncut(
    words: &[u32],
    target_env: TargetEnv,
    layout_rules: LayoutRules,
) -> Result<(), ValidationError> {
    // Friendly names serve the message alone, and cost quadratic time where many ids have the same
    // name.
    match run_validator(words, target_env, IdNames::Numbers, layout_rules) {
        Ok(()) => Ok(()),
        Err(_) => run_validator(words, target_env, IdNames::Friendly, layout_rules),
    }
}

/// How the validator calls ids in its message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdNames {
    Numbers,
    Friendly,
}

fn run_validator(
    words: &[u32],
    target_env: TargetEnv,
    id_names: IdNames,
    layout_rules: LayoutRules,
) -> Result<(), ValidationError> {
    let _inside = NativeScope::new(NativePart::Validator, &module_subject(words));
    let context = ValidatorContext::new(target_env)?;
    let options = ValidatorOptions::permissive()?;
    // SAFETY: a live options object.
    unsafe {
        spvValidatorOptionsSetFriendlyNames(options.0, id_names == IdNames::Friendly);
        spvValidatorOptionsSetScalarBlockLayout(options.0, layout_rules == LayoutRules::Permitted);
    }
    let binary = ConstBinary { code: words.as_ptr(), word_count: words.len() };
    let mut diagnostic = ValidatorDiagnostic(ptr::null_mut());
    // SAFETY: context and options are live objects of the library, `binary` describes a live slice
    // that the library only reads, and `diagnostic` receives a pointer that its Drop gives back.
    let result_code =
        unsafe { spvValidateWithOptions(context.0, options.0, &binary, &mut diagnostic.0) };
    if result_code == SPV_SUCCESS { Ok(()) } else { Err(diagnostic.into_error(result_code)) }
}

/// What a module is called where nothing but its words is known: by the first string in it, which
/// in a module of the compiler is the path of the source.
fn module_subject(words: &[u32]) -> String {
    const HEADER_WORDS: usize = 5;
    let mut word_offset = HEADER_WORDS;
    while let Some(first_word) = words.get(word_offset) {
        let (opcode, length) = (first_word & 0xFFFF, (first_word >> 16) as usize);
        if length == 0 || opcode == Op::Function as u32 {
            break;
        }
        if opcode == Op::String as u32 {
            let string_words = words.get(word_offset + 2..word_offset + length).unwrap_or(&[]);
            let bytes: Vec<u8> = string_words
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .take_while(|byte| *byte != 0)
                .collect();
            return format!("a module of {}", String::from_utf8_lossy(&bytes));
        }
        word_offset += length;
    }
    "a module that names no source".to_owned()
}

/// The module as assembly text, ids by friendly name, for people.
pub fn disassemble(words: &[u32]) -> Result<String, ValidationError> {
    let context = ValidatorContext::new(TargetEnv::Universal1_6)?;
    let mut diagnostic = ValidatorDiagnostic(ptr::null_mut());
    let mut text = DisassemblyText(ptr::null_mut());
    let _inside = NativeScope::new(NativePart::Validator, &module_subject(words));
    // SAFETY: as in `validate`; `text` receives a pointer that its Drop gives back.
    let result_code = unsafe {
        spvBinaryToText(
            context.0,
            words.as_ptr(),
            words.len(),
            DISASSEMBLY,
            &mut text.0,
            &mut diagnostic.0,
        )
    };
    if result_code != SPV_SUCCESS || text.0.is_null() {
        return Err(diagnostic.into_error(result_code));
    }
    // SAFETY: on success the library has set `text` to an object whose `str` holds `length` bytes.
    let bytes = unsafe { std::slice::from_raw_parts((*text.0).str.cast::<u8>(), (*text.0).length) };
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

const SPV_SUCCESS: i32 = 0;
/// Indented, with friendly names and comments, without the header (`spv_binary_to_text_options_t`).
const DISASSEMBLY: u32 = 1 << 3 | 1 << 5 | 1 << 6;

#[repr(C)]
struct ConstBinary {
    code: *const u32,
    word_count: usize,
}

#[repr(C)]
struct RawText {
    str: *const c_char,
    length: usize,
}

#[repr(C)]
struct Position {
    line: usize,
    column: usize,
    index: usize,
}

#[repr(C)]
struct RawDiagnostic {
    position: Position,
    error: *mut c_char,
    is_text_source: bool,
}

// Links the library that the functions below are in; a `link` attribute here would link it twice.
use shaderc as _;

unsafe extern "C" {
    fn spvParseTargetEnv(name: *const c_char, env: *mut i32) -> bool;
    fn spvContextCreate(env: i32) -> *mut c_void;
    fn spvContextDestroy(context: *mut c_void);
    fn spvValidatorOptionsCreate() -> *mut c_void;
    fn spvValidatorOptionsDestroy(options: *mut c_void);
    fn spvValidatorOptionsSetScalarBlockLayout(options: *mut c_void, value: bool);
    fn spvValidatorOptionsSetUniformBufferStandardLayout(options: *mut c_void, value: bool);
    fn spvValidatorOptionsSetWorkgroupScalarBlockLayout(options: *mut c_void, value: bool);
    fn spvValidatorOptionsSetFriendlyNames(options: *mut c_void, value: bool);
    fn spvValidatorOptionsSetAllowLocalSizeId(options: *mut c_void, value: bool);
    fn spvValidateWithOptions(
        context: *const c_void,
        options: *const c_void,
        binary: *const ConstBinary,
        diagnostic: *mut *mut RawDiagnostic,
    ) -> i32;
    fn spvBinaryToText(
        context: *const c_void,
        binary: *const u32,
        word_count: usize,
        options: u32,
        text: *mut *mut RawText,
        diagnostic: *mut *mut RawDiagnostic,
    ) -> i32;
    fn spvTextDestroy(text: *mut RawText);
    fn spvDiagnosticDestroy(diagnostic: *mut RawDiagnostic);
}

struct ValidatorContext(*mut c_void);

impl ValidatorContext {
    fn new(target_env: TargetEnv) -> Result<Self, ValidationError> {
        let mut environment_number = 0;
        // SAFETY: the name is a C string and `number` a live integer for the enum's value (an int
        // in C).
        if !unsafe { spvParseTargetEnv(target_env.c_name().as_ptr(), &mut environment_number) } {
            return Err(unknown_environment());
        }
        // SAFETY: `number` is an environment that the library has just named; null is an answer,
        // checked below.
        let context = unsafe { spvContextCreate(environment_number) };
        if context.is_null() { Err(unknown_environment()) } else { Ok(Self(context)) }
    }
}

fn unknown_environment() -> ValidationError {
    ValidationError { message: "the validator does not know this environment".into(), word: None }
}

impl Drop for ValidatorContext {
    fn drop(&mut self) {
        // SAFETY: made by spvContextCreate, not null, and destroyed once.
        unsafe { spvContextDestroy(self.0) }
    }
}

struct ValidatorOptions(*mut c_void);

impl ValidatorOptions {
    fn permissive() -> Result<Self, ValidationError> {
        // SAFETY: no arguments; null is checked before use.
        let options = unsafe { spvValidatorOptionsCreate() };
        if options.is_null() {
            return Err(ValidationError {
                message: "the validator is out of memory".into(),
                word: None,
            });
        }
        let options = Self(options);
        // SAFETY: a live options object.
        unsafe {
            spvValidatorOptionsSetScalarBlockLayout(options.0, true);
            spvValidatorOptionsSetUniformBufferStandardLayout(options.0, true);
            spvValidatorOptionsSetWorkgroupScalarBlockLayout(options.0, true);
            spvValidatorOptionsSetAllowLocalSizeId(options.0, true);
        }
        Ok(options)
    }
}

impl Drop for ValidatorOptions {
    fn drop(&mut self) {
        // SAFETY: made by spvValidatorOptionsCreate, not null, and destroyed once.
        unsafe { spvValidatorOptionsDestroy(self.0) }
    }
}

struct DisassemblyText(*mut RawText);

impl Drop for DisassemblyText {
    fn drop(&mut self) {
        // SAFETY: null (which the library accepts) or made by spvBinaryToText, and destroyed once.
        unsafe { spvTextDestroy(self.0) }
    }
}

struct ValidatorDiagnostic(*mut RawDiagnostic);

impl ValidatorDiagnostic {
    fn into_error(self, result_code: i32) -> ValidationError {
        if self.0.is_null() {
            return ValidationError {
                message: format!("the validator gives code {result_code} without a message"),
                word: None,
            };
        }
        // SAFETY: not null, so the library has filled it; `error` is a C string or null.
        let raw_diagnostic = unsafe { &*self.0 };
        let message = if raw_diagnostic.error.is_null() {
            format!("code {result_code}")
        } else {
            // SAFETY: not null, ends with a zero, lives as long as the diagnostic.
            unsafe { CStr::from_ptr(raw_diagnostic.error) }.to_string_lossy().trim().to_owned()
        };
        let word_index =
            (raw_diagnostic.position.index > 0).then_some(raw_diagnostic.position.index as u64);
        ValidationError { message, word: word_index }
    }
}

impl Drop for ValidatorDiagnostic {
    fn drop(&mut self) {
        // SAFETY: null (which the library accepts) or made by the library, and destroyed once.
        unsafe { spvDiagnosticDestroy(self.0) }
    }
}
