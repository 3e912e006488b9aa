//! Coverage-guided fuzzing of lexer, preprocessor, parser, outline and marking. `make fuzz` runs
//! it.
//!
//! Promises to find: panics, overflows, time that grows faster than the text (`-timeout`), memory
//! (`-rss_limit_mb`). Also checked: a decision's span lies in its text, and every condition has a
//! text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(outline) = vkcert_glsl::outline_of_text(text) else { return };
    for decision in &outline.decisions {
        assert!(!decision.conditions.is_empty(), "{} has no condition", decision.id);
        assert!(decision.span.start <= decision.span.end, "{} ends before it starts", decision.id);
        if decision.span.file.0 == 0 {
            let range = decision.span.start as usize..decision.span.end as usize;
            assert!(text.get(range).is_some(), "{} lies outside the text", decision.id);
        }
    }
});
