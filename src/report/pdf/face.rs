//! Typefaces: text widths from the fonts themselves, and the subsets that a document embeds.
//!
//! The fonts come out of the crate `typst-assets` (licences in `docs/third-party.md`). `printpdf`
//! without its layout features embeds whole fonts, so the subset is made here and handed to it as a
//! font of its own.

use crate::ReportError;
use crate::document::Style;
use allsorts::binary::read::ReadScope;
use allsorts::font_data::FontData;
use allsorts::subset::{CmapTarget, SubsetProfile};
use allsorts::tables::{FontTableProvider, NameTable};
use printpdf::ParsedFont;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The faces of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FontFace {
    Text,
    Strong,
    Emphasis,
    Code,
}

impl FontFace {
    pub(super) const ALL: [FontFace; 4] =
        [FontFace::Text, FontFace::Strong, FontFace::Emphasis, FontFace::Code];

    /// PostScript name of the font.
    fn postscript_name_of(self) -> &'static str {
        match self {
            FontFace::Text => "LibertinusSerif-Regular",
            FontFace::Strong => "LibertinusSerif-Bold",
            FontFace::Emphasis => "LibertinusSerif-Italic",
            FontFace::Code => "DejaVuSansMono",
        }
    }

    /// Fixed-width letters stand taller at the same size; this evens out the lower-case heights.
    pub(super) fn size_scale(self) -> f32 {
        match self {
            FontFace::Text | FontFace::Strong | FontFace::Emphasis => 1.0,
            FontFace::Code => 0.80,
        }
    }
}

impl From<Style> for FontFace {
    fn from(style: Style) -> Self {
        match style {
            Style::Plain => FontFace::Text,
            Style::Strong => FontFace::Strong,
            Style::Emphasis => FontFace::Emphasis,
            Style::Code => FontFace::Code,
        }
    }
}

/// Advances of characters below this are kept in a table: Latin, Greek, arrows, mathematical signs,
/// check marks.
const TABULATED: usize = 0x2800;

/// The loaded fonts, one per face.
pub(super) struct FontFaces {
    fonts: BTreeMap<FontFace, (&'static [u8], ParsedFont)>,
    /// Advance in ems of each tabulated character, by face; none where the font does not show it.
    advances: BTreeMap<FontFace, Vec<Option<f32>>>,
}

impl FontFaces {
    pub(super) fn load() -> Result<Self, ReportError> {
        let mut fonts = BTreeMap::new();
        for face in FontFace::ALL {
            let missing_font = || font_fault(face, "the font is not among the bundled ones");
            let bytes = typst_assets::fonts()
                .find(|bytes| postscript_name(bytes).as_deref() == Some(face.postscript_name_of()));
            let bytes = bytes.ok_or_else(missing_font)?;
            let parsed = ParsedFont::from_bytes(bytes, 0, &mut Vec::new());
            fonts.insert(
                face,
                (bytes, parsed.ok_or_else(|| font_fault(face, "the font tables cannot be read"))?),
            );
        }
        let advances =
            fonts.iter().map(|(face, (_, font))| (*face, tabulated_advances(font))).collect();
        Ok(Self { fonts, advances })
    }

    fn font_of(&self, face: FontFace) -> &ParsedFont {
        &self.fonts[&face].1
    }

    /// The face that shows a character: the one asked for, else the one with the largest
    /// repertoire, else none.
    pub(super) fn face_showing(&self, face: FontFace, character: char) -> Option<FontFace> {
        [face, FontFace::Code, FontFace::Text]
            .into_iter()
            .find(|face| self.character_advance(*face, character).is_some())
    }

    /// Advance of a character at `size` points, in points; that of the replacement glyph where the
    /// face does not show it.
    pub(super) fn character_width(&self, face: FontFace, character: char, size: f32) -> f32 {
        let ems = self
            .character_advance(face, character)
            .unwrap_or_else(|| glyph_advance(self.font_of(face), 0));
        ems * size * face.size_scale()
    }

