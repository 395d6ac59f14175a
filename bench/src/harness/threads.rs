//! Threads of a measurement: one that panics is an error of the measurement.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::error::MeasureError;

/// The value of a thread that has ended; `what` names it in the error of a panic.
pub(crate) fn joined<T>(what: &'static str, ended: thread::Result<T>) -> Result<T, MeasureError> {
    ended.map_err(|panic| MeasureError::Panicked {
        what,
        text: text_of(&*panic),
    })
}

/// Tells a thread to stop when it is dropped, also by a panic: who waits for the thread would wait for
/// ever.
pub(crate) struct StopAtEnd<'a>(pub(crate) &'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        let number = 7;
        let panics: [fn(i32); 2] = [|_| panic!("no disk"), |number| panic!("no disk {number}")];
        let texts = panics.map(|panics| {
            let thread = thread::spawn(move || panics(number));
            joined("the writer", thread.join()).unwrap_err().to_string()
        });
        let expected = [
            "the writer panicked: no disk",
            "the writer panicked: no disk 7",
        ];
        assert_eq!(texts, expected);
    }
}
