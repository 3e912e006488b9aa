//! The integer expressions of `[[interface]]`: parsing, exact evaluation, and enclosing intervals.
//!
//! Knows: C's integer arithmetic at the host's own widths (ISO C17, sections 6.3.1.1 and 6.3.1.8):
//! operands narrower than 32 bits become `int32`, then the wider type wins, and at the same width
//! the unsigned one. Operators `?:`, `||`, `&&`, `|`, `^`, `&`, `==` `!=`, `<` `<=` `>` `>=`, `<<`
//! `>>`, `+` `-`, `*` `/` `%`, unary `-` `+` `~` `!`, casts written as calls (`uint64(m) * n`),
//! `min(a, b)`, `max(a, b)`; literals with the suffixes `u`, `l`, `ul`.
//! Promises: an operation whose exact result does not fit its type wraps, and is reported as an
//! [`Event`]; so is a division by zero (result 0) and a shift too far (result 0). Evaluation and
//! interval never disagree: the value lies inside.
//! Does not cover: floating point, assignment, pointers.

use std::collections::BTreeSet;
use std::ops::Range;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::HostType;

const MAX_DEPTH: usize = 100;
const MAX_TEXT: usize = 4_096;

/// An operation between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Minimum,
    Maximum,
}

/// Operators by binding strength, weakest first; longest texts first within the table.
const BINARY: &[(&str, Binary, u8)] = &[
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("==", Binary::Equal, 6),
    ("!=", Binary::Unequal, 6),
    ("<<", Binary::ShiftLeft, 8),
    (">>", Binary::ShiftRight, 8),
    ("<=", Binary::LessEqual, 7),
    (">=", Binary::GreaterEqual, 7),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("+", Binary::Add, 9),
    ("-", Binary::Subtract, 9),
    ("*", Binary::Multiply, 10),
    ("/", Binary::Divide, 10),
    ("%", Binary::Remainder, 10),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Plus,
    Complement,
    Not,
}

/// An expression with the bytes it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub kind: Kind,
    /// Type of the result.
    pub width: HostType,
    pub span: Range<usize>,
}

impl Expression {
    /// An expression over `names`, with the type that C gives it.
    fn new(kind: Kind, names: &[Name], span: Range<usize>) -> Self {
        let width = match &kind {
            Kind::Literal(_, width) | Kind::Cast(width, _) => *width,
            Kind::Variable(index) => names[*index].width,
            Kind::Unary(Unary::Not, _) => HostType::Int32,
            Kind::Unary(Unary::Negate | Unary::Plus | Unary::Complement, operand) => {
                promoted(operand.width)
            }
            Kind::Choice(parts) => common(parts[1].width, parts[2].width),
            Kind::Binary(operator, operands) => match operator {
                Binary::Or
                | Binary::And
                | Binary::Equal
                | Binary::Unequal
                | Binary::Less
                | Binary::LessEqual
                | Binary::Greater
                | Binary::GreaterEqual => HostType::Int32,
                Binary::ShiftLeft | Binary::ShiftRight => promoted(operands[0].width),
                Binary::BitOr
                | Binary::BitXor
                | Binary::BitAnd
                | Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::Remainder
                | Binary::Minimum
                | Binary::Maximum => common(operands[0].width, operands[1].width),
            },
        };
        Self { kind, width, span }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Literal(i128, HostType),
    /// Index into the names in scope.
    Variable(usize),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<[Expression; 2]>),
    /// Condition, when true, when false.
    Choice(Box<[Expression; 3]>),
    Cast(HostType, Box<Expression>),
}

/// A name that an expression may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub name: String,
    pub width: HostType,
}

/// A value with its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed {
    pub value: i128,
    pub width: HostType,
}

/// Something that C arithmetic does quietly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The exact result does not fit (beyond 127 bits: the nearest number of that many bits).
    Overflow {
        span: Range<usize>,
        exact: i128,
        width: HostType,
    },
    DivisionByZero {
        span: Range<usize>,
    },
    ShiftTooFar {
        span: Range<usize>,
        amount: i128,
    },
}

