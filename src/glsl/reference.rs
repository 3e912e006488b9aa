//! Blocks that device addresses lead to: how their addresses must be aligned.
//!
//! Knows: the tokens of a text, as they are written (GL_EXT_buffer_reference,
//! `buffer_reference_align`).
//! Promises: a block is listed only with a number that its own declaration says, as a literal or by
//! the name of a macro that one `#define` makes a literal.
//! Does not cover: alignments that are written as expressions, and those of blocks that do not say
//! one.

use super::lexer::tokens_of;
use super::token::Token;
use std::collections::BTreeMap;

/// Bytes that the addresses of blocks must be a multiple of, by name of the block.
pub fn reference_alignments(text: &str) -> BTreeMap<String, u32> {
    let tokens = tokens_of(text);
    let starts = (0..tokens.len()).filter(|at| tokens[*at].is("layout"));
    starts.filter_map(|at| declared(&tokens, at)).collect()
}

/// The block that a layout qualifier belongs to, with its alignment.
fn declared(tokens: &[Token], layout: usize) -> Option<(String, u32)> {
    let end = layout + tokens[layout..].iter().position(|token| token.is(")"))?;
    let inside = &tokens[layout..end];
    let aligned = inside.iter().position(|token| token.is("buffer_reference_align"))?;
    inside.iter().find(|token| token.is("buffer_reference"))?;
    let bytes = number(tokens, inside.get(aligned + 2).filter(|_| inside[aligned + 1].is("="))?)?;
    // Other qualifiers may stand before and behind the storage qualifier.
    let block = tokens[end..].windows(2).take_while(|pair| !pair[0].is("{") && !pair[0].is(";"));
    let name = block
        .filter(|pair| pair[0].is_identifier() && (pair[1].is("{") || pair[1].is(";")))
        .last()?;
    Some((name[0].text.to_string(), bytes))
}

fn number(tokens: &[Token], token: &Token) -> Option<u32> {
    if let Ok(number) = token.text.trim_end_matches(['u', 'U']).parse() {
        return Some(number);
    }
    let mut defined = tokens
        .windows(4)
        .filter(|four| four[0].is("#") && four[1].is("define") && four[2].is(&token.text));
    match (defined.next(), defined.next()) {
        (Some(four), None) => four[3].text.trim_end_matches(['u', 'U']).parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alignments_that_blocks_declare_are_found() {
        let text = "#define LINE 64\n#define TWO 1\n#define TWO 2\n
            layout(buffer_reference) buffer Plain { uint x; };
            layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Wide { uint x[]; };
            layout(std430, buffer_reference_align = LINE, buffer_reference) buffer coherent Line;
            layout(buffer_reference, buffer_reference_align = TWO) buffer Unknown { uint x; };
            layout(buffer_reference, buffer_reference_align = 8u) buffer Node { Node next; } ;
            layout(set = 0, binding = 0) buffer Other { uint y; };";
        let found = reference_alignments(text);
        let due =
            [("Line", 64), ("Node", 8), ("Wide", 16)].map(|(name, bytes)| (name.to_owned(), bytes));
        assert_eq!(found, due.into());
    }
}
