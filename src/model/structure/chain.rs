//! `otherwise` of an `if` as a flat list in files.
//!
//! Knows: statements of a chain of `else if`.
//! Promises: what is read back is the chain that was written; a list that is no chain is an error.
//! Does not cover: statements without a chain, which serde derives.

use super::{Expansion, Statement, StatementKind};
use crate::id::{DecisionId, StatementId};
use crate::place::Span;
use serde::de::Error;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A statement of the chain without the rest of the chain.
#[derive(Serialize)]
struct Link<'a> {
    id: Option<StatementId>,
    span: Span,
    kind: LinkKind<'a>,
    #[serde(skip_serializing_if = "<[Expansion]>::is_empty")]
    expansion: &'a [Expansion],
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum LinkKind<'a> {
    If {
        decision: DecisionId,
        then: &'a Statement,
        otherwise: [(); 0],
    },
    #[serde(untagged)]
    Other(&'a StatementKind),
}

pub(super) fn serialize<S: Serializer>(
    otherwise: &Option<Box<Statement>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut statement_list = serializer.serialize_seq(None)?;
    let mut next_statement = otherwise.as_deref();
    while let Some(statement) = next_statement {
        let kind;
        (kind, next_statement) = match &statement.kind {
            StatementKind::If { decision, then, otherwise } => {
                (LinkKind::If { decision: *decision, then, otherwise: [] }, otherwise.as_deref())
            }
            other => (LinkKind::Other(other), None),
        };
        let Statement { id, span, expansion, .. } = statement;
        statement_list.serialize_element(&Link { id: *id, span: *span, kind, expansion })?;
    }
    statement_list.end()
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Statement>>, D::Error> {
    let mut statement_chain: Option<Box<Statement>> = None;
    for mut statement in Vec::<Statement>::deserialize(deserializer)?.into_iter().rev() {
        if let Some(following_chain) = statement_chain.take() {
            match &mut statement.kind {
                StatementKind::If { otherwise, .. } if otherwise.is_none() => {
                    *otherwise = Some(following_chain)
                }
                _ => {
                    return Err(D::Error::custom(
                        "only an `if` without `else` stands before the end of a chain",
                    ));
                }
            }
        }
        statement_chain = Some(Box::new(statement));
    }
    Ok(statement_chain)
}
