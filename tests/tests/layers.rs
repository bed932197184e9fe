//! Layers of real networks in the language: attention with positions over a cache, an audio front end with a recurrent
//! layer, an upsampling picture. Each against its definition, with every dead byte overwritten.

use model_graph::{Cpu, ErrorKind, Plan, Poison, Storage, model_graph};

fn numbers(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + seed * 5 + 3) % 23) as f32 / 11.0 - 1.0).collect()
}

fn ops(plan: &Plan<'_>) -> Vec<String> {
    plan.steps.iter().map(|step| step.op.to_string()).collect()
}

/// Two new tokens behind those of a cache; heads are views of rows.
#[model_graph(dims(S = 2, T = 6, HEADS = 4, KV = 2, D = 4))]
struct Decoder {
    #[input]
    position: Tensor<u32>,
    #[input]
    x: Tensor<f32, S, { HEADS * D }>,
    #[input(keep)]
    keys: Tensor<f32, T, KV, D>,
    #[input(keep)]
    values: Tensor<f32, T, KV, D>,
    #[node(rope(reshape(x, shape = [S, HEADS, D]), position))]
    q: _,
    #[node(attention(permute(q, axes = [1, 0, 2]), permute(keys, axes = [1, 0, 2]), permute(values, axes = [1, 0, 2]), past = position, causal = true))]
    heads: _,
    #[output(reshape(permute(heads, axes = [1, 0, 2]), shape = [S, { HEADS * D }]))]
    pub y: _,
}

#[test]
fn a_decoder_sees_what_its_cache_holds() {
    // Positions are turned where the rows came to lie, and the heads are no copies.
    assert_eq!(ops(&Decoder::PLAN), ["rope", "attention", "copy"]);
    let turned = Decoder::PLAN.tensors.iter().find(|tensor| tensor.name == "q").unwrap();
    assert!(matches!(turned.storage, Storage::InPlace(_)), "{turned:?}");
    let mut model = Decoder::new(&Cpu).unwrap();
    let (x, keys, values) = (numbers(1, 32), numbers(2, 48), numbers(3, 48));
    let run = |model: &mut Decoder, position: u32, rest: f32| -> Result<Vec<f32>, model_graph::Error> {
        let held = (position as usize + 2).min(6) * 8;
        model.position_mut().write(&position)?;
        model.x_mut().as_mut_slice().copy_from_slice(&x);
        model.keys_mut().as_mut_slice().fill(rest);
        model.keys_mut().as_mut_slice()[..held].copy_from_slice(&keys[..held]);
        model.values_mut().as_mut_slice().fill(rest);
        model.values_mut().as_mut_slice()[..held].copy_from_slice(&values[..held]);
        model.forward_with(&mut Poison::default()).map(|outputs| outputs.y().as_slice().to_vec())
    };
    for position in 0..=4 {
        let y = run(&mut model, position, f32::NAN).unwrap();
        for (at, y) in y.iter().enumerate() {
            let (token, head, element) = (at / 16, at / 4 % 4, at % 4);
            let here = position as usize + token;
            let turn = |i: usize| {
                let (sin, cos) = (here as f64 * 10000f64.powf(-2.0 * (i / 2) as f64 / 4.0)).sin_cos();
                let [a, b] = [i / 2 * 2, i / 2 * 2 + 1].map(|i| f64::from(x[token * 16 + head * 4 + i]));
                if i.is_multiple_of(2) { a * cos - b * sin } else { a * sin + b * cos }
            };
            let score = |key: usize| {
                let product = |i: usize| turn(i) * f64::from(keys[key * 8 + head / 2 * 4 + i]);
                ((0..4).map(product).sum::<f64>() / 2.0).exp()
            };
            let total: f64 = (0..=here).map(score).sum();
            let value = |key: usize| score(key) / total * f64::from(values[key * 8 + head / 2 * 4 + element]);
            let expected: f64 = (0..=here).map(value).sum();
            assert!((f64::from(*y) - expected).abs() < 1e-5, "{at} at {position}: {y} instead of {expected}");
        }
    }
    let error = run(&mut model, 5, 0.0).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Past { past: 5, queries: 2, keys: 6 });
    assert!(error.to_string().contains("`past` is at most 4"), "{error}");
}

/// Sound, reflected at its end, through filters and a layer with a memory.
#[model_graph(dims(SOUND = 24, BANDS = 3, UNITS = 2))]
struct Front {
    #[input]
    sound: Tensor<f32, 1, 1, SOUND>,
    #[input]
    memory: Tensor<f32, 2, 1, UNITS>,
    #[weight]
    filters: Tensor<f32, BANDS, 1, 8>,
    #[weight]
    bias: Tensor<f32, BANDS, 1>,
    #[weight]
    w_ih: Tensor<f32, { 4 * UNITS }, BANDS>,
    #[weight]
    w_hh: Tensor<f32, { 4 * UNITS }, UNITS>,
    #[node(pad(abs(sound), before = [0, 0, 0], after = [0, 0, 4], mode = reflect))]
    longer: _,
    #[node(relu(conv1d(longer, filters, stride = 4) + bias))]
    bands: _,
    #[output(lstm(permute(bands, axes = [2, 0, 1]), memory, w_ih, w_hh))]
    pub states: _,
}

