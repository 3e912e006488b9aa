//! Texts of expressions, read and refused.

use super::*;
use BooleanExpression as E;

fn texts(text: &str) -> Vec<String> {
    parse(text).unwrap().conditions.into_iter().map(|condition| condition.text).collect()
}

fn leaf(index: u32) -> Box<E> {
    Box::new(E::Condition(index))
}

#[test]
fn precedence_is_that_of_glsl() {
    let expected = E::Or(
        leaf(0),
        Box::new(E::Xor(leaf(1), Box::new(E::And(leaf(2), Box::new(E::Not(leaf(3))))))),
    );
    assert_eq!(parse("a || b ^^ c && !d").unwrap().expression, expected);
}

#[test]
fn operators_associate_to_the_left() {
    let expected = E::And(Box::new(E::And(leaf(0), leaf(1))), leaf(2));
    assert_eq!(parse("a && b && c").unwrap().expression, expected);
}

#[test]
fn a_condition_reaches_to_the_next_boolean_operator() {
    assert_eq!(
        texts("x  <  k && f(a, b && c)[2].xy == g() || (p + 1) * 2 > -1.0e-3"),
        ["x < k", "f(a, b && c)[2].xy == g()", "(p + 1) * 2 > -1.0e-3"]
    );
}

#[test]
fn negation_of_a_comparison_operand_stays_in_the_condition() {
    assert_eq!(texts("!a == b && !(c == d)"), ["!a == b", "c == d"]);
}

#[test]
fn equal_texts_are_coupled_whatever_their_spacing() {
    assert_eq!(parse("x<k && y || x < k && (x< k)").unwrap().coupling_numbers(), [0, 1, 0, 0]);
}

#[test]
fn calls_are_coupled_where_the_function_is_known_to_have_no_effect() {
    assert_eq!(parse("f(x) && f(x)").unwrap().coupling_numbers(), [0, 1]);
    assert_eq!(
        parse("isnan(x) && isnan(x) && vec2(x).y > 0.0 && vec2(x).y > 0.0")
            .unwrap()
            .coupling_numbers(),
        [0, 0, 1, 1]
    );
}

#[test]
fn an_assignment_alone_or_in_parentheses_is_a_condition() {
    assert_eq!(texts("(x = y) && z"), ["x = y", "z"]);
    assert_eq!(texts("x = y"), ["x = y"]);
}

#[test]
fn side_effects_are_never_coupled() {
    assert_eq!(parse("i++ < 3 && i++ < 3").unwrap().coupling_numbers(), [0, 1]);
}

#[test]
fn faults_are_diagnostics_with_a_span() {
    for (text, span) in [
        ("", 0..0),
        ("a &&", 2..4),
        ("a && && b", 5..7),
        ("&& b", 0..2),
        ("(a && b", 0..1),
        ("a) && b", 1..2),
        ("a[0) && b", 3..4),
        ("a b", 2..3),
        ("a && x <", 7..8),
        ("a ? b : c", 2..3),
        ("a, b", 1..2),
        ("a @ b", 2..3),
        ("ä", 0..2),
        ("()", 0..1),
        ("!", 0..1),
        ("a !b", 2..3),
        ("f(a,) && b", 4..5),
        ("x = y && z", 2..3),
        ("a && x += y", 7..9),
        ("(x = y || w) && z", 3..4),
    ] {
        let diagnostic = parse(text).expect_err(text);
        assert_eq!(diagnostic.location.unwrap().span, Some(span), "{text}: {}", diagnostic.message);
    }
}

#[test]
fn deep_and_long_expressions_are_diagnostics() {
    let deep = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(parse(&deep).unwrap_err().message.contains("parentheses"));
    assert!(parse(&format!("{}a", "!".repeat(100_000))).unwrap_err().message.contains("negations"));
    assert!(parse(&vec!["a"; 100_000].join("&&")).unwrap_err().message.contains("conditions"));
    assert!(parse(&"a ".repeat(1_000_000)).unwrap_err().message.contains("bytes"));
    assert!(parse(&format!("f{}{}", "(".repeat(100_000), ")".repeat(100_000))).is_err());
}

