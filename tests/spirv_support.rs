//! `docs/spirv-support.md` is what the engine's own tables say.

use std::path::Path;
use vkcert::exec::sequential::support;

#[test]
fn the_document_is_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/spirv-support.md");
    let text = support::support_document();
    if std::env::var_os("VKCERT_WRITE").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let stored = std::fs::read_to_string(&path).expect("the file");
    assert!(stored == text, "docs/spirv-support.md is out of date: run with VKCERT_WRITE=1");
}
