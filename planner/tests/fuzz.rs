//! The fuzz targets on bytes that are drawn, always the same ones: so many of each as a test run can wait for. More of
//! them: `FUZZ_CASES=100000 cargo test --release -p model-graph-planner --test fuzz`.

mod harness;

/// Calls `target` with drawn bytes of drawn lengths.
fn drawn(target: fn(&[u8]), cases: usize, longest: usize) {
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    for case in 0..cases {
        let mut state = (case as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as usize
        };
        let length = random() % (longest + 1);
        let bytes: Vec<u8> = (0..length).map(|_| random() as u8).collect();
        let result = std::panic::catch_unwind(|| target(&bytes));
        if let Err(panic) = result {
            eprintln!("case {case}: {bytes:?}");
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn offsets() {
    drawn(harness::solve_then_check, 1500, 400);
}

#[test]
fn plans() {
    drawn(harness::plan_then_verify, 400, 500);
}

#[test]
fn texts() {
    drawn(harness::text_form, 1500, 500);
}

#[test]
fn changed_plans() {
    drawn(harness::verify_anything, 3000, 200);
}
