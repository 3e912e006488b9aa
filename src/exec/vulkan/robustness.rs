//! What becomes of accesses outside of buffers and images: what is asked for, and what the device
//! grants.
//!
//! Knows: robustBufferAccess, robustImageAccess and their stricter forms of VK_EXT_robustness2 or
//! VK_KHR_robustness2, and that each stricter form needs the plain one (Vulkan specification,
//! "Robustness"; VUID-VkPhysicalDeviceRobustness2FeaturesKHR-robustBufferAccess2-04000).
//! Promises: what was asked for and is not there is named and never replaced in silence.
//! Does not cover: what a robust device does with an access that is in the buffer and outside of
//! the bound range.

use super::features::Features;
use ash::vk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vkcert_exec::Job;

/// Which robustness features are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Robustness {
    /// None.
    Off,
    /// robustBufferAccess, which every device has (Vulkan specification, "Feature Requirements"),
    /// and robustImageAccess where there is one. The nearest to the sequential engine that every
    /// device offers; a device may also access other bytes of the same buffer, guard zones
    /// included.
    #[default]
    Basic,
    /// robustBufferAccess2 and robustImageAccess2 besides: reads outside of a bound range give 0,
    /// writes are dropped.
    Strict,
    /// `Strict` where the device has both, otherwise `Basic`.
    Best,
}

/// What is on of a pair of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Level {
    Off,
    Basic,
    Strict,
}

/// What a device grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Granted {
    pub buffers: Level,
    pub images: Level,
    /// What was asked for and is not there; a job that needs it is unsupported.
    pub lacks: Lacks,
    /// robustStorageBufferAccessSizeAlignment and robustUniformBufferAccessSizeAlignment in bytes:
    /// to so much the end of a bound range may be rounded up. None: buffers are not at `Strict`.
    pub alignments: Option<[u64; 2]>,
}

/// By the feature's name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Lacks {
    /// For every job.
    pub buffers: Option<String>,
    /// For jobs with images.
    pub images: Option<String>,
}

/// Decides by what the device has.
pub(crate) fn grant_robustness(
    asked_robustness: Robustness,
    device_features: &Features,
) -> Granted {
    let strict_buffers = device_features.robustness2.robust_buffer_access2 == vk::TRUE;
    let strict_images = device_features.robustness2.robust_image_access2 == vk::TRUE;
    let plain_images =
        if device_features.v13.robust_image_access == vk::TRUE { Level::Basic } else { Level::Off };
    let plain_grant = Granted {
        buffers: if device_features.core.robust_buffer_access == vk::TRUE {
            Level::Basic
        } else {
            Level::Off
        },
        images: plain_images,
        lacks: Lacks::default(),
        alignments: None,
    };
    let missing_feature = |feature: &str| {
        Some(format!("robustness `strict` (feature {feature} of VK_EXT_robustness2)"))
    };
    match asked_robustness {
        Robustness::Off => Granted { buffers: Level::Off, images: Level::Off, ..plain_grant },
        Robustness::Basic => plain_grant,
        Robustness::Best if strict_buffers && strict_images => {
            grant_robustness(Robustness::Strict, device_features)
        }
        Robustness::Best => plain_grant,
        Robustness::Strict => Granted {
            buffers: if strict_buffers { Level::Strict } else { plain_grant.buffers },
            images: if strict_images { Level::Strict } else { plain_grant.images },
            lacks: Lacks {
                buffers: if strict_buffers { None } else { missing_feature("robustBufferAccess2") },
                images: if strict_images { None } else { missing_feature("robustImageAccess2") },
            },
            alignments: None,
        },
    }
}

impl Granted {
    /// What was asked for, is not there, and would bear on the job.
    pub(crate) fn lack_for(&self, job: &Job) -> Option<String> {
        let image_lack = if job.resources.images.is_empty() { &None } else { &self.lacks.images };
        self.lacks.buffers.as_ref().or(image_lack.as_ref()).cloned()
    }

    /// Switches on what is granted of what the device has.
    pub(crate) fn switch_on(&self, device_features: &Features, enabled_features: &mut Features) {
        let feature_flag = |level: Level, least_level: Level| {
            if level >= least_level { vk::TRUE } else { vk::FALSE }
        };
        enabled_features.core.robust_buffer_access = feature_flag(self.buffers, Level::Basic);
        enabled_features.robustness2.robust_buffer_access2 =
            feature_flag(self.buffers, Level::Strict);
        enabled_features.v13.robust_image_access =
            feature_flag(self.images, Level::Basic) & device_features.v13.robust_image_access;
        enabled_features.robustness2.robust_image_access2 =
            feature_flag(self.images, Level::Strict);
    }

