//! Arithmetic, conversions and bits on numbers of every width, scalars and vectors, shifts and bit
//! fields by numbers of other widths: the sequential engine against a model of one number that is
//! written here, on integers of 128 bits and the machine's floats. Where the specification leaves a
//! result undefined, the model has none.

use crate::assembly;

use assembly::operation::{Operation, WIDTHS, bits_of, pair_of, unsigned};

/// What an operation gives for three operands, as bits; none where that is undefined.
type Model = Box<dyn Fn([u64; 3]) -> Option<u64>>;

const SIGNED: [&str; 4] = ["byte", "short", "int", "long"];
const UNSIGNED: [&str; 4] = ["ubyte", "ushort", "uint", "ulong"];
const FLOATS: [&str; 3] = ["half", "float", "double"];

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The integer that bits are.
fn integer(value: u64, bits: u32, signed: bool) -> i128 {
    let value = i128::from(value & mask(bits));
    if signed && value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
}

/// Integers at the ends of their range, and some others.
fn integers(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    [
        0,
        1,
        2,
        3,
        7,
        bits as u64 - 1,
        top - 1,
        top,
        top + 1,
        mask(bits) - 4,
        mask(bits),
        0x5a5a_5a5a_5a5a_5a5a & mask(bits),
    ]
    .to_vec()
}

fn float(ty: &str, bits: u64) -> f64 {
    match ty {
        "half" => half::f16::from_bits(bits as u16).to_f64(),
        "float" => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The nearest number of a type, ties to the even one: a half is the nearest of the candidates
/// around it.
fn nearest(ty: &str, value: f64) -> u64 {
    match ty {
        "float" => u64::from((value as f32).to_bits()),
        "double" => value.to_bits(),
        _ if value.is_nan() => 0x7e00,
        _ if value.abs() >= 65520.0 => {
            half::f16::from_f32(f32::INFINITY.copysign(value as f32)).to_bits().into()
        }
        _ => {
            let near = half::f16::from_f32(value as f32).to_bits();
            let sign = near & 0x8000;
            let magnitudes =
                [(near & 0x7fff).saturating_sub(1), near & 0x7fff, (near & 0x7fff) + 1];
            let error = |bits: u16| (half::f16::from_bits(bits).to_f64() - value.abs()).abs();
            let finite = magnitudes.into_iter().filter(|bits| *bits < 0x7c00);
            let best = finite.min_by(|one, two| {
                error(*one).total_cmp(&error(*two)).then((one & 1).cmp(&(two & 1)))
            });
            u64::from(best.unwrap() | sign)
        }
    }
}

fn floats(ty: &str) -> Vec<u64> {
    let values =
        [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, -7.0, 0.1, 100.25, 2047.0, f64::INFINITY];
    values.map(|value| nearest(ty, value)).to_vec()
}

fn triples(values: [&[u64]; 3]) -> Vec<[u64; 3]> {
    let [a, b, c] = values;
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| [*a, *b]));
    pairs.enumerate().map(|(at, [a, b])| [a, b, c[(at * 7 + at / 5) % c.len()]]).collect()
}

