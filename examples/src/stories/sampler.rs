//! Picks the next token from the logits: the best, or one by chance with a seed.

/// How the next token is picked.
#[derive(Clone, Debug)]
pub enum Sampler {
    /// The one with the largest logit; the first of equals.
    Greedy,
    /// By chance, each as likely as the softmax of its logit divided by the temperature.
    Chance {
        /// Above 0; small values come close to [`Sampler::Greedy`].
        temperature: f32,
        /// Where the numbers come from.
        random: fastrand::Rng,
    },
}

impl Sampler {
    /// By chance, the same for the same seed; greedy when the temperature is 0.
    pub fn new(temperature: f32, seed: u64) -> Sampler {
        if temperature == 0.0 {
            return Sampler::Greedy;
        }
        Sampler::Chance { temperature, random: fastrand::Rng::with_seed(seed) }
    }

    /// The next token.
    pub fn pick(&mut self, logits: &[f32]) -> u32 {
        let best = (0..logits.len()).rev().max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap_or(0);
        let token = match self {
            Sampler::Greedy => best,
            Sampler::Chance { temperature, random } => {
                let weight = |logit: f32| ((logit - logits[best]) / *temperature).exp();
                let sum: f32 = logits.iter().map(|logit| weight(*logit)).sum();
                let mut rest = random.f32() * sum;
                let chosen = logits.iter().position(|logit| {
                    rest -= weight(*logit);
                    rest < 0.0
                });
                // What rounding leaves over goes to the best.
                chosen.unwrap_or(best)
            }
        };
        token as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_follows_the_softmax() {
        let mut sampler = Sampler::new(1.0, 7);
        let mut counts = [0u32; 3];
        for _ in 0..10_000 {
            counts[sampler.pick(&[0.0, 2f32.ln(), f32::NEG_INFINITY]) as usize] += 1;
        }
        assert!((3_100..3_600).contains(&counts[0]) && counts[2] == 0, "{counts:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_tokens() {
        let draw = |seed| {
            let mut sampler = Sampler::new(0.8, seed);
            (0..32).map(|_| sampler.pick(&[0.1, 0.2, 0.3, 0.4])).collect::<Vec<u32>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn without_a_temperature_it_is_the_first_of_the_best() {
        assert_eq!(Sampler::new(0.0, 1).pick(&[1.0, 5.0, 5.0]), 1);
    }
}
