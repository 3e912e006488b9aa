use super::*;
use crate::facts::image_facts;
use vkcert_model::evidence::TestEvidence;
use vkcert_sample as sample;

/// A test whose image `field` has a value per texel: 0, 10, 20 ..., of which all but the last two
/// are expected to be 1 more, and where the engine left what is expected but at one texel.
fn test_with_image(columns: u32, rows: u32, wrong_texel: usize) -> TestEvidence {
    use base64::Engine as _;
    let base64 = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let count = columns as usize * rows as usize;
    let input: Vec<u8> = (0..count).map(|texel| (texel % 20 * 10) as u8).collect();
    let expected: Vec<u8> = input.iter().map(|value| value + 1).collect();
    let mut actual = expected.clone();
    actual[wrong_texel] += 40;
    let mut test = sample::evidence().campaign.tests[0].clone();
    test.definition = serde_json::from_value(serde_json::json!({
        "id": test.id, "dispatches": [], "expect": [],
        "images": {"field": {"dim": "2d", "format": "r8ui", "extent": [columns, rows], "bytes": base64(&input)}},
    }))
    .unwrap();
    test.expected = vec![serde_json::from_value(serde_json::json!({
        "buffer": "field", "tolerance": {},
        "contents": {"values": [{"offset": 0, "scalar": "uint8", "bytes": base64(&expected[..count - 2])}]},
    }))
    .unwrap()];
    test.results.truncate(1);
    test.results[0].outputs =
        serde_json::from_value(serde_json::json!({"field": {"bytes": base64(&actual)}})).unwrap();
    test
}

fn drawn(test: &TestEvidence) -> Drawing {
    picture_drawing(&test.id, &image_facts(test)[0]).expect("values are known")
}

fn rasters(drawing: &Drawing) -> Vec<Arc<Raster>> {
    let of_shape = |shape: &Shape| match shape {
        Shape::Raster { raster, .. } => Some(Arc::clone(raster)),
        Shape::Area { .. } | Shape::Line { .. } | Shape::Label { .. } => None,
    };
    drawing.shapes.iter().filter_map(of_shape).collect()
}

fn caption_text(drawing: &Drawing) -> String {
    drawing.caption.0.iter().map(|run| run.text.as_str()).collect()
}

#[test]
fn pixels_are_the_values_of_the_evidence_and_what_differs_is_dark() {
    let drawing = drawn(&test_with_image(4, 2, 3));
    let rasters = rasters(&drawing);
    let [input, expected, actual, difference] = &rasters[..] else {
        panic!("four pictures: {}", rasters.len());
    };
    // From 0, the least input, to 71, the greatest value that engines left.
    let grey = |value: f64| [(value / 71.0 * 255.0).round() as u8; 3];
    let inputs: Vec<[u8; 3]> = (0..8).map(|texel| grey(f64::from(texel) * 10.0)).collect();
    assert_eq!(input.pixels, inputs);
    assert_eq!(expected.pixels[3], grey(31.0));
    assert_eq!(actual.pixels[3], grey(71.0));
    let white_texels = difference.pixels.iter().filter(|pixel| **pixel == [255; 3]).count();
    assert_eq!((difference.pixels[3], white_texels), ([0; 3], 7));
    let caption = caption_text(&drawing);
    for words in [
        "Image field of TC-MM-01, 4 × 2 texels",
        "12 points per texel",
        "grey from 0 (dark) to 71 (light)",
        "Struck through: nothing is expected there",
        "1 of 6 judged texels differ, by 40 at most",
    ] {
        assert!(caption.contains(words), "{words}: {caption}");
    }
}

#[test]
fn of_a_large_image_the_texels_around_the_first_difference_are_drawn() {
    let drawing = drawn(&test_with_image(200, 100, 99 * 200 + 150));
    let rasters = rasters(&drawing);
    assert!(rasters.iter().all(|raster| (raster.columns, raster.rows) == (48, 48)));
    let (x, y) = (150 - 126, 99 - 52);
    assert_eq!(rasters[3].pixels[y * 48 + x], [0; 3]);
    let caption = caption_text(&drawing);
    assert!(caption.contains("texels (126, 52) to (173, 99) of 200 × 100"), "{caption}");
}

#[test]
fn what_has_no_picture_says_why() {
    let mut test = test_with_image(4, 2, 3);
    test.expected.clear();
    test.results[0].outputs = serde_json::from_value(serde_json::json!({
        "field": {"hash": {"sha256": "sha256:00", "bytes": 8}}
    }))
    .unwrap();
    let drawing = drawn(&test);
    assert_eq!(rasters(&drawing).len(), 1, "the input alone");
    let words = format!("{:?}", drawing.shapes);
    assert!(words.contains("above the limit: hash alone"), "{words}");
    assert!(words.contains("nothing is expected of it"), "{words}");
    test.definition.images.get_mut("field").unwrap().samples = Some(4);
    assert!(unpictured_reason(&image_facts(&test)[0].shape).is_some());
}
