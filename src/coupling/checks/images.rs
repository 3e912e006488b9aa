//! Sizes of images: whether an image can have what the host states.
//!
//! Knows: the extents that the interface states.
//! Promises: a row for every image whose extent is stated; `holds` only where all of it is proved for
//! all parameter values.
//! Does not cover: what the kernel accesses (`bounds`), limits of devices.

mod tested;

pub(crate) use tested::{departing_name, tested_numbers};

use super::HostChecks;
use crate::expressions::HostExtent;
use crate::rows::{CheckRows, values_in_words};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::image::ImageDim;
use vkcert_model::requirement::HostImage;
use vkcert_requirement::host::decide::{EvaluatedCase, ProofResult};
use vkcert_requirement::host::expression::HostExpression;

const CHECK: CouplingCheckName = CouplingCheckName::ImageSize;

/// The greatest size that a kernel can be told of an image, which is a signed number of 32 bits.
const GREATEST_SIZE: i128 = i32::MAX as i128;

/// What an image must have of each number that is stated.
enum SizeRule {
    /// It is a size: from 1 to the greatest.
    IsSize,
    /// The faces of a cube are square.
    IsSquare,
    /// The layers of cubes are six each.
    IsOfCubes,
    /// There are no more levels than until one texel is left.
    HasLevels,
}

/// A rule with the expressions that it is about; of levels they come first.
struct SizeClaim<'a> {
    rule: SizeRule,
    /// `width`
    name: &'static str,
    expressions: Vec<&'a HostExpression>,
}

impl HostChecks<'_> {
    pub(crate) fn check_image_sizes(&self, rows: &mut CheckRows) {
        let images = self.input.interface.images.iter().zip(&self.expressions.images);
        for (image, extent) in images {
            let Some(extent) = extent else { continue };
            rows.begin_subject(format!("{}.{}", image.set, image.binding));
            self.check_image_size(rows, image, extent);
        }
        rows.end_subject();
    }

    fn check_image_size(&self, rows: &mut CheckRows, image: &HostImage, extent: &HostExtent) {
        let place = format!("image {}.{}", image.set, image.binding);
        let mut is_shown = true;
        for claim in size_claims(image, extent) {
            match self.decide_claim(&claim) {
                ProofResult::Proved => {}
                ProofResult::Open(reason) => {
                    is_shown = false;
                    let message = format!("{place}: its {} is not decided; {reason}", claim.name);
                    rows.add_undetermined(CHECK, message);
                }
                ProofResult::Refuted(values) => {
                    is_shown = false;
                    let host_case = self.host.named_case(&values);
                    let fault = claim.fault_words(&self.claim_values(&claim, &host_case));
                    let message = format!("{place} {fault} ({})", values_in_words(&values));
                    rows.add_refuted(CHECK, message, Some(values));
                }
            }
        }
        if is_shown {
            let message =
                format!("{place}, {}, is of a size that an image can have", size_words(image));
            rows.add_holding(CHECK, message);
        }
        self.check_tested_images(rows, image, extent);
    }

    fn decide_claim(&self, claim: &SizeClaim<'_>) -> ProofResult {
        if self.is_proved_by_intervals(claim) {
            return ProofResult::Proved;
        }
        self.host.decide_for_all(&claim.expressions, &|host_case| {
            claim.holds(&self.claim_values(claim, host_case))
        })
    }

    fn is_proved_by_intervals(&self, claim: &SizeClaim<'_>) -> bool {
        let mut bounds =
            claim.expressions.iter().map(|expression| self.host.value_interval(expression));
        match claim.rule {
            SizeRule::IsSize => {
                bounds.all(|bounds| bounds.low >= 1 && bounds.high <= GREATEST_SIZE)
            }
            SizeRule::HasLevels => {
                let levels = bounds.next().map_or(1, |levels| levels.high);
                let least = bounds.map(|axis| axis.low).max().unwrap_or(1);
                levels <= most_levels(least)
            }
            SizeRule::IsSquare | SizeRule::IsOfCubes => false,
        }
    }

    fn claim_values(&self, claim: &SizeClaim<'_>, host_case: &EvaluatedCase) -> Vec<i128> {
        let expressions = claim.expressions.iter();
        expressions.map(|expression| self.evaluated_value(expression, host_case)).collect()
    }
}

