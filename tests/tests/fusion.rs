//! Epilogues: which calls become stages of the one before them, and that the bits stay the same.

use model_graph::buffer::check_range;
use model_graph::{Buffer, Call, Cpu, CpuSlice, Error, Kernel, Poison, model_graph, op, run_apart};

macro_rules! model {
    ($name:ident, $($fuse:tt)*) => {
        /// A product with bias, activation and residual; a convolution with bias; and calls that stay on their own.
        #[model_graph(dims(N = 5, D = 7) $($fuse)*)]
        struct $name {
            #[input]
            x: Tensor<f32, N, D>,
            #[input]
            image: Tensor<f32, 1, 2, 6, 6>,
            #[weight]
            w: Tensor<f32, D, D>,
            #[weight]
            b: Tensor<f32, D>,
            #[weight]
            kernels: Tensor<f32, 3, 2, 3, 3>,
            #[weight]
            bias: Tensor<f32, 3, 1, 1>,
            #[output(gelu(matmul(x, w) + b) + x)]
            residual: _,
            #[output(2 - matmul(x, w) * transpose(reshape(x, shape = [D, N])))]
            strided: _,
            #[output(relu(conv2d(image, kernels, padding = 1) + bias))]
            planes: _,
            /// A field of its own is not fused away.
            #[node(matmul(x, transpose(w)))]
            named: _,
            #[output(relu(named))]
            activated: _,
            /// A stage cannot stretch what it works on.
            #[output(matmul(x[0..1], w) + x)]
            stretched: _,
        }
    };
}
model!(Fused,);
model!(Apart, , fuse = false);

/// The names of the steps.
fn ops(plan: &model_graph::Plan<'static>) -> Vec<&'static str> {
    plan.steps.iter().map(|step| step.op).collect()
}

#[test]
fn what_follows_a_product_in_its_expression_becomes_a_stage_of_it() {
    assert_eq!(
        ops(&Fused::PLAN),
        ["matmul + add + gelu + add", "matmul + mul + sub", "conv2d + add + relu", "matmul", "relu", "matmul", "add",]
    );
    assert!(Apart::PLAN.steps.iter().all(|step| !step.op.contains('+')));
    const { assert!(Fused::PLAN.size <= Apart::PLAN.size) };
    assert!(Fused::PLAN.tensors.iter().any(|tensor| tensor.name == "named"));
}

macro_rules! run {
    ($model:ident, $hook:expr) => {{
        let mut model = $model::new(&Cpu).unwrap();
        let number = |index: usize| ((index * 37 % 101) as f32 - 50.0) / 37.0;
        let fill = |slice: &mut [f32], from: usize| {
            slice.iter_mut().enumerate().for_each(|(index, x)| *x = number(index + from));
        };
        fill(model.x_mut().as_mut_slice(), 0);
        fill(model.image_mut().as_mut_slice(), 3);
        fill(model.w_mut().as_mut_slice(), 5);
        fill(model.b_mut().as_mut_slice(), 7);
        fill(model.kernels_mut().as_mut_slice(), 11);
        fill(model.bias_mut().as_mut_slice(), 13);
        let outputs = model.forward_with($hook).unwrap();
        let all = [
            outputs.residual().as_slice(),
            outputs.strided().as_slice(),
            outputs.planes().as_slice(),
            outputs.activated().as_slice(),
            outputs.stretched().as_slice(),
        ];
        all.concat().into_iter().map(f32::to_bits).collect::<Vec<u32>>()
    }};
}

#[test]
fn stages_change_no_bit() {
    let fused = run!(Fused, &mut ());
    assert_eq!(fused, run!(Apart, &mut ()));
    assert_eq!(fused, run!(Fused, &mut Poison::default()));
    assert!(fused.iter().any(|bits| f32::from_bits(*bits) > 1.0));
}

/// A backend of somebody else's, with the kernels of two operators.
struct Mine<'a>(CpuSlice<'a>);

impl Buffer for Mine<'_> {
    fn name(&self) -> &'static str {
        "mine"
    }

    fn base(&self) -> usize {
        self.0.base()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn memset(&mut self, offset: usize, len: usize, value: u8) -> Result<(), Error> {
        self.0.memset(offset, len, value)
    }

    fn set(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        self.0.set(offset, data)
    }

    fn get(&self, offset: usize, out: &mut [u8]) -> Result<(), Error> {
        self.0.get(offset, out)
    }

    fn copy_from(&mut self, _: usize, _: &dyn Buffer, from: usize, len: usize) -> Result<bool, Error> {
        check_range(from, len, self.size())?;
        Ok(false)
    }

    fn with_host(&mut self, offset: usize, len: usize, write: &mut dyn FnMut(&mut [u8])) -> Result<(), Error> {
        self.0.with_host(offset, len, write)
    }
}

impl Kernel<op::MatMul> for Mine<'_> {
    fn run(&mut self, call: &Call<'_, op::MatMul>) -> Result<(), Error> {
        self.0.run(call)
    }
}

impl Kernel<op::Sub> for Mine<'_> {
    fn run(&mut self, call: &Call<'_, op::Sub>) -> Result<(), Error> {
        self.0.run(call)
    }
}

impl<'a, B: Copy, S: op::Described + Copy> Kernel<op::Then<B, S>> for Mine<'a>
where
    Mine<'a>: Kernel<B> + Kernel<S>,
{
    fn run(&mut self, call: &Call<'_, op::Then<B, S>>) -> Result<(), Error> {
        run_apart(self, call)
    }
}

/// A product with two stages.
#[model_graph]
struct Small {
    #[input]
    x: Tensor<f32, 1, 2>,
    #[input]
    w: Tensor<f32, 2, 2>,
    #[output(10 - (matmul(x, w) - x))]
    y: _,
}

#[test]
fn a_backend_runs_stages_with_the_kernels_of_their_parts() {
    assert_eq!(ops(&Small::PLAN), ["matmul + sub + sub"]);
    let mut memory = vec![0; Small::PLAN.size + 64];
    let start = memory.as_ptr().addr().next_multiple_of(64) - memory.as_ptr().addr();
    let mine = Mine(CpuSlice::borrowed(&mut memory[start..start + Small::PLAN.size]));
    let mut model = Small::from_buffer(mine).unwrap();
    model.x_mut().write(&[[1.0, 2.0]]).unwrap();
    model.w_mut().write(&[[1.0, 0.0], [0.0, 3.0]]).unwrap();
    let mut y = [[0.0; 2]];
    model.forward().unwrap().y().read(&mut y).unwrap();
    assert_eq!(y, [[10.0, 6.0]]);
}
