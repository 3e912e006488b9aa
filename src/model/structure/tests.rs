//! Chains of `else if` in files.

use super::*;
use crate::place::FileIndex;

fn simple(id: u32) -> Statement {
    let span = Span { file: FileIndex(0), start: id, end: id + 1 };
    Statement {
        id: Some(StatementId(id)),
        span,
        kind: StatementKind::Simple,
        expansion: Vec::new(),
    }
}

fn branch(id: u32, otherwise: Option<Statement>) -> Statement {
    let (then, otherwise) = (Box::new(simple(id + 1)), otherwise.map(Box::new));
    Statement {
        kind: StatementKind::If { decision: DecisionId(id), then, otherwise },
        ..simple(id)
    }
}

#[test]
fn a_chain_is_flat_in_files_and_whole_when_read_back() {
    let long = (0..100).fold(simple(9), |rest, id| branch(10 * id + 10, Some(rest)));
    for statement in [branch(1, None), branch(1, Some(branch(5, None))), long] {
        let text = serde_json::to_string(&statement).unwrap();
        let depth = text.bytes().fold((0_i32, 0), |(now, most), byte| {
            let now = now + i32::from(b"[{".contains(&byte)) - i32::from(b"]}".contains(&byte));
            (now, most.max(now))
        });
        assert!(depth.1 < 12, "{}", depth.1);
        assert_eq!(serde_json::from_str::<Statement>(&text).unwrap(), statement);
    }
    let wrong = serde_json::to_value(branch(1, Some(simple(5)))).unwrap();
    let mut wrong = wrong;
    let list = wrong["kind"]["if"]["otherwise"].as_array_mut().unwrap();
    list.push(list[0].clone());
    assert!(serde_json::from_value::<Statement>(wrong).unwrap_err().to_string().contains("chain"));
}