/// How `/` rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// As C does, toward zero.
    Truncate,
    /// Up, to see what truncation dropped.
    RoundUp,
}

/// Bits and signedness of an integer type; none for floating point.
pub fn integer(width: HostType) -> Option<(u32, bool)> {
    match width {
        HostType::Int8 => Some((8, true)),
        HostType::Uint8 => Some((8, false)),
        HostType::Int16 => Some((16, true)),
        HostType::Uint16 => Some((16, false)),
        HostType::Int32 => Some((32, true)),
        HostType::Uint32 => Some((32, false)),
        HostType::Int64 => Some((64, true)),
        HostType::Uint64 => Some((64, false)),
        HostType::Float32 | HostType::Float64 => None,
    }
}

/// Smallest and largest value of a type. Floating-point types count as `int64`: no expression has
/// one (see [`parse`]).
pub fn range(width: HostType) -> (i128, i128) {
    let (bits, signed) = integer(width).unwrap_or((64, true));
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The type's name as interfaces write it.
pub fn type_name(width: HostType) -> &'static str {
    TYPES.iter().find(|(_, ty)| *ty == width).map_or("float", |(name, _)| name)
}

const TYPES: &[(&str, HostType)] = &[
    ("int8", HostType::Int8),
    ("uint8", HostType::Uint8),
    ("int16", HostType::Int16),
    ("uint16", HostType::Uint16),
    ("int32", HostType::Int32),
    ("uint32", HostType::Uint32),
    ("int64", HostType::Int64),
    ("uint64", HostType::Uint64),
    ("float32", HostType::Float32),
    ("float64", HostType::Float64),
];

/// The value that a type keeps of an exact one (modulo two to the power of its width).
pub fn wrap(value: i128, width: HostType) -> i128 {
    let (lowest, highest) = range(width);
    let count = highest - lowest + 1;
    let kept = value.rem_euclid(count);
    if kept > highest { kept - count } else { kept }
}

fn promoted(width: HostType) -> HostType {
    match integer(width) {
        Some((bits, _)) if bits < 32 => HostType::Int32,
        Some(_) | None => width,
    }
}

/// The type that an operation of two operands is done in.
fn common(left: HostType, right: HostType) -> HostType {
    let (left, right) = (promoted(left), promoted(right));
    let rank =
        |width: HostType| integer(width).map_or((0, false), |(bits, signed)| (bits, !signed));
    if rank(left) >= rank(right) { left } else { right }
}

impl Expression {
    /// Evaluates with the values of the names in scope; `events` collects what went wrong on the
    /// way.
    pub fn evaluate(&self, scope: &[Typed], division: Division, events: &mut Vec<Event>) -> Typed {
        match &self.kind {
            Kind::Literal(value, width) => Typed { value: *value, width: *width },
            Kind::Variable(index) => scope[*index],
            Kind::Unary(operator, operand) => {
                let operand = operand.evaluate(scope, division, events);
                self.unary(*operator, operand, events)
            }
            Kind::Binary(operator, operands) => {
                self.binary(*operator, operands, scope, division, events)
            }
            Kind::Choice(parts) => {
                let chosen =
                    if parts[0].evaluate(scope, division, events).value != 0 { 1 } else { 2 };
                let value = parts[chosen].evaluate(scope, division, events);
                Typed { value: wrap(value.value, self.width), width: self.width }
            }
            Kind::Cast(width, operand) => {
                let operand = operand.evaluate(scope, division, events);
                // A cast says that the loss is meant.
                Typed { value: wrap(operand.value, *width), width: *width }
            }
        }
    }

    fn fit(&self, exact: i128, width: HostType, events: &mut Vec<Event>) -> Typed {
        let value = wrap(exact, width);
        if value != exact {
            events.push(Event::Overflow { span: self.span.clone(), exact, width });
        }
        Typed { value, width }
    }

