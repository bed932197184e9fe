//! Every value from 1 to the bound gives the bits that a model built for the value gives, in one buffer that larger and
//! smaller values ran in before, with everything poisoned that should not matter.

use model_graph::{Cpu, HostBuffer, OpenMut, OpenRef, Poison, TensorMut, TensorRef, model_graph};

/// Numbers from -2 to 2, others for each seed.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 22) as f32 - 2.0
    };
    (0..count).map(|_| next()).collect()
}

/// What can be written, with open extents or with fixed ones.
trait Feed<const R: usize> {
    fn feed(self, seed: usize, dims: [usize; R]);
}

macro_rules! ranks {
    ($($rank:literal)*) => { $(
        impl<B: HostBuffer, Row> Feed<$rank> for OpenMut<'_, f32, $rank, B, Row> {
            fn feed(mut self, seed: usize, dims: [usize; $rank]) {
                let numbers = numbers(dims.iter().product(), seed);
                // Both ways of writing, in turn.
                if seed % 2 == 0 {
                    self.write(&numbers, dims).expect("the extents fit");
                } else {
                    self.resize(dims).expect("the extents fit").copy_from_slice(&numbers);
                }
            }
        }
    )* };
}
ranks!(2 3 4);

impl<B: HostBuffer> Feed<1> for OpenMut<'_, f32, 1, B> {
    fn feed(mut self, seed: usize, dims: [usize; 1]) {
        self.write(&numbers(dims[0], seed)).expect("the extent fits");
    }
}

impl<T: model_graph::Array<Element = f32>, B: HostBuffer, const R: usize> Feed<R> for TensorMut<'_, T, B> {
    fn feed(mut self, seed: usize, dims: [usize; R]) {
        self.write_slice(&numbers(dims.iter().product(), seed)).expect("as many as the array has");
    }
}

/// What can be read, with open extents or with fixed ones.
trait Bits {
    fn bits(&self) -> Vec<u32>;
}

impl<B: HostBuffer, const R: usize> Bits for OpenRef<'_, f32, R, B> {
    fn bits(&self) -> Vec<u32> {
        assert_eq!(self.len(), self.shape().iter().product::<usize>());
        self.iter().map(|value| value.to_bits()).collect()
    }
}

impl<T: model_graph::Array<Element = f32>, B: HostBuffer> Bits for TensorRef<'_, T, B> {
    fn bits(&self) -> Vec<u32> {
        self.as_slice().iter().map(|value| value.to_bits()).collect()
    }
}

/// A network with an open dim and with each of its values, and the test that compares them.
macro_rules! network {
    ($name:ident, |$net:ident, $n:ident| $write:block, |$out:ident| [$($read:expr),*], { $($body:tt)* }) => {
        network!(@ $name, |$net, $n| $write, |$out| [$($read),*], { $($body)* },
            v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8, v9 = 9);
    };
    (@ $name:ident, |$net:ident, $n:ident| $write:block, |$out:ident| $read:expr, $body:tt, $($module:ident = $value:literal),*) => {
        mod $name {
            use super::*;

            network!(@module open, $body, SEQ <= 9);
            $( network!(@module $module, $body, SEQ = $value); )*

            fn fixed(n: usize) -> Vec<Vec<u32>> {
                match n {
                    $( $value => {
                        let mut $net = $module::Net::new(&Cpu).unwrap();
                        let $n: usize = $value;
                        $write
                        let $out = $net.forward().unwrap();
                        $read.to_vec()
                    } )*
                    _ => unreachable!(),
                }
            }

            #[test]
            fn every_value_gives_the_bits_of_its_own_model() {
                let mut memory = vec![f32::NAN; open::Net::PLAN.size / 4 + 64];
                let bytes = bytemuck::cast_slice_mut::<f32, u8>(&mut memory);
                let start = bytes.as_ptr().align_offset(open::Net::PLAN.align);
                let mut $net = open::Net::new_in(&mut bytes[start..]).unwrap();
                // Down and up again: what ran before was larger, smaller, and of this value.
                for $n in (1..=9usize).rev().chain(1..=9).chain([9, 1, 5, 5]) {
                    $write
                    let $out = $net.forward_with(&mut Poison { byte: 0xff }).unwrap();
                    let found: Vec<Vec<u32>> = $read.to_vec();
                    assert_eq!(found, fixed($n), "SEQ = {}", $n);
                }
            }
        }
    };
    (@module $module:ident, { $($body:tt)* }, $($dims:tt)*) => {
        mod $module {
            use super::*;

            #[model_graph(dims($($dims)*))]
            $($body)*
        }
    };
}

