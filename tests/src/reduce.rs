//! Makes a graph that fails smaller while it still fails.

use model_graph_planner::{Graph, Role, TensorId};

/// A smaller graph that still fails: results are no longer read, nodes become inputs, as long as one or the other can.
pub fn reduce(graph: Graph, fails: impl Fn(&Graph) -> bool) -> Graph {
    let mut graph = without(&graph, None);
    loop {
        let count = graph.tensors().count();
        let smaller = (0..count).rev().flat_map(|index| [(index, false), (index, true)]).find_map(|(index, cut)| {
            let (id, tensor) = graph.tensors().nth(index)?;
            tensor.producer?;
            let tried = if cut {
                without(&graph, Some(id))
            } else if !matches!(tensor.role, Role::Node | Role::State) {
                let mut tried = graph.clone();
                tried.rename(id, tensor.name.clone(), Role::Node);
                without(&tried, None)
            } else {
                return None;
            };
            fails(&tried).then_some(tried)
        });
        match smaller {
            Some(smaller) => graph = smaller,
            None => return graph,
        }
    }
}

/// The graph without what nothing needs, and with one node made an input.
fn without(graph: &Graph, cut: Option<TensorId>) -> Graph {
    let mut cut_off = graph.clone();
    for pass in 0..2 {
        let source = cut_off.clone();
        let unused = source.unused();
        let mut smaller = Graph::new("Reduced");
        let mut place = Vec::new();
        for (id, tensor) in source.tensors() {
            place.push(if pass == 1 && unused.contains(&id) {
                None
            } else {
                let name = tensor.name.clone();
                Some(match tensor.producer {
                    Some(node) if pass == 1 || cut != Some(id) => {
                        let node = source.call(node);
                        let inputs: Vec<TensorId> = node.inputs.iter().filter_map(|id| place[id.index()]).collect();
                        smaller.node(name, tensor.role, node.op.clone(), &inputs).expect("it was one before")
                    }
                    // A version of a state becomes a state, so that it can be written.
                    Some(_) if tensor.role == Role::State => {
                        smaller.leaf(name, Role::State, tensor.ty).expect("it was one before")
                    }
                    Some(_) => smaller.leaf(name, Role::Input, tensor.ty).expect("it was one before"),
                    None => smaller.leaf(name, tensor.role, tensor.ty).expect("it was one before"),
                })
            });
        }
        cut_off = smaller;
    }
    cut_off
}
