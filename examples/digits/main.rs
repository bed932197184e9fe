//! Classifies 200 handwritten digits out of one buffer whose size was known when this program was compiled.

#[path = "../counting.rs"]
mod counting;

use std::error::Error;
use std::time::Instant;

use model_graph::Cpu;
use model_graph_examples::digits::{Digits, digits, show, weights};

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", Digits::PLAN);

    let mut model = Digits::new(&Cpu)?;
    model.load(&weights()?)?;

    let (mut right, mut allocations) = (0u32, 0);
    let mut micros = Vec::with_capacity(digits().len());
    for (pixels, label) in digits() {
        show(pixels, model.image_mut().as_mut_slice());
        let (start, before) = (Instant::now(), counting::allocations());
        let outputs = model.forward()?;
        allocations += counting::allocations() - before;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
        let scores = outputs.probabilities()[0];
        let best = (0..10).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        right += u32::from(best == Some(usize::from(label)));
    }
    micros.sort_by(f64::total_cmp);

    let svg = std::env::temp_dir().join("model-graph-digits.svg");
    std::fs::write(&svg, Digits::PLAN.svg().to_string())?;

    println!("accuracy: {:.1} %", f64::from(right) / micros.len() as f64 * 100.0);
    println!("microseconds per image: {:.1} (median of {})", micros[micros.len() / 2], micros.len());
    println!("allocations in forward: {allocations}");
    println!("plan drawn in: {}", svg.display());
    Ok(())
}
