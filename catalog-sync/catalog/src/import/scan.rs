//! Where a JSON value ends: braces, brackets and texts are followed, nothing else is understood.

/// What a byte did to the value that is being followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It goes on.
    Inside,
    /// This byte was its last.
    End,
    /// A line ended inside a text, which JSON does not allow: the value is broken here.
    Broken,
}

/// Follows one object or array from its first byte to its last. Depth is only counted, so nesting
/// costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    depth: u64,
    in_text: bool,
    escaped: bool,
}

impl Scan {
    /// How many objects and arrays are open.
    pub(super) const fn depth(&self) -> u64 {
        self.depth
    }

    /// Whether the last byte was part of a text.
    pub(super) const fn in_text(&self) -> bool {
        self.in_text
    }

    /// Takes the next byte.
    pub(super) const fn step(&mut self, byte: u8) -> Step {
        if self.in_text {
            return self.step_in_text(byte);
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Step::End;
                }
            }
            _ => {}
        }
        Step::Inside
    }

    const fn step_in_text(&mut self, byte: u8) -> Step {
        match byte {
            b'\n' => return Step::Broken,
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.in_text = false,
            _ => {}
        }
        Step::Inside
    }
}
