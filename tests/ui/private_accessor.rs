//! A field's visibility is its accessor's.

use model_graph::Cpu;

mod inner {
    use model_graph::model_graph;

    #[model_graph]
    pub struct Model {
        #[input]
        pub x: Tensor<f32, 4>,
        #[weight]
        w: Tensor<f32, 4>,
        #[output(x * w)]
        pub y: _,
    }
}

fn main() {
    let mut model = inner::Model::new(&Cpu).unwrap();
    model.x_mut()[0] = 1.0;
    model.w_mut()[0] = 1.0;
}
