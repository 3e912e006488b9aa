//! Deep, wide and circular declarations.

use crate::module::Module;

fn words(declarations: &str) -> Vec<u32> {
    let text = format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%uint = OpTypeInt 32 0\n{declarations}"
    );
    shaderc::Compiler::new().unwrap().assemble(&text, None).expect("assembly").as_binary().to_vec()
}

fn read(declarations: &str) -> Result<(), String> {
    Module::parse(words(declarations)).map(drop).map_err(|error| error.to_string())
}

/// `%tN` is made of `%t(N-1)` by `line`.
fn chain(levels: usize, line: impl Fn(usize) -> String) -> String {
    let rest: String = (1..levels).map(|n| format!("%t{n} = {}\n", line(n - 1))).collect();
    format!("%t0 = OpTypeStruct %uint\n{rest}")
}

#[test]
fn deep_types_are_refused_and_less_deep_ones_read() {
    assert_eq!(read(&chain(254, |before| format!("OpTypeStruct %t{before}"))), Ok(()));
    let error = read(&chain(255, |before| format!("OpTypeStruct %t{before}"))).unwrap_err();
    assert!(error.ends_with("is nested deeper than 255 levels"), "{error}");
}

#[test]
fn wide_types_and_constants_are_refused() {
    let error =
        read(&chain(60, |before| format!("OpTypeStruct %t{before} %t{before}"))).unwrap_err();
    assert!(error.ends_with("holds more than 4194304 parts"), "{error}");
    let constants: String =
        (1..40).map(|n| format!("%c{n} = OpConstantComposite %s %c{0} %c{0}\n", n - 1)).collect();
    let error =
        read(&format!("%s = OpTypeStruct %uint %uint\n%c0 = OpConstant %uint 1\n{constants}"))
            .unwrap_err();
    assert!(
        error.starts_with("constant %") && error.ends_with("holds more than 4194304 parts"),
        "{error}"
    );
}

#[test]
fn an_id_with_two_definitions_is_refused() {
    let mut words = words("%int = OpTypeInt 32 1");
    // The second type's id becomes the first one's.
    let second = words.len() - 3;
    words[second] = 1;
    let error = Module::parse(words).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "id %1 is defined twice");
}

#[test]
fn a_type_that_holds_itself_is_refused_and_one_that_points_to_itself_is_read() {
    let error = read("%a = OpTypeStruct %uint %b\n%b = OpTypeStruct %a").unwrap_err();
    assert!(error.ends_with("which is not declared before it"), "{error}");
    let list = "OpTypeForwardPointer %p PhysicalStorageBuffer\n%a = OpTypeStruct %uint %p\n%p = OpTypePointer PhysicalStorageBuffer %a";
    assert_eq!(read(list), Ok(()));
}
