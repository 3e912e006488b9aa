//! Expressions of every type, floats apart (`float`). Every result is defined, and the same in
//! every order of evaluation that is allowed.

use super::types::{FLOATS, INTEGERS, Scalar, Type, float_literal, integer_literal};
use super::writer::{Access, Floats, Variable, Writer};
use Scalar::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

const INTERESTING: [u64; 16] = [
    0,
    1,
    2,
    3,
    5,
    7,
    31,
    u64::MAX,
    u64::MAX - 6,
    0x80,
    0x8000,
    0x8000_0000,
    0x7FFF_FFFF,
    0x8000_0000_0000_0000,
    0x1234_5678_9ABC_DEF0,
    0xFF7F,
];

impl Writer {
    pub(crate) fn value(&mut self, ty: &Type, depth: u32) -> String {
        match ty {
            Type::Numbers(Bool, n) => self.boolean(*n, depth),
            Type::Numbers(scalar, n) if scalar.is_float() => self.float(*scalar, *n, depth),
            Type::Numbers(scalar, n) => self.integer(*scalar, *n, depth),
            Type::Matrix(scalar, columns, rows) => self.matrix(*scalar, *columns, *rows, depth),
            Type::Array(..) | Type::Struct(_) => self.aggregate(ty, depth),
        }
    }

    fn aggregate(&mut self, ty: &Type, depth: u32) -> String {
        if !self.dice.one_in(3)
            && let Some(place) = self.place(ty, Access::Read)
        {
            return place;
        }
        if depth > 0
            && matches!(ty, Type::Struct(_))
            && self.dice.one_in(3)
            && let (Some(a), Some(b)) = (self.place(ty, Access::Read), self.place(ty, Access::Read))
        {
            let condition = self.boolean(1, depth - 1);
            return format!("({condition} ? {a} : {b})");
        }
        if let Some(call) = self.call(ty, depth) {
            return call;
        }
        let members: Vec<Type> = match ty {
            Type::Array(element, length) => vec![(**element).clone(); *length as usize],
            Type::Struct(number) => self.structs[*number].clone(),
            Type::Numbers(..) | Type::Matrix(..) => unreachable!("no aggregate"),
        };
        let values: Vec<String> = members
            .iter()
            .map(|member| self.value(member, depth.min(1).saturating_sub(1)))
            .collect();
        format!("{}({})", ty.name(), values.join(", "))
    }

    /// A readable or writable place of a type: a variable or a part of one.
    pub(crate) fn place(&mut self, want: &Type, access: Access) -> Option<String> {
        for _ in 0..10 {
            let variable = self.scope[self.dice.below(self.scope.len() as u64) as usize].clone();
            if access == Access::Write && variable.access == Access::Read {
                continue;
            }
            let Some(path) = self.walk(&variable, want) else { continue };
            let wild = variable.floats == Floats::Wild && access == Access::Read;
            match want {
                Type::Numbers(scalar, _) if wild && scalar.is_float() => {
                    return Some(self.tame(want, &path));
                }
                Type::Matrix(..) if wild => return Some(self.tame(want, &path)),
                Type::Array(..) | Type::Struct(_) if wild && self.has_floats(want) => {}
                _ => return Some(path),
            }
        }
        None
    }

    /// From a variable down to a part of the type.
    pub(crate) fn walk(&mut self, variable: &Variable, want: &Type) -> Option<String> {
        let (mut path, mut ty) = (variable.name.clone(), variable.ty.clone());
        loop {
            if ty == *want {
                return Some(path);
            }
            ty = match ty {
                Type::Numbers(scalar, n) if n > 1 && *want == Type::Numbers(scalar, 1) => {
                    path += &if self.dice.one_in(3) {
                        self.index(n)
                    } else {
                        format!(".{}", ["x", "y", "z", "w"][self.dice.below(u64::from(n)) as usize])
                    };
                    Type::Numbers(scalar, 1)
                }
                Type::Matrix(scalar, columns, rows) => {
                    path += &self.index(columns);
                    Type::Numbers(scalar, rows)
                }
                Type::Array(element, length) => {
                    path += &self.index(length);
                    *element
                }
                Type::Struct(number) => {
                    let member = self.dice.below(self.structs[number].len() as u64) as usize;
                    path += &format!(".m{member}");
                    self.structs[number][member].clone()
                }
                Type::Numbers(..) => return None,
            };
        }
    }