network!(
    attention,
    |net, n| {
        net.x_mut().feed(n, [n, 8]);
        net.mask_mut().feed(n + 1, [n, n]);
        net.w_mut().feed(1, [8, 24]);
    },
    |out| [out.y().bits(), out.scores().bits()],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, SEQ, 8>,
            #[input]
            pub mask: Tensor<f32, SEQ, SEQ>,
            #[weight]
            pub w: Tensor<f32, 8, 24>,
            #[node(permute(reshape(matmul(x, w), shape = [SEQ, 3, 2, 4]), axes = [1, 2, 0, 3]))]
            qkv: _,
            #[node(matmul(qkv[0], transpose(qkv[1])) * 0.5 + mask)]
            raw: Tensor<f32, 2, SEQ, SEQ>,
            #[output(softmax(raw))]
            pub scores: _,
            #[output(reshape(permute(matmul(scores, qkv[2]), axes = [1, 0, 2]), shape = [SEQ, 8]) + x)]
            pub y: Tensor<f32, SEQ, 8>,
        }
    }
);

network!(
    convolution,
    |net, n| {
        net.x_mut().feed(n, [1, 2, n + 2, n]);
        net.w_mut().feed(1, [4, 2, 3, 3]);
        net.bias_mut().feed(2, [4]);
        net.narrow_mut().feed(3, [4, 4, 1, 1]);
    },
    |out| [out.y().bits(), out.pooled().bits(), out.mean().bits()],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, 1, 2, { SEQ + 2 }, SEQ>,
            #[weight]
            pub w: Tensor<f32, 4, 2, 3, 3>,
            #[weight]
            pub bias: Tensor<f32, 4>,
            #[weight]
            pub narrow: Tensor<f32, 4, 4, 1, 1>,
            // Half of it, rounded down, plus one.
            #[node(relu(conv2d(x, w, bias, stride = 2, padding = [0, 1])))]
            first: _,
            #[output(conv2d(first, narrow, padding = same) + first)]
            pub y: _,
            #[output(max_pool2d(pad(y, before = [0, 0, 1, 1], after = [0, 0, 2, 1]), kernel = 2, stride = 1))]
            pub pooled: _,
            #[output(global_avg_pool(avg_pool2d(first, kernel = [1, 2], stride = 2, padding = [0, 1])))]
            pub mean: Tensor<f32, 1, 4, 1, 1>,
        }
    }
);

// A convolution over one dimension is one over two of which one is 1.
network!(
    convolution_nhwc,
    |net, n| {
        net.x_mut().feed(n, [n, 3]);
        net.w_mut().feed(1, [6, 1, 4, 3]);
    },
    |out| [out.y().bits(), out.last().bits()],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, SEQ, 3>,
            #[weight]
            pub w: Tensor<f32, 6, 1, 4, 3>,
            #[node(reshape(x, shape = [1, 1, SEQ, 3]))]
            image: _,
            #[node(conv2d(image, w, stride = 3, padding = [0, 2], layout = nhwc))]
            h: _,
            #[output(tanh(reshape(h, shape = [_, 6])))]
            pub y: _,
            #[output(x[{ SEQ - 1 }])]
            pub last: Tensor<f32, 3>,
        }
    }
);

network!(
    parts,
    |net, n| {
        net.x_mut().feed(n, [n, 4]);
        net.z_mut().feed(n + 2, [2 * n, 4]);
    },
    |out| [out.y().bits(), out.wide().bits(), out.ends().bits(), out.rest().bits()],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, SEQ, 4>,
            #[input(keep)]
            pub z: Tensor<f32, { 2 * SEQ }, 4>,
            #[node(concat(exp(x), z, x[..1], sigmoid(x), axis = 0))]
            whole: _,
            #[output(slice(whole, axis = 0, step = 2) * 2)]
            pub y: _,
            #[output(concat(whole[..SEQ], transpose(reshape(z, shape = [4, 2, _])[.., 1]), axis = 1))]
            pub wide: Tensor<f32, SEQ, 8>,
            #[output(concat(x[{ SEQ - 1 }..SEQ], z[SEQ..], pad(x, before = [2, 0], after = [1, 0], value = 3)[1..3], axis = 0))]
            pub ends: Tensor<f32, { SEQ + 3 }, 4>,
            #[output(relu(x[1..]))]
            pub rest: Tensor<f32, { SEQ - 1 }, 4>,
        }
    }
);

