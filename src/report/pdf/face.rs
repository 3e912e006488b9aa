//! Typefaces: glyphs and text widths from the fonts themselves.
//!
//! The fonts come out of the crate `typst-assets` (licences in `docs/third-party.md`). What of them
//! a document embeds, `krilla` takes from the glyphs that are drawn.

use crate::ReportError;
use crate::document::Style;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::string::StringId;
use skrifa::{FontRef, MetadataProvider};

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

/// Glyphs of characters below this are kept in a table: Latin, Greek, arrows, mathematical signs,
/// check marks.
const TABULATED: usize = 0x2800;

/// A glyph of a face and its advance in ems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FaceGlyph {
    pub number: u32,
    pub advance: f32,
}

struct LoadedFont {
    drawn: krilla::text::Font,
    charmap: Charmap<'static>,
    metrics: GlyphMetrics<'static>,
    units_per_em: f32,
    /// Of each tabulated character; none where the font does not show it.
    tabulated: Vec<Option<FaceGlyph>>,
}

impl LoadedFont {
    fn load(face: FontFace) -> Result<Self, ReportError> {
        let font_fault = |reason: &str| ReportError::Font {
            name: face.postscript_name_of().to_owned(),
            reason: reason.to_owned(),
        };
        let bytes = typst_assets::fonts()
            .find(|bytes| postscript_name(bytes).as_deref() == Some(face.postscript_name_of()))
            .ok_or_else(|| font_fault("the font is not among the bundled ones"))?;
        let unread_tables = || font_fault("the font tables cannot be read");
        let font = FontRef::new(bytes).map_err(|_| unread_tables())?;
        let drawn = krilla::text::Font::new(bytes.into(), 0).ok_or_else(unread_tables)?;
        let mut loaded_font = Self {
            units_per_em: drawn.units_per_em(),
            drawn,
            charmap: font.charmap(),
            metrics: font.glyph_metrics(Size::unscaled(), LocationRef::default()),
            tabulated: Vec::new(),
        };
        let tabulated = (0..TABULATED as u32).map(|code| loaded_font.mapped_glyph(code));
        loaded_font.tabulated = tabulated.collect();
        Ok(loaded_font)
    }

    fn mapped_glyph(&self, code: u32) -> Option<FaceGlyph> {
        if has_no_meaning(code) {
            return None;
        }
        let glyph = self.charmap.map(code).filter(|glyph| glyph.to_u32() != 0)?;
        Some(self.glyph_of(glyph))
    }

    fn glyph_of(&self, glyph: skrifa::GlyphId) -> FaceGlyph {
        let advance = self.metrics.advance_width(glyph).unwrap_or(0.0) / self.units_per_em;
        FaceGlyph { number: glyph.to_u32(), advance }
    }

    fn shown_glyph(&self, character: char) -> Option<FaceGlyph> {
        match self.tabulated.get(character as usize) {
            Some(glyph) => *glyph,
            None => self.mapped_glyph(u32::from(character)),
        }
    }
}

/// Characters that stand for nothing outside an agreement between two parties: neither standard has
/// them as text (ISO 19005-2, 6.2.11.7; ISO 14289-1, 7.21.7), so they are shown by their numbers.
fn has_no_meaning(code: u32) -> bool {
    matches!(code, 0 | 0xFEFF | 0xFFFE)
        || matches!(code, 0xE000..=0xF8FF | 0xF_0000..=0xF_FFFD | 0x10_0000..=0x10_FFFD)
}

/// The loaded fonts, one per face.
pub(super) struct FontFaces {
    /// In the order of [`FontFace::ALL`].
    fonts: Vec<LoadedFont>,
}

impl FontFaces {
    pub(super) fn load() -> Result<Self, ReportError> {
        let fonts = FontFace::ALL.into_iter().map(LoadedFont::load);
        Ok(Self { fonts: fonts.collect::<Result<_, ReportError>>()? })
    }

    fn font(&self, face: FontFace) -> &LoadedFont {
        &self.fonts[face as usize]
    }

    /// The font as it is drawn with.
    pub(super) fn drawn_font(&self, face: FontFace) -> krilla::text::Font {
        self.font(face).drawn.clone()
    }

    /// The face that shows a character: the one asked for, else the one with the largest
    /// repertoire, else none.
    pub(super) fn face_showing(&self, face: FontFace, character: char) -> Option<FontFace> {
        [face, FontFace::Code, FontFace::Text]
            .into_iter()
            .find(|face| self.font(*face).shown_glyph(character).is_some())
    }

    /// The glyph of a character; the replacement glyph where the face does not show it.
    pub(super) fn character_glyph(&self, face: FontFace, character: char) -> FaceGlyph {
        let font = self.font(face);
        font.shown_glyph(character).unwrap_or_else(|| font.glyph_of(skrifa::GlyphId::NOTDEF))
    }

    /// Advance of a character at `size` points, in points.
    pub(super) fn character_width(&self, face: FontFace, character: char, size: f32) -> f32 {
        self.character_glyph(face, character).advance * size * face.size_scale()
    }
}

fn postscript_name(bytes: &[u8]) -> Option<String> {
    let font = FontRef::new(bytes).ok()?;
    let name = font.localized_strings(StringId::POSTSCRIPT_NAME).english_or_first()?;
    Some(name.to_string())
}
