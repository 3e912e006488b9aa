use super::*;

fn rendered(evidence: &Evidence, format: FormatName) -> Vec<u8> {
    render(evidence, format, &Presentation::default()).unwrap()
}

#[test]
fn every_format_gives_the_same_bytes_twice() {
    let evidence = sample::evidence();
    for row in FORMATS {
        assert!(rendered(&evidence, row.name) == rendered(&evidence, row.name), "{}", row.word);
    }
}

#[test]
fn evidence_without_anything_renders_in_every_format() {
    let mut evidence = sample::evidence();
    evidence.kernels.clear();
    let campaign = &mut evidence.campaign;
    campaign.engines.clear();
    campaign.requirements.clear();
    campaign.tests.clear();
    campaign.conclusion.summary.clear();
    campaign.findings.clear();
    for row in FORMATS {
        assert!(!rendered(&evidence, row.name).is_empty(), "{}", row.word);
    }
}

#[test]
fn stored_evidence_renders_to_the_same_report() {
    let evidence = sample::evidence();
    let stored: Evidence = serde_json::from_slice(&rendered(&evidence, FormatName::Json)).unwrap();
    for row in FORMATS {
        assert!(rendered(&stored, row.name) == rendered(&evidence, row.name), "{}", row.word);
    }
}

#[test]
fn format_words_lead_back_to_their_rows() {
    for row in FORMATS {
        assert_eq!(row.word.parse::<FormatName>().unwrap(), row.name);
    }
    assert!("docx".parse::<FormatName>().is_err());
}

/// Writes the samples, or the evidence that VKCERT_EVIDENCE names, for a person to look at.
#[test]
#[ignore = "writes files to look at"]
fn reports_to_look_at() {
    let folder = std::env::temp_dir().join("vkcert-reports");
    std::fs::create_dir_all(&folder).unwrap();
    let mut all = vec![("sample".to_owned(), sample::evidence()), ("flawless".to_owned(), sample::flawless())];
    if let Ok(path) = std::env::var("VKCERT_EVIDENCE") {
        all.push(("real".to_owned(), serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()));
    }
    for (name, evidence) in all {
        for row in FORMATS {
            let colour = if row.name == FormatName::Terminal { Colour::Ansi } else { Colour::Plain };
            let written = vec!["reports/report.pdf".into(), "reports/report.html".into()];
            let presentation = Presentation { colour, width: 100, written };
            let bytes = render(&evidence, row.name, &presentation).unwrap();
            std::fs::write(folder.join(format!("{name}.{}", row.word)), bytes).unwrap();
        }
    }
}
