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
pub(super) enum Face {
    Text,
    Strong,
    Emphasis,
    Code,
}

impl Face {
    pub(super) const ALL: [Face; 4] = [Face::Text, Face::Strong, Face::Emphasis, Face::Code];

    /// PostScript name of the font.
    fn name(self) -> &'static str {
        match self {
            Face::Text => "LibertinusSerif-Regular",
            Face::Strong => "LibertinusSerif-Bold",
            Face::Emphasis => "LibertinusSerif-Italic",
            Face::Code => "DejaVuSansMono",
        }
    }

    /// Fixed-width letters stand taller at the same size; this evens out the lower-case heights.
    pub(super) fn scale(self) -> f32 {
        match self {
            Face::Text | Face::Strong | Face::Emphasis => 1.0,
            Face::Code => 0.80,
        }
    }
}

impl From<Style> for Face {
    fn from(style: Style) -> Self {
        match style {
            Style::Plain => Face::Text,
            Style::Strong => Face::Strong,
            Style::Emphasis => Face::Emphasis,
            Style::Code => Face::Code,
        }
    }
}

/// Advances of characters below this are kept in a table: Latin, Greek, arrows, mathematical signs,
/// check marks.
const TABULATED: usize = 0x2800;

/// The loaded fonts, one per face.
pub(super) struct Faces {
    fonts: BTreeMap<Face, (&'static [u8], ParsedFont)>,
    /// Advance in ems of each tabulated character, by face; none where the font does not show it.
    advances: BTreeMap<Face, Vec<Option<f32>>>,
}

impl Faces {
    pub(super) fn load() -> Result<Self, ReportError> {
        let mut fonts = BTreeMap::new();
        for face in Face::ALL {
            let missing = || fault(face, "the font is not among the bundled ones");
            let bytes = typst_assets::fonts()
                .find(|bytes| postscript_name(bytes).as_deref() == Some(face.name()));
            let bytes = bytes.ok_or_else(missing)?;
            let parsed = ParsedFont::from_bytes(bytes, 0, &mut Vec::new());
            fonts.insert(
                face,
                (bytes, parsed.ok_or_else(|| fault(face, "the font tables cannot be read"))?),
            );
        }
        let advances = fonts.iter().map(|(face, (_, font))| (*face, tabulate(font))).collect();
        Ok(Self { fonts, advances })
    }

    fn font(&self, face: Face) -> &ParsedFont {
        &self.fonts[&face].1
    }

    /// The face that shows a character: the one asked for, else the one with the largest
    /// repertoire, else none.
    pub(super) fn showing(&self, face: Face, character: char) -> Option<Face> {
        [face, Face::Code, Face::Text]
            .into_iter()
            .find(|face| self.advance(*face, character).is_some())
    }

    /// Advance of a character at `size` points, in points; that of the replacement glyph where the
    /// face does not show it.
    pub(super) fn width(&self, face: Face, character: char, size: f32) -> f32 {
        let ems =
            self.advance(face, character).unwrap_or_else(|| glyph_advance(self.font(face), 0));
        ems * size * face.scale()
    }

    /// Advance in ems; none where the face does not show the character.
    fn advance(&self, face: Face, character: char) -> Option<f32> {
        match self.advances[&face].get(character as usize) {
            Some(advance) => *advance,
            None => shown_advance(self.font(face), character),
        }
    }

    /// A font with the glyphs of `characters` alone, under a name with a subset tag (ISO 32000-1,
    /// 9.6.4).
    pub(super) fn subset(
        &self,
        face: Face,
        characters: &BTreeSet<char>,
    ) -> Result<ParsedFont, ReportError> {
        let (bytes, whole) = &self.fonts[&face];
        let glyph = |character: &char| whole.lookup_glyph_index(*character as u32);
        // Glyph 0 (.notdef) must stand first.
        let glyphs: BTreeSet<u16> =
            std::iter::once(0).chain(characters.iter().filter_map(glyph)).collect();
        let glyphs: Vec<u16> = glyphs.into_iter().collect();
        let failed = |error: &dyn std::fmt::Display| fault(face, &error.to_string());
        let data = ReadScope::new(bytes).read::<FontData<'_>>().map_err(|error| failed(&error))?;
        let provider = data.table_provider(0).map_err(|error| failed(&error))?;
        let program =
            allsorts::subset::subset(&provider, &glyphs, &SubsetProfile::Pdf, CmapTarget::Unicode)
                .map_err(|error| failed(&error))?;
        // The subset numbers its glyphs by their place in `glyphs`.
        let place = |old: u16| glyphs.binary_search(&old).ok().map(|place| place as u16);
        let mut font = whole.clone();
        font.codepoint_to_glyph =
            characters.iter().filter_map(|c| Some((*c as u32, place(glyph(c)?)?))).collect();
        font.glyph_widths = glyphs
            .iter()
            .filter_map(|old| Some((place(*old)?, whole.get_glyph_width(*old)?)))
            .collect();
        font.font_name = Some(format!("{}+{}", subset_tag(&program), face.name()));
        font.original_bytes = program;
        Ok(font)
    }
}

fn tabulate(font: &ParsedFont) -> Vec<Option<f32>> {
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

fn fault(face: Face, reason: &str) -> ReportError {
    ReportError::Font { name: face.name().to_owned(), reason: reason.to_owned() }
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