    /// An index below `length`, a literal or computed.
    fn index(&mut self, length: u32) -> String {
        if self.indices > 0 || self.dice.one_in(2) {
            return format!("[{}]", self.dice.below(u64::from(length)));
        }
        self.indices += 1;
        let value = self.integer(U32, 1, 0);
        self.indices -= 1;
        format!("[{value} % {length}u]")
    }

    pub(crate) fn tame(&mut self, ty: &Type, value: &str) -> String {
        self.tamed.insert(ty.name(), ty.clone());
        format!("tame({value})")
    }

    /// A call of a function with this result, if there is one and calls may still be written.
    pub(crate) fn call(&mut self, ty: &Type, depth: u32) -> Option<String> {
        let found: Vec<usize> = (0..self.functions.len())
            .filter(|at| self.functions[*at].result.as_ref() == Some(ty))
            .collect();
        if found.is_empty() || self.calls == 0 || self.pure > 0 || depth == 0 {
            return None;
        }
        let chosen = self.dice.pick(&found);
        self.call_of(chosen, depth)
    }

    /// Arguments that are written stand for different local variables.
    pub(crate) fn call_of(&mut self, number: usize, depth: u32) -> Option<String> {
        let function = self.functions[number].clone();
        let (mut arguments, mut taken) = (Vec::new(), Vec::new());
        self.calls = self.calls.checked_sub(1)?;
        for (way, ty) in &function.parameters {
            if way.writes() {
                let fit = |variable: &&Variable| {
                    variable.local
                        && variable.access == Access::Write
                        && variable.ty == *ty
                        && !taken.contains(&variable.name)
                };
                let fits: Vec<String> =
                    self.scope.iter().filter(fit).map(|variable| variable.name.clone()).collect();
                if fits.is_empty() {
                    self.calls += 1;
                    return None;
                }
                let name = fits[self.dice.below(fits.len() as u64) as usize].clone();
                taken.push(name.clone());
                arguments.push(name);
            } else {
                arguments.push(self.value(ty, depth.saturating_sub(1).min(1)));
            }
        }
        Some(format!("f{number}({})", arguments.join(", ")))
    }

    fn integer_leaf(&mut self, scalar: Scalar, n: u32) -> String {
        if scalar == U32 && n == 1 && self.dice.one_in(8) {
            return self
                .dice
                .pick(&["gl_LocalInvocationIndex", "gl_WorkGroupID.x", "gl_GlobalInvocationID.x"])
                .to_owned();
        }
        if !self.dice.one_in(4)
            && let Some(place) = self.place(&Type::Numbers(scalar, n), Access::Read)
        {
            return place;
        }
        if n > 1 && self.dice.one_in(2) {
            let parts: Vec<String> = (0..n).map(|_| self.integer_leaf(scalar, 1)).collect();
            return format!("{}({})", scalar.vector(n), parts.join(", "));
        }
        let bits =
            if self.dice.one_in(3) { self.dice.roll() } else { self.dice.pick(&INTERESTING) };
        let literal = integer_literal(scalar, bits);
        if n == 1 { literal } else { format!("{}({literal})", scalar.vector(n)) }
    }

    /// `T(number)` of a scalar or vector.
    pub(crate) fn of(scalar: Scalar, n: u32, number: u64) -> String {
        format!(
            "{}({})",
            scalar.vector(n),
            if number > 0x7FFF_FFFF { format!("{number}u") } else { number.to_string() }
        )
    }

