//! Tells a story: a language model out of one buffer, its prompt and its tokens by one plan.

#[path = "../counting.rs"]
mod counting;

use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use lexopt::prelude::*;
use model_graph::Cpu;
use model_graph_examples::stories::{BEGIN, CONTEXT, Checkpoint, Sampler, Stories, Teller, Tokenizer};

const USAGE: &str =
    "usage: stories --model FILE --tokenizer FILE [--prompt TEXT] [--tokens N] [--temperature T] [--seed N]

  --model        a checkpoint of llama2.c: stories260K.bin
  --tokenizer    its tokenizer: tok512.bin
  --prompt       the beginning of the text (none)
  --tokens       how many tokens to make at the most (256)
  --temperature  0 always takes the likeliest token (0)
  --seed         where chance starts from, when there is a temperature (0)";

struct Args {
    model: std::path::PathBuf,
    tokenizer: std::path::PathBuf,
    prompt: String,
    tokens: usize,
    temperature: f32,
    seed: u64,
}

fn main() {
    let done = args().and_then(|args| match args {
        Some(args) => run(&args),
        None => {
            println!("{USAGE}");
            Ok(())
        }
    });
    if let Err(error) = done {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn args() -> Result<Option<Args>, Box<dyn Error>> {
    let (mut model, mut tokenizer, mut prompt) = (None, None, String::new());
    let (mut tokens, mut temperature, mut seed) = (256, 0.0, 0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("model") => model = Some(parser.value()?.into()),
            Long("tokenizer") => tokenizer = Some(parser.value()?.into()),
            Long("prompt") => prompt = parser.value()?.string()?,
            Long("tokens") => tokens = parser.value()?.parse()?,
            Long("temperature") => temperature = parser.value()?.parse()?,
            Long("seed") => seed = parser.value()?.parse()?,
            Long("help") | Short('h') => return Ok(None),
            other => return Err(format!("{}\n\n{USAGE}", other.unexpected()).into()),
        }
    }
    if !(0.0..=100.0).contains(&temperature) {
        return Err(format!("a temperature is a number from 0 to 100, not {temperature}").into());
    }
    match (model, tokenizer) {
        (Some(model), Some(tokenizer)) => Ok(Some(Args { model, tokenizer, prompt, tokens, temperature, seed })),
        _ => Err(format!("--model and --tokenizer are needed\n\n{USAGE}").into()),
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let read = |path: &std::path::Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let bytes = read(&args.model)?;
    let of_model = |error: &dyn Display| format!("{}: {error}", args.model.display());
    let checkpoint = Checkpoint::new(&bytes).map_err(|error| of_model(&error))?;
    let tokenizer = Tokenizer::new(&read(&args.tokenizer)?, checkpoint.config.vocab)
        .map_err(|error| format!("{}: {error}", args.tokenizer.display()))?;
    eprintln!("{}", Stories::PLAN);
    let mut model = Stories::new(&Cpu)?;
    // Only the products of these show in the shapes of the weights.
    let (heads, kv_heads) = (checkpoint.config.heads, checkpoint.config.kv_heads);
    if (heads, kv_heads) != (8, 4) {
        let text = format!("this program is for 8 heads and 4 for keys; the checkpoint has {heads} and {kv_heads}");
        return Err(of_model(&text).into());
    }
    model.load(&checkpoint).map_err(|error| of_model(&error))?;

    let mut sampler = Sampler::new(args.temperature, args.seed);
    let prompt = tokenizer.encode(&args.prompt);
    if prompt.len() > CONTEXT {
        return Err(format!("the prompt has {} tokens and there is room for {CONTEXT}", prompt.len()).into());
    }
    let mut out = std::io::stdout().lock();
    // What is given is a part of the text.
    for pair in prompt.windows(2) {
        out.write_all(tokenizer.decode(pair[0], pair[1]))?;
    }
    out.flush()?;

    let mut teller = Teller::new(&mut model)?;
    let (mut made, mut allocations) = (0usize, 0);
    let (mut given, mut before) = (prompt, BEGIN);
    let mut times = Vec::with_capacity(args.tokens.min(CONTEXT));
    while made < args.tokens {
        before = given.last().copied().unwrap_or(before);
        let (start, counted) = (Instant::now(), counting::allocations());
        let Some(token) = teller.next(&given, &mut sampler)? else { break };
        allocations += counting::allocations() - counted;
        times.push(start.elapsed().as_secs_f64());
        made += 1;
        out.write_all(tokenizer.decode(before, token))?;
        out.flush()?;
        given.clear();
        given.push(token);
    }
    writeln!(out)?;
    if let [prompt, tokens @ ..] = &mut times[..] {
        tokens.sort_by(f64::total_cmp);
        let median = tokens.get(tokens.len() / 2).copied().unwrap_or(*prompt);
        eprintln!("prompt and first token: {:.3} ms", *prompt * 1e3);
        eprintln!("tokens per second: {:.0} (median of {})", median.recip(), tokens.len().max(1));
    }
    eprintln!("allocations in {made} forwards: {allocations}");
    Ok(())
}