    /// Advance in ems; none where the face does not show the character.
    fn character_advance(&self, face: FontFace, character: char) -> Option<f32> {
        match self.advances[&face].get(character as usize) {
            Some(advance) => *advance,
            None => shown_advance(self.font_of(face), character),
        }
    }

    /// A font with the glyphs of `characters` alone, under a name with a subset tag (ISO 32000-1,
    /// 9.6.4).
    pub(super) fn font_subset(
        &self,
        face: FontFace,
        characters: &BTreeSet<char>,
    ) -> Result<ParsedFont, ReportError> {
        let (font_bytes, whole_font) = &self.fonts[&face];
        let glyph_of = |character: &char| whole_font.lookup_glyph_index(*character as u32);
        // Glyph 0 (.notdef) must stand first.
        let used_glyphs: BTreeSet<u16> =
            std::iter::once(0).chain(characters.iter().filter_map(glyph_of)).collect();
        let used_glyphs: Vec<u16> = used_glyphs.into_iter().collect();
        let subset_fault = |error: &dyn std::fmt::Display| font_fault(face, &error.to_string());
        let data = ReadScope::new(font_bytes)
            .read::<FontData<'_>>()
            .map_err(|error| subset_fault(&error))?;
        let provider = data.table_provider(0).map_err(|error| subset_fault(&error))?;
        let program = allsorts::subset::subset(
            &provider,
            &used_glyphs,
            &SubsetProfile::Pdf,
            CmapTarget::Unicode,
        )
        .map_err(|error| subset_fault(&error))?;
        // The subset numbers its glyphs by their place in `glyphs`.
        let glyph_place =
            |old_glyph: u16| used_glyphs.binary_search(&old_glyph).ok().map(|place| place as u16);
        let mut subset_font = whole_font.clone();
        subset_font.codepoint_to_glyph = characters
            .iter()
            .filter_map(|c| Some((*c as u32, glyph_place(glyph_of(c)?)?)))
            .collect();
        subset_font.glyph_widths = used_glyphs
            .iter()
            .filter_map(|old_glyph| {
                Some((glyph_place(*old_glyph)?, whole_font.get_glyph_width(*old_glyph)?))
            })
            .collect();
        subset_font.font_name =
            Some(format!("{}+{}", subset_tag(&program), face.postscript_name_of()));
        subset_font.original_bytes = program;
        Ok(subset_font)
    }
}

fn tabulated_advances(font: &ParsedFont) -> Vec<Option<f32>> {
    let character = |code: usize| char::from_u32(u32::try_from(code).ok()?);
    (0..TABULATED).map(|code| shown_advance(font, character(code)?)).collect()
}

fn shown_advance(font: &ParsedFont, character: char) -> Option<f32> {
    let glyph = font.lookup_glyph_index(character as u32).filter(|glyph| *glyph != 0)?;
    Some(glyph_advance(font, glyph))
}

fn glyph_advance(font: &ParsedFont, glyph: u16) -> f32 {
    f32::from(font.get_glyph_width(glyph).unwrap_or(0)) / f32::from(font.units_per_em)
}

fn font_fault(face: FontFace, reason: &str) -> ReportError {
    ReportError::Font { name: face.postscript_name_of().to_owned(), reason: reason.to_owned() }
}

fn postscript_name(bytes: &[u8]) -> Option<String> {
    let data = ReadScope::new(bytes).read::<FontData<'_>>().ok()?;
    let provider = data.table_provider(0).ok()?;
    let table = provider.read_table_data(allsorts::tag::NAME).ok()?;
    ReadScope::new(&table).read::<NameTable<'_>>().ok()?.string_for_id(NameTable::POSTSCRIPT_NAME)
}

/// Six capital letters that depend on the font program alone.
fn subset_tag(program: &[u8]) -> String {
    Sha256::digest(program).iter().take(6).map(|byte| char::from(b'A' + byte % 26)).collect()
}