    pub(crate) fn integer(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        if depth == 0 {
            return self.integer_leaf(scalar, n);
        }
        let less = depth - 1;
        match self.dice.below(27) {
            choice @ 0..=5 => {
                let (a, b) = (self.integer(scalar, n, less), self.integer(scalar, n, less));
                format!("({a} {} {b})", ["+", "-", "*", "&", "|", "^"][choice as usize])
            }
            6 => format!("(-{})", self.integer(scalar, n, less)),
            7 => format!("(~{})", self.integer(scalar, n, less)),
            choice @ 8..=9 => {
                let (a, b) = (self.integer(scalar, n, less), self.integer(scalar, n, less));
                if choice == 9 && scalar.is_signed() {
                    return self.remainder(scalar, n, &a, &b);
                }
                let divisor = self.divisor(scalar, n, &b);
                format!("({a} {} {divisor})", ["/", "%"][choice as usize - 8])
            }
            choice @ 10..=11 => {
                let (a, b) = (self.integer(scalar, n, less), self.integer(scalar, n, 0));
                let mask = Self::of(scalar, n, u64::from(scalar.bits()) - 1);
                format!("({a} {} ({b} & {mask}))", ["<<", ">>"][choice as usize - 10])
            }
            choice @ 12..=13 => {
                let (a, b) = (self.integer(scalar, n, less), self.integer(scalar, n, less));
                format!("{}({a}, {b})", ["min", "max"][choice as usize - 12])
            }
            14 => {
                let a = self.integer(scalar, n, less);
                let (low, high) = (self.dice.below(50), 50 + self.dice.below(70));
                let low = if scalar.is_signed() {
                    format!("{}(-{low})", scalar.vector(n))
                } else {
                    Self::of(scalar, n, low)
                };
                format!("clamp({a}, {low}, {})", Self::of(scalar, n, high))
            }
            15 if scalar.is_signed() => {
                let a = self.integer(scalar, n, less);
                // Of a constant of 8, 16 or 64 bits, glslang gives whatever its memory holds
                // (docs/random-kernels.md).
                let unknown = format!("{}(push_n >> 4)", scalar.vector(n));
                if self.dice.one_in(2) {
                    format!("sign({a} ^ {unknown})")
                } else {
                    format!("abs({a} / {})", Self::of(scalar, n, 2))
                }
            }
            16 => {
                let condition = self.boolean(1, less);
                let (a, b) = (self.integer(scalar, n, less), self.integer(scalar, n, less));
                format!("({condition} ? {a} : {b})")
            }
            17 => {
                let (a, b) = (self.integer(scalar, n, less), self.integer(scalar, n, less));
                format!("mix({a}, {b}, {})", self.boolean(n, less))
            }
            18..=20 => self.integer_of(scalar, n, less),
            21 => self.bit_function(scalar, n, less),
            22 => self.swizzled(scalar, n, less),
            23 | 24 => match self.call(&Type::Numbers(scalar, n), depth) {
                Some(call) => call,
                None => self.integer(scalar, n, less),
            },
            25 if self.pure == 0 => self.side_effect(&Type::Numbers(scalar, n)),
            _ => self.packed(scalar, n, less),
        }
    }

    /// Of numbers that are not negative: GLSL and Vulkan leave others undefined
    /// (docs/random-kernels.md).
    fn remainder(&mut self, scalar: Scalar, n: u32, a: &str, b: &str) -> String {
        let name = scalar.vector(n);
        let most = integer_literal(scalar, (1 << (scalar.bits() - 1)) - 1);
        let mask = self.dice.pick(&[63, 7, 127]);
        format!("(({a} & {name}({most})) % (({b} & {name}({mask})) | {name}(1)))")
    }

    fn divisor(&mut self, scalar: Scalar, n: u32, b: &str) -> String {
        let at = |number: u64| Self::of(scalar, n, number);
        if scalar.is_signed() && self.dice.one_in(3) {
            format!("({}(-2) - ({b} & {}))", scalar.vector(n), at(15))
        } else {
            let mask = [63, 7, if scalar.is_signed() { 127 } else { 255 }];
            format!("(({b} & {}) | {})", at(self.dice.pick(&mask)), at(1))
        }
    }