network!(
    reductions,
    |net, n| {
        net.x_mut().feed(n, [2, n, 3]);
        net.row_mut().feed(n + 1, [n]);
        net.scale_mut().feed(1, [3]);
    },
    |out| [
        out.sums().bits(),
        out.means().bits(),
        out.largest().bits(),
        out.total().bits(),
        out.normed().bits(),
        out.flat().bits()
    ],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, 2, SEQ, 3>,
            #[input]
            pub row: Tensor<f32, SEQ>,
            #[weight]
            pub scale: Tensor<f32, 3>,
            #[output(sum(x, axes = 1))]
            pub sums: Tensor<f32, 2, 3>,
            #[output(mean(x, axes = [0, 2], keep_dims = true))]
            pub means: Tensor<f32, 1, SEQ, 1>,
            #[output(max(permute(x, axes = [1, 2, 0]), axes = 0))]
            pub largest: Tensor<f32, 3, 2>,
            #[output(mean(row) + sum(x * reshape(row, shape = [SEQ, 1])))]
            pub total: Tensor<f32>,
            #[output(layer_norm(rms_norm(x, scale), axis = 1) + softmax(reshape(row, shape = [SEQ, 1]), axis = 0) + log_softmax(x, axis = 1))]
            pub normed: Tensor<f32, 2, SEQ, 3>,
            #[output(matmul(flatten(x), concat(flatten(x)[0], row[..1], axis = 0)[1..]))]
            pub flat: Tensor<f32, 2>,
        }
    }
);

network!(
    cached,
    |net, n| {
        net.reset_state().unwrap();
        net.x_mut().feed(n, [n, 2, 4]);
        net.position_mut().set(3).unwrap();
        net.table_mut().feed(1, [9, 4]);
    },
    |out| [out.y().bits(), out.heads().bits(), out.seen().bits()],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, SEQ, 2, 4>,
            #[input]
            pub position: Tensor<u32>,
            #[weight]
            pub table: Tensor<f32, 9, 4>,
            #[state]
            pub keys: Tensor<f32, 2, 16, 4>,
            #[node(permute(rope(x, position, pairs = halves), axes = [1, 0, 2]))]
            q: Tensor<f32, 2, SEQ, 4>,
            #[node(write(keys, src = q, at = position, axis = 1))]
            k: _,
            #[output(attention(q, k, k, past = position, causal = true))]
            pub heads: Tensor<f32, 2, SEQ, 4>,
            #[output(reshape(permute(heads, axes = [1, 0, 2]), shape = [SEQ, 8]) + reshape(x, shape = [SEQ, 8]))]
            pub y: _,
            #[output(k[0, 3..{ SEQ + 3 }] * table[..SEQ])]
            pub seen: Tensor<f32, SEQ, 4>,
        }
    }
);

network!(
    signals,
    |net, n| {
        net.x_mut().feed(n, [1, 4, 2 * n]);
        net.w_mut().feed(1, [4, 2, 3]);
        net.up_mut().feed(2, [4, 2, 4]);
        net.scale_mut().feed(3, [4]);
    },
    |out| [out.y().bits(), out.longer().bits(), out.squeezed().bits(), out.halves().bits(), out.state().bits()],
    {
        pub struct Net {
            #[input]
            pub x: Tensor<f32, 1, 4, { 2 * SEQ }>,
            #[weight]
            pub w: Tensor<f32, 4, 2, 3>,
            #[weight]
            pub up: Tensor<f32, 4, 2, 4>,
            #[weight]
            pub scale: Tensor<f32, 4>,
            #[node(relu(conv1d(x, w, groups = 2, padding = same)))]
            h: _,
            #[output(group_norm(max_pool1d(h, kernel = 2), scale, groups = 2))]
            pub y: Tensor<f32, 1, 4, SEQ>,
            #[output(conv_transpose1d(y, up, stride = 2, padding = 1, groups = 2))]
            pub longer: Tensor<f32, 1, 4, { 2 * SEQ }>,
            #[output(squeeze(pad(resize(y, axes = 2, scale = 3), before = [0, 0, 1], mode = edge), axes = 0))]
            pub squeezed: Tensor<f32, 4, { 3 * SEQ + 2 }>,
            #[output(split(x, axis = 2, parts = 2)[1] * lp_norm(y, axis = 2))]
            pub halves: Tensor<f32, 1, 4, SEQ>,
            #[node(concat(reshape(up, shape = [8, 4]), reshape(w, shape = [6, 4])[..4], axis = 0))]
            gates: Tensor<f32, 12, 4>,
            #[output(gru(permute(y, axes = [2, 0, 1]), reshape(scale, shape = [1, 4]), gates, gates))]
            pub state: Tensor<f32, SEQ, 1, 4>,
        }
    }
);