    fn unary(&self, operator: Unary, operand: Typed, events: &mut Vec<Event>) -> Typed {
        let width = promoted(operand.width);
        match operator {
            Unary::Plus => Typed { value: operand.value, width },
            Unary::Negate => self.fit(-operand.value, width, events),
            Unary::Complement => Typed { value: wrap(!operand.value, width), width },
            Unary::Not => Typed { value: i128::from(operand.value == 0), width: HostType::Int32 },
        }
    }

    fn binary(
        &self,
        operator: Binary,
        operands: &[Expression; 2],
        scope: &[Typed],
        division: Division,
        events: &mut Vec<Event>,
    ) -> Typed {
        let truth = |value: bool| Typed { value: i128::from(value), width: HostType::Int32 };
        let left = operands[0].evaluate(scope, division, events);
        if operator == Binary::And && left.value == 0 {
            return truth(false);
        }
        if operator == Binary::Or && left.value != 0 {
            return truth(true);
        }
        let right = operands[1].evaluate(scope, division, events);
        let width = common(left.width, right.width);
        let (a, b) = (wrap(left.value, width), wrap(right.value, width));
        match operator {
            Binary::And | Binary::Or => truth(right.value != 0),
            Binary::Equal => truth(a == b),
            Binary::Unequal => truth(a != b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterEqual => truth(a >= b),
            Binary::BitOr => Typed { value: wrap(a | b, width), width },
            Binary::BitXor => Typed { value: wrap(a ^ b, width), width },
            Binary::BitAnd => Typed { value: wrap(a & b, width), width },
            Binary::Add => self.fit(a + b, width, events),
            Binary::Subtract => self.fit(a - b, width, events),
            Binary::Multiply => match a.checked_mul(b) {
                Some(exact) => self.fit(exact, width, events),
                None => {
                    // Two 64-bit factors can exceed 127 bits; the low bits that a type keeps are
                    // right all the same.
                    let exact = a.saturating_mul(b);
                    events.push(Event::Overflow { span: self.span.clone(), exact, width });
                    Typed { value: wrap(a.wrapping_mul(b), width), width }
                }
            },
            Binary::Minimum => Typed { value: a.min(b), width },
            Binary::Maximum => Typed { value: a.max(b), width },
            Binary::Divide | Binary::Remainder if b == 0 => {
                events.push(Event::DivisionByZero { span: self.span.clone() });
                Typed { value: 0, width }
            }
            Binary::Divide => {
                let up = division == Division::RoundUp && a % b != 0 && (a < 0) == (b < 0);
                self.fit(a / b + i128::from(up), width, events)
            }
            Binary::Remainder => Typed { value: a % b, width },
            Binary::ShiftLeft | Binary::ShiftRight => {
                self.shift(operator, left, right.value, events)
            }
        }
    }

    fn shift(&self, operator: Binary, left: Typed, amount: i128, events: &mut Vec<Event>) -> Typed {
        let width = promoted(left.width);
        let bits = integer(width).map_or(64, |(bits, _)| bits);
        if amount < 0 || amount >= i128::from(bits) {
            events.push(Event::ShiftTooFar { span: self.span.clone(), amount });
            return Typed { value: 0, width };
        }
        if operator == Binary::ShiftLeft {
            // At most 64 bits moved by at most 63 places fit i128.
            return self.fit(left.value << amount, width, events);
        }
        Typed { value: left.value >> amount, width }
    }

    /// Indexes of the names it uses.
    pub fn variables(&self, found: &mut BTreeSet<usize>) {
        match &self.kind {
            Kind::Literal(..) => {}
            Kind::Variable(index) => {
                found.insert(*index);
            }
            Kind::Unary(_, operand) | Kind::Cast(_, operand) => operand.variables(found),
            Kind::Binary(_, operands) => {
                operands.iter().for_each(|operand| operand.variables(found))
            }
            Kind::Choice(parts) => parts.iter().for_each(|part| part.variables(found)),
        }
    }

    /// An interval that holds every value the expression can take. `quiet` turns false where an
    /// event is possible.
    pub fn enclose(&self, scope: &[Enclosed], quiet: &mut bool) -> Enclosed {
        match &self.kind {
            Kind::Literal(value, width) => Enclosed { low: *value, high: *value, width: *width },
            Kind::Variable(index) => scope[*index],
            Kind::Cast(width, operand) => {
                let operand = operand.enclose(scope, quiet);
                // The wrap is meant; it is not quiet about bounds all the same.
                enclosed(operand.low, operand.high, *width, &mut true)
            }
            Kind::Unary(operator, operand) => {
                let operand = operand.enclose(scope, quiet);
                let width = promoted(operand.width);
                match operator {
                    Unary::Plus => Enclosed { width, ..operand },
                    Unary::Negate => enclosed(-operand.high, -operand.low, width, quiet),
                    Unary::Complement => enclosed(!operand.high, !operand.low, width, &mut true),
                    Unary::Not => Enclosed { low: 0, high: 1, width: HostType::Int32 },
                }
            }
            Kind::Choice(parts) => {
                parts[0].enclose(scope, quiet);
                let (a, b) = (parts[1].enclose(scope, quiet), parts[2].enclose(scope, quiet));
                enclosed(a.low.min(b.low), a.high.max(b.high), common(a.width, b.width), &mut true)
            }
            Kind::Binary(operator, operands) => {
                let left = operands[0].enclose(scope, quiet);
                let right = operands[1].enclose(scope, quiet);
                enclose_binary(*operator, left, right, quiet)
            }
        }
    }
}

/// All values between two bounds, of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enclosed {
    pub low: i128,
    pub high: i128,
    pub width: HostType,
}