/// Whatever stands deepest is at the limit or beyond it.
#[test]
fn limits_are_exact() {
    let parentheses = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let negations = |depth: usize| format!("{}a", "!".repeat(depth));
    let mixed = |depth: usize| format!("{}a{}", "!(".repeat(depth), ")".repeat(depth));
    let conditions = |count: usize| vec!["a"; count].join("&&");
    for (fits, does_not, message) in [
        (
            parentheses(200),
            parentheses(201),
            "more than 200 parentheses and negations around one condition",
        ),
        (
            negations(200),
            negations(201),
            "more than 200 parentheses and negations around one condition",
        ),
        (mixed(100), mixed(101), "more than 200 parentheses and negations around one condition"),
        (conditions(128), conditions(129), "more than 128 conditions in one decision"),
    ] {
        assert!(parse(&fits).is_ok());
        assert_eq!(parse(&does_not).unwrap_err().message, message);
    }
    let long = format!("a{}", " ".repeat(MAX_TEXT - 1));
    assert!(parse(&long).is_ok());
    let message = "the expression has 1048577 bytes; the limit is 1048576";
    assert_eq!(parse(&(long + " ")).unwrap_err().message, message);
    // What is too deep or too much is pointed at.
    let span = |text: &str| parse(text).unwrap_err().location.unwrap().span.unwrap();
    assert_eq!(span(&parentheses(201)), 201..202);
    assert_eq!(span(&negations(201)), 200..201);
    assert_eq!(span(&conditions(129)), 384..385);
}

