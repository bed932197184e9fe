//! Shared weights where there is little of them, or where they lie elsewhere for other values.

use model_graph::{Cpu, ErrorKind, Poison, model_graph};

/// Outputs of fixed extents that start at another weight for other values of the dim.
#[model_graph(dims(N <= 6), weights = "shared")]
struct Moving {
    #[input]
    x: Tensor<f32, N>,
    #[weight]
    other: Tensor<f32, 40>,
    #[weight]
    table: Tensor<f32, 8, 3>,
    #[output(table[N..N + 2])]
    row: Tensor<f32, 2, 3>,
    #[output(sum(x) + other[0])]
    y: _,
    #[keep]
    #[node(table[N..N + 1])]
    kept: Tensor<f32, 1, 3>,
    #[output(transpose(table[N - 1..N + 1]))]
    turned: Tensor<f32, 3, 2>,
}

#[test]
fn outputs_that_move_are_read_among_the_weights() {
    let mut weights = MovingWeights::new(&Cpu).unwrap();
    weights.table_mut().set(std::array::from_fn(|row| [row as f32; 3])).unwrap();
    weights.other_mut().set([100.0; 40]).unwrap();
    let mut model = Moving::new(&Cpu, &weights).unwrap();
    for n in [6, 1, 3] {
        model.x_mut().resize([n]).unwrap().fill(1.0);
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!(*outputs.y(), 100.0 + n as f32);
        assert_eq!(*outputs.row(), [[n as f32; 3], [n as f32 + 1.0; 3]]);
        assert_eq!(*outputs.kept(), [[n as f32; 3]]);
        let mut turned = [[0.0; 2]; 3];
        outputs.turned().read(&mut turned).unwrap();
        assert_eq!(turned, [[n as f32 - 1.0, n as f32]; 3]);
    }
}

/// No weight at all.
#[model_graph(weights = "shared")]
#[derive(Debug)]
struct None_ {
    #[input]
    x: Tensor<f32, 2>,
    #[output(x + 1)]
    y: _,
}

/// Weights without elements.
#[model_graph(weights = "shared")]
struct Empty {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w: Tensor<f32, 0, 2>,
    #[output(concat(w, reshape(x, shape = [1, 2]), axis = 0))]
    y: _,
}

#[test]
fn there_may_be_no_bytes_of_weights() {
    let weights = None_Weights::new(&Cpu).unwrap();
    let mut model = None_::new(&Cpu, &weights).unwrap();
    model.x_mut().set([1.0, 2.0]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [2.0, 3.0]);
    assert!(format!("{model:?}").contains("weights"), "{model:?}");
    let image = weights.image().unwrap();
    assert_eq!((None_Weights::SIZE, image.len()), (0, None_Weights::IMAGE_SIZE));

    let mut weights = EmptyWeights::new(&Cpu).unwrap();
    weights.load(&super::Made(vec![(String::from("w"), vec![0, 2], vec![])])).unwrap();
    let wrong = super::Made(vec![(String::from("w"), vec![1, 2], vec![0; 8])]);
    assert!(matches!(weights.load(&wrong).unwrap_err().kind(), ErrorKind::Weights(_)));
    let mut model = Empty::new(&Cpu, &weights).unwrap();
    model.x_mut().set([1.0, 2.0]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().y(), [[1.0, 2.0]]);
    assert_eq!(model.w().as_slice(), [[0.0; 2]; 0].as_flattened());
}
