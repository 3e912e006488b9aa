use super::*;

#[test]
fn each_row_is_there_once() {
    for (index, (capability, _)) in CAPABILITIES.iter().enumerate() {
        assert!(
            CAPABILITIES[..index].iter().all(|(earlier, _)| earlier != capability),
            "{capability:?} twice"
        );
    }
    for (index, (extension, _)) in EXTENSIONS.iter().enumerate() {
        assert!(
            EXTENSIONS[..index].iter().all(|(earlier, _)| earlier != extension),
            "{extension} twice"
        );
    }
}

/// Features that no capability, extension, atomic, mode or index stands for: `cli` asks for
/// them itself.
const ASKED_ELSEWHERE: [ScFeature; 4] = [
    ScFeature::ShaderAtomicInstructions,
    ScFeature::SamplerMirrorClampToEdge,
    ScFeature::ScalarBlockLayout,
    ScFeature::SubgroupSizeControl,
];

#[test]
fn each_feature_is_behind_a_row() {
    let mut behind: BTreeSet<ScFeature> = ASKED_ELSEWHERE.into();
    let rules =
        CAPABILITIES.iter().map(|(_, rule)| rule).chain(EXTENSIONS.iter().map(|(_, rule)| rule));
    for rule in rules {
        match rule {
            FeatureRule::Any(features) => behind.extend(*features),
            FeatureRule::Always | FeatureRule::Elsewhere => {}
        }
    }
    behind.extend(ATOMICS.iter().map(|(.., feature)| *feature));
    behind.extend(FLOAT_MODES.iter().map(|(.., property)| *property));
    let open: Vec<_> = ScFeature::ALL.iter().filter(|feature| !behind.contains(feature)).collect();
    assert!(open.is_empty(), "{open:?}");
}

/// What the device engine and this table call the same feature must have the same name.
#[test]
fn features_are_called_as_the_device_engine_calls_them() {
    for (capability, rule) in CAPABILITIES {
        let FeatureRule::Any(features) = rule else { continue };
        let named = feature_of(*capability)
            .unwrap_or_else(|| panic!("{capability:?} is not known to the engine"));
        let bit = |name: &str| {
            name.strip_prefix("VK_SUBGROUP_FEATURE_")
                .and_then(|rest| rest.strip_suffix("_BIT"))
                .map_or_else(|| name.to_owned(), |class| format!("subgroup operation {class}"))
        };
        assert!(
            features.iter().any(|feature| named.contains(&bit(feature.name()))),
            "{capability:?}: {named}"
        );
    }
}
