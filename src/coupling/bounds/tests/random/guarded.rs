//! Random kernels in which a number is defined on one way only: what holds of it there must not
//! count where the other way was taken.

use super::{RandomCase, Tally, Writer, check_case};

/// Names of unsigned numbers, all of them small.
const NAMES: [&str; 5] = ["n", "m", "x", "lane", "state"];

impl Writer {
    fn small_name(&mut self) -> String {
        let mut names: Vec<&str> = NAMES.to_vec();
        names.extend(self.unsigned_names.iter().map(String::as_str));
        names[self.dice.below(names.len())].to_owned()
    }

    fn small_literal(&mut self) -> String {
        format!("{}u", self.dice.below(10))
    }

    fn small_number(&mut self) -> String {
        match self.dice.below(3) {
            0 => self.small_literal(),
            _ => self.small_name(),
        }
    }

    /// A guard, and a number that it makes defined.
    fn guarded_maker(&mut self) -> (String, String) {
        let (number, other) = (self.small_name(), self.small_number());
        let bound = self.small_name();
        match self.dice.below(8) {
            0 => (format!("{bound} > 0u"), format!("clamp({number}, 0u, {bound} - 1u)")),
            1 => (format!("{other} <= {bound}"), format!("clamp({number}, {other}, {bound})")),
            2 => (format!("{bound} > 0u"), format!("{number} % {bound}")),
            3 => (format!("{bound} > {other}"), format!("{number} / ({bound} - {other})")),
            4 => (format!("{number} >= {other}"), format!("({number} - {other}) & {bound}")),
            5 => (format!("{number} >= {other}"), format!("({number} - {other}) & 7u")),
            6 => (format!("{number} < 5u"), format!("1u << {number}")),
            _ => (
                format!("{number} >= {other}"),
                format!("min({number} - {other}, {bound} & ({number} - {other}))"),
            ),
        }
    }

    /// An access whose index, or whose guard, has to do with the number.
    fn use_of(&mut self, name: &str) {
        let (other, number) = (self.small_name(), self.small_name());
        let literal = self.small_literal();
        let index = match self.dice.below(8) {
            0 => name.to_owned(),
            1 => format!("{other} - 1u - {name}"),
            2 => format!("{other} - {name}"),
            3 => format!("{literal} - {name}"),
            4 => format!("{literal} - {other}"),
            5 => format!("{other} + {literal}"),
            6 => format!("{name} + {number}"),
            _ => other.clone(),
        };
        let operator = self.dice.pick(&["<", "<=", ">", "==", "!="]);
        let guard = match self.dice.below(5) {
            0 => "true".to_owned(),
            1 => format!("{name} {operator} {other}"),
            2 => format!("{name} {operator} {literal}"),
            3 => format!("{name} + {other} {operator} {literal}"),
            _ => format!("{name} {operator} {other} && {other} {operator} {number}"),
        };
        let object = self.dice.pick(&["a", "b", "w"]);
        self.text.push_str(&format!("if ({guard}) {{ {object}[{index}] = 1u; }}\n"));
    }

    fn guarded_shape(&mut self) {
        let name = self.name();
        let (guard, value) = self.guarded_maker();
        let start = match self.dice.below(3) {
            0 => self.small_number(),
            _ => "0u".to_owned(),
        };
        match self.dice.below(4) {
            0 => {
                let (other_guard, other_value) = self.guarded_maker();
                self.text.push_str(&format!(
                    "uint {name} = {start}; if ({guard}) {{ {name} = {value}; }} \
                     else if ({other_guard}) {{ {name} = {other_value}; }}\n"
                ));
            }
            1 => {
                let above = self.small_name();
                self.text.push_str(&format!(
                    "uint {name} = {start}; if ({above} > 1u) {{ if ({guard}) \
                     {{ {name} = {value}; }} {name} += 1u; }}\n"
                ));
            }
            _ => self.text.push_str(&format!(
                "uint {name} = {start}; if ({guard}) {{ {name} = {value}; }}\n"
            )),
        }
        for _ in 0..2 {
            self.use_of(&name);
        }
        self.unsigned_names.push(name);
    }

    fn guarded_block(&mut self) {
        let shape_count = 1 + self.dice.below(2);
        if self.dice.below(3) == 0 {
            let name = self.name();
            let end = self.small_number();
            self.text.push_str(&format!("for (uint {name} = 0u; {name} < {end}; {name}++) {{\n"));
            let name_count = self.unsigned_names.len();
            self.unsigned_names.push(name);
            for _ in 0..shape_count {
                self.guarded_shape();
            }
            let state = self.small_name();
            self.text.push_str(&format!("state = {state} & 7u;\n}}\n"));
            self.unsigned_names.truncate(name_count);
        } else {
            for _ in 0..shape_count {
                self.guarded_shape();
            }
        }
    }
}

fn guarded_case(seed: u64) -> RandomCase {
    let mut writer = Writer::new(seed);
    let local_size = [1, 4][writer.dice.below(2)];
    for _ in 0..3 {
        writer.guarded_block();
    }
    let text = format!(
        "#version 450\nlayout(local_size_x = {local_size}) in;\n\
         layout(std430, binding = 0) buffer A {{ uint a[]; }};\n\
         layout(std430, binding = 1) buffer B {{ uint b[]; }};\n\
         layout(push_constant) uniform P {{ uint n; uint m; }};\n\
         shared uint w[8];\n\
         void main() {{\nuint x = gl_GlobalInvocationID.x; uint lane = gl_LocalInvocationID.x;\n\
         uint state = m;\n{}\na[0] = state;\n}}\n",
        writer.text
    );
    let interface = serde_json::json!({
        "kernel": "k",
        "parameters": [
            { "name": "n", "type": "uint32", "min": 0, "max": 6 },
            { "name": "m", "type": "uint32", "min": 0, "max": 6 },
        ],
        "push_constants": { "members": [
            { "name": "n", "type": "uint32" },
            { "name": "m", "type": "uint32" },
        ]},
        "buffers": [
            { "set": 0, "binding": 0, "size": "n * 4 + 4" },
            { "set": 0, "binding": 1, "size": "40" },
        ],
        "groups": ["2", "1", "1"],
    });
    let interface = serde_json::from_value(interface).unwrap();
    RandomCase { text, interface, local_size, least_number: 0 }
}

#[test]
fn what_holds_on_one_way_proves_nothing_behind_the_other() {
    let count = std::env::var("VKCERT_RANDOM_BOUNDS").ok().and_then(|count| count.parse().ok());
    let mut tally = Tally::default();
    for seed in 0..count.unwrap_or(60) {
        check_case(seed, guarded_case(seed), &mut tally);
    }
    println!("{} proved, {} open, {} findings", tally.proved, tally.open, tally.found);
    // The test is worth something only if much is proved and much is out of bounds.
    assert!(tally.proved * 2 > tally.open, "{} of {}", tally.proved, tally.open);
    assert!(tally.found > 100, "{}", tally.found);
}