#[test]
fn a_front_end_of_filters_and_memory() {
    let plan = &Front::PLAN;
    assert_eq!(ops(plan), ["abs", "border", "conv1d + add + relu", "lstm"], "{plan}");
    let made = plan.tensors.iter().find(|tensor| tensor.name.contains("abs")).unwrap();
    assert!(matches!(made.storage, Storage::Part(_)), "the sound is produced where it is reflected: {plan}");
    let mut model = Front::new(&Cpu).unwrap();
    let (sound, memory, filters) = (numbers(1, 24), numbers(2, 4), numbers(3, 24));
    let (bias, w_ih, w_hh) = (numbers(4, 3), numbers(5, 24), numbers(6, 16));
    model.sound_mut().as_mut_slice().copy_from_slice(&sound);
    model.memory_mut().as_mut_slice().copy_from_slice(&memory);
    model.filters_mut().as_mut_slice().copy_from_slice(&filters);
    model.bias_mut().as_mut_slice().copy_from_slice(&bias);
    model.w_ih_mut().as_mut_slice().copy_from_slice(&w_ih);
    model.w_hh_mut().as_mut_slice().copy_from_slice(&w_hh);
    let states = model.forward_with(&mut Poison::default()).unwrap().states().as_slice().to_vec();
    let sample = |at: usize| f64::from(sound[if at < 24 { at } else { 46 - at }].abs());
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (mut h, mut c): (Vec<f64>, Vec<f64>) =
        (memory[..2].iter().map(|x| f64::from(*x)).collect(), memory[2..].iter().map(|x| f64::from(*x)).collect());
    assert_eq!(states.len(), 6 * 4);
    for (step, state) in states.chunks(4).enumerate() {
        let band = |band: usize| {
            let sum: f64 = (0..8).map(|tap| sample(step * 4 + tap) * f64::from(filters[band * 8 + tap])).sum();
            (sum + f64::from(bias[band])).max(0.0)
        };
        let gate = |row: usize| {
            let of_bands: f64 = (0..3).map(|i| band(i) * f64::from(w_ih[row * 3 + i])).sum();
            of_bands + (0..2).map(|i| h[i] * f64::from(w_hh[row * 2 + i])).sum::<f64>()
        };
        let next: Vec<f64> =
            (0..2).map(|u| sigmoid(gate(2 + u)) * c[u] + sigmoid(gate(u)) * gate(4 + u).tanh()).collect();
        let out: Vec<f64> = (0..2).map(|u| sigmoid(gate(6 + u)) * next[u].tanh()).collect();
        (h, c) = (out, next);
        for (y, expected) in state.iter().zip(h.iter().chain(&c)) {
            assert!((f64::from(*y) - expected).abs() < 1e-5, "step {step}: {y} instead of {expected}");
        }
    }
}

/// A picture made larger in three ways, and parts of channels as views.
#[model_graph]
struct Larger {
    #[input]
    x: Tensor<f32, 1, 4, 3, 3>,
    #[weight]
    w: Tensor<f32, 4, 2, 2, 2>,
    #[weight]
    scale: Tensor<f32, 4>,
    #[node(group_norm(x, scale, groups = 2))]
    even: _,
    #[output(depth_to_space(even, block = 2))]
    pub shuffled: Tensor<f32, 1, 1, 6, 6>,
    #[output(hard_swish(conv_transpose2d(even, w, stride = 2)))]
    pub spread: Tensor<f32, 1, 2, 6, 6>,
    #[output(resize(even, size = [6, 6], mode = linear))]
    pub smooth: Tensor<f32, 1, 4, 6, 6>,
    #[output(split(even, axis = 1, parts = 2)[1] - split(even, axis = 1, parts = 2)[0])]
    pub difference: Tensor<f32, 1, 2, 3, 3>,
}

#[test]
fn pictures_made_larger() {
    let mut model = Larger::new(&Cpu).unwrap();
    let (x, w, scale) = (numbers(1, 36), numbers(2, 32), numbers(3, 4));
    model.x_mut().as_mut_slice().copy_from_slice(&x);
    model.w_mut().as_mut_slice().copy_from_slice(&w);
    model.scale_mut().as_mut_slice().copy_from_slice(&scale);
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    let even = |c: usize, i: usize, j: usize| {
        let group = &x[c / 2 * 18..][..18];
        let mean = group.iter().map(|x| f64::from(*x)).sum::<f64>() / 18.0;
        let variance = group.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / 18.0;
        (f64::from(x[(c * 3 + i) * 3 + j]) - mean) / (variance + 1e-5).sqrt() * f64::from(scale[c])
    };
    let close = |y: f32, expected: f64| assert!((f64::from(y) - expected).abs() < 1e-5, "{y} instead of {expected}");
    for (at, y) in outputs.shuffled().as_slice().iter().enumerate() {
        let (i, j) = (at / 6, at % 6);
        close(*y, even(i % 2 * 2 + j % 2, i / 2, j / 2));
    }
    for (at, y) in outputs.spread().as_slice().iter().enumerate() {
        let (o, i, j) = (at / 36, at / 6 % 6, at % 6);
        let tap = |c: usize| even(c, i / 2, j / 2) * f64::from(w[((c * 2 + o) * 2 + i % 2) * 2 + j % 2]);
        let sum: f64 = (0..4).map(tap).sum();
        close(*y, sum * (sum / 6.0 + 0.5).clamp(0.0, 1.0));
    }
    for (at, y) in outputs.smooth().as_slice().iter().enumerate() {
        let (c, place) = (at / 36, [at / 6 % 6, at % 6]);
        let near = place.map(|i| {
            let at = ((i as f64 + 0.5) / 2.0 - 0.5).clamp(0.0, 2.0);
            (at.floor() as usize, (at.floor() as usize + 1).min(2), at.fract())
        });
        let [(top, bottom, down), (left, right, along)] = near;
        let row = |i: usize| even(c, i, left) * (1.0 - along) + even(c, i, right) * along;
        close(*y, row(top) * (1.0 - down) + row(bottom) * down);
    }
    for (at, y) in outputs.difference().as_slice().iter().enumerate() {
        close(*y, even(2 + at / 9, at / 3 % 3, at % 3) - even(at / 9, at / 3 % 3, at % 3));
    }
}