#[test]
fn numbers_and_names_are_words() {
    for (text, expected) in [
        ("1.0e-3 < x", vec!["1.0e-3", "<", "x"]),
        ("1E+5-.5", vec!["1E+5", "-", ".5"]),
        ("1.e5", vec!["1.e5"]),
        // Of hexadecimal numbers the `e` is a digit.
        ("0x1e-3", vec!["0x1e", "-", "3"]),
        ("0XE+1", vec!["0XE", "+", "1"]),
        ("0e-1", vec!["0e-1"]),
        ("1x-1", vec!["1x", "-", "1"]),
        ("x1e-3", vec!["x1e", "-", "3"]),
        ("7u+1", vec!["7u", "+", "1"]),
        ("_a_1.xy", vec!["_a_1", ".", "xy"]),
        ("a.1", vec!["a", ".1"]),
        ("1_0", vec!["1_0"]),
        ("a<<=b>>=c", vec!["a", "<<=", "b", ">>=", "c"]),
        ("a<=b<<c", vec!["a", "<=", "b", "<<", "c"]),
        ("a+++b", vec!["a", "++", "+", "b"]),
        ("a&&&b", vec!["a", "&&", "&", "b"]),
        ("a^^^b", vec!["a", "^^", "^", "b"]),
        ("!==a", vec!["!=", "=", "a"]),
        ("\ta\u{3000}b", vec!["a", "b"]),
        ("", vec![]),
    ] {
        let tokens = expression_tokens(text).unwrap();
        let found: Vec<&str> = tokens.iter().map(|token| token.text_in(text)).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn each_bracket_has_its_closing_one() {
    let text = "f(a[i], (b)) [c]";
    let tokens = expression_tokens(text).unwrap();
    let closing = matching_brackets(text, &tokens).unwrap();
    let pairs: Vec<(usize, usize)> = closing
        .iter()
        .enumerate()
        .filter(|(open, close)| open != *close)
        .map(|(open, close)| (open, *close))
        .collect();
    assert_eq!(pairs, [(1, 10), (3, 5), (7, 9), (11, 13)]);
    for (text, message) in [
        ("(a]", "`]` closes nothing that is open here"),
        ("[a)", "`)` closes nothing that is open here"),
        ("a)", "`)` closes nothing that is open here"),
        ("f(a", "`(` is never closed"),
        ("(a[b", "`[` is never closed"),
    ] {
        assert_eq!(parse(text).unwrap_err().message, message, "{text}");
    }
}

#[test]
fn operands_and_operators_alternate_at_every_level() {
    for (text, message) in [
        ("a b", "an operator is missing before `b`"),
        ("f(a b)", "an operator is missing before `b`"),
        ("a !b", "an operator is missing before `!`"),
        ("[a]", "`[` stands behind an array"),
        ("a + [b]", "`[` stands behind an array"),
        ("f(,a)", "an operand is missing before `,`"),
        ("f(a,)", "an operand is missing before `)`"),
        ("f(a &&)", "an operand is missing before `)`"),
        ("f(&& a)", "an operand is missing before `&&`"),
        ("f(|| a)", "an operand is missing before `||`"),
        ("f(^^ a)", "an operand is missing before `^^`"),
        ("f(? a : b)", "an operand is missing before `?`"),
        ("a * / b", "an operand is missing before `/`"),
        ("a + = b", "an operand is missing before `=`"),
        ("a..b", "an operand is missing before `.`"),
        ("a[]", "an operand is missing before `]`"),
        ("a + ()", "an operand is missing before `)`"),
        ("f[()]", "an operand is missing before `)`"),
        ("a +", "an operand is missing behind `+`"),
        ("a.", "an operand is missing behind `.`"),
        ("++", "an operand is missing behind `++`"),
        ("-", "an operand is missing behind `-`"),
        ("!", "an operand is missing behind `!`"),
        ("&& b", "an operand is missing before `&&`"),
        ("a && || b", "an operand is missing before `||`"),
        ("a &&", "an operand is missing behind `&&`"),
        ("(a ||) && b", "an operand is missing behind `||`"),
        ("(&& a)", "an operand is missing before `&&`"),
        ("()", "an operand is missing behind `(`"),
        ("", "the expression is empty"),
        (" ", "the expression is empty"),
        ("a ? b : c", "`?:` makes two decisions of this; give the part before the `?`"),
        ("(a ? b : c)", "`?:` makes two decisions of this; give the part before the `?`"),
        ("a, b", "one expression is expected, `,` separates two"),
        ("(a, b)", "one expression is expected, `,` separates two"),
        ("a = b || c", "`=` binds weaker than the Boolean operators beside it"),
        ("a[b] += f(c) && d", "`+=` binds weaker than the Boolean operators beside it"),
        ("a $ b", "`$` has no meaning in an expression"),
    ] {
        assert_eq!(parse(text).expect_err(text).message, message, "{text}");
    }
    for text in [
        "f()",
        "f( )",
        "f(g())",
        "a[f()]",
        "-a",
        "a - -b",
        "a--b",
        "~a + -b",
        "++i < 3",
        "i++ < 3",
        "i++ + ++j",
        "a.b.c",
        "f(a ? b : c)",
        "f(a = b)",
        "f(!a)",
        "a[i][j](k)",
        "(a = b) || c",
        "a == (b, c)",
    ] {
        let parsed = parse(text);
        // `a--b` steps `a` and then lacks an operator.
        assert_eq!(parsed.is_ok(), text != "a--b", "{text}: {parsed:?}");
    }
}

#[test]
fn negation_goes_as_far_as_prefix_operators_and_brackets() {
    let not = |expression| E::Not(Box::new(expression));
    for (text, expression, condition) in [
        ("!a", not(E::Condition(0)), "a"),
        ("!!a", not(not(E::Condition(0))), "a"),
        ("!-a", not(E::Condition(0)), "-a"),
        ("!++a", not(E::Condition(0)), "++a"),
        ("!-!a", not(E::Condition(0)), "-!a"),
        ("!a++", not(E::Condition(0)), "a++"),
        ("!a.x", not(E::Condition(0)), "a.x"),
        ("!f(a == b)", not(E::Condition(0)), "f(a == b)"),
        ("!a[i + 1].x", not(E::Condition(0)), "a[i + 1].x"),
        ("!(a == b)", not(E::Condition(0)), "a == b"),
        ("!(a) == b", E::Condition(0), "!(a) == b"),
        ("!a == b", E::Condition(0), "!a == b"),
        ("!a + b", E::Condition(0), "!a + b"),
        ("!a - b", E::Condition(0), "!a - b"),
        ("!a = b", E::Condition(0), "!a = b"),
        ("!f(a) < b", E::Condition(0), "!f(a) < b"),
        ("(a)(b)", E::Condition(0), "(a)(b)"),
        ("(a)[b]", E::Condition(0), "(a)[b]"),
        ("((a))", E::Condition(0), "a"),
    ] {
        let parsed = parse(text).expect(text);
        assert_eq!(parsed.expression, expression, "{text}");
        assert_eq!(parsed.conditions.len(), 1);
        assert_eq!(parsed.conditions[0].text, condition);
    }
}

#[test]
fn conditions_without_effects_are_coupled_token_by_token() {
    for (text, expected) in [
        ("a == b && a==b", [0, 0]),
        ("a == b && b == a", [0, 1]),
        ("a.x && a . x", [0, 0]),
        ("ab && a", [0, 1]),
        ("a[i] && a[i]", [0, 0]),
        ("a[i++] && a[i++]", [0, 1]),
        ("(a = b) && (a = b)", [0, 1]),
        ("a[f(x)] && a[f(x)]", [0, 1]),
        ("a[min(x, y)] && a[min(x,y)]", [0, 0]),
        ("min(f(x), y) && min(f(x), y)", [0, 1]),
        ("f && f", [0, 0]),
        ("f[x] && f[x]", [0, 0]),
        ("f (x) && f (x)", [0, 1]),
        ("!a && a", [0, 0]),
    ] {
        assert_eq!(parse(text).unwrap().coupling_numbers(), expected, "{text}");
    }
    assert_eq!(parse("f(x) && a || f(x) && a || b").unwrap().coupling_numbers(), [0, 1, 2, 1, 3]);
}

/// An expression as a text, with spaces and parentheses by chance.
struct Printer {
    text: String,
    chance: u64,
    spans: Vec<std::ops::Range<usize>>,
}

/// Conditions, of which some need no parentheses behind `!`.
const CONDITIONS: &[(&str, bool)] = &[
    ("a", true),
    ("x<k", false),
    ("f(a,b&&c)[2].xy", true),
    ("v[i]==-1.0e-3", false),
    ("a.b", true),
    ("p%2u!=0u", false),
];

impl Printer {
    fn roll(&mut self, sides: u64) -> u64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.chance >> 33) % sides
    }

    fn space(&mut self) {
        let spaces = ["", " ", "\n  "][self.roll(3) as usize];
        self.text.push_str(spaces);
    }

    /// Binding strength: `||` 1, `^^` 2, `&&` 3, what `!` takes 4.
    fn print(&mut self, expression: &E, needed: u32) {
        let own = match expression {
            E::Or(..) => 1,
            E::Xor(..) => 2,
            E::And(..) => 3,
            E::Not(_) => 4,
            E::Condition(index) if CONDITIONS[*index as usize % CONDITIONS.len()].1 => 4,
            E::Condition(_) => 3,
        };
        let in_parentheses = own < needed || self.roll(5) == 0;
        self.space();
        if in_parentheses {
            self.text.push('(');
            self.space();
        }
        match expression {
            E::Condition(index) => {
                let start = self.text.len();
                self.text.push_str(CONDITIONS[*index as usize % CONDITIONS.len()].0);
                self.spans.push(start..self.text.len());
            }
            E::Not(operand) => {
                self.text.push('!');
                self.print(operand, 4);
            }
            E::And(left, right) => self.print_both(left, right, "&&", 3),
            E::Xor(left, right) => self.print_both(left, right, "^^", 2),
            E::Or(left, right) => self.print_both(left, right, "||", 1),
        }
        self.space();
        if in_parentheses {
            self.text.push(')');
            self.space();
        }
    }

    /// Operators associate to the left.
    fn print_both(&mut self, left: &E, right: &E, operator: &str, strength: u32) {
        self.print(left, strength);
        self.text.push_str(operator);
        // A condition binds tighter than any operator between conditions.
        let of_right = if matches!(right, E::Condition(_)) { strength } else { strength + 1 };
        self.print(right, of_right);
    }
}