/// The interval as a type keeps it: all of the type where it may wrap.
pub fn enclosed(low: i128, high: i128, width: HostType, quiet: &mut bool) -> Enclosed {
    let (lowest, highest) = range(width);
    if low >= lowest && high <= highest {
        return Enclosed { low, high, width };
    }
    *quiet = false;
    Enclosed { low: lowest, high: highest, width }
}

fn enclose_binary(operator: Binary, left: Enclosed, right: Enclosed, quiet: &mut bool) -> Enclosed {
    let truth = Enclosed { low: 0, high: 1, width: HostType::Int32 };
    let width = common(left.width, right.width);
    let (a, b) = (
        enclosed(left.low, left.high, width, &mut true),
        enclosed(right.low, right.high, width, &mut true),
    );
    let corners = |of: &dyn Fn(i128, i128) -> i128| {
        let all = [of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)];
        (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
    };
    let (lowest, highest) = range(width);
    match operator {
        Binary::And
        | Binary::Or
        | Binary::Equal
        | Binary::Unequal
        | Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual => truth,
        Binary::Add => enclosed(a.low + b.low, a.high + b.high, width, quiet),
        Binary::Subtract => enclosed(a.low - b.high, a.high - b.low, width, quiet),
        Binary::Multiply => {
            let (low, high) = corners(&|a, b| a.saturating_mul(b));
            enclosed(low, high, width, quiet)
        }
        Binary::Minimum => Enclosed { low: a.low.min(b.low), high: a.high.min(b.high), width },
        Binary::Maximum => Enclosed { low: a.low.max(b.low), high: a.high.max(b.high), width },
        Binary::Divide | Binary::Remainder if b.low <= 0 && b.high >= 0 => {
            *quiet = false;
            Enclosed { low: lowest, high: highest, width }
        }
        Binary::Divide => {
            let (low, high) = corners(&|a, b| a / b);
            // Where the dividend can be 0 the quotient can.
            let spans = a.low <= 0 && a.high >= 0;
            enclosed(
                if spans { low.min(0) } else { low },
                if spans { high.max(0) } else { high },
                width,
                quiet,
            )
        }
        Binary::Remainder => {
            let most = b.low.abs().max(b.high.abs()) - 1;
            let low = if a.low < 0 { (-most).max(a.low) } else { 0 };
            let high = if a.high > 0 { most.min(a.high) } else { 0 };
            Enclosed { low, high, width }
        }
        Binary::BitAnd if a.low >= 0 && b.low >= 0 => {
            Enclosed { low: 0, high: a.high.min(b.high), width }
        }
        Binary::BitOr | Binary::BitXor if a.low >= 0 && b.low >= 0 => {
            let top = a.high.max(b.high);
            let high = if top == 0 { 0 } else { (1i128 << (128 - top.leading_zeros())) - 1 };
            Enclosed { low: 0, high, width }
        }
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
            Enclosed { low: lowest, high: highest, width }
        }
        Binary::ShiftLeft | Binary::ShiftRight => {
            let width = promoted(left.width);
            let bits = integer(width).map_or(64, |(bits, _)| i128::from(bits));
            let (lowest, highest) = range(width);
            if right.low < 0 || right.high >= bits {
                *quiet = false;
                return Enclosed { low: lowest, high: highest, width };
            }
            let shift = |value: i128, by: i128| {
                if operator == Binary::ShiftLeft { value << by } else { value >> by }
            };
            let all = [
                (left.low, right.low),
                (left.low, right.high),
                (left.high, right.low),
                (left.high, right.high),
            ];
            let all = all.map(|(value, by)| shift(value, by));
            let (low, high) =
                (all.into_iter().min().unwrap_or(lowest), all.into_iter().max().unwrap_or(highest));
            enclosed(low, high, width, quiet)
        }
    }
}

