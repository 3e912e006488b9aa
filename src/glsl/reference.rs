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
    let layout_starts = (0..tokens.len()).filter(|layout_start| tokens[*layout_start].is("layout"));
    layout_starts.filter_map(|layout_start| aligned_block(&tokens, layout_start)).collect()
}

/// The block that a layout qualifier belongs to, with its alignment.
fn aligned_block(tokens: &[Token], layout_start: usize) -> Option<(String, u32)> {
    let layout_end =
        layout_start + tokens[layout_start..].iter().position(|token| token.is(")"))?;
    let layout_tokens = &tokens[layout_start..layout_end];
    let alignment_index =
        layout_tokens.iter().position(|token| token.is("buffer_reference_align"))?;
    layout_tokens.iter().find(|token| token.is("buffer_reference"))?;
    let alignment_bytes = literal_number(
        tokens,
        layout_tokens
            .get(alignment_index + 2)
            .filter(|_| layout_tokens[alignment_index + 1].is("="))?,
    )?;
    // Other qualifiers may stand before and behind the storage qualifier.
    let block_tokens =
        tokens[layout_end..].windows(2).take_while(|pair| !pair[0].is("{") && !pair[0].is(";"));
    let name_pair = block_tokens
        .filter(|pair| pair[0].is_identifier() && (pair[1].is("{") || pair[1].is(";")))
        .last()?;
    Some((name_pair[0].text.to_string(), alignment_bytes))
}

fn literal_number(tokens: &[Token], token: &Token) -> Option<u32> {
    if let Ok(number) = token.text.trim_end_matches(['u', 'U']).parse() {
        return Some(number);
    }
    let mut definitions_of_name = tokens.windows(4).filter(|define_tokens| {
        define_tokens[0].is("#")
            && define_tokens[1].is("define")
            && define_tokens[2].is(&token.text)
    });
    match (definitions_of_name.next(), definitions_of_name.next()) {
        (Some(define_tokens), None) => {
            define_tokens[3].text.trim_end_matches(['u', 'U']).parse().ok()
        }
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
