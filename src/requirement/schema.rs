//! JSON Schemas of the files, by name: what `vkcert schema NAME` prints.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use vkcert_model::baseline::BaselineComparison;
use vkcert_model::campaigns::CampaignTable;
use vkcert_model::coverage::KernelCoverage;
use vkcert_model::event::EventLine;
use vkcert_model::evidence::{
    Campaign, Evidence, KernelEvidence, Manifest, MutationEvidence, ReportList, StoredInputs,
};
use vkcert_model::procedure::Procedure;
use vkcert_model::project::ProjectFile;
use vkcert_model::provenance::Provenance;
use vkcert_model::requirement::RequirementsFile;
use vkcert_model::result::RunResult;
use vkcert_model::shard::ShardFile;

/// One row of the table of schemas.
pub struct SchemaRow {
    /// Name on the command line: `vkcert schema NAME`.
    pub name: &'static str,
    /// The file that it describes.
    pub describes: &'static str,
    /// Makes the schema.
    pub make: fn() -> Schema,
}

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<T>()
}

/// Every file format with its schema. The command, its help text and the documents iterate this
/// table.
pub const SCHEMAS: &[SchemaRow] = &[
    SchemaRow {
        name: "procedure",
        describes: "test-procedure file of `vkcert run`",
        make: schema_of::<Procedure>,
    },
    SchemaRow { name: "project", describes: "vkcert.toml", make: schema_of::<ProjectFile> },
    SchemaRow {
        name: "requirements",
        describes: "requirements/**/*.toml",
        make: schema_of::<RequirementsFile>,
    },
    SchemaRow {
        name: "result",
        describes: "result of `vkcert run --format json`",
        make: schema_of::<RunResult>,
    },
    SchemaRow {
        name: "coverage",
        describes: "coverage of one kernel in a result",
        make: schema_of::<KernelCoverage>,
    },
    SchemaRow {
        name: "evidence",
        describes: "all evidence of a run together",
        make: schema_of::<Evidence>,
    },
    SchemaRow {
        name: "campaign",
        describes: "evidence/campaign.json",
        make: schema_of::<Campaign>,
    },
    SchemaRow {
        name: "kernel",
        describes: "evidence/kernel-*.json",
        make: schema_of::<KernelEvidence>,
    },
    SchemaRow {
        name: "mutation",
        describes: "evidence/mutation-*.json",
        make: schema_of::<MutationEvidence>,
    },
    SchemaRow {
        name: "inputs",
        describes: "evidence/inputs.json",
        make: schema_of::<StoredInputs>,
    },
    SchemaRow {
        name: "manifest",
        describes: "evidence/manifest.json",
        make: schema_of::<Manifest>,
    },
    SchemaRow { name: "reports", describes: "reports.json", make: schema_of::<ReportList> },
    SchemaRow { name: "provenance", describes: "provenance.json", make: schema_of::<Provenance> },
    SchemaRow {
        name: "shard",
        describes: "shard.json of `vkcert certify --shard`",
        make: schema_of::<ShardFile>,
    },
    SchemaRow {
        name: "baseline",
        describes: "baseline.json",
        make: schema_of::<BaselineComparison>,
    },
    SchemaRow {
        name: "campaigns",
        describes: "campaigns.json of `vkcert merge --campaigns`",
        make: schema_of::<CampaignTable>,
    },
    SchemaRow {
        name: "event",
        describes: "a line of `vkcert certify --events`",
        make: schema_of::<EventLine>,
    },
];

/// The schema called `name`, pretty-printed; none if there is no such schema.
pub fn schema_text(name: &str) -> Option<String> {
    let schema_row = SCHEMAS.iter().find(|schema_row| schema_row.name == name)?;
    let text =
        serde_json::to_string_pretty((schema_row.make)().as_value()).expect("a schema is JSON");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_schema_by_its_name() {
        for (name, key) in [
            ("procedure", "kernels"),
            ("project", "level"),
            ("requirements", "justification"),
            ("result", "tests"),
            ("coverage", "decisions"),
            ("manifest", "inputs"),
        ] {
            let text = schema_text(name).unwrap();
            let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(schema["properties"].get(key).is_some(), "{name}: {text}");
        }
        assert_eq!(schema_text("procedures"), None);
        for row in SCHEMAS {
            assert!(
                schema_text(row.name).is_some_and(|text| text.starts_with('{')),
                "{}",
                row.name
            );
        }
    }
}
