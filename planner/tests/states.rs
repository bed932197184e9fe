//! States: the copies that an order of calls asks for, what is produced in a state, and plans that the checker refuses.

use model_graph_planner::op::RuleError;
use model_graph_planner::{Graph, Options, Order, Planned, PlannedTensor, Role, Storage, plan, verify};

fn parse(lines: &str) -> Graph {
    let text = format!("model States\n{lines}");
    let graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(Graph::parse(&graph.to_string()).unwrap().to_string(), graph.to_string());
    graph
}

fn planned(lines: &str) -> Planned {
    plan(&parse(lines), &Options { align: 4, ..Options::default() }).unwrap()
}

fn ops(planned: &Planned) -> Vec<&str> {
    planned.steps.iter().map(|step| step.op.name()).collect()
}

fn tensor<'p>(planned: &'p mut Planned, name: &str) -> &'p mut PlannedTensor {
    planned.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no `{name}`"))
}

fn at(planned: &Planned, name: &str) -> usize {
    planned.tensors.iter().position(|tensor| tensor.name == name).unwrap()
}

/// One row is written, then read with the others.
const CACHE: &str = "
    %0 x: input f32[1x4]
    %1 at: input u32
    %2 s: state f32[3x4]
    %3 old: node f32[3x4] = relu(%2)
    %4 next: state f32[3x4] = write(%2, %0, %1)
    %5 y: output f32[3x4] = add(%3, %4)
    ";

#[test]
fn a_version_has_the_bytes_of_the_one_before() {
    let plan = planned(CACHE);
    assert_eq!(ops(&plan), ["relu", "write", "add"]);
    let (s, next) = (&plan.tensors[at(&plan, "s")], &plan.tensors[at(&plan, "next")]);
    assert_eq!(s.view, next.view);
    assert!(matches!(next.storage, Storage::InPlace(_)));
    assert_eq!(plan.persistent, 48);
}

#[test]
fn options_leave_versions_where_they_are() {
    let graph = parse(CACHE);
    for (in_place, views) in [(false, true), (true, false), (false, false)] {
        let plan = plan(&graph, &Options { in_place, views, ..Options::default() }).unwrap();
        assert_eq!(plan.tensors[at(&plan, "s")].view, plan.tensors[at(&plan, "next")].view);
        assert_eq!(plan.persistent, 48);
    }
}

#[test]
fn what_is_read_late_is_copied_and_of_a_view_only_the_view() {
    let plan = planned(
        "%0 x: input f32[3x4]
        %1 s: state f32[3x4]
        %2 row: node f32[1x4] = slice(%1, start = 1, end = 2)
        %3 next: state f32[3x4] = write(%1, %0)
        %4 y: output f32[1x4] = add(%2, %2)",
    );
    assert_eq!(ops(&plan), ["copy", "write", "add"]);
    let copied = &plan.tensors[at(&plan, "row.before")];
    assert_eq!((copied.view.dims(), copied.storage), (&[1, 4][..], Storage::Own));
}

#[test]
fn an_output_that_is_an_old_version_is_copied() {
    let plan = planned(
        "%0 x: input f32[4]
        %1 s: state f32[4]
        %2 old: output f32[2] = slice(%1, end = 2)
        %3 next: state f32[4] = write(%1, %0)
        %4 new: output f32[2] = slice(%3, end = 2)",
    );
    assert_eq!(ops(&plan), ["copy", "write"]);
    assert_eq!(plan.tensors[at(&plan, "old")].storage, Storage::Own);
    assert!(matches!(plan.tensors[at(&plan, "new")].storage, Storage::View(_)));
}

