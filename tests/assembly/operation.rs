//! Kernels of one operation on numbers of any width: operands from pairs of words, the result into
//! a pair.

use super::Kernel;
use std::fmt::Write;

pub(crate) const IMPORT: &str = "%glsl = OpExtInstImport \"GLSL.std.450\"\n";

pub(crate) const TYPES: &str = "%half = OpTypeFloat 16
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%ubyte = OpTypeInt 8 0
%byte = OpTypeInt 8 1
%ushort = OpTypeInt 16 0
%short = OpTypeInt 16 1
%ulong = OpTypeInt 64 0
%long = OpTypeInt 64 1
%v2u = OpTypeVector %uint 2
%v2f = OpTypeVector %float 2
%v2b = OpTypeVector %byte 2
%v2_int = OpTypeVector %int 2
%v2_half = OpTypeVector %half 2
%v2_double = OpTypeVector %double 2
%v2_ubyte = OpTypeVector %ubyte 2
%v2_ushort = OpTypeVector %ushort 2
%v2_short = OpTypeVector %short 2
%v2_ulong = OpTypeVector %ulong 2
%v2_long = OpTypeVector %long 2
%carry_uint = OpTypeStruct %uint %uint
%parts_half = OpTypeStruct %half %half
%parts_float = OpTypeStruct %float %float
%parts_double = OpTypeStruct %double %double
%split_half = OpTypeStruct %half %int
%split_float = OpTypeStruct %float %int
%split_double = OpTypeStruct %double %int
";

pub(crate) const WIDTHS: &[&str] =
    &["Int8", "Int16", "Int64", "Float16", "Float64", "SPV_KHR_float_controls"];

/// A kernel whose invocations take three numbers from three pairs of words and give one as a pair.
pub(crate) struct Operation {
    /// Types of the operands and of the result.
    pub operands: [&'static str; 3],
    pub result: &'static str,
    /// From `%a`, `%b`, `%d` to `%r`.
    pub text: String,
}

pub(crate) fn bits_of(ty: &str) -> u32 {
    match ty {
        "half" | "short" | "ushort" => 16,
        "byte" | "ubyte" => 8,
        "double" | "long" | "ulong" => 64,
        _ => 32,
    }
}

/// Vectors of two numbers of a type.
pub(crate) fn pair_of(ty: &str) -> String {
    match ty {
        "uint" => "v2u".to_owned(),
        "float" => "v2f".to_owned(),
        "byte" => "v2b".to_owned(),
        other => format!("v2_{other}"),
    }
}

/// The unsigned integers of some bits.
pub(crate) fn unsigned(bits: u32) -> &'static str {
    match bits {
        8 => "ubyte",
        16 => "ushort",
        32 => "uint",
        _ => "ulong",
    }
}

impl Operation {
    pub(crate) fn float(text: &str) -> Self {
        Self { operands: ["float"; 3], result: "float", text: text.to_owned() }
    }

    pub(crate) fn kernel(
        &self,
        needs: &'static [&'static str],
        modes: &'static str,
        count: usize,
    ) -> Kernel {
        let mut body = "%at = OpIMul %uint %x %c6\n".to_owned();
        for ((name, ty), place) in ["a", "b", "d"].into_iter().zip(self.operands).zip(0..) {
            let own = unsigned(bits_of(ty));
            let _ = writeln!(
                body,
                "%{name}_k0 = OpIAdd %uint %at %c{}
%{name}_k1 = OpIAdd %uint %at %c{}
%{name}_p0 = OpAccessChain %pu %i %c0 %{name}_k0
%{name}_p1 = OpAccessChain %pu %i %c0 %{name}_k1
%{name}_w0 = OpLoad %uint %{name}_p0
%{name}_w1 = OpLoad %uint %{name}_p1
%{name}_v = OpCompositeConstruct %v2u %{name}_w0 %{name}_w1
%{name}_l = OpBitcast %ulong %{name}_v
%{name}_u = {} %{own} %{name}_l
%{name} = {} %{ty} %{name}_u",
                2 * place,
                2 * place + 1,
                if own == "ulong" { "OpCopyObject" } else { "OpUConvert" },
                if own == ty { "OpCopyObject" } else { "OpBitcast" },
            );
        }
        body.push_str(&self.text);
        let own = unsigned(bits_of(self.result));
        let _ = write!(
            body,
            "
%r_u = {} %{own} %r
%r_l = {} %ulong %r_u
%r_v = OpBitcast %v2u %r_l
%r_0 = OpCompositeExtract %uint %r_v 0
%r_1 = OpCompositeExtract %uint %r_v 1
%o_at = OpIMul %uint %x %c2
%o_on = OpIAdd %uint %o_at %c1
%o_p0 = OpAccessChain %pu %o %c0 %o_at
%o_p1 = OpAccessChain %pu %o %c0 %o_on
OpStore %o_p0 %r_0
OpStore %o_p1 %r_1",
            if own == self.result { "OpCopyObject" } else { "OpBitcast" },
            if own == "ulong" { "OpCopyObject" } else { "OpUConvert" },
        );
        Kernel {
            needs,
            modes,
            declarations: TYPES.to_owned(),
            body,
            size: count as u32,
            ..Kernel::default()
        }
    }

    /// Results for triples of operands, as bits.
    pub(crate) fn results(
        &self,
        needs: &'static [&'static str],
        modes: &'static str,
        given: &[[u64; 3]],
    ) -> Vec<u64> {
        let mut kernel = self.kernel(needs, modes, given.len());
        kernel.imports = if self.text.contains("%glsl") { IMPORT } else { "" };
        let input: Vec<u32> =
            given.iter().flatten().flat_map(|bits| [*bits as u32, (bits >> 32) as u32]).collect();
        let words = kernel.output(&input, 2 * given.len(), None);
        words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
    }
}