    fn integer_of(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        let name = scalar.vector(n);
        match self.dice.below(6) {
            0 => format!("{name}({})", self.boolean(n, depth)),
            1 => {
                let float = self.dice.pick(&FLOATS);
                let a = self.float(float, n, depth);
                match (scalar.bits(), scalar.is_signed()) {
                    (32 | 64, true) => format!("{name}({a})"),
                    (32 | 64, false) => format!("{name}(abs({a}))"),
                    (_, signed) => {
                        let low = float_literal(float, if signed { -120.0 } else { 0.0 });
                        format!("{name}(clamp({a}, {low}, {}))", float_literal(float, 120.5))
                    }
                }
            }
            2 => {
                let float = match scalar.bits() {
                    16 => Some((F16, "float16BitsToInt16", "float16BitsToUint16")),
                    32 => Some((F32, "floatBitsToInt", "floatBitsToUint")),
                    64 => Some((F64, "doubleBitsToInt64", "doubleBitsToUint64")),
                    _ => None,
                };
                match float {
                    Some((float, signed, unsigned)) => {
                        let a = self.float(float, n, depth);
                        format!("{}({a})", if scalar.is_signed() { signed } else { unsigned })
                    }
                    None => self.integer(scalar, n, depth),
                }
            }
            _ => {
                let other = self.dice.pick(&INTEGERS);
                let a = self.integer(other, n, depth);
                Self::converted(scalar, n, &a)
            }
        }
    }

    /// An integer as one of another type. Mesa 22.3.6 compares a signed one that it has made 64
    /// bits wide as if it had no sign (docs/random-kernels.md): a number that the compiler does not
    /// know stands between conversion and comparison.
    fn converted(scalar: Scalar, n: u32, a: &str) -> String {
        let name = scalar.vector(n);
        if scalar.bits() == 64 {
            format!("({name}({a}) ^ {name}(push_n >> 4))")
        } else {
            format!("{name}({a})")
        }
    }

    fn bit_function(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        let of = self.dice.pick(&[I32, U32]);
        let a = self.integer(of, n, depth);
        let (offset, bits) = (self.integer(I32, 1, 0), self.integer(I32, 1, 0));
        let function = match self.dice.below(6) {
            0 => format!("bitCount({a})"),
            1 => format!("findLSB({a})"),
            2 => format!("findMSB({a})"),
            3 => format!("bitfieldReverse({a})"),
            4 => format!("bitfieldExtract({a}, {offset} & 15, {bits} & 15)"),
            _ => {
                let b = self.integer(of, n, 0);
                format!("bitfieldInsert({a}, {b}, {offset} & 15, {bits} & 15)")
            }
        };
        Self::converted(scalar, n, &function)
    }

    /// Components of a vector in any order.
    pub(crate) fn swizzled(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        let from = 2 + self.dice.below(3) as u32;
        let a = self.value(&Type::Numbers(scalar, from), depth.min(1));
        let letters: String = (0..n)
            .map(|_| ['x', 'y', 'z', 'w'][self.dice.below(u64::from(from)) as usize])
            .collect();
        format!("({a}).{letters}")
    }

    /// An assignment or increment as an operand.
    fn side_effect(&mut self, ty: &Type) -> String {
        let Some(place) = self.place(ty, Access::Write) else { return self.value(ty, 0) };
        let number = matches!(ty, Type::Numbers(scalar, _) if scalar.is_integer());
        match self.dice.below(4) {
            0 if number => format!("({place}++)"),
            1 if number => format!("(--{place})"),
            2 => {
                let (a, b) = (self.value(ty, 1), self.value(ty, 0));
                format!("({place} = {a}, {b})")
            }
            _ => {
                let a = self.value(ty, 1);
                format!("({place} = {a})")
            }
        }
    }

