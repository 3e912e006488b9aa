//! The interface's expressions, parsed.
//!
//! Knows: the interface and the names that its expressions may use.
//! Promises: each expression is parsed once; an unknown name or a syntax error is a diagnostic that
//! names the expression.
//! Does not cover: values.

use super::CouplingInput;
use std::collections::BTreeMap;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::HostBuffer;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::HostExpression;

/// The interface's expressions, parsed.
pub(super) struct Expressions {
    pub groups: [HostExpression; 3],
    pub domain: Option<[HostExpression; 3]>,
    /// In the order of the interface.
    pub buffers: Vec<HostExpression>,
    pub specialization: Vec<HostExpression>,
    /// By member name.
    pub members: BTreeMap<String, HostExpression>,
}

impl Expressions {
    pub(crate) fn of(host: &HostModel, input: &CouplingInput<'_>) -> Result<Self, Diagnostic> {
        let interface = input.interface;
        let three = |texts: &[String; 3], what: &str| -> Result<[HostExpression; 3], Diagnostic> {
            let parse =
                |axis: usize| host.parse_expression(&texts[axis], &format!("{what}[{axis}]"));
            Ok([parse(0)?, parse(1)?, parse(2)?])
        };
        let buffer = |buffer: &HostBuffer| {
            host.parse_expression(
                &buffer.size,
                &format!("size of buffer {}.{}", buffer.set, buffer.binding),
            )
        };
        let mut members = BTreeMap::new();
        for member in interface.push_constants.iter().flat_map(|block| &block.members) {
            if let Some(value) = &member.value {
                members.insert(
                    member.name.clone(),
                    host.parse_expression(value, &format!("member `{}`", member.name))?,
                );
            }
        }
        Ok(Self {
            groups: three(&interface.groups, "groups")?,
            domain: interface.domain.as_ref().map(|domain| three(domain, "domain")).transpose()?,
            buffers: interface.buffers.iter().map(buffer).collect::<Result<_, _>>()?,
            specialization: interface
                .specialization
                .iter()
                .map(|constant| {
                    host.parse_expression(
                        &constant.value,
                        &format!("specialization constant {}", constant.id),
                    )
                })
                .collect::<Result<_, _>>()?,
            members,
        })
    }
}
