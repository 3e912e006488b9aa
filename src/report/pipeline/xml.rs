//! XML 1.0, written element by element.
//!
//! Promises: whatever texts hold, the document is well-formed; a character that XML 1.0 cannot
//! hold is U+FFFD.

/// A document in the making.
pub(super) struct XmlWriter {
    text: String,
    open_elements: Vec<&'static str>,
}

/// Name and value of an attribute.
pub(super) type Attribute<'a> = (&'static str, &'a str);

impl XmlWriter {
    /// A document with these comments in front of its root.
    pub(super) fn new(comments: &[&str]) -> Self {
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        for comment in comments {
            // Two hyphens would end it.
            let comment = escaped(comment).replace('-', "\u{2010}");
            text.push_str(&format!("<!-- {comment} -->\n"));
        }
        Self { text, open_elements: Vec::new() }
    }

    /// A writer of elements within the one that is open, for [`XmlWriter::add_text`].
    pub(super) fn inner(&self) -> Self {
        Self { text: String::new(), open_elements: self.open_elements.clone() }
    }

    /// What was written, without an end for what is open.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Elements that an inner writer has written.
    pub(super) fn add_text(&mut self, elements: &str) {
        self.text.push_str(elements);
    }

    /// Opens an element, which is to be closed.
    pub(super) fn open(&mut self, name: &'static str, attributes: &[Attribute]) {
        self.start_tag(name, attributes);
        self.text.push_str(">\n");
        self.open_elements.push(name);
    }

    /// Closes the element that was opened last.
    pub(super) fn close(&mut self) {
        if let Some(name) = self.open_elements.pop() {
            self.indent();
            self.text.push_str(&format!("</{name}>\n"));
        }
    }

    /// An element without contents.
    pub(super) fn empty(&mut self, name: &'static str, attributes: &[Attribute]) {
        self.start_tag(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element that holds a text.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: &[Attribute], text: &str) {
        self.start_tag(name, attributes);
        self.text.push_str(&format!(">{}</{name}>\n", escaped(text)));
    }

    /// The whole document.
    pub(super) fn finish(mut self) -> Vec<u8> {
        while !self.open_elements.is_empty() {
            self.close();
        }
        self.text.into_bytes()
    }

    fn indent(&mut self) {
        self.text.push_str(&"  ".repeat(self.open_elements.len()));
    }

    fn start_tag(&mut self, name: &str, attributes: &[Attribute]) {
        self.indent();
        self.text.push_str(&format!("<{name}"));
        for (attribute, value) in attributes {
            // A reader makes a space of a line break that stands as itself.
            let value = escaped(value).replace('\n', "&#10;").replace('\t', "&#9;");
            self.text.push_str(&format!(" {attribute}=\"{value}\""));
        }
    }
}

/// A text as character data or attribute value.
fn escaped(text: &str) -> String {
    let mut escaped_text = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped_text.push_str("&amp;"),
            '<' => escaped_text.push_str("&lt;"),
            '>' => escaped_text.push_str("&gt;"),
            '"' => escaped_text.push_str("&quot;"),
            '\r' => escaped_text.push_str("&#13;"),
            '\n' | '\t' => escaped_text.push(character),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped_text.push('\u{fffd}'),
            _ => escaped_text.push(character),
        }
    }
    escaped_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        let mut xml = XmlWriter::new(&["a -- b-"]);
        xml.open("a", &[("b", "\"<&>'\n\t\r\u{1}\u{ffff}é")]);
        xml.leaf("c", &[], "]]> <x/>\n\u{0}");
        xml.empty("d", &[]);
        let text = String::from_utf8(xml.finish()).unwrap();
        let mut xml = XmlWriter::new(&["a -- b-"]);
        xml.open("a", &[("b", "\"<&>'\n\t\r\u{1}\u{ffff}é")]);
        let mut inner = xml.inner();
        inner.leaf("c", &[], "]]> <x/>\n\u{0}");
        inner.empty("d", &[]);
        xml.add_text(&inner.into_text());
        assert_eq!(String::from_utf8(xml.finish()).unwrap(), text);
        assert_eq!(
            text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!-- a \u{2010}\u{2010} b\u{2010} -->\n\
             <a b=\"&quot;&lt;&amp;&gt;'&#10;&#9;&#13;\u{fffd}\u{fffd}é\">\n  \
             <c>]]&gt; &lt;x/&gt;\n\u{fffd}</c>\n  <d/>\n</a>\n"
        );
    }
}
