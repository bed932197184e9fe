//! Constants of blocks are worked out among the names that they were written in.

use model_graph::{Cpu, model_graph};

const SCALE: [f32; 2] = [-1.0, -1.0];

mod elsewhere {
    use model_graph::model_graph;

    const SCALE: [f32; 2] = [3.0, 5.0];

    fn fill(table: &mut [f32; 2]) {
        *table = [10.0, 20.0];
    }

    #[model_graph(dims(ROWS = 1))]
    pub(super) struct Scaled {
        #[input]
        x: Tensor<f32, ROWS, 2>,
        #[constant(SCALE)]
        pub(super) scale: Tensor<f32, 2>,
        #[constant(fill = fill)]
        table: Tensor<f32, 2>,
        #[output(x * scale + table + 0.5)]
        y: _,
    }

    pub(super) mod further {
        use super::Scaled;
        use model_graph::model_graph;

        #[model_graph(dims(ROWS = _))]
        pub(in super::super) struct Between {
            #[input]
            x: Tensor<f32, ROWS, 2>,
            #[chain(x)]
            scaled: [Scaled<ROWS = ROWS>; 2],
            #[output(scaled)]
            y: _,
        }
    }
}

#[model_graph(dims(ROWS = 3))]
struct Outer {
    #[input]
    x: Tensor<f32, ROWS, 2>,
    #[constant(SCALE)]
    scale: Tensor<f32, 2>,
    #[node(elsewhere::further::Between<ROWS = ROWS>(x))]
    h: _,
    #[node(self::elsewhere::Scaled<ROWS = ROWS>(h))]
    last: _,
    #[output(last * scale)]
    y: _,
}

#[test]
fn constants_mean_what_they_mean_where_they_are_written() {
    let mut model = Outer::new(&Cpu).unwrap();
    *model.x_mut() = [[1.0, 2.0], [0.0, 0.0], [-1.0, -2.0]];
    let outputs = model.forward().unwrap();
    let step = |[a, b]: [f32; 2]| [a * 3.0 + 10.0 + 0.5, b * 5.0 + 20.0 + 0.5];
    let expected = [[1.0, 2.0], [0.0, 0.0], [-1.0, -2.0]].map(|row| step(step(step(row))).map(|y| -y));
    assert_eq!(*outputs.y(), expected);
    assert_eq!(*outputs.h_scaled_scale(1), [3.0, 5.0]);
}

/// Copies of a block share its constants.
#[test]
fn a_constant_is_there_once() {
    let constants = elsewhere_constants();
    assert_eq!(constants.iter().filter(|name| name.ends_with("table")).count(), 2, "{constants:?}");
}

fn elsewhere_constants() -> Vec<&'static str> {
    let constants = Outer::PLAN.tensors.iter().filter(|tensor| tensor.role == model_graph::Role::Constant);
    constants.map(|tensor| tensor.name).collect()
}
