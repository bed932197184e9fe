//! Much memory and much data: nothing large passes over the stack or through the expansion.

use model_graph::{Cpu, Poison, model_graph};

/// 64 MiB of tensors.
#[model_graph]
struct Large {
    #[input]
    x: Tensor<f32, 4096, 2048>,
    #[output(x + 1)]
    y: _,
    #[output(sum(x))]
    total: _,
}

#[test]
fn be_5_a_small_stack_is_enough() {
    const { assert!(Large::PLAN.size >= 64 << 20) };
    let run = || {
        let mut model = Large::new(&Cpu).unwrap();
        model.x_mut()[4095][2047] = 2.0;
        let outputs = model.forward().unwrap();
        assert_eq!(outputs.y()[4095][2047], 3.0);
        assert_eq!(outputs.y().as_slice()[0], 1.0);
        assert_eq!(*outputs.total(), 2.0);
        model.x_mut()[4095][2047] = 2.0;
        // What forward left in the rest of `x` is not zero any more.
        model.x_mut().as_mut_slice()[..8_388_607].fill(0.0);
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!((outputs.y()[4095][2047], outputs.y().as_slice()[0], *outputs.total()), (3.0, 1.0, 2.0));
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

const fn ramp() -> [f32; 4 << 20] {
    let mut table = [0.0; 4 << 20];
    table[0] = 1.0;
    table[(4 << 20) - 1] = 2.0;
    table
}

/// 16 MiB that are known when the program is compiled.
#[model_graph]
struct Embedded {
    #[input]
    x: Tensor<f32>,
    #[constant(ramp())]
    table: Tensor<f32, 4194304>,
    #[output(table * x)]
    y: _,
}

#[test]
fn be_4_large_constants_compile_and_are_copied_once() {
    let run = || {
        let mut model = Embedded::new(&Cpu).unwrap();
        *model.x_mut() = 3.0;
        let outputs = model.forward().unwrap();
        assert_eq!((outputs.y()[0], outputs.y()[1], outputs.y()[4194303]), (3.0, 0.0, 6.0));
        *model.x_mut() = 3.0;
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!((outputs.y()[0], outputs.y()[1], outputs.y()[4194303]), (3.0, 0.0, 6.0), "under poison");
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}
