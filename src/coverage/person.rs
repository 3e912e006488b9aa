//! Whether two names may be of the same person.
//!
//! Knows: names as a project states them. Promises: nobody becomes another person by spelling: by
//! capitals, accents, punctuation, letters that look alike or cannot be seen, the order of the
//! parts, initials, parts left out, remarks in brackets, abbreviations behind a comma or numbers.
//! In doubt two names are of one
//! person, because what rests on it is independence.
//! Does not cover: who a person is, since of names nobody can tell that; other spellings of a sound
//! (`Müller`, `Mueller`) and other scripts.

use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// What a character can be read as: plain small letters and digits.
type Letter = BTreeSet<char>;

/// Letters of a part of a name: `Ann`, `B`.
type NamePart = Vec<Letter>;

/// Whether two names are, or may be, of the same person: the parts of one are among those of the
/// other, where a single letter stands for every part that begins with it.
pub fn may_be_same_person(left_name: &str, right_name: &str) -> bool {
    let (left_name, right_name) = (plain_name(left_name), plain_name(right_name));
    let (left_letters, right_letters) =
        (name_letters(left_name.chars()), name_letters(right_name.chars()));
    may_be_same_part(&left_letters, &right_letters, Initials::AsTheyAre)
        || [is_space, is_separator].iter().any(|is_between| {
            let (left_parts, right_parts) =
                (name_parts(&left_name, *is_between), name_parts(&right_name, *is_between));
            match left_parts.len() <= right_parts.len() {
                true => are_among(&left_parts, &right_parts),
                false => are_among(&right_parts, &left_parts),
            }
        })
}

/// Compatibility forms made one, and no remarks in brackets where anything is left without them.
fn plain_name(name: &str) -> String {
    let normalized: String = name.nfkc().collect();
    let mut depth = 0_usize;
    let mut outside = String::new();
    for character in normalized.chars() {
        match character {
            '(' | '[' | '{' | '<' | '«' | '《' => depth += 1,
            ')' | ']' | '}' | '>' | '»' | '》' => {
                depth = depth.saturating_sub(1);
                outside.push(' ');
            }
            _ if depth == 0 => outside.push(character),
            _ => {}
        }
    }
    let bare = without_additions(&outside);
    [bare, outside]
        .into_iter()
        .find(|text| text.contains(char::is_alphanumeric))
        .unwrap_or(normalized)
}