#[test]
fn a_source_is_produced_in_the_state_where_that_is_safe() {
    let counted = |lines: &str| ops(&planned(lines)).iter().filter(|op| **op == "write").count();
    // Nothing else reads the old version.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 h: node f32[4] = tanh(%0)\n%3 n: state f32[4] = write(%1, %2)"
        ),
        0
    );
    // The source is made of it, in place.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 h: node f32[4] = add(%1, %0)\n%3 n: state f32[4] = write(%1, %2)"
        ),
        0
    );
    // The old version is read after the source is made.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 h: node f32[4] = tanh(%0)\n%3 y: output f32[4] = add(%1, %0)\n\
             %4 n: state f32[4] = write(%1, %2)"
        ),
        1
    );
    // A view of a view of the old version is read after the source is made.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 h: node f32[4] = tanh(%0)\n%3 v: node f32[3] = slice(%1, end = 3)\n\
             %4 u: node f32[2] = slice(%3, start = 1)\n%5 y: output f32[2] = relu(%4)\n%6 n: state f32[4] = write(%1, %2)"
        ),
        1
    );
    // The source is made of it and cannot be made over it.
    assert_eq!(
        counted(
            "%0 w: weight f32[4x4]\n%1 s: state f32[4]\n%2 h: node f32[4] = matmul(%1, %0)\n%3 n: state f32[4] = write(%1, %2)"
        ),
        1
    );
    // The source is an output as well.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 h: output f32[4] = tanh(%0)\n%3 n: state f32[4] = write(%1, %2)"
        ),
        1
    );
    // Only some rows are written.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[5]\n%2 h: node f32[4] = tanh(%0)\n%3 n: state f32[5] = write(%1, %2, at = 1)"
        ),
        1
    );
    // The source is read after the next write.
    assert_eq!(
        counted(
            "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 h: node f32[4] = tanh(%0)\n%3 n: state f32[4] = write(%1, %2)\n\
             %4 m: state f32[4] = write(%3, %0)\n%5 y: output f32[4] = relu(%2)"
        ),
        2
    );
}

#[test]
fn a_source_in_the_state_itself_is_copied_first() {
    let plan = planned(
        "%0 s: state f32[4]\n%1 part: node f32[3] = slice(%0, end = 3)\n%2 n: state f32[4] = write(%0, %1, at = 1)",
    );
    assert_eq!(ops(&plan), ["copy", "write"]);
}

#[test]
fn nothing_is_made_over_what_is_read_of_a_state() {
    let plan = planned("%0 s: state f32[64]\n%1 y: output f32[64] = softmax(%0, axis = 0)");
    assert_eq!(plan.tensors[1].storage, Storage::Own);
    assert_eq!(plan.size, 512);
}

#[test]
fn readers_of_the_old_version_stay_before_the_write_in_every_order() {
    let graph = parse(
        "%0 x: input f32[64]
        %1 s: state f32[64]
        %2 a: node f32[1] = sum(%1, axes = [0], keep_dims = true)
        %3 b: node f32[64] = exp(%0)
        %4 n: state f32[64] = write(%1, %3)
        %5 c: node f32[64] = add(%4, %2)
        %6 d: node f32[64] = mul(%5, %0)
        %7 y: output f32[1] = sum(%6, axes = [0], keep_dims = true)",
    );
    let plan = plan(&graph, &Options { order: Order::MinPeak, ..Options::default() }).unwrap();
    assert!(!ops(&plan).contains(&"copy"), "{:?}", ops(&plan));
}

