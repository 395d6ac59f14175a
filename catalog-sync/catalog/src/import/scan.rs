//! Finds the end of a JSON value by its braces, brackets and texts, without parsing it.

/// Effect of a byte on the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanStep {
    /// The value continues.
    Inside,
    /// This byte ends the value.
    End,
    /// A line break inside a text: invalid JSON, the value is broken.
    Broken,
}

/// Scans one object or array from its first byte to its last. Nesting only increments a counter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    depth: u64,
    in_text: bool,
    escaped: bool,
}

impl Scan {
    /// Number of open objects and arrays.
    pub(super) const fn depth(&self) -> u64 {
        self.depth
    }

    /// Whether the last byte is part of a text.
    pub(super) const fn in_text(&self) -> bool {
        self.in_text
    }

    /// Scans the next byte.
    pub(super) const fn step(&mut self, byte: u8) -> ScanStep {
        if self.in_text {
            return self.step_in_text(byte);
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return ScanStep::End;
                }
            }
            _ => {}
        }
        ScanStep::Inside
    }

    const fn step_in_text(&mut self, byte: u8) -> ScanStep {
        match byte {
            b'\n' => return ScanStep::Broken,
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.in_text = false,
            _ => {}
        }
        ScanStep::Inside
    }
}