    /// Rows for evidence.
    pub(crate) fn evidence_rows(&self) -> BTreeMap<String, String> {
        let on_or_off = |level: Level, least: Level| if level >= least { "on" } else { "off" };
        let mut table_rows = vec![
            ("robustBufferAccess", on_or_off(self.buffers, Level::Basic).to_owned()),
            ("robustBufferAccess2", on_or_off(self.buffers, Level::Strict).to_owned()),
            ("robustImageAccess", on_or_off(self.images, Level::Basic).to_owned()),
            ("robustImageAccess2", on_or_off(self.images, Level::Strict).to_owned()),
        ];
        if let Some([storage_alignment, uniform_alignment]) = self.alignments {
            table_rows
                .push(("robustStorageBufferAccessSizeAlignment", storage_alignment.to_string()));
            table_rows
                .push(("robustUniformBufferAccessSizeAlignment", uniform_alignment.to_string()));
        }
        table_rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(buffer: u32, image: u32, buffer2: u32, image2: u32) -> Features {
        let mut features = Features::default();
        features.core.robust_buffer_access = buffer;
        features.v13.robust_image_access = image;
        features.robustness2.robust_buffer_access2 = buffer2;
        features.robustness2.robust_image_access2 = image2;
        features
    }

    fn levels(asked: Robustness, has: &Features) -> (Level, Level) {
        let granted = grant_robustness(asked, has);
        (granted.buffers, granted.images)
    }

    #[test]
    fn what_is_there_is_granted_and_what_is_not_is_named() {
        use Level::{Basic, Off, Strict};
        let (all, half, plain, old) =
            (device(1, 1, 1, 1), device(1, 1, 1, 0), device(1, 1, 0, 0), device(1, 0, 0, 0));
        for has in [&all, &half, &plain, &old] {
            assert_eq!(levels(Robustness::Off, has), (Off, Off));
            for asked in [Robustness::Off, Robustness::Basic, Robustness::Best] {
                assert_eq!(grant_robustness(asked, has).lacks, Lacks::default(), "{asked:?}");
            }
        }
        assert_eq!(
            [&all, &half, &plain, &old].map(|has| levels(Robustness::Basic, has).1),
            [Basic, Basic, Basic, Off]
        );
        assert_eq!(levels(Robustness::Best, &all), (Strict, Strict));
        assert_eq!(levels(Robustness::Best, &half), (Basic, Basic));
        assert_eq!(levels(Robustness::Best, &old), (Basic, Off));
        assert_eq!(levels(Robustness::Strict, &all), (Strict, Strict));
        assert_eq!(grant_robustness(Robustness::Strict, &all).lacks, Lacks::default());
        let lacking = grant_robustness(Robustness::Strict, &half);
        assert_eq!((lacking.buffers, lacking.images, lacking.lacks.buffers), (Strict, Basic, None));
        assert_eq!(
            lacking.lacks.images.as_deref(),
            Some("robustness `strict` (feature robustImageAccess2 of VK_EXT_robustness2)")
        );
        let lacking = grant_robustness(Robustness::Strict, &plain).lacks;
        assert_eq!(
            lacking.buffers.as_deref(),
            Some("robustness `strict` (feature robustBufferAccess2 of VK_EXT_robustness2)")
        );
    }

    #[test]
    fn images_bear_on_jobs_with_images_alone() {
        use vkcert_exec::{Job, resource::JobResources};
        use vkcert_model::image::{ImageDim, ImageFormat};
        let plain = Job {
            name: "T".to_owned(),
            modules: Vec::new(),
            buffers: Vec::new(),
            dispatches: Vec::new(),
            resources: JobResources::default(),
            limits: vkcert_model::procedure::Limits::default(),
            checks: vkcert_model::finding::Checks::none(),
        };
        let mut pictured = plain.clone();
        let shape = vkcert_model::image::ImageShape {
            dim: ImageDim::Two,
            format: ImageFormat::R32ui,
            extent: [1, 1, 1],
            layers: 1,
            levels: 1,
            samples: 1,
        };
        pictured.resources.images.push(vkcert_exec::resource::JobImage { buffer: 0, shape });
        let lack =
            |has: &Features, job: &Job| grant_robustness(Robustness::Strict, has).lack_for(job);
        let (all, half, none) = (device(1, 1, 1, 1), device(1, 1, 1, 0), device(1, 1, 0, 0));
        assert_eq!(
            [lack(&all, &plain), lack(&all, &pictured), lack(&half, &plain)],
            [None, None, None]
        );
        assert!(lack(&half, &pictured).unwrap().contains("robustImageAccess2"));
        assert!(lack(&none, &plain).unwrap().contains("robustBufferAccess2"));
        assert_eq!(grant_robustness(Robustness::Best, &none).lack_for(&pictured), None);
    }

    #[test]
    fn a_strict_feature_is_never_on_without_the_plain_one() {
        for bits in 0..16 {
            let bit = |place: u32| bits >> place & 1;
            let has = device(1, bit(0), bit(1), bit(2));
            for asked in [Robustness::Off, Robustness::Basic, Robustness::Strict, Robustness::Best]
            {
                let mut on = Features::default();
                let granted = grant_robustness(asked, &has);
                granted.switch_on(&has, &mut on);
                let strict = on.robustness2;
                assert_eq!(on.core.robust_buffer_access == 1, granted.buffers >= Level::Basic);
                assert_eq!(strict.robust_buffer_access2 == 1, granted.buffers == Level::Strict);
                assert_eq!(strict.robust_image_access2 == 1, granted.images == Level::Strict);
                assert!(strict.robust_buffer_access2 <= on.core.robust_buffer_access);
                assert!(strict.robust_buffer_access2 <= has.robustness2.robust_buffer_access2);
                assert!(strict.robust_image_access2 <= has.robustness2.robust_image_access2);
            }
        }
    }
}