#[test]
fn only_the_last_version_of_a_state_can_be_written() {
    let mut graph = parse("%0 x: input f32[4]\n%1 s: state f32[4]\n%2 n: state f32[4] = write(%1, %0)");
    let op = graph.nodes().next().unwrap().1.op.clone();
    let ids: Vec<_> = graph.tensors().map(|(id, _)| id).collect();
    let again = graph.node("m", Role::Node, op.clone(), &[ids[1], ids[0]]);
    assert_eq!(again.unwrap_err(), RuleError::Written { input: 0 });
    assert_eq!(
        graph.node("m", Role::Node, op.clone(), &[ids[0], ids[1]]).unwrap_err(),
        RuleError::NoState { input: 0 }
    );
    let last = graph.node("m", Role::Output, op, &[ids[2], ids[0]]).unwrap();
    assert_eq!(graph.tensor(last).role, Role::State);
    for (line, expected) in [
        ("%3 m: state f32[4] = write(%1, %0)", "the last version of the state to write"),
        ("%3 m: state f32[4] = write(%0, %1)", "a state to write"),
        ("%3 m: node f32[4] = write(%2, %0)", "`state`, for what a call writes over a state"),
        ("%3 m: state f32[4] = relu(%0)", "a call of `write`"),
    ] {
        let text =
            format!("model States\n%0 x: input f32[4]\n%1 s: state f32[4]\n%2 n: state f32[4] = write(%1, %0)\n{line}");
        let error = Graph::parse(&text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Breaks a plan that is right and gives what the checker says.
fn refused(lines: &str, harm: impl Fn(&mut Planned)) -> String {
    let mut plan = planned(lines);
    // What it says of lifetimes is not what is to be found out.
    let end = plan.steps.len() + 1;
    plan.tensors.iter_mut().for_each(|tensor| (tensor.first, tensor.last) = (0, end));
    assert_eq!(verify(&plan), Ok(()));
    harm(&mut plan);
    verify(&plan).expect_err("the plan is broken").what
}

#[test]
fn the_checker_knows_what_a_state_is() {
    // Another result over the state.
    let fault = refused(CACHE, |plan| {
        let s = at(plan, "s");
        let offset = plan.tensors[s].view.offset;
        tensor(plan, "y").storage = Storage::Own;
        let old = tensor(plan, "old");
        (old.storage, old.view.offset) = (Storage::InPlace(s), offset);
    });
    assert!(fault.contains("over the state `s`"), "{fault}");
    // A version that lies elsewhere.
    let fault = refused(CACHE, |plan| tensor(plan, "next").view.offset += 4);
    assert!(fault.contains("`next`"), "{fault}");
    // A version that is none.
    let fault = refused(CACHE, |plan| tensor(plan, "next").storage = Storage::Own);
    assert!(fault.contains("`next`"), "{fault}");
    let fault = refused(CACHE, |plan| tensor(plan, "next").role = Role::Node);
    assert!(fault.contains("over the state `s`"), "{fault}");
    // The old version is read after the write.
    let fault = refused(CACHE, |plan| plan.steps.swap(0, 1));
    assert!(fault.contains("over `s`") || fault.contains("over its operand `s`"), "{fault}");
    // The new version is read before it.
    let fault = refused(CACHE, |plan| plan.steps.swap(1, 2));
    assert!(fault.contains("`next` before it is written"), "{fault}");
    // The write is missing.
    let fault = refused(CACHE, |plan| drop(plan.steps.remove(1)));
    assert!(fault.contains("next"), "{fault}");
    // Two versions of one, which nothing orders.
    let twice = "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 n: state f32[4] = write(%1, %0)\n%3 m: state f32[4] = write(%2, %0)";
    let fault = refused(twice, |plan| {
        tensor(plan, "m").storage = Storage::InPlace(1);
        plan.steps[1].inputs[0] = 1;
    });
    assert!(fault.contains("`s` is written twice"), "{fault}");
    // Somebody else's bytes in between the last reader and the write.
    let between = "%0 x: input f32[4]\n%1 s: state f32[4]\n%2 a: node f32[4] = relu(%0)\n%3 b: output f32[4] = relu(%2)\n%4 n: state f32[4] = write(%1, %0)";
    let fault = refused(between, |plan| {
        let offset = plan.tensors[1].view.offset;
        tensor(plan, "b").storage = Storage::Own;
        let a = tensor(plan, "a");
        (a.view.offset, a.storage) = (offset, Storage::Own);
    });
    assert!(fault.contains("state `s`"), "{fault}");
    // What is kept looks at the state.
    let fault = refused("%0 s: state f32[4]\n%1 k: kept node f32[4] = reshape(%0, shape = [4])", |plan| {
        let view = plan.tensors[0].view;
        let k = tensor(plan, "k");
        (k.view, k.storage) = (view, Storage::View(0));
        plan.steps.clear();
    });
    assert!(fault.contains("state `s`"), "{fault}");
}
