//! The interface's expressions, parsed.
//!
//! Knows: the interface and the names that its expressions may use.
//! Promises: each expression is parsed once; an unknown name or a syntax error is a diagnostic that
//! names the expression.
//! Does not cover: values.

use super::CouplingInput;
use std::collections::BTreeMap;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::{HostBuffer, HostImage, Interface};
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::decimal_number;
use vkcert_requirement::host::expression::HostExpression;

/// The size of an image's view.
pub(super) struct HostExtent {
    /// Width, height and depth, as far as the image has them.
    pub axes: Vec<HostExpression>,
    /// None of what is not layered.
    pub layers: Option<HostExpression>,
    /// None: one level.
    pub levels: Option<HostExpression>,
}

/// The interface's expressions, parsed.
pub(super) struct HostExpressions {
    pub groups: [HostExpression; 3],
    pub domain: Option<[HostExpression; 3]>,
    /// In the order of the interface.
    pub buffers: Vec<HostExpression>,
    /// Of images in the order of the interface; none where the extent is not stated.
    pub images: Vec<Option<HostExtent>>,
    /// In the order of the interface; none of decimal numbers.
    pub specialization: Vec<Option<HostExpression>>,
    /// By member name.
    pub members: BTreeMap<String, HostExpression>,
}

impl HostExpressions {
    pub(crate) fn from_interface(
        host: &HostModel,
        input: &CouplingInput<'_>,
    ) -> Result<Self, Diagnostic> {
        let interface = input.interface;
        let parse_axes = |texts: &[String; 3],
                          texts_name: &str|
         -> Result<[HostExpression; 3], Diagnostic> {
            let parse_axis =
                |axis: usize| host.parse_expression(&texts[axis], &format!("{texts_name}[{axis}]"));
            Ok([parse_axis(0)?, parse_axis(1)?, parse_axis(2)?])
        };
        let parse_buffer_size = |buffer: &HostBuffer| {
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
            groups: parse_axes(&interface.groups, "groups")?,
            domain: interface
                .domain
                .as_ref()
                .map(|domain| parse_axes(domain, "domain"))
                .transpose()?,
            buffers: interface.buffers.iter().map(parse_buffer_size).collect::<Result<_, _>>()?,
            images: interface
                .images
                .iter()
                .map(|image| parse_extent(host, image))
                .collect::<Result<_, _>>()?,
            specialization: interface
                .specialization
                .iter()
                .map(|constant| {
                    if decimal_number(&constant.value).is_some() {
                        return Ok(None);
                    }
                    let place = format!("specialization constant {}", constant.id);
                    host.parse_expression(&constant.value, &place).map(Some)
                })
                .collect::<Result<_, _>>()?,
            members,
        })
    }
}

/// The extent of an image, if the interface states it.
fn parse_extent(host: &HostModel, image: &HostImage) -> Result<Option<HostExtent>, Diagnostic> {
    if image.extent.is_empty() {
        return Ok(None);
    }
    let image_place = format!("image {}.{}", image.set, image.binding);
    let mut axes = Vec::new();
    for (axis, text) in image.extent.iter().enumerate() {
        axes.push(host.parse_expression(text, &format!("extent[{axis}] of {image_place}"))?);
    }
    let layers = parse_count(host, image.layers.as_deref(), &format!("layers of {image_place}"))?;
    let levels = parse_count(host, image.levels.as_deref(), &format!("levels of {image_place}"))?;
    Ok(Some(HostExtent { axes, layers, levels }))
}

fn parse_count(
    host: &HostModel,
    text: Option<&str>,
    place: &str,
) -> Result<Option<HostExpression>, Diagnostic> {
    text.map(|text| host.parse_expression(text, place)).transpose()
}

/// The bytes of a buffer whose size no parameter changes.
pub(super) fn constant_size(interface: &Interface, buffer: &HostBuffer) -> Option<i128> {
    let host = HostModel::from_interface(interface, [1; 3]).ok()?;
    let size = host.parse_expression(&buffer.size, "size").ok()?;
    let interval = host.value_interval(&size);
    (interval.low == interval.high).then_some(interval.low)
}
