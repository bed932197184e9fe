//! Language models of the Llama family as llama2.c trains and stores them, here the one of 260,000 parameters that was
//! trained on TinyStories. One plan serves the prompt and the tokens after it: the number of tokens is an open extent.

mod checkpoint;
mod sampler;
mod tokenizer;

use model_graph::{Error, model_graph};

pub use checkpoint::{Checkpoint, Config, Malformed};
pub use sampler::Sampler;
pub use tokenizer::{BEGIN, END, Tokenizer};

/// A layer: attention over all tokens so far, and a gated feed-forward network.
#[model_graph(dims(SEQ = _, CONTEXT = _, DIM = _, HIDDEN = _, HEADS = _, KV = _, SIZE = _))]
pub struct Layer {
    #[input]
    x: Tensor<f32, SEQ, DIM>,
    #[input]
    position: Tensor<u32>,
    #[weight]
    attention_norm: Tensor<f32, DIM>,
    #[weight]
    wq: Tensor<f32, DIM, DIM>,
    #[weight]
    wk: Tensor<f32, { KV * SIZE }, DIM>,
    #[weight]
    wv: Tensor<f32, { KV * SIZE }, DIM>,
    #[weight]
    wo: Tensor<f32, DIM, DIM>,
    #[weight]
    forward_norm: Tensor<f32, DIM>,
    #[weight]
    w1: Tensor<f32, HIDDEN, DIM>,
    #[weight]
    w2: Tensor<f32, DIM, HIDDEN>,
    #[weight]
    w3: Tensor<f32, HIDDEN, DIM>,
    #[state]
    keys: Tensor<f32, CONTEXT, KV, SIZE>,
    #[state]
    values: Tensor<f32, CONTEXT, KV, SIZE>,

    #[node(rms_norm(x, attention_norm, eps = 1e-5))]
    n: _,
    #[node(rope(reshape(linear(n, wq), shape = [SEQ, HEADS, SIZE]), position))]
    q: _,
    #[node(write(keys, src = rope(reshape(linear(n, wk), shape = [SEQ, KV, SIZE]), position), at = position))]
    k: _,
    #[node(write(values, src = reshape(linear(n, wv), shape = [SEQ, KV, SIZE]), at = position))]
    v: _,
    #[node(attention(permute(q, axes = [1, 0, 2]), permute(k, axes = [1, 0, 2]), permute(v, axes = [1, 0, 2]), past = position, causal = true))]
    heads: _,
    #[node(x + linear(reshape(permute(heads, axes = [1, 0, 2]), shape = [SEQ, DIM]), wo))]
    attended: _,
    #[node(rms_norm(attended, forward_norm, eps = 1e-5))]
    m: _,
    #[output(attended + linear(silu(linear(m, w1)) * linear(m, w3), w2))]
    y: _,
}

/// How many tokens the model can look back at.
pub const CONTEXT: usize = 512;
/// How many tokens there are.
pub const VOCAB: usize = 512;

/// The whole model. Tokens that were given before are in the states.
#[model_graph(dims(SEQ <= 512, VOCAB = 512, DIM = 64))]
pub struct Stories {
    /// Up to 512 tokens.
    #[input]
    pub tokens: Tensor<u32, SEQ>,
    /// How many tokens came before.
    #[input]
    pub position: Tensor<u32>,
    #[weight]
    embedding: Tensor<f32, VOCAB, DIM>,
    #[weight]
    final_norm: Tensor<f32, DIM>,
    #[node(gather(embedding, tokens))]
    x: Tensor<f32, SEQ, DIM>,
    #[chain(x, position, SEQ = SEQ, CONTEXT = 512, DIM = DIM, HIDDEN = 172, HEADS = 8, KV = 4, SIZE = 8)]
    layers: [Layer; 5],
    /// For each token, how likely each is to come after it, before the softmax.
    #[output(linear(rms_norm(layers, final_norm, eps = 1e-5), embedding))]
    pub logits: Tensor<f32, SEQ, VOCAB>,
}

/// Tells a story token by token. What was given before stays in the model's states.
pub struct Teller<'m> {
    model: &'m mut Stories,
    position: usize,
}

impl<'m> Teller<'m> {
    /// From the beginning.
    ///
    /// # Errors
    /// None in host memory.
    pub fn new(model: &'m mut Stories) -> Result<Teller<'m>, Error> {
        model.reset_state()?;
        Ok(Teller { model, position: 0 })
    }

    /// Takes in `given`, the prompt or the token before, and gives the next token; none when the text is at its end or
    /// the context is full.
    ///
    /// # Errors
    /// When `given` is empty or has an unknown token; the story is then where it was.
    pub fn next(&mut self, given: &[u32], sampler: &mut Sampler) -> Result<Option<u32>, Error> {
        if self.position + given.len() > CONTEXT {
            return Ok(None);
        }
        self.model.tokens_mut().write(given)?;
        self.model.position_mut().write(&(self.position as u32))?;
        let outputs = self.model.forward()?;
        self.position += given.len();
        let logits = outputs.logits();
        let token = sampler.pick(&logits.as_slice()[(given.len() - 1) * VOCAB..]);
        Ok((token != BEGIN && token != END).then_some(token))
    }
}
