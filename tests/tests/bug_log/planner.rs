//! PL: the planner itself.

use std::any::Any;
use std::rc::Rc;

use model_graph::{Cpu, Poison, model_graph};
use model_graph_planner::offset::{Budget, Buffer, check, solve};
use model_graph_planner::op::{Field, Fields, Operator, RuleError};
use model_graph_planner::{Graph, Options, Role, Shape, Type, plan, verify};

use super::{overlap, tensor, transient};

#[test]
fn pl_1_a_small_block_does_not_split_the_free_space() {
    let table = [(0, 3, 100), (1, 6, 20), (2, 4, 100), (3, 5, 4), (4, 6, 200)];
    let buffers: Vec<Buffer> = table.iter().map(|&(lower, upper, size)| Buffer::new(lower, upper, size)).collect();
    let solution = solve(&buffers, Budget::default()).unwrap();
    check(&buffers, &solution.offsets).unwrap();
    assert_eq!((solution.lower_bound, solution.peak, solution.optimal), (224, 224, true));
}

/// Two halves of an input, one of which nobody reads.
#[model_graph(align = 4)]
struct Halves {
    #[input]
    x: Tensor<f32, 4>,
    #[node(x[0..2])]
    p: _,
    #[allow(unused)]
    #[node(x[2..4])]
    q: _,
    #[output(p * 10)]
    z: Tensor<f32, 2>,
}

#[test]
fn pl_2_a_result_that_nobody_reads_overwrites_nothing() {
    let mut model = Halves::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().z(), [10.0, 20.0]);
}

/// An output that is an input, beside one that is computed.
#[model_graph]
struct NoStep {
    #[input]
    x: Tensor<f32, 1>,
    #[output(x)]
    a: _,
    #[output(x + 1)]
    b: _,
}

/// No step at all.
#[model_graph]
struct Empty {
    #[input]
    x: Tensor<f32, 3>,
    #[output(x)]
    out: _,
}

#[test]
fn pl_4_tensors_without_a_step_have_a_place() {
    let mut model = NoStep::new(&Cpu).unwrap();
    model.x_mut()[0] = 4.0;
    let outputs = model.forward_with(&mut Poison::default()).unwrap();
    assert_eq!((*outputs.a(), *outputs.b()), ([4.0], [5.0]));

    const { assert!(Empty::PLAN.size == 12 && Empty::PLAN.steps.is_empty()) };
    let mut model = Empty::new(&Cpu).unwrap();
    model.x_mut().write(&[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(*model.forward().unwrap().out(), [1.0, 2.0, 3.0]);
}

/// An operator that works in 16 bytes beside its result, and may write that over its operand.
#[derive(Debug)]
struct Scratchy;

impl Fields for Scratchy {
    fn name(&self) -> &str {
        "scratchy"
    }

    fn kernel(&self) -> &'static str {
        "Scratchy"
    }

    fn fields(&self, _: &mut dyn FnMut(&'static str, Field<'_>)) {}

    fn at(&self, _: &[usize]) -> Rc<dyn Operator> {
        Rc::new(Scratchy)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Operator for Scratchy {
    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Ok(inputs[0])
    }

    fn in_place(&self, _: usize) -> bool {
        true
    }

    fn scratch(&self, _: &[Type], _: &Type) -> usize {
        16
    }
}

#[test]
fn pl_5_working_space_lies_apart() {
    let mut graph = Graph::new("Scratchy");
    let mut last = graph.leaf("x", Role::Input, Type::f32(Shape::new(&[4]).unwrap())).unwrap();
    for (name, role) in [("a", Role::Node), ("b", Role::Node), ("y", Role::Output)] {
        last = graph.node(name, role, Rc::new(Scratchy), &[last]).unwrap();
    }
    for in_place in [true, false] {
        let mut planned = plan(&graph, &Options { align: 4, in_place, ..Options::default() }).unwrap();
        assert_eq!(planned.size, if in_place { 32 } else { 48 });
        for (index, step) in planned.steps.iter().enumerate() {
            let [scratch] = step.scratch[..] else { panic!("one piece of working space") };
            let scratch = &planned.tensors[scratch];
            assert_eq!((scratch.view.span().len(), scratch.first, scratch.last), (16, index + 1, index + 1));
            for other in step.inputs.iter().chain(&step.outputs) {
                let (other, scratch) = (planned.tensors[*other].view.span(), scratch.view.span());
                assert!(other.end <= scratch.start || scratch.end <= other.start);
            }
        }
        let (scratch, result) = (planned.steps[1].scratch[0], planned.steps[1].outputs[0]);
        planned.tensors[scratch].view.offset = planned.tensors[result].view.offset;
        assert!(verify(&planned).is_err(), "the fault itself is seen");
    }
}

/// Ten layers, each with a helper of 100 bytes that only it uses.
#[model_graph(align = 4)]
struct Deep {
    #[input]
    h0: Tensor<f32, 1, 3>,
    #[weight]
    w: Tensor<f32, 3, 25>,
    #[weight]
    v: Tensor<f32, 25, 3>,
    #[node(matmul(matmul(h0, w), v))]
    h1: _,
    #[node(matmul(matmul(h1, w), v))]
    h2: _,
    #[node(matmul(matmul(h2, w), v))]
    h3: _,
    #[node(matmul(matmul(h3, w), v))]
    h4: _,
    #[node(matmul(matmul(h4, w), v))]
    h5: _,
    #[node(matmul(matmul(h5, w), v))]
    h6: _,
    #[node(matmul(matmul(h6, w), v))]
    h7: _,
    #[node(matmul(matmul(h7, w), v))]
    h8: _,
    #[node(matmul(matmul(h8, w), v))]
    h9: _,
    #[output(matmul(matmul(h9, w), v))]
    h10: _,
}

#[test]
fn pl_6_memory_does_not_grow_with_depth() {
    assert_eq!(transient(&Deep::PLAN), 112, "one helper and one layer's result");
}

/// A value from before a loop that every round reads.
#[model_graph]
struct Loop {
    #[input]
    x: Tensor<f32, 1>,
    #[node(x * 10)]
    c: _,
    #[node(x + 1)]
    t1: _,
    #[node(t1 + c)]
    h1: _,
    #[node(h1 + 1)]
    t2: _,
    #[node(t2 + c)]
    h2: _,
    #[node(h2 + 1)]
    t3: _,
    #[output(t3 + c)]
    h: _,
}

#[test]
fn pl_7_a_value_from_before_the_loop_survives_it() {
    for t in ["t1", "t2"] {
        assert!(!overlap(tensor(&Loop::PLAN, "c"), tensor(&Loop::PLAN, t)));
    }
    let mut model = Loop::new(&Cpu).unwrap();
    model.x_mut()[0] = 2.0;
    assert_eq!(*model.forward_with(&mut Poison::default()).unwrap().h(), [65.0]);
}

/// A tensor whose bytes 32 bits cannot count.
#[cfg(target_pointer_width = "64")]
#[model_graph]
struct Big {
    #[input]
    t: Tensor<f32, 46341, 46341>,
    #[output(t[0..1, 0..1])]
    y: _,
}

#[test]
#[cfg(target_pointer_width = "64")]
fn pl_8_sizes_are_counted_in_full() {
    const { assert!(Big::PLAN.size >= 8_589_953_124) };
    assert_eq!(tensor(&Big::PLAN, "t").view.span().len(), 8_589_953_124);
}
