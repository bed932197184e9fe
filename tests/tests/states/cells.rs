//! Recurrent cells: a state that is set to what was made of it.

use model_graph::{Cpu, Poison, Storage, model_graph};

use super::{numbers, steps, tensor};

const H: usize = 5;

#[model_graph(dims(I = 3, H = 5))]
struct Cell {
    #[input]
    x: Tensor<f32, 1, I>,
    #[weight]
    w: Tensor<f32, I, H>,
    #[weight]
    u: Tensor<f32, H, H>,
    #[state]
    h: Tensor<f32, 1, H>,
    #[node(matmul(x, w) + matmul(h, u))]
    sum: _,
    #[node(tanh(sum))]
    fresh: _,
    #[node(write(h, fresh))]
    next: _,
    #[output(next * 2)]
    y: _,
    #[output(fresh + 1)]
    z: _,
}

#[test]
fn a_cell_gives_what_a_loop_gives() {
    let mut model = Cell::new(&Cpu).unwrap();
    let w: [[f32; H]; 3] = std::array::from_fn(|row| numbers(row + 1));
    let u: [[f32; H]; H] = std::array::from_fn(|row| numbers(row + 5));
    model.w_mut().write(&w).unwrap();
    model.u_mut().write(&u).unwrap();
    let mut h = [0f64; H];
    for step in 0..20 {
        let x = numbers::<3>(step);
        model.x_mut().write(&[x]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        h = std::array::from_fn(|at| {
            let x: f64 = (0..3).map(|row| f64::from(x[row]) * f64::from(w[row][at])).sum();
            (x + (0..H).map(|row| h[row] * f64::from(u[row][at])).sum::<f64>()).tanh()
        });
        for (at, h) in h.iter().enumerate() {
            assert!((f64::from(outputs.y()[0][at]) - 2.0 * h).abs() < 1e-4, "step {step}");
            assert!((f64::from(outputs.z()[0][at]) - h - 1.0).abs() < 1e-4, "step {step}");
            assert!((f64::from(outputs.h()[0][at]) - h).abs() < 1e-4, "step {step}");
        }
    }
}

#[test]
fn what_a_state_is_set_to_is_made_in_its_bytes() {
    assert_eq!((steps(&Cell::PLAN, "write"), steps(&Cell::PLAN, "copy")), (0, 0), "{}", Cell::PLAN);
    let (h, fresh) = (tensor(&Cell::PLAN, "h"), tensor(&Cell::PLAN, "fresh"));
    assert_eq!(h.view, fresh.view);
    assert!(matches!(fresh.storage, Storage::Part(_)));
}

/// The sum so far is made over itself.
#[model_graph]
struct Total {
    #[input]
    x: Tensor<f32, 4>,
    #[state]
    total: Tensor<f32, 4>,
    #[output(write(total, total + x))]
    y: _,
}

#[test]
fn a_sum_needs_no_byte_beside_its_state() {
    assert_eq!(steps(&Total::PLAN, "write"), 0);
    assert_eq!(tensor(&Total::PLAN, "y").view, tensor(&Total::PLAN, "total").view);
    let mut model = Total::new(&Cpu).unwrap();
    for round in 1..4 {
        model.x_mut().write(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!(*outputs.y(), [1.0, 2.0, 3.0, 4.0].map(|x| x * round as f32));
    }
}

/// The old value is still read once the new one is there, so that is made elsewhere and copied.
#[model_graph]
struct Difference {
    #[input]
    x: Tensor<f32, 4>,
    #[state]
    before: Tensor<f32, 4>,
    #[node(x * 2)]
    now: _,
    #[output(now - before)]
    change: _,
    #[node(write(before, now))]
    next: _,
}

#[test]
fn a_value_that_is_needed_beside_the_old_one_is_copied() {
    assert_eq!(steps(&Difference::PLAN, "write"), 1);
    let mut model = Difference::new(&Cpu).unwrap();
    for (x, change) in [(1.0, 2.0), (4.0, 6.0), (3.0, -2.0)] {
        model.x_mut().write(&[x; 4]).unwrap();
        assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().change(), [change; 4]);
    }
}
