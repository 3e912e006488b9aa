//! How the commands that a report advises name its project and evidence, so that they do what they
//! say where they are typed.
//!
//! Does not cover: whether the project still is what the evidence is about (`verify --project`).

/// The folder of a project, as a command is to name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ProjectPlace {
    /// Where the command is typed.
    #[default]
    Here,
    /// In this folder.
    At(String),
    /// Nothing but evidence is known.
    Unknown,
}

/// What a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The folder of the project.
    pub project: ProjectPlace,
    /// None where `certify` writes it in the project.
    pub evidence: Option<String>,
}

impl Places {
    /// A command on stored evidence, as `vkcert list findings`, with these options.
    pub fn on_evidence(&self, command: &str, options: &str) -> String {
        match &self.evidence {
            Some(evidence) => {
                format!(
                    "`{command}{} --evidence {}`",
                    with_leading_space(options),
                    shell_word(evidence)
                )
            }
            None => format!("`{command}{}{}`", self.folder_argument(), with_leading_space(options)),
        }
    }

    /// A command on the project, with these options.
    pub fn on_project(&self, command: &str, options: &str) -> String {
        let place_words = match self.project {
            ProjectPlace::Unknown => " (in the folder of the project)",
            ProjectPlace::Here | ProjectPlace::At(_) => "",
        };
        format!("`{command}{}{}`{place_words}", self.folder_argument(), with_leading_space(options))
    }

    fn folder_argument(&self) -> String {
        match &self.project {
            ProjectPlace::At(folder) => with_leading_space(&shell_word(folder)),
            ProjectPlace::Here | ProjectPlace::Unknown => String::new(),
        }
    }
}

fn with_leading_space(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" {words}") }
}

/// A word as a POSIX shell reads it.
pub fn shell_word(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "/._-+,:=@%".contains(character);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // `./` keeps a name from being read as an option.
    let word = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_something_else() {
        let cases = [
            ("a/b-1.2", "a/b-1.2"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("-x", "'./-x'"),
            ("$HOME", "'$HOME'"),
        ];
        for (word, due) in cases {
            assert_eq!(shell_word(word), due);
        }
    }
}
