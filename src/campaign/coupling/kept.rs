//! Coupling of kernels that a cache keeps between campaigns.
//!
//! Knows: all that an analysis reads. Promises: a coupling is only taken where this program would
//! come to the same again. One with a refuted check is analysed each time, and so is that of a kernel
//! which no cache keeps.

use super::StoredCoupling;
use super::coupled_kernel::{CoupledKernel, StatedEarlier};
use crate::CampaignError;
use vkcert_cache::run_cache::{MadeProduct, Product};
use vkcert_cache::store::KeptContent;
use vkcert_cache::{CacheKey, RunCache};
use vkcert_model::evidence::CouplingEvidence;

/// The coupling of a kernel without what was read of its host, which is known.
pub(super) fn analysed_or_taken(
    coupled: &CoupledKernel<'_>,
    cache: Option<&RunCache>,
) -> Result<StoredCoupling, CampaignError> {
    let Some(cache) = cache else { return analysed(coupled) };
    let Some(key) = key_of(cache.program(), coupled) else {
        cache.count_made(Product::Coupling);
        return analysed(coupled);
    };
    let read = |content: KeptContent| {
        let row = taken_row(&content.bytes)?;
        Some(StoredCoupling { row, findings: Vec::new() })
    };
    let make = || {
        let product = analysed(coupled)?;
        let content = faithful_text(&product);
        Ok(MadeProduct { product, content })
    };
    let name = format!("coupling of {}", coupled.kernel.name);
    cache.taken_or_made(Product::Coupling, (key, &name), read, make)
}

fn analysed(coupled: &CoupledKernel<'_>) -> Result<StoredCoupling, CampaignError> {
    Ok(StoredCoupling::of_coupling(coupled.interface.kernel, coupled.analyse()?))
}

/// A SHA-256 over all that an analysis reads; none where a kernel has nothing that stands for it.
fn key_of(program: &str, coupled: &CoupledKernel<'_>) -> Option<CacheKey> {
    let CoupledKernel {
        interface,
        kernel,
        place,
        readings,
        // Follows from the interface and the readings.
        merged: _,
        pipelines,
        captures,
        earlier,
        tests,
        device,
        memory_model,
    } = coupled;
    let of_earlier = |earlier: &StatedEarlier<'_>| {
        let StatedEarlier { stated, kernel, interface } = earlier;
        let interface = interface.map(|interface| &interface.value);
        Some(format!("{stated:?} {} {interface:?}", kernel.identity?))
    };
    let earlier: Vec<String> = earlier.iter().map(of_earlier).collect::<Option<_>>()?;
    // Derived texts name every field.
    let text = format!(
        "coupling {program} {} {:?}",
        kernel.identity?,
        (
            (&interface.value, place, readings, pipelines, captures),
            (earlier, tests, device, memory_model),
        ),
    );
    Some(CacheKey::of_bytes(text.as_bytes()))
}

/// A coupling as a cache keeps it, if that is all of it.
fn faithful_text(stored: &StoredCoupling) -> Option<Vec<u8>> {
    if !stored.findings.is_empty() {
        return None;
    }
    let text = serde_json::to_vec(&stored.row).ok()?;
    (taken_row(&text)? == stored.row).then_some(text)
}

fn taken_row(text: &[u8]) -> Option<CouplingEvidence> {
    serde_json::from_slice(text).ok()
}