/// Without what is added to a name rather than part of it: abbreviations behind a comma (`, QA`),
/// numbers, and the domain of an address of electronic mail.
fn without_additions(name: &str) -> String {
    let mut sections = name.split(',');
    let first_section = sections.next().unwrap_or_default();
    std::iter::once(first_section)
        .chain(sections.filter(|section| !is_abbreviation(section)))
        .flat_map(str::split_whitespace)
        .map(|word| word.split('@').next().unwrap_or_default())
        .filter(|word| !word.chars().all(|character| character.is_numeric()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Four capitals at most, as in `QA` or `DER`.
fn is_abbreviation(section: &str) -> bool {
    let letters: Vec<char> = section.chars().filter(|letter| letter.is_alphanumeric()).collect();
    letters.len() <= 4 && letters.iter().all(|letter| letter.is_uppercase())
}

fn is_space(character: char) -> bool {
    character.is_whitespace()
}

/// Spaces, punctuation of ASCII, and dashes and quotes beyond it. `O'Brien` is one part between
/// spaces, and two between separators; both readings are tried.
fn is_separator(character: char) -> bool {
    is_space(character)
        || character.is_ascii_punctuation()
        || ('\u{2010}'..='\u{2027}').contains(&character)
}

fn name_parts(name: &str, is_between: fn(char) -> bool) -> Vec<NamePart> {
    let parts = name.split(is_between).map(|part| name_letters(part.chars()));
    parts.filter(|part| !part.is_empty()).collect()
}

fn name_letters(characters: impl Iterator<Item = char>) -> Vec<Letter> {
    characters.filter(|character| character.is_alphanumeric()).flat_map(letters_of).collect()
}

/// What a character can be read as. A letter is often another one's double in one case alone (a
/// Cyrillic `Н` is a Latin `H`, its small form is none), so that both cases are looked at. `ß` and
/// the like are several letters, and so is what looks like several (`m` as `rn`).
fn letters_of(character: char) -> Vec<Letter> {
    let upper_case: String = character.to_uppercase().collect();
    let lower_case: String = match upper_case.chars().count() {
        1 => character.to_lowercase().collect(),
        _ => upper_case.to_lowercase(),
    };
    let readings = [lower_case, character.to_string(), upper_case].map(|text| look_of(&text));
    let [first_reading, other_readings @ ..] = readings;
    let mut letters: Vec<Letter> =
        first_reading.iter().map(|letter| BTreeSet::from([*letter])).collect();
    let letter_count = letters.len();
    for reading in other_readings.iter().filter(|reading| reading.len() == letter_count) {
        for (letter, character) in letters.iter_mut().zip(reading) {
            letter.insert(*character);
        }
    }
    letters
}

/// What a text looks like (Unicode Technical Standard 39, section 4), in small letters without
/// accents; `I`, `l` and `1` look alike, and so `i` is one of them.
fn look_of(text: &str) -> Vec<char> {
    let small_text = skeleton(text).collect::<String>().to_lowercase();
    let looks: Vec<char> = skeleton(&small_text).collect();
    let plain_looks = looks.into_iter().flat_map(char::to_lowercase).nfd();
    plain_looks
        .filter(|character| !is_combining_mark(*character))
        .map(|character| if character == 'i' { 'l' } else { character })
        .collect()
}

/// Whether every part of one name stands for a part of its own in the other.
fn are_among(few_parts: &[NamePart], many_parts: &[NamePart]) -> bool {
    let mut owners: Vec<Option<usize>> = vec![None; many_parts.len()];
    !few_parts.is_empty()
        && (0..few_parts.len()).all(|index| {
            let mut tried = vec![false; many_parts.len()];
            find_place(index, few_parts, many_parts, &mut owners, &mut tried)
        })
}

/// Gives a part a place in the other name, moving parts that have one (augmenting paths).
fn find_place(
    index: usize,
    few_parts: &[NamePart],
    many_parts: &[NamePart],
    owners: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for (place, part) in many_parts.iter().enumerate() {
        let fits = may_be_same_part(&few_parts[index], part, Initials::StandForParts);
        if tried[place] || !fits {
            continue;
        }
        tried[place] = true;
        let is_free = match owners[place] {
            None => true,
            Some(owner) => find_place(owner, few_parts, many_parts, owners, tried),
        };
        if is_free {
            owners[place] = Some(index);
            return true;
        }
    }
    false
}

/// What a single letter stands for.
#[derive(Clone, Copy)]
enum Initials {
    /// For every part that begins with it.
    StandForParts,
    /// For itself.
    AsTheyAre,
}

fn may_be_same_part(left: &[Letter], right: &[Letter], initials: Initials) -> bool {
    let is_initial = match initials {
        Initials::StandForParts => left.len() == 1 || right.len() == 1,
        Initials::AsTheyAre => false,
    };
    (is_initial || left.len() == right.len())
        && left.iter().zip(right).all(|(left, right)| !left.is_disjoint(right))
}

#[cfg(test)]
mod tests {
    use super::may_be_same_person;

    #[track_caller]
    fn assert_same(left: &str, right: &str) {
        assert!(may_be_same_person(left, right), "{left} and {right}");
        assert!(may_be_same_person(right, left), "{right} and {left}");
    }

    #[test]
    fn spelling_makes_nobody_another_person() {
        let spellings = [
            "Tester, Ann",
            "ANN TESTER",
            "A. Tester",
            "Tester A.",
            "T. A.",
            "Ann  M. Tester",
            "Ann\u{200b} Tes\u{ad}ter",
            "\u{410}nn T\u{435}st\u{435}r",
            "Ａｎｎ Ｔｅｓｔｅｒ",
            "Ann Tester (QA)",
            "(QA) Ann [external] Tester",
            "Dr. Ann Tester",
            "ann.tester@company.com",
            "AnnTester",
            "Änn Tester",
            "\u{391}nn \u{422}\u{395}S\u{422}\u{395}R",
        ];
        for spelling in spellings {
            assert_same("Ann Tester", spelling);
        }
        assert_same("José Kernel", "Jose\u{301} Kernel");
        assert_same("José Kernel", "jose kernel");
        assert_same("O'Brien Pat", "Pat O’Brien");
        assert_same("O'Brien Pat", "Pat OBrien");
        assert_same("Weiß, Jean-Pierre", "Jean Pierre WEISS");
        assert_same("Henri Young", "\u{41d}enri Young");
        assert_same("Oliver Lind", "Oli\u{3bd}er Lind");
        assert_same("Ian Lind", "lan Lind");
        assert_same("A. Author", "Author A.");
        assert_same("Иван Петров", "ПЕТРОВ ИВАН");
        assert_same("(QA)", "QA");
        assert_same("Ann Tester, QA", "Ann Tester, DER");
        assert_same("Ann Tester 1", "Ann Tester 2");
        assert_same("Ann Tester «a»", "Ann Tester <b>");
        assert_same("ann.tester@company.com", "Dr. Ann Tester");
        assert_same("7", "7");
    }

    #[test]
    fn different_people_are_different() {
        let pairs = [
            ("A. Author", "B. Author"),
            ("A. Author", "B. Reviewer"),
            ("Ann Tester", "Anna Tester"),
            ("Ann Tester", "Bob Tester"),
            ("ann@company.com", "bob@company.com"),
            ("Author of the demonstration", "Reviewer of the demonstration"),
            ("Иван Петров", "Пётр Иванов"),
            ("A", "B"),
            ("1", "2"),
            ("Smith, John", "Smith, Mary"),
            ("Ann Ann", "Ann Bea"),
        ];
        for (left, right) in pairs {
            assert!(!may_be_same_person(left, right), "{left} and {right}");
            assert!(!may_be_same_person(right, left), "{right} and {left}");
        }
    }
}
