//! What the validation layer says, gathered and made repeatable.
//!
//! Knows: which messages count (warnings and errors about validity or performance; errors of any
//! type), and which parts of their text differ between two runs of the same program (handles).
//! Promises: equal messages are one entry with a count; the text of an entry does not depend on
//! addresses; at most [`MOST_DISTINCT`] entries are kept and the overflow is an entry of its own.
//! Does not cover: what a message means for a test (`executor`).

use super::protocol::{Severity, WireMessage};
use ash::vk;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};

/// Distinct messages kept between two calls of [`Messages::take`].
const MOST_DISTINCT: usize = 500;
/// Longest text kept, in characters.
const MOST_CHARACTERS: usize = 2000;

type Entries = BTreeMap<(Severity, String, String), u64>;

/// Where the messenger's callback puts its messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages {
    entries: Arc<Mutex<Entries>>,
}

impl Messages {
    /// Everything said since the last call, in order of severity, id and text.
    pub(crate) fn take_messages(&self) -> Vec<WireMessage> {
        let entries =
            std::mem::take(&mut *self.entries.lock().unwrap_or_else(PoisonError::into_inner));
        entries
            .into_iter()
            .map(|((severity, id, text), count)| WireMessage { severity, id, text, count })
            .collect()
    }

    fn add_message(&self, severity: Severity, id: String, text: String) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let message_key = (severity, id, text);
        if entries.len() < MOST_DISTINCT || entries.contains_key(&message_key) {
            *entries.entry(message_key).or_insert(0) += 1;
        } else {
            let overflow_key = (
                Severity::Error,
                String::new(),
                format!("more than {MOST_DISTINCT} distinct validation messages"),
            );
            *entries.entry(overflow_key).or_insert(0) += 1;
        }
    }

    /// The messenger's settings. `self` must outlive the messenger; [`super::instance::Instance`]
    /// holds both.
    pub(crate) fn messenger_info(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        use vk::{
            DebugUtilsMessageSeverityFlagsEXT as Level, DebugUtilsMessageTypeFlagsEXT as Kind,
        };
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Level::WARNING | Level::ERROR)
            .message_type(Kind::GENERAL | Kind::VALIDATION | Kind::PERFORMANCE)
            .pfn_user_callback(Some(messenger_callback))
            .user_data(Arc::as_ptr(&self.entries).cast_mut().cast())
    }
}

/// The messenger's callback; may come on any of the driver's own lines of execution.
///
/// # Safety
/// `user` is the pointer that [`Messages::messenger`] gave; `data` is what the API promises to a
/// messenger callback.
unsafe extern "system" fn messenger_callback(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    message_type: vk::DebugUtilsMessageTypeFlagsEXT,
    callback_data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_pointer: *mut c_void,
) -> vk::Bool32 {
    let is_error = severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR);
    // Warnings of type GENERAL are the loader's remarks on the installation, not about what runs.
    if callback_data.is_null()
        || user_pointer.is_null()
        || (message_type == vk::DebugUtilsMessageTypeFlagsEXT::GENERAL && !is_error)
    {
        return vk::FALSE;
    }
    // SAFETY: `user` points to the mutex inside the Arc that the instance keeps alive as long as
    // its messenger.
    let entries = unsafe { &*user_pointer.cast::<Mutex<Entries>>() };
    // SAFETY: the API passes a valid structure whose strings are null or NUL-terminated
    // (VUID-…-pMessage-parameter).
    let (id, text) = unsafe {
        let string_at = |pointer: *const std::ffi::c_char| match pointer.is_null() {
            true => String::new(),
            false => CStr::from_ptr(pointer).to_string_lossy().into_owned(),
        };
        (string_at((*callback_data).p_message_id_name), string_at((*callback_data).p_message))
    };
    let severity = if is_error { Severity::Error } else { Severity::Warning };
    // SAFETY: the count was raised by the instance's own clone; this borrows it and gives it back
    // unchanged.
    let messages = unsafe {
        Arc::increment_strong_count(entries);
        Messages { entries: Arc::from_raw(entries) }
    };
    messages.add_message(severity, id, repeatable_text(&text));
    vk::FALSE
}

/// A message without the parts that change from run to run: the layer's preamble (object handles,
/// numeric id) and handles in the text (`VkBuffer 0x55d0c8a0[]` becomes `VkBuffer`).
pub(crate) fn repeatable_text(text: &str) -> String {
    let message_body = match text.find("| MessageID = ") {
        Some(start) => {
            text[start + 2..].split_once(" | ").map_or(text, |(_, message_body)| message_body)
        }
        None => text,
    };
    let mut words: Vec<String> = Vec::new();
    for word in message_body.split_whitespace() {
        let after_type = words
            .last()
            .is_some_and(|last_word| last_word.trim_start_matches(['(', '[']).starts_with("Vk"));
        match handle_range(word) {
            Some((start, end)) if after_type || end - start > 10 => {
                let word_without_handle =
                    format!("{}{}", &word[..start], word[end..].trim_start_matches("[]"));
                match words.last_mut() {
                    Some(last_word) if after_type => last_word.push_str(&word_without_handle),
                    _ => words.push(format!("{}0x*{}", &word[..start], &word[end..])),
                }
            }
            _ => words.push(word.to_owned()),
        }
    }
    words.join(" ").chars().take(MOST_CHARACTERS).collect()
}

/// Byte range of a `0x...` number in `word`.
fn handle_range(word: &str) -> Option<(usize, usize)> {
    let start = word.find("0x")?;
    let digit_count = word[start + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
    (digit_count > 0).then_some((start, start + 2 + digit_count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_do_not_reach_a_message() {
        let text = "Validation Error: [ VUID-vkCmdDispatch-None-02697 ] Object 0: handle = 0x55aa11bb22cc, type = \
                    VK_OBJECT_TYPE_PIPELINE; | MessageID = 0x1a2b | VkPipeline 0xe7f79a0000000005[] uses set #1 but \
                    flags are 0x20. (https://x)";
        assert_eq!(repeatable_text(text), "VkPipeline uses set #1 but flags are 0x20. (https://x)");
        assert_eq!(repeatable_text("address 0x7ffdeadbeef0 seen"), "address 0x* seen");
        assert_eq!(repeatable_text("plain"), "plain");
    }

    #[test]
    fn equal_messages_are_one_with_a_count_and_the_overflow_is_named() {
        let messages = Messages::default();
        for number in 0..MOST_DISTINCT + 7 {
            messages.add_message(Severity::Warning, String::new(), format!("{number:05}"));
            messages.add_message(Severity::Error, "ID".to_owned(), "same".to_owned());
        }
        let taken = messages.take_messages();
        let same = taken.iter().find(|message| message.id == "ID").expect("kept");
        assert_eq!(same.count, MOST_DISTINCT as u64 + 7);
        let overflow =
            taken.iter().find(|message| message.text.starts_with("more than")).expect("named");
        assert_eq!(overflow.count, 8, "one place is taken by the repeated message");
        assert!(messages.take_messages().is_empty());
    }
}