fn random_expression(printer: &mut Printer, conditions: &mut u32, depth: u32) -> E {
    let kind = if depth == 0 { 0 } else { printer.roll(6) };
    let mut operand =
        |printer: &mut Printer| Box::new(random_expression(printer, conditions, depth - 1));
    match kind {
        2 => E::Not(operand(printer)),
        3 => E::And(operand(printer), operand(printer)),
        4 => E::Or(operand(printer), operand(printer)),
        5 => E::Xor(operand(printer), operand(printer)),
        _ => {
            *conditions += 1;
            E::Condition(*conditions - 1)
        }
    }
}

#[test]
fn what_is_printed_is_read_again() {
    for seed in 0..400 {
        let mut printer = Printer { text: String::new(), chance: seed, spans: Vec::new() };
        let mut conditions = 0;
        let expression = random_expression(&mut printer, &mut conditions, 5);
        printer.print(&expression, 1);
        let parsed = parse(&printer.text).unwrap_or_else(|_| panic!("{}", printer.text));
        assert_eq!(parsed.expression, expression, "{}", printer.text);
        let spans: Vec<_> =
            parsed.conditions.iter().map(|condition| condition.span.clone()).collect();
        assert_eq!(spans, printer.spans, "{}", printer.text);
        for (number, condition) in parsed.conditions.iter().enumerate() {
            assert_eq!(condition.text, CONDITIONS[number % CONDITIONS.len()].0);
            // The third calls a function of which nothing is known.
            let first = (0..number).find(|first| {
                number % CONDITIONS.len() != 2
                    && first % CONDITIONS.len() == number % CONDITIONS.len()
            });
            let expected = first.map(|first| parsed.conditions[first].coupling);
            let known = parsed.conditions[..number].iter().map(|known| known.coupling);
            let fresh = known.max().map_or(0, |last| last + 1);
            assert_eq!(condition.coupling, expected.unwrap_or(fresh), "{}", printer.text);
        }
    }
}