    /// Packing and unpacking, of a number that the compiler does not know: its optimiser folds bit
    /// casts of narrow vectors wrongly (docs/random-kernels.md).
    fn packed(&mut self, scalar: Scalar, n: u32, depth: u32) -> String {
        if (scalar, n) == (U32, 1) && self.dice.one_in(3) {
            return format!("packHalf2x16({})", self.small(F32, 2));
        }
        if (scalar, n) == (U32, 2) && self.dice.one_in(3) {
            return format!("unpackDouble2x32({})", self.float(F64, 1, depth));
        }
        let (function, from, count) = match (scalar, n) {
            (I16, 1) => ("pack16", I8, 2),
            (U16, 1) => ("pack16", U8, 2),
            (I32, 1) => ("pack32", I16, 2),
            (U32, 1) if self.dice.one_in(2) => ("pack32", U8, 4),
            (U32, 1) => ("pack32", U16, 2),
            (I64, 1) => ("pack64", I32, 2),
            (U64, 1) if self.dice.one_in(2) => ("pack64", U16, 4),
            (U64, 1) => ("pack64", U32, 2),
            (I8, 2) => ("unpack8", I16, 1),
            (U8, 4) => ("unpack8", U32, 1),
            (U16, 4) => ("unpack16", U64, 1),
            (I16, 2) => ("unpack16", I32, 1),
            (I32, 2) => ("unpack32", I64, 1),
            (U32, 2) => ("unpack32", U64, 1),
            _ => return self.integer(scalar, n, depth),
        };
        let value = self.integer(from, count, depth);
        format!("{function}({value} ^ {}(push_n >> 4))", from.vector(count))
    }

    /// The same without calls or assignments.
    pub(crate) fn pure_boolean(&mut self, depth: u32) -> String {
        self.pure += 1;
        let text = self.boolean(1, depth);
        self.pure -= 1;
        text
    }

    pub(crate) fn boolean(&mut self, n: u32, depth: u32) -> String {
        if depth == 0 {
            return match self.place(&Type::Numbers(Bool, n), Access::Read) {
                Some(place) => place,
                None => self.comparison(n, 0),
            };
        }
        let less = depth - 1;
        if n > 1 {
            return match self.dice.below(5) {
                0 => format!("not({})", self.boolean(n, less)),
                1 => format!("equal({}, {})", self.boolean(n, less), self.boolean(n, less)),
                2 => format!("bvec{n}({})", self.integer(I32, n, less)),
                _ => self.comparison(n, less),
            };
        }
        match self.dice.below(14) {
            0 | 1 => format!("({} && {})", self.boolean(1, less), self.boolean(1, less)),
            2 | 3 => format!("({} || {})", self.boolean(1, less), self.boolean(1, less)),
            4 => format!("({} ^^ {})", self.boolean(1, less), self.boolean(1, less)),
            5 => format!("!({})", self.boolean(1, less)),
            6 => {
                let n = 2 + self.dice.below(3) as u32;
                format!("{}({})", self.dice.pick(&["any", "all"]), self.boolean(n, less))
            }
            7 => {
                let condition = self.boolean(1, less);
                format!("({condition} ? {} : {})", self.boolean(1, less), self.boolean(1, less))
            }
            8 => {
                let ty =
                    Type::Numbers(Scalar::random(&mut self.dice), 2 + self.dice.below(3) as u32);
                let (a, b) = (self.value(&ty, less), self.value(&ty, 0));
                format!("({a} {} {b})", self.dice.pick(&["==", "!="]))
            }
            9 => match self.call(&Type::Numbers(Bool, 1), depth) {
                Some(call) => call,
                None => self.comparison(1, less),
            },
            10 if self.pure == 0 => self.side_effect(&Type::Numbers(Bool, 1)),
            _ => self.comparison(1, less),
        }
    }

    fn comparison(&mut self, n: u32, depth: u32) -> String {
        let scalar = loop {
            let scalar = Scalar::random(&mut self.dice);
            if scalar != Bool {
                break scalar;
            }
        };
        let ty = Type::Numbers(scalar, n);
        let (a, b) = (self.value(&ty, depth), self.value(&ty, 0));
        if n == 1 {
            return format!("({a} {} {b})", self.dice.pick(&["<", "<=", ">", ">=", "==", "!="]));
        }
        let names =
            ["lessThan", "lessThanEqual", "greaterThan", "greaterThanEqual", "equal", "notEqual"];
        format!("{}({a}, {b})", self.dice.pick(&names))
    }
}