/// Parses an expression over `names`; `place` names it in diagnostics (`groups[0]`).
pub fn parse(text: &str, names: &[Name], place: &str) -> Result<Expression, Diagnostic> {
    let mut parser = Parser { text, at: 0, names, place, depth: 0 };
    if text.len() > MAX_TEXT {
        return Err(parser.error(
            0..0,
            format!("the expression has {} bytes; the limit is {MAX_TEXT}", text.len()),
        ));
    }
    let expression = parser.expression(0)?;
    parser.space();
    if parser.at < text.len() {
        let rest = parser.at..parser.at + parser.next().map_or(1, char::len_utf8);
        return Err(parser.error(rest.clone(), format!("`{}` is not expected here", &text[rest])));
    }
    Ok(expression)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: &'a [Name],
    place: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, span: Range<usize>, message: String) -> Diagnostic {
        Diagnostic::new("expression-syntax", format!("{}: {message}", self.place))
            .at_span(self.place, self.text, span)
    }

    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn space(&mut self) {
        while let Some(character) = self.next().filter(|character| character.is_whitespace()) {
            self.at += character.len_utf8();
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.take(token) {
            return Ok(());
        }
        let end = (self.at + self.next().map_or(0, char::len_utf8)).min(self.text.len());
        Err(self.error(self.at..end, format!("`{token}` is expected here")))
    }

    /// Parses operators that bind more strongly than `above`.
    fn expression(&mut self, above: u8) -> Result<Expression, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.error(self.at..self.at, format!("more than {MAX_DEPTH} levels of operators"))
            );
        }
        let mut left = self.operand()?;
        loop {
            self.space();
            let rest = &self.text[self.at..];
            if above == 0 && rest.starts_with('?') {
                left = self.choice(left)?;
                continue;
            }
            let operator = BINARY.iter().find(|(token, ..)| rest.starts_with(token));
            let Some((token, operator, strength)) =
                operator.filter(|(.., strength)| *strength > above)
            else {
                break;
            };
            self.at += token.len();
            let right = self.expression(*strength)?;
            let span = left.span.start..right.span.end;
            left =
                Expression::new(Kind::Binary(*operator, Box::new([left, right])), self.names, span);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn choice(&mut self, condition: Expression) -> Result<Expression, Diagnostic> {
        self.expect("?")?;
        let yes = self.expression(0)?;
        self.expect(":")?;
        let no = self.expression(0)?;
        let span = condition.span.start..no.span.end;
        Ok(Expression::new(Kind::Choice(Box::new([condition, yes, no])), self.names, span))
    }

    fn operand(&mut self) -> Result<Expression, Diagnostic> {
        self.space();
        let start = self.at;
        for (token, operator) in
            [("-", Unary::Negate), ("+", Unary::Plus), ("~", Unary::Complement), ("!", Unary::Not)]
        {
            if self.take(token) {
                // Stronger than every binary operator.
                let operand = self.expression(u8::MAX)?;
                let span = start..operand.span.end;
                return Ok(Expression::new(
                    Kind::Unary(operator, Box::new(operand)),
                    self.names,
                    span,
                ));
            }
        }
        match self.next() {
            Some('(') => {
                self.at += 1;
                let inside = self.expression(0)?;
                self.expect(")")?;
                Ok(Expression { span: start..self.at, ..inside })
            }
            Some(character) if character.is_ascii_digit() => self.literal(),
            Some(character) if character.is_ascii_alphabetic() || character == '_' => self.named(),
            Some(character) => {
                let span = start..start + character.len_utf8();
                Err(self.error(span, format!("`{character}` is not expected here")))
            }
            None => Err(self.error(
                start.saturating_sub(1)..start,
                "an operand is missing at the end".to_owned(),
            )),
        }
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.at;
        let word = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
        while let Some(character) = self.next().filter(word) {
            self.at += character.len_utf8();
        }
        start..self.at
    }

    fn literal(&mut self) -> Result<Expression, Diagnostic> {
        let span = self.word();
        let text = self.text[span.clone()].to_ascii_lowercase();
        let hexadecimal = text.strip_prefix("0x");
        let digits = hexadecimal.unwrap_or(&text).trim_end_matches(['u', 'l']);
        let suffix = &hexadecimal.unwrap_or(&text)[digits.len()..];
        let radix = if hexadecimal.is_some() { 16 } else { 10 };
        let known = matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu");
        let value = i128::from_str_radix(digits, radix).ok().filter(|_| known);
        let fault = || {
            self.error(
                span.clone(),
                format!("`{}` is no integer literal", &self.text[span.clone()]),
            )
        };
        let value = value.ok_or_else(fault)?;
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            let message =
                "a literal that starts with 0 is octal in C; write it in decimal".to_owned();
            return Err(self.error(span.clone(), message));
        }
        let unsigned = suffix.contains('u');
        let long = suffix.contains('l');
        // ISO C17, section 6.4.4.1: the first type of the list in which the value fits; hexadecimal
        // may be unsigned.
        let types = [HostType::Int32, HostType::Uint32, HostType::Int64, HostType::Uint64];
        let fits = types.into_iter().find(|width| {
            let (bits, signed) = integer(*width).unwrap_or((64, true));
            let sign = if unsigned { !signed } else { signed || radix == 16 };
            sign && (!long || bits == 64) && value <= range(*width).1
        });
        let width = fits.ok_or_else(|| {
            self.error(span.clone(), "the literal fits no 64-bit type".to_owned())
        })?;
        Ok(Expression::new(Kind::Literal(value, width), self.names, span))
    }

    fn named(&mut self) -> Result<Expression, Diagnostic> {
        let span = self.word();
        let word = &self.text[span.clone()];
        if self.take("(") {
            return self.call(word.to_owned(), span);
        }
        let found = self.names.iter().position(|name| name.name == word);
        let index = found.ok_or_else(|| {
            let known: Vec<&str> = self.names.iter().map(|name| name.name.as_str()).collect();
            self.error(span.clone(), format!("`{word}` is not declared")).hint(format!(
                "declared before it: {}",
                if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
            ))
        })?;
        Ok(Expression::new(Kind::Variable(index), self.names, span))
    }

    fn call(&mut self, word: String, name: Range<usize>) -> Result<Expression, Diagnostic> {
        let first = self.expression(0)?;
        let cast = TYPES.iter().find(|(name, _)| *name == word);
        if let Some((_, width)) = cast {
            self.expect(")")?;
            if integer(*width).is_none() {
                return Err(self.error(name, "expressions are of integers".to_owned()));
            }
            return Ok(Expression::new(
                Kind::Cast(*width, Box::new(first)),
                self.names,
                name.start..self.at,
            ));
        }
        let operator = match word.as_str() {
            "min" => Binary::Minimum,
            "max" => Binary::Maximum,
            _ => {
                return Err(self
                    .error(name, format!("`{word}` is no function"))
                    .hint("min, max and the type names (uint64(m) * n) can be called"));
            }
        };
        self.expect(",")?;
        let second = self.expression(0)?;
        self.expect(")")?;
        Ok(Expression::new(
            Kind::Binary(operator, Box::new([first, second])),
            self.names,
            name.start..self.at,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> Vec<Name> {
        let name = |name: &str, width| Name { name: name.to_owned(), width };
        vec![
            name("a", HostType::Uint32),
            name("b", HostType::Int32),
            name("c", HostType::Uint64),
            name("d", HostType::Uint8),
        ]
    }

    fn value(text: &str, values: [i128; 4]) -> (i128, HostType, usize) {
        let scope: Vec<Typed> = names()
            .iter()
            .zip(values)
            .map(|(name, value)| Typed { value, width: name.width })
            .collect();
        let mut events = Vec::new();
        let typed = parse(text, &names(), "test").unwrap().evaluate(
            &scope,
            Division::Truncate,
            &mut events,
        );
        (typed.value, typed.width, events.len())
    }

    #[test]
    fn arithmetic_is_that_of_c() {
        let all = [10, -3, 7, 200];
        assert_eq!(value("(a + 15) / 16 * 2", all), (2, HostType::Uint32, 0));
        assert_eq!(
            value("a + b", all),
            (7, HostType::Uint32, 1),
            "-3 becomes 4294967293 and the sum wraps"
        );
        assert_eq!(value("b / 2", all), (-1, HostType::Int32, 0));
        assert_eq!(value("d + d", all), (400, HostType::Int32, 0), "bytes are promoted");
        assert_eq!(value("b < a", all), (0, HostType::Int32, 0), "compared unsigned");
        assert_eq!(value("a * 1000000000", all), (10_000_000_000 % (1 << 32), HostType::Uint32, 1));
        assert_eq!(value("uint64(a) * 1000000000", all), (10_000_000_000, HostType::Uint64, 0));
        assert_eq!(value("a > 5 ? 1 : 2", all), (1, HostType::Int32, 0));
        assert_eq!(value("a - 11", all), (0xffff_ffff, HostType::Uint32, 1));
        assert_eq!(value("1 << 4 | 3", all), (19, HostType::Int32, 0));
        let most = [0, 0, u64::MAX.into(), 0];
        assert_eq!(value("c * c", most), (1, HostType::Uint64, 1), "beyond what 127 bits hold");
        assert_eq!(value("a / 0", all), (0, HostType::Uint32, 1));
        assert_eq!(value("max(a, 12u) - min(a, 3u)", all), (9, HostType::Uint32, 0));
        assert_eq!(value("10 - 4 - 3", all), (3, HostType::Int32, 0));
        assert_eq!(value("-2 * 3 + ~0", all), (-7, HostType::Int32, 0));
        assert_eq!(value("0xffffffff", all).1, HostType::Uint32);
        assert_eq!(value("4294967295", all).1, HostType::Int64);
    }

    /// ISO C17, 6.3.1.1 and 6.3.1.3: operands narrower than an int are promoted; a conversion to a
    /// narrow type keeps its low bits.
    #[test]
    fn narrow_types_overflow_where_those_of_c_do() {
        let narrow = [
            (HostType::Int8, -128, 127),
            (HostType::Uint8, 0, 255),
            (HostType::Int16, -32768, 32767),
            (HostType::Uint16, 0, 65535),
        ];
        for (width, lowest, highest) in narrow {
            assert_eq!(range(width), (lowest, highest), "{width:?}");
            assert_eq!(
                (wrap(highest + 1, width), wrap(lowest - 1, width)),
                (lowest, highest),
                "{width:?}"
            );
            let names = [Name { name: "n".to_owned(), width }];
            let evaluated = |text: &str| {
                let mut events = Vec::new();
                let scope = [Typed { value: highest, width }];
                let typed = parse(text, &names, "test").unwrap().evaluate(
                    &scope,
                    Division::Truncate,
                    &mut events,
                );
                let enclosed = Enclosed { low: lowest, high: highest, width };
                let mut quiet = true;
                let interval =
                    parse(text, &names, "test").unwrap().enclose(&[enclosed], &mut quiet);
                assert!(
                    interval.low <= typed.value && typed.value <= interval.high,
                    "{text} of {width:?}"
                );
                assert!(!quiet || events.is_empty(), "{text} of {width:?}: {events:?}");
                (typed.value, typed.width, events.len())
            };
            assert_eq!(evaluated("n + 1"), (highest + 1, HostType::Int32, 0), "{width:?}");
            let (square, overflows) = match width {
                HostType::Uint16 => (highest * highest - (1 << 32), 1),
                _ => (highest * highest, 0),
            };
            assert_eq!(evaluated("n * n"), (square, HostType::Int32, overflows), "{width:?}");
        }
    }

    #[test]
    fn faults_are_diagnostics_with_a_span() {
        for (text, span) in [
            ("", 0..0),
            ("a +", 2..3),
            ("a b", 2..3),
            ("(a", 2..2),
            ("x", 0..1),
            ("f(a)", 0..1),
            ("1z", 0..2),
            ("a $", 2..3),
            ("min(a)", 5..6),
            ("010", 0..3),
        ] {
            let diagnostic = parse(text, &names(), "test").expect_err(text);
            assert_eq!(
                diagnostic.location.unwrap().span,
                Some(span),
                "{text}: {}",
                diagnostic.message
            );
        }
        assert!(parse(&"(".repeat(4000), &names(), "test").is_err());
        assert!(parse(&"-".repeat(4000), &names(), "test").is_err());
        assert!(parse(&vec!["a"; 2000].join("+"), &names(), "test").is_ok());
    }

    proptest! {
        /// Whatever the operators: the value lies in the interval, and a quiet interval means no
        /// event.
        #[test]
        fn the_interval_encloses_the_value(
            operators in prop::collection::vec(0usize..BINARY.len(), 1..5),
            operands in prop::collection::vec(0usize..9, 6),
            bounds in prop::collection::vec((-40i128..40, 0i128..60, 0i128..60), 4),
            large in 0u32..3,
        ) {
            let texts = ["a", "b", "c", "d", "5", "(a - b)", "(a > b ? c : d)", "min(a, c)", "uint8(max(b, c))"];
            let mut text = texts[operands[0]].to_owned();
            for (operator, operand) in operators.iter().zip(&operands[1..]) {
                text = format!("({text} {} {})", BINARY[*operator].0, texts[*operand]);
            }
            let expression = parse(&text, &names(), "test").unwrap();
            let mut scope = Vec::new();
            let mut enclosure = Vec::new();
            for (name, (low, length, place)) in names().iter().zip(bounds) {
                let scale = if large == 0 { range(name.width).1 / 64 } else { 1 };
                let (lowest, highest) = range(name.width);
                let clamp = |value: i128| (value * scale).clamp(lowest, highest);
                let (low, high, value) = (clamp(low), clamp(low + length), clamp(low + place.min(length)));
                scope.push(Typed { value, width: name.width });
                enclosure.push(Enclosed { low, high, width: name.width });
            }
            let mut events = Vec::new();
            let typed = expression.evaluate(&scope, Division::Truncate, &mut events);
            let mut quiet = true;
            let interval = expression.enclose(&enclosure, &mut quiet);
            prop_assert_eq!(typed.width, interval.width);
            prop_assert_eq!(typed.width, expression.width);
            prop_assert!(interval.low <= typed.value && typed.value <= interval.high, "{} = {:?} not in {:?}", text, typed, interval);
            prop_assert!(!quiet || events.is_empty(), "{} {:?}", text, events);
        }
    }
}
