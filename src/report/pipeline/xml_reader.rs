//! A strict reader of the XML that `XmlWriter` writes, for tests: it panics at all that is not
//! well-formed.

/// An element with what it holds.
pub(super) struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    /// The value of an attribute, which must be there.
    pub(super) fn attribute(&self, name: &str) -> &str {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(attribute, _)| attribute == name);
        &found.unwrap_or_else(|| panic!("{} has no {name}", self.name)).1
    }

    /// The name of the element.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Names of the attributes, in order.
    pub(super) fn attribute_names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|(name, _)| name.as_str())
    }

    /// The elements that it holds itself, in order.
    pub(super) fn children(&self) -> &[Element] {
        &self.children
    }

    /// All elements of a name below, in order.
    pub(super) fn all(&self, name: &str) -> Vec<&Element> {
        let mut found = Vec::new();
        for child in &self.children {
            if child.name == name {
                found.push(child);
            }
            found.extend(child.all(name));
        }
        found
    }
}

/// The root of a document.
pub(super) fn document(text: &str) -> Element {
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    while let Some(comment) = rest.strip_prefix("<!-- ") {
        let (words, behind) = comment.split_once("-->").unwrap();
        assert!(!words.contains("--"), "{words}");
        rest = behind.trim_start();
    }
    let (root, rest) = element(rest);
    assert_eq!(rest.trim(), "", "text behind the root");
    root
}

fn element(text: &str) -> (Element, &str) {
    let text = text.strip_prefix('<').unwrap_or_else(|| panic!("no element: {text:.40}"));
    let (tag, mut rest) = text.split_once('>').unwrap();
    let (tag, is_empty) = match tag.strip_suffix('/') {
        Some(tag) => (tag, true),
        None => (tag, false),
    };
    let (name, attribute_text) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut found = Element {
        name: name.to_owned(),
        attributes: attributes(attribute_text),
        children: Vec::new(),
    };
    if is_empty {
        return (found, rest);
    }
    loop {
        let (characters, behind) = rest.split_at(rest.find('<').expect("an end tag"));
        unescaped(characters);
        if let Some(end_tag) = behind.strip_prefix("</") {
            let (end_name, behind) = end_tag.split_once('>').unwrap();
            assert_eq!(end_name, name);
            return (found, behind);
        }
        let (child, behind) = element(behind);
        found.children.push(child);
        rest = behind;
    }
}

fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    while !text.is_empty() {
        let (name, behind) = text.split_once("=\"").unwrap_or_else(|| panic!("{text}"));
        let (value, behind) = behind.split_once('"').unwrap();
        assert!(found.iter().all(|(other, _)| other != name), "two attributes {name}");
        found.push((name.to_owned(), unescaped(value)));
        text = behind.strip_prefix(' ').unwrap_or(behind);
    }
    found
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        let (entity, behind) = behind.split_once(';').expect("an entity ends with ;");
        plain.push_str(before);
        plain.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#9" => '\t',
            "#10" => '\n',
            "#13" => '\r',
            _ => panic!("&{entity};"),
        });
        rest = behind;
    }
    plain.push_str(rest);
    plain
}
