//! What contributors repeat: `cargo xtask <verb>`.

fn main() {
    println!("verbs: none yet");
}