struct Case {
    text: String,
    operands: [&'static str; 3],
    result: &'static str,
    model: Model,
}

impl Case {
    fn new(text: String, operands: [&'static str; 3], result: &'static str, model: Model) -> Self {
        Self { text, operands, result, model }
    }

    /// Where the result differs from the model.
    fn failures(&self, failures: &mut Vec<String>) {
        let values = self
            .operands
            .map(|ty| if FLOATS.contains(&ty) { floats(ty) } else { integers(bits_of(ty)) });
        let all = triples([&values[0], &values[1], &values[2]]);
        let given: Vec<[u64; 3]> =
            all.into_iter().filter(|operands| (self.model)(*operands).is_some()).collect();
        assert!(!given.is_empty(), "{}", self.text);
        let operation =
            Operation { operands: self.operands, result: self.result, text: self.text.clone() };
        let results = operation.results(WIDTHS, "", &given);
        for (operands, result) in given.iter().zip(results) {
            let due = (self.model)(*operands).unwrap();
            let is_float = FLOATS.contains(&self.result);
            let both_nan =
                is_float && float(self.result, due).is_nan() && float(self.result, result).is_nan();
            if result != due && !both_nan {
                failures.push(format!(
                    "{} of {operands:x?} ({:?}): {result:x}, not {due:x}",
                    self.text, self.operands
                ));
                break;
            }
        }
    }
}

fn check(cases: Vec<Case>) {
    let mut failures = Vec::new();
    cases.iter().for_each(|case| case.failures(&mut failures));
    assert!(
        failures.is_empty(),
        "{} of {} operations\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// An instruction on two numbers of a type, and on vectors of them whose second component has them
/// the other way round.
fn binary(
    cases: &mut Vec<Case>,
    op: &str,
    ty: &'static str,
    model: fn(i128, i128, u32) -> Option<i128>,
    signed: bool,
) {
    let bits = bits_of(ty);
    let value = move |a: u64, b: u64| {
        let result = model(integer(a, bits, signed), integer(b, bits, signed), bits)?;
        Some(result as u64 & mask(bits))
    };
    let text = format!("%r = {op} %{ty} %a %b");
    cases.push(Case::new(text, [ty; 3], ty, Box::new(move |[a, b, _]| value(a, b))));
    let pair = pair_of(ty);
    let text = format!(
        "%va = OpCompositeConstruct %{pair} %b %a\n%vb = OpCompositeConstruct %{pair} %a %b\n%vr = {op} %{pair} %va %vb
%r = OpCompositeExtract %{ty} %vr 0"
    );
    // Both components must be defined.
    let model = Box::new(move |[a, b, _]: [u64; 3]| value(a, b).and_then(|_| value(b, a)));
    cases.push(Case::new(text, [ty; 3], ty, model));
}

#[test]
fn integers_of_every_width() {
    let mut cases = Vec::new();
    for (signed, unsigned) in SIGNED.into_iter().zip(UNSIGNED) {
        for ty in [signed, unsigned] {
            binary(&mut cases, "OpIAdd", ty, |a, b, _| Some(a + b), false);
            binary(&mut cases, "OpISub", ty, |a, b, _| Some(a - b), false);
            binary(&mut cases, "OpIMul", ty, |a, b, _| Some(a.wrapping_mul(b)), false);
            binary(&mut cases, "OpBitwiseAnd", ty, |a, b, _| Some(a & b), false);
            binary(&mut cases, "OpBitwiseOr", ty, |a, b, _| Some(a | b), false);
            binary(&mut cases, "OpBitwiseXor", ty, |a, b, _| Some(a ^ b), false);
        }
        binary(&mut cases, "OpUDiv", unsigned, |a, b, _| a.checked_div(b), false);
        binary(&mut cases, "OpUMod", unsigned, |a, b, _| a.checked_rem(b), false);
        let divides = |a: i128, b: i128, bits: u32| {
            (b != 0 && !(b == -1 && a == -(1 << (bits - 1)))).then(|| a / b)
        };
        binary(&mut cases, "OpSDiv", signed, divides, true);
        binary(&mut cases, "OpSRem", signed, |a, b, _| (a >= 0 && b > 0).then(|| a % b), true);
        binary(&mut cases, "OpSMod", signed, |a, b, _| (a >= 0 && b > 0).then(|| a % b), true);
        for (name, model) in [
            ("UMin", (|a: i128, b: i128| a.min(b)) as fn(i128, i128) -> i128),
            ("UMax", |a, b| a.max(b)),
        ] {
            let text = format!("%r = OpExtInst %{unsigned} %glsl {name} %a %b");
            let bits = bits_of(unsigned);
            let value = move |[a, b, _]: [u64; 3]| {
                Some(model(integer(a, bits, false), integer(b, bits, false)) as u64 & mask(bits))
            };
            cases.push(Case::new(text, [unsigned; 3], unsigned, Box::new(value)));
            let text = format!("%r = OpExtInst %{signed} %glsl S{} %a %b", &name[1..]);
            let value = move |[a, b, _]: [u64; 3]| {
                Some(model(integer(a, bits, true), integer(b, bits, true)) as u64 & mask(bits))
            };
            cases.push(Case::new(text, [signed; 3], signed, Box::new(value)));
        }
        let bits = bits_of(signed);
        type One = fn(i128, u32) -> Option<i128>;
        let unary: [(&str, One); 4] = [
            ("OpSNegate %T %a", |a, _| Some(-a)),
            ("OpNot %T %a", |a, _| Some(!a)),
            ("OpExtInst %T %glsl SAbs %a", |a, bits| (a != -(1 << (bits - 1))).then_some(a.abs())),
            ("OpExtInst %T %glsl SSign %a", |a, _| Some(a.signum())),
        ];
        for (text, model) in unary {
            let text = format!("%r = {}", text.replace("%T", &format!("%{signed}")));
            let value = move |[a, _, _]: [u64; 3]| {
                Some(model(integer(a, bits, true), bits)? as u64 & mask(bits))
            };
            cases.push(Case::new(text, [signed; 3], signed, Box::new(value)));
        }
        let text = format!("%r = OpExtInst %{signed} %glsl SClamp %a %b %d");
        let clamp = move |[a, b, c]: [u64; 3]| {
            let [a, b, c] = [a, b, c].map(|value| integer(value, bits, true));
            (b <= c).then(|| a.clamp(b, c) as u64 & mask(bits))
        };
        cases.push(Case::new(text, [signed; 3], signed, Box::new(clamp)));
    }
    check(cases);
}

#[test]
fn shifts_by_numbers_of_every_width() {
    let mut cases = Vec::new();
    for (signed, unsigned) in SIGNED.into_iter().zip(UNSIGNED) {
        for amount in UNSIGNED.into_iter().chain(SIGNED) {
            let bits = bits_of(signed);
            let place =
                move |b: u64| (b & mask(bits_of(amount)) < u64::from(bits)).then_some(b as u32);
            let operands = |ty: &'static str| [ty, amount, "uint"];
            let left = move |[a, b, _]: [u64; 3]| Some(a << place(b)? & mask(bits));
            cases.push(Case::new(
                format!("%r = OpShiftLeftLogical %{unsigned} %a %b"),
                operands(unsigned),
                unsigned,
                Box::new(left),
            ));
            let right = move |[a, b, _]: [u64; 3]| Some(a >> place(b)?);
            cases.push(Case::new(
                format!("%r = OpShiftRightLogical %{unsigned} %a %b"),
                operands(unsigned),
                unsigned,
                Box::new(right),
            ));
            let arithmetic = move |[a, b, _]: [u64; 3]| {
                Some((integer(a, bits, true) >> place(b)?) as u64 & mask(bits))
            };
            cases.push(Case::new(
                format!("%r = OpShiftRightArithmetic %{signed} %a %b"),
                operands(signed),
                signed,
                Box::new(arithmetic),
            ));
        }
    }
    check(cases);
}

#[test]
fn bit_fields_by_numbers_of_every_width_and_counts() {
    let mut cases = Vec::new();
    for place in UNSIGNED {
        let field = move |offset: u64, count: u64| {
            (offset <= 32 && count <= 32 && offset + count <= 32).then_some(())
        };
        let low = |count: u64| if count == 0 { 0 } else { u64::MAX >> (64 - count) };
        let extract = move |[a, b, c]: [u64; 3]| field(b, c).map(|()| a >> b & low(c));
        let text = "%r = OpBitFieldUExtract %uint %a %b %d".to_owned();
        cases.push(Case::new(text, ["uint", place, place], "uint", Box::new(extract)));
        let signed = move |[a, b, c]: [u64; 3]| {
            field(b, c)?;
            let part = a >> b & low(c);
            Some(if c == 0 { 0 } else { integer(part, c as u32, true) as u64 & mask(32) })
        };
        let text = "%r = OpBitFieldSExtract %int %a %b %d".to_owned();
        cases.push(Case::new(text, ["int", place, place], "int", Box::new(signed)));
        // All ones into the hole.
        let insert = move |[a, b, c]: [u64; 3]| field(b, c).map(|()| (a | low(c) << b) & mask(32));
        let text = "%ones = OpNot %uint %c0\n%r = OpBitFieldInsert %uint %a %ones %b %d".to_owned();
        cases.push(Case::new(text, ["uint", place, place], "uint", Box::new(insert)));
    }
    let reversed =
        |[a, _, _]: [u64; 3]| Some((0..32).fold(0, |bits, at| bits | (a >> at & 1) << (31 - at)));
    cases.push(Case::new(
        "%r = OpBitReverse %uint %a".to_owned(),
        ["uint"; 3],
        "uint",
        Box::new(reversed),
    ));
    let counted = |[a, _, _]: [u64; 3]| Some((0..32).map(|at| a >> at & 1).sum());
    cases.push(Case::new(
        "%r = OpBitCount %uint %a".to_owned(),
        ["uint"; 3],
        "uint",
        Box::new(counted),
    ));
    check(cases);
}

#[test]
fn conversions_between_all_numbers() {
    let mut cases = Vec::new();
    for from in UNSIGNED.into_iter().chain(SIGNED) {
        let is_signed = SIGNED.contains(&from);
        let (bits, list) = (bits_of(from), if is_signed { SIGNED } else { UNSIGNED });
        for to in list.into_iter().filter(|to| bits_of(to) != bits) {
            let op = if is_signed { "OpSConvert" } else { "OpUConvert" };
            let model = move |[a, _, _]: [u64; 3]| {
                Some(integer(a, bits, is_signed) as u64 & mask(bits_of(to)))
            };
            cases.push(Case::new(format!("%r = {op} %{to} %a"), [from; 3], to, Box::new(model)));
        }
        for to in FLOATS {
            let op = if is_signed { "OpConvertSToF" } else { "OpConvertUToF" };
            let model = move |[a, _, _]: [u64; 3]| {
                let value = integer(a, bits, is_signed);
                Some(match to {
                    "float" => u64::from((value as f32).to_bits()),
                    "double" => (value as f64).to_bits(),
                    _ => nearest(to, value as f64),
                })
            };
            cases.push(Case::new(format!("%r = {op} %{to} %a"), [from; 3], to, Box::new(model)));
        }
    }
    for from in FLOATS {
        for to in FLOATS.into_iter().filter(|to| *to != from) {
            let model = move |[a, _, _]: [u64; 3]| Some(nearest(to, float(from, a)));
            cases.push(Case::new(
                format!("%r = OpFConvert %{to} %a"),
                [from; 3],
                to,
                Box::new(model),
            ));
        }
        for to in UNSIGNED.into_iter().chain(SIGNED) {
            let is_signed = SIGNED.contains(&to);
            let (op, bits) =
                (if is_signed { "OpConvertFToS" } else { "OpConvertFToU" }, bits_of(to));
            let model = move |[a, _, _]: [u64; 3]| {
                let value = float(from, a).trunc();
                let limit = 2f64.powi(bits as i32 - i32::from(is_signed));
                let least = if is_signed { -limit } else { 0.0 };
                (value >= least && value < limit).then(|| value as i128 as u64 & mask(bits))
            };
            cases.push(Case::new(format!("%r = {op} %{to} %a"), [from; 3], to, Box::new(model)));
        }
    }
    check(cases);
}

#[test]
fn floats_of_every_width() {
    let mut cases = Vec::new();
    for ty in FLOATS {
        let of = move |value: f64| nearest(ty, value);
        type Two = fn(f64, f64) -> Option<f64>;
        let modulo = |a: f64, b: f64| {
            (a.is_finite() && b.is_finite() && b != 0.0).then(|| a - b * (a / b).floor())
        };
        let two: [(&str, Two); 14] = [
            ("OpFAdd %T %a %b", |a, b| Some(a + b)),
            ("OpFSub %T %a %b", |a, b| Some(a - b)),
            ("OpFMul %T %a %b", |a, b| Some(a * b)),
            ("OpFDiv %T %a %b", |a, b| Some(a / b)),
            ("OpFRem %T %a %b", |a, b| (b != 0.0 && a.is_finite() && b.is_finite()).then(|| a % b)),
            ("OpExtInst %T %glsl FMin %a %b", |a, b| (a != b).then_some(if b < a { b } else { a })),
            ("OpExtInst %T %glsl FMax %a %b", |a, b| (a != b).then_some(if a < b { b } else { a })),
            ("OpExtInst %T %glsl NMin %a %b", |a, b| (a != b).then(|| a.min(b))),
            ("OpExtInst %T %glsl NMax %a %b", |a, b| (a != b).then(|| a.max(b))),
            ("OpExtInst %T %glsl Step %a %b", |a, b| Some(if b < a { 0.0 } else { 1.0 })),
            ("OpFNegate %T %a", |a, _| Some(-a)),
            ("OpExtInst %T %glsl FAbs %a", |a, _| Some(a.abs())),
            ("OpExtInst %T %glsl FSign %a", |a, _| Some(if a == 0.0 { a } else { a.signum() })),
            ("OpExtInst %T %glsl Sqrt %a", |a, _| (a >= 0.0).then(|| a.sqrt())),
        ];
        for (text, model) in two {
            let text = format!("%r = {}", text.replace("%T", &format!("%{ty}")));
            let value = move |[a, b, _]: [u64; 3]| model(float(ty, a), float(ty, b)).map(of);
            cases.push(Case::new(text, [ty; 3], ty, Box::new(value)));
        }
        // A modulus of what is exact in every width alone: other quotients are rounded in between.
        let exact = move |[a, b, _]: [u64; 3]| {
            let (a, b) = (float(ty, a), float(ty, b));
            let whole = |value: f64| (value * 2.0).fract() == 0.0 && value.abs() < 8.0;
            modulo(a, b).filter(|_| whole(a) && whole(b)).map(of)
        };
        cases.push(Case::new(format!("%r = OpFMod %{ty} %a %b"), [ty; 3], ty, Box::new(exact)));
        type One = fn(f64) -> f64;
        let one: [(&str, One); 7] = [
            ("Floor", f64::floor),
            ("Ceil", f64::ceil),
            ("Trunc", f64::trunc),
            ("RoundEven", f64::round_ties_even),
            ("Fract", |a| a - a.floor()),
            ("FrexpStruct", |a| {
                if a == 0.0 { a } else { a / 2f64.powi(a.abs().log2().floor() as i32 + 1) }
            }),
            ("ModfStruct", |a| (a - a.trunc()).copysign(a)),
        ];
        for (name, model) in one {
            let text = match name {
                "FrexpStruct" => {
                    format!(
                        "%s = OpExtInst %split_{ty} %glsl {name} %a\n%r = OpCompositeExtract %{ty} %s 0"
                    )
                }
                "ModfStruct" => {
                    format!(
                        "%s = OpExtInst %parts_{ty} %glsl {name} %a\n%r = OpCompositeExtract %{ty} %s 0"
                    )
                }
                _ => format!("%r = OpExtInst %{ty} %glsl {name} %a"),
            };
            let value = move |[a, _, _]: [u64; 3]| {
                let a = float(ty, a);
                a.is_finite().then(|| of(model(a)))
            };
            cases.push(Case::new(text, [ty; 3], ty, Box::new(value)));
        }
        let fused = move |[a, b, c]: [u64; 3]| {
            let [x, y, z] = [a, b, c].map(|bits| float(ty, bits));
            Some(match ty {
                "float" => u64::from((x as f32).mul_add(y as f32, z as f32).to_bits()),
                // Products of halves and their sums with halves of this range are exact in 64 bits.
                _ => of(x.mul_add(y, z)),
            })
        };
        cases.push(Case::new(
            format!("%r = OpExtInst %{ty} %glsl Fma %a %b %d"),
            [ty; 3],
            ty,
            Box::new(fused),
        ));
        let clamp = move |[a, b, c]: [u64; 3]| {
            let [x, y, z] = [a, b, c].map(|bits| float(ty, bits));
            (y < z && x != y && x != z).then(|| of(x.clamp(y, z)))
        };
        cases.push(Case::new(
            format!("%r = OpExtInst %{ty} %glsl FClamp %a %b %d"),
            [ty; 3],
            ty,
            Box::new(clamp),
        ));
        let step = move |value: f64| float(ty, of(value));
        let mix = move |[a, b, c]: [u64; 3]| {
            let [x, y, z] = [a, b, c].map(|bits| float(ty, bits));
            Some(of(step(x * step(1.0 - z)) + step(y * z)))
        };
        cases.push(Case::new(
            format!("%r = OpExtInst %{ty} %glsl FMix %a %b %d"),
            [ty; 3],
            ty,
            Box::new(mix),
        ));
    }
    check(cases);
}

#[test]
fn comparisons_of_every_width() {
    let mut cases = Vec::new();
    let text = |op: &str| format!("%c = {op} %bool %a %b\n%r = OpSelect %uint %c %c1 %c0");
    type Integers = fn(i128, i128) -> bool;
    let orders: [(&str, Integers); 4] = [
        ("LessThan", |a, b| a < b),
        ("LessThanEqual", |a, b| a <= b),
        ("GreaterThan", |a, b| a > b),
        ("GreaterThanEqual", |a, b| a >= b),
    ];
    for (list, prefix, is_signed) in [(SIGNED, "OpS", true), (UNSIGNED, "OpU", false)] {
        for ty in list {
            let bits = bits_of(ty);
            let equal: [(&str, Integers); 2] =
                [("OpIEqual", |a, b| a == b), ("OpINotEqual", |a, b| a != b)];
            let named = orders.map(|(name, model)| (format!("{prefix}{name}"), model));
            let equal = equal.map(|(name, model)| (name.to_owned(), model));
            for (name, model) in named.into_iter().chain(equal) {
                let value = move |[a, b, _]: [u64; 3]| {
                    Some(u64::from(model(integer(a, bits, is_signed), integer(b, bits, is_signed))))
                };
                cases.push(Case::new(text(&name), [ty, ty, "uint"], "uint", Box::new(value)));
            }
        }
    }
    type Floats = fn(f64, f64) -> bool;
    let relations: [(&str, Floats); 6] = [
        ("Equal", |a, b| a == b),
        ("NotEqual", |a, b| a != b),
        ("LessThan", |a, b| a < b),
        ("LessThanEqual", |a, b| a <= b),
        ("GreaterThan", |a, b| a > b),
        ("GreaterThanEqual", |a, b| a >= b),
    ];
    for ty in FLOATS {
        for (name, model) in relations {
            for ordered in [true, false] {
                let op = format!("OpF{}{name}", if ordered { "Ord" } else { "Unord" });
                // The second operand becomes a NaN where the third is odd.
                let nan = format!(
                    "%z = OpFSub %{ty} %a %a\n%n = OpFDiv %{ty} %z %z\n%odd_bit = OpBitwiseAnd %uint %d %c1
%odd = OpIEqual %bool %odd_bit %c1\n%other = OpSelect %{ty} %odd %n %b\n"
                );
                let text =
                    format!("{nan}%c = {op} %bool %a %other\n%r = OpSelect %uint %c %c1 %c0");
                let value = move |[a, b, c]: [u64; 3]| {
                    let (a, b) = (float(ty, a), float(ty, b));
                    Some(u64::from(if c & 1 == 1 { !ordered } else { model(a, b) }))
                };
                cases.push(Case::new(text, [ty, ty, "uint"], "uint", Box::new(value)));
            }
        }
    }
    check(cases);
}

#[test]
fn bits_are_the_same_in_other_pieces() {
    let mut cases = Vec::new();
    for ty in UNSIGNED {
        for float in FLOATS.into_iter().filter(|float| bits_of(float) == bits_of(ty)) {
            let text =
                format!("%f = OpBitcast %{float} %a\n%r = OpBitcast %{} %f", unsigned(bits_of(ty)));
            cases.push(Case::new(text, [ty; 3], ty, Box::new(|[a, _, _]| Some(a))));
        }
    }
    let halves = |[a, _, _]: [u64; 3]| Some(a >> 16 | (a & 0xffff) << 16);
    let text = "%v = OpBitcast %v2_ushort %a\n%w = OpVectorShuffle %v2_ushort %v %v 1 0\n%r = OpBitcast %uint %w";
    cases.push(Case::new(text.to_owned(), ["uint"; 3], "uint", Box::new(halves)));
    let words = |[a, _, _]: [u64; 3]| Some(a.rotate_left(32));
    let text =
        "%v = OpBitcast %v2u %a\n%w = OpVectorShuffle %v2u %v %v 1 0\n%r = OpBitcast %ulong %w";
    cases.push(Case::new(text.to_owned(), ["ulong"; 3], "ulong", Box::new(words)));
    check(cases);
}
