//! A block's private weight outside of the module of the model.

mod models {
    use model_graph::model_graph;

    #[model_graph(dims(D = 4))]
    struct Block {
        #[input]
        x: Tensor<f32, D>,
        #[weight]
        w: Tensor<f32, D>,
        #[output(x * w)]
        y: _,
    }

    #[model_graph]
    pub struct Model {
        #[input]
        x: Tensor<f32, 4>,
        #[output(Block(x))]
        pub y: _,
    }
}

fn main() {
    let mut model = models::Model::new(&model_graph::Cpu).unwrap();
    model.y_w_mut();
}