impl SizeClaim<'_> {
    fn holds(&self, values: &[i128]) -> bool {
        match self.rule {
            SizeRule::IsSize => values.iter().all(|value| (1..=GREATEST_SIZE).contains(value)),
            SizeRule::IsSquare => values.windows(2).all(|pair| pair[0] == pair[1]),
            SizeRule::IsOfCubes => values.iter().all(|value| value % 6 == 0),
            SizeRule::HasLevels => {
                let greatest = values.iter().skip(1).copied().max().unwrap_or(1);
                values.first().is_none_or(|levels| *levels <= most_levels(greatest))
            }
        }
    }

    /// What is wrong where the claim does not hold.
    fn fault_words(&self, values: &[i128]) -> String {
        let numbers: Vec<String> = values.iter().map(i128::to_string).collect();
        match self.rule {
            SizeRule::IsSize => format!(
                "has {} {}, where an image has 1 to {GREATEST_SIZE}",
                self.name,
                numbers.join(" and ")
            ),
            SizeRule::IsSquare => {
                format!("is a cube, and its faces of {} texels are not square", numbers.join(" x "))
            }
            SizeRule::IsOfCubes => {
                format!("is of cubes, and {} layers are not six for each", numbers.join(" and "))
            }
            SizeRule::HasLevels => {
                let (levels, axes) = (&numbers[0], &numbers[1..]);
                let greatest = values.iter().skip(1).copied().max().unwrap_or(1);
                format!(
                    "has {levels} levels, where {} texels have {} at most",
                    axes.join(" x "),
                    most_levels(greatest)
                )
            }
        }
    }
}

/// Levels until one texel is left (Vulkan specification, "Image Mip Level Sizing").
fn most_levels(greatest_axis: i128) -> i128 {
    i128::from(greatest_axis.max(1).ilog2()) + 1
}

/// All that is asked of a stated size.
fn size_claims<'a>(image: &HostImage, extent: &'a HostExtent) -> Vec<SizeClaim<'a>> {
    let axes = ["width", "height", "depth"].into_iter().zip(&extent.axes);
    let counts = [("layers", &extent.layers), ("levels", &extent.levels)];
    let counts = counts.into_iter().filter_map(|(name, count)| Some((name, count.as_ref()?)));
    let mut claims: Vec<SizeClaim<'_>> = axes
        .chain(counts)
        .map(|(name, expression)| SizeClaim {
            rule: SizeRule::IsSize,
            name,
            expressions: vec![expression],
        })
        .collect();
    if image.dimension == Some(ImageDim::Cube) {
        let is_written_alike = image.extent.windows(2).all(|pair| pair[0].trim() == pair[1].trim());
        if !is_written_alike {
            let expressions = extent.axes.iter().collect();
            claims.push(SizeClaim { rule: SizeRule::IsSquare, name: "faces", expressions });
        }
        if let Some(layers) = &extent.layers {
            let expressions = vec![layers];
            claims.push(SizeClaim { rule: SizeRule::IsOfCubes, name: "layers", expressions });
        }
    }
    if let Some(levels) = &extent.levels {
        let expressions = std::iter::once(levels).chain(&extent.axes).collect();
        claims.push(SizeClaim { rule: SizeRule::HasLevels, name: "levels", expressions });
    }
    claims
}

/// `width x height texels, 4 levels`
fn size_words(image: &HostImage) -> String {
    let mut words = format!("{} texels", image.extent.join(" x "));
    for (name, count) in [("layers", &image.layers), ("levels", &image.levels)] {
        if let Some(count) = count {
            words.push_str(&format!(", {count} {name}"));
        }
    }
    words
}
