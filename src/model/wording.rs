//! Turns of phrase that sentences of several layers share.

/// `a, b and 3 more`
pub fn and_more(shown: &str, more: usize) -> String {
    if more == 0 { shown.to_owned() } else { format!("{shown} and {more} more") }
}

/// `1 branch`, `2 branches`
pub fn plural(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
}
