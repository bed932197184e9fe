//! Concatenations, views and borders in chains, as real networks have them: which copies are left, and how many bytes.

use model_graph::{Plan, model_graph};

/// A dense block of four layers, each of which reads all that came before, listed anew each time.
#[model_graph(dims(G = 8))]
struct Dense {
    #[input]
    image: Tensor<f32, 1, G, 16, 16>,
    #[weight]
    w0: Tensor<f32, G, G, 3, 3>,
    #[weight]
    w1: Tensor<f32, G, G, 3, 3>,
    #[weight]
    w2: Tensor<f32, G, { 2 * G }, 3, 3>,
    #[weight]
    w3: Tensor<f32, G, { 3 * G }, 3, 3>,
    #[weight]
    w4: Tensor<f32, G, { 4 * G }, 3, 3>,
    #[weight]
    end: Tensor<f32, 2, { 5 * G }, 1, 1>,
    #[node(relu(conv2d(image, w0, padding = 1)))]
    x: _,
    #[node(relu(conv2d(x, w1, padding = 1)))]
    a: _,
    #[node(relu(conv2d(concat(x, a, axis = 1), w2, padding = 1)))]
    b: _,
    #[node(relu(conv2d(concat(x, a, b, axis = 1), w3, padding = 1)))]
    c: _,
    #[node(relu(conv2d(concat(x, a, b, c, axis = 1), w4, padding = 1)))]
    d: _,
    #[output(conv2d(concat(x, a, b, c, d, axis = 1), end))]
    pub y: _,
}

/// Two levels down and up again, with what was seen on the way down laid beside what comes up.
#[model_graph(dims(C = 4, SIDE = 16))]
struct UNet {
    #[input]
    x: Tensor<f32, 1, 2, SIDE, SIDE>,
    #[weight]
    w1: Tensor<f32, C, 2, 3, 3>,
    #[weight]
    w2: Tensor<f32, { 2 * C }, C, 3, 3>,
    #[weight]
    w3: Tensor<f32, { 16 * C }, { 2 * C }, 3, 3>,
    #[weight]
    w4: Tensor<f32, { 4 * C }, { 6 * C }, 3, 3>,
    #[weight]
    w5: Tensor<f32, 1, { 2 * C }, 3, 3>,
    #[node(relu(conv2d(x, w1, padding = 1)))]
    first: _,
    #[node(relu(conv2d(max_pool2d(first, kernel = 2), w2, padding = 1)))]
    second: _,
    #[node(relu(conv2d(max_pool2d(second, kernel = 2), w3, padding = 1)))]
    bottom: _,
    #[node(reshape(bottom, shape = [1, 2, 2, { 4 * C }, { SIDE / 4 }, { SIDE / 4 }]))]
    split: _,
    #[node(reshape(permute(split, axes = [0, 3, 4, 1, 5, 2]), shape = [1, { 4 * C }, { SIDE / 2 }, { SIDE / 2 }]))]
    up: _,
    #[node(relu(conv2d(concat(second, up, axis = 1), w4, padding = 1)))]
    third: _,
    #[node(reshape(third, shape = [1, 2, 2, C, { SIDE / 2 }, { SIDE / 2 }]))]
    split_again: _,
    #[node(reshape(permute(split_again, axes = [0, 3, 4, 1, 5, 2]), shape = [1, C, SIDE, SIDE]))]
    up_again: _,
    #[output(conv2d(concat(first, up_again, axis = 1), w5, padding = 1))]
    pub y: _,
}

/// Attention whose heads are cut out of one product, and laid side by side again.
#[model_graph(dims(T = 16, D = 32, HEADS = 2))]
struct Heads {
    #[input]
    x: Tensor<f32, T, D>,
    #[weight]
    qkv: Tensor<f32, D, { 3 * D }>,
    #[weight]
    out: Tensor<f32, D, D>,
    #[node(permute(reshape(matmul(x, qkv), shape = [T, 3, HEADS, { D / HEADS }]), axes = [1, 2, 0, 3]))]
    all: _,
    #[node(matmul(softmax(matmul(all[0], transpose(all[1]))), all[2]))]
    heads: _,
    #[output(matmul(concat(heads[0], heads[1], axis = 1), out))]
    pub y: _,
}

/// What is copied, by name.
fn copies(plan: &Plan<'_>) -> Vec<String> {
    let copies = plan.steps.iter().filter(|step| step.op == "copy");
    copies.map(|step| plan.tensors[step.inputs[0]].name.to_string()).collect()
}

#[test]
fn a_dense_block_copies_nothing() {
    let plan = &Dense::PLAN;
    assert_eq!(copies(plan), [""; 0], "{plan}");
    assert_eq!(plan.steps.len(), 6);
    // The end needs all five layers and writes two planes; each layer before reads those that lie there already, one
    // behind the other.
    let plane = 4 * 16 * 16;
    assert_eq!(plan.size - plan.persistent, (5 * 8 + 2) * plane, "{plan}");
}

#[test]
fn a_u_net_copies_what_it_shuffles() {
    let plan = &UNet::PLAN;
    // What comes from the way down is produced in place; what comes up is shuffled, and then laid beside it.
    assert_eq!(copies(plan), ["up.permute", "up", "up_again.permute", "up_again"], "{plan}");
}

#[test]
fn heads_are_cut_without_a_copy() {
    let plan = &Heads::PLAN;
    // They are cut out of one product without a copy. A product of all heads at once has to be taken apart again.
    assert_eq!(copies(plan), ["y.reshape", "y.reshape.2"], "{plan}");
    // The product of the weights, and the scores beside it.
    let [qkv, scores] = [16 * 96, 2 * 16 * 16].map(|elements: usize| 4 * elements);
    assert!(plan.size - plan.persistent <= qkv + 2 * scores, "{plan}");
}
