//! Operators that users' crates declare, in graphs and plans: what a rule comes to, what is printed of it, and what the
//! checker says of plans that break it.

use std::rc::Rc;

use model_graph_planner::op::own::{Arithmetic, Elements, Extent, Given, Kind, Misfit, Pattern, Rule};
use model_graph_planner::op::{Operator, OwnCall, RuleError, Setting, Spec};
use model_graph_planner::{DType, Graph, Options, Role, Shape, Storage, Type, plan, verify};

/// Halves of rows, each times a weight of its own.
const HALVES: Rule = Rule {
    spec: Spec {
        name: "Halves",
        doc: "",
        operands: &["x", "w"],
        optional: 1,
        variadic: false,
        settings: &[Setting { name: "parts", expects: "a whole number", default: None }],
    },
    kinds: &[Kind::Usize],
    extents: &["N"],
    operands: &[
        Pattern { elements: Elements::OneOf(&[DType::F32]), leading: true, dims: &[Extent::Name(0)] },
        Pattern { elements: Elements::Like(0), leading: false, dims: &[PART] },
    ],
    result: Pattern { elements: Elements::Like(0), leading: true, dims: &[PART] },
    in_place: &[],
    strided: &[0],
    strided_output: true,
    scratch: Extent::Of(Arithmetic::Mul, &Extent::Number(4), &Extent::Name(0)),
};

const GREEDY: Rule = Rule { scratch: Extent::Number(4096), ..HALVES };

const APART: Rule = Rule { in_place: &[], ..SAME };

const PART: Extent = Extent::Of(Arithmetic::Div, &Extent::Name(0), &Extent::Setting(0));

/// The same in its operand's bytes.
const SAME: Rule = Rule {
    spec: Spec { name: "Same", operands: &["x"], optional: 0, ..HALVES.spec },
    operands: &[HALVES.operands[0]],
    result: HALVES.operands[0],
    in_place: &[0],
    strided: &[],
    strided_output: false,
    scratch: Extent::Number(0),
    ..HALVES
};

fn call(rule: &'static Rule, parts: usize) -> Rc<dyn Operator> {
    Rc::new(OwnCall { rule, key: 0, given: vec![Given::Usize(parts)] })
}

fn f32s(dims: &[usize]) -> Type {
    Type::f32(Shape::new(dims).unwrap())
}

fn graph() -> Graph {
    let mut graph = Graph::new("Net");
    let x = graph.leaf("x", Role::Input, f32s(&[3, 8])).unwrap();
    let w = graph.leaf("w", Role::Weight, f32s(&[4])).unwrap();
    let a = graph.node("a", Role::Node, call(&SAME, 1), &[x]).unwrap();
    graph.node("y", Role::Output, call(&HALVES, 2), &[a, w]).unwrap();
    graph
}

#[test]
fn a_rule_prints_as_it_is_declared() {
    assert_eq!(HALVES.to_string(), "fn(x: f32[.., N], w?: x[N / parts]) -> x[.., N / parts]");
    let clauses = ", strided = [x, output], scratch = 4 * N";
    assert_eq!(format!("{HALVES:#}"), format!("{HALVES}{clauses}"));
    assert_eq!(format!("{SAME:#}"), "fn(x: f32[.., N]) -> f32[.., N], in_place = [x]");
}

#[test]
fn rules_come_to_types() {
    let half = |inputs: &[Type]| HALVES.infer(&|_| 2, inputs);
    assert_eq!(half(&[f32s(&[8])]).unwrap(), f32s(&[4]));
    assert_eq!(half(&[f32s(&[5, 0, 8]), f32s(&[4])]).unwrap(), f32s(&[5, 0, 4]));
    assert_eq!(HALVES.scratch(&|_| 2, &[f32s(&[5, 8])]).unwrap(), 32);
    let count = |inputs: &[Type]| matches!(half(inputs), Err(Misfit::Count));
    assert!(count(&[]) && count(&[f32s(&[8]), f32s(&[4]), f32s(&[4])]));
    assert!(matches!(half(&[f32s(&[])]), Err(Misfit::Rank { input: 0 })));
    assert!(matches!(half(&[f32s(&[8]), f32s(&[1, 4])]), Err(Misfit::Rank { input: 1 })));
    assert!(
        matches!(half(&[f32s(&[8]), f32s(&[3])]), Err(Misfit::Exact { at: (1, 0), expected, .. }) if expected == 4)
    );
    assert!(matches!(half(&[f32s(&[7])]), Err(Misfit::Arithmetic { of: Arithmetic::Div, .. })));
    assert!(matches!(HALVES.infer(&|_| 0, &[f32s(&[8])]), Err(Misfit::Arithmetic { .. })));
    let i8s = Type { dtype: DType::I8, ..f32s(&[8]) };
    assert!(matches!(half(&[i8s]), Err(Misfit::DType { input: 0 })));
    assert!(matches!(half(&[f32s(&[8]), Type { dtype: DType::I8, ..f32s(&[4]) }]), Err(Misfit::DType { input: 1 })));
    assert!(matches!(call(&HALVES, 2).infer(&[f32s(&[7])]), Err(RuleError::Overflow)));
}

#[test]
fn the_textual_form_says_what_was_declared() {
    let text = graph().to_string();
    let expected = "\
model Net
  // Same is fn(x: f32[.., N]) -> f32[.., N], in_place = [x]
  // Halves is fn(x: f32[.., N], w?: x[N / parts]) -> x[.., N / parts], strided = [x, output], scratch = 4 * N
  %0 x: input f32[3x8]
  %1 w: weight f32[4]
  %2 a: node f32[3x8] = Same(%0, parts = 1)
  %3 y: output f32[3x4] = Halves(%2, %1, parts = 2)
";
    assert_eq!(text, expected);
    let error = Graph::parse(&text).unwrap_err();
    assert_eq!(error.line, 6);
    assert!(error.expected.contains("a user's crate"), "{error}");
}

#[test]
fn plans_keep_to_the_rule() {
    let planned = plan(&graph(), &Options::default()).unwrap();
    let tensor = |name: &str| planned.tensors.iter().position(|tensor| tensor.name == name).unwrap();
    let (x, a, y) = (tensor("x"), tensor("a"), tensor("y"));
    assert_eq!(planned.tensors[a].storage, Storage::InPlace(x));
    assert_eq!(verify(&planned), Ok(()));

    let mut broken = planned.clone();
    broken.steps[1].op = call(&GREEDY, 2);
    let fault = verify(&broken).unwrap_err().to_string();
    assert!(fault.contains("needs 4096 bytes to work in"), "{fault}");

    let mut broken = planned.clone();
    broken.steps[0].op = call(&APART, 1);
    let fault = verify(&broken).unwrap_err().to_string();
    assert!(fault.contains("(`Same`) cannot write over `x`"), "{fault}");

    let mut broken = planned.clone();
    broken.steps[1].op = call(&HALVES, 4);
    assert!(verify(&broken).unwrap_err().to_string().contains("does not take its operands"));

    let mut broken = planned;
    broken.steps[1].inputs[0] = y;
    assert!(verify(&broken).is_err());
}
