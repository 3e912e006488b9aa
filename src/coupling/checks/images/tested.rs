//! Sizes of images in tests against those of the host.
//!
//! Knows: what tests bind, and the parameters that they tell.
//! Promises: a test is compared under the parameters that it tells; one whose images the host never
//! binds together is named and not compared.
//! Does not cover: which texels the kernel uses.

use super::{CHECK, HostChecks};
use crate::checks::tested_size::{SizeWords, TestedSizes};
use crate::expressions::{HostExpressions, HostExtent};
use crate::rows::CheckRows;
use crate::{CouplingInput, ImageUse, TestUse};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::requirement::HostImage;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{HostExpression, HostExpressionKind};

/// A stated number of an image's size, with what a test binds.
type TestedNumber<'a> = (&'a HostExpression, u32);

impl HostChecks<'_> {
    pub(super) fn check_tested_images(
        &self,
        rows: &mut CheckRows,
        image: &HostImage,
        extent: &HostExtent,
    ) {
        let mut sizes = TestedSizes::default();
        let mut departures = Vec::new();
        for test in self.input.tests {
            let Some(image_use) = test.images.get(&(image.set, image.binding)) else { continue };
            match departing_name(self.input, self.host, self.expressions, test) {
                Some(departure) => departures.push(format!("{} {departure}", test.name)),
                None => self.compare_tested(test, &tested_numbers(extent, image_use), &mut sizes),
            }
        }
        let place = format!("image {}.{}", image.set, image.binding);
        let words = SizeWords { place, verb: "bind", participle: "bound" };
        sizes.add_covered(rows, CHECK, &words);
        if !departures.is_empty() {
            let message = format!(
                "{}: not compared with tests whose images the host never binds together: {}",
                words.place,
                departures.join(", ")
            );
            rows.add_holding(CHECK, message);
        }
        sizes.add_undecided(rows, CHECK, &words);
    }

    fn compare_tested(
        &self,
        test: &TestUse,
        numbers: &[TestedNumber<'_>],
        sizes: &mut TestedSizes,
    ) {
        let bound: Vec<String> = numbers.iter().map(|(_, bound)| bound.to_string()).collect();
        let bound = bound.join(" x ");
        let mut untold = BTreeSet::new();
        for (expression, bound_number) in numbers {
            match self.host.told_value(expression, &test.told) {
                Ok(value) if i128::from(*bound_number) <= value => {}
                Ok(_) => return sizes.larger.push(format!("{} ({bound})", test.name)),
                Err(_) if self.covers_always(expression, test, *bound_number) => {}
                Err(names) => untold.extend(names),
            }
        }
        if untold.is_empty() {
            sizes.covered_count += 1;
        } else {
            let names: Vec<&str> = untold.into_iter().collect();
            let names = names.join(" and ");
            sizes.open.push(format!("{} binds {bound} and does not tell {names}", test.name));
        }
    }

    fn covers_always(&self, expression: &HostExpression, test: &TestUse, bound: u32) -> bool {
        i128::from(bound) <= self.host.told_interval(expression, &test.told).low
    }
}

/// The stated numbers of a size with those that a test binds.
pub(crate) fn tested_numbers<'a>(
    extent: &'a HostExtent,
    image_use: &ImageUse,
) -> Vec<TestedNumber<'a>> {
    let axes = extent.axes.iter().zip(image_use.axes.iter().copied());
    let layers = extent.layers.as_ref().map(|layers| (layers, image_use.layers));
    let levels = extent.levels.as_ref().map(|levels| (levels, image_use.levels));
    axes.chain(layers).chain(levels).collect()
}

/// `gives width = 2 and 3`, for a name to which two images of a test give different values.
pub(crate) fn departing_name(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
    test: &TestUse,
) -> Option<String> {
    let mut values_by_name: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    let images = input.interface.images.iter().zip(&expressions.images);
    for (image, extent) in images {
        let (Some(extent), Some(image_use)) =
            (extent, test.images.get(&(image.set, image.binding)))
        else {
            continue;
        };
        for (expression, bound) in tested_numbers(extent, image_use) {
            if let HostExpressionKind::Variable(name) = expression.kind {
                values_by_name.entry(name).or_default().insert(bound);
            }
        }
    }
    let (name, values) = values_by_name.into_iter().find(|(_, values)| values.len() > 1)?;
    let values: Vec<String> = values.iter().map(u32::to_string).collect();
    Some(format!("gives {} = {}", host.names[name].name, values.join(" and ")))
}
