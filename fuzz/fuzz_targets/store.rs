#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (askway_fuzz::bodies::target("store").run)(bytes);
});
