#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (foretell_fuzzing::target("signature").run)(bytes));
