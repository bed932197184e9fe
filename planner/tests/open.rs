//! Plans with open dims hold at every value, those that no pass looked at among them.

use model_graph_planner::{Dim, Graph, How, Options, Planned, PlannedTensor, Storage, plan, samples, verify};

/// The end of a slice with steps is a rounded extent: it jumps, and between two values that the passes look at it can
/// meet what stands still there.
#[test]
fn what_jumps_between_samples_is_not_overwritten() {
    let graph = Graph::parse(
        "model Jumps
  dims S <= 512
  %0 a: input f32[{S + 49}]
  %1 x: node f32[{S + 49}] = exp(%0)
  %2 end: node f32[1] = slice(%1, axis = 0, start = {S + 48}, end = {S + 49}, step = 1)
  %3 p: node f32[1] = neg(%2)
  %4 some: node f32[{(S + 148) / 100}] = slice(%1, axis = 0, start = 0, end = {S + 49}, step = 100)
  %5 s: node f32 = sum(%4, axes = [0], keep_dims = false)
  %6 y: output f32[1] = add(%5, %3)
",
    )
    .unwrap();
    let planned = plan(&graph, &Options::default()).unwrap();
    for value in 1..=512 {
        let there = planned.at(&[value]).unwrap();
        assert_eq!(verify(&there), Ok(()), "S = {value}");
    }
}

/// Changes a tensor of a plan.
fn change(planned: &mut Planned, name: &str, change: impl FnOnce(&mut PlannedTensor)) {
    let tensor = planned.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap();
    change(tensor);
}

fn position(planned: &Planned, name: &str) -> usize {
    planned.tensors.iter().position(|tensor| tensor.name == name).unwrap()
}

/// The fault of a plan that holds at its bounds and at all values that the passes look at.
fn refused(planned: &Planned) -> String {
    for values in samples(&planned.open) {
        assert_eq!(verify(&planned.at(&values).unwrap()), Ok(()), "{values:?}");
    }
    let there: Vec<usize> = planned.open.iter().map(|open| open.bound).collect();
    assert_eq!(verify(&planned.at(&there).unwrap()), Ok(()));
    verify(planned).expect_err("a faulty plan").to_string()
}

/// A plan without results in place, and one that is put where `over` lies.
fn with_in_place(text: &str, result: &str, over: &str) -> Planned {
    let options = Options { in_place: false, ..Options::default() };
    let mut planned = plan(&Graph::parse(text).unwrap(), &options).unwrap();
    assert_eq!(verify(&planned), Ok(()));
    let over = position(&planned, over);
    let view = planned.tensors[over].view;
    change(&mut planned, result, |tensor| {
        tensor.storage = Storage::InPlace(over);
        tensor.view = view;
    });
    planned
}

/// At `S = 52` the last element is one of every hundredth, and at the values that the passes look at it is none.
#[test]
fn a_result_over_what_a_rounded_view_has_is_refused() {
    let text = "\
model Jumps
  dims S <= 512
  %0 a: input f32[{S + 49}]
  %1 x: node f32[{S + 49}] = exp(%0)
  %2 end: node f32[1] = slice(%1, axis = 0, start = {S + 48}, end = {S + 49}, step = 1)
  %3 p: node f32[1] = neg(%2)
  %4 some: node f32[{(S + 148) / 100}] = slice(%1, axis = 0, start = 0, end = {S + 49}, step = 100)
  %5 s: node f32 = sum(%4, axes = [0], keep_dims = false)
  %6 y: output f32[1] = add(%5, %3)
";
    let fault = refused(&with_in_place(text, "p", "end"));
    assert!(fault.contains("step 1 writes `p` over `some`, which is still needed"), "{fault}");
}

/// One element stands still and another passes it, at `S = 51` alone.
#[test]
fn a_result_over_what_passes_by_is_refused() {
    let text = "\
model Passes
  dims S <= 512
  %0 a: input f32[{S + 49}]
  %1 x: node f32[{S + 49}] = exp(%0)
  %2 still: node f32[1] = slice(%1, axis = 0, start = 49, end = 50, step = 1)
  %3 p: node f32[1] = neg(%2)
  %4 moves: node f32[1] = slice(%1, axis = 0, start = {S - 1}, end = {S}, step = 1)
  %5 s: node f32[1] = neg(%4)
  %6 y: output f32[1] = add(%5, %3)
";
    let fault = refused(&with_in_place(text, "p", "still"));
    assert!(fault.contains("step 1 writes `p` over `moves`, which is still needed"), "{fault}");
}

/// They meet where `S` is `T + 101`.
#[test]
fn a_result_over_what_meets_it_at_some_values_of_two_dims_is_refused() {
    let text = "\
model Two
  dims S <= 300, T <= 300
  %0 a: input f32[450]
  %1 x: node f32[450] = exp(%0)
  %2 one: node f32[1] = slice(%1, axis = 0, start = {S - 1}, end = {S}, step = 1)
  %3 p: node f32[1] = neg(%2)
  %4 other: node f32[1] = slice(%1, axis = 0, start = {T + 100}, end = {T + 101}, step = 1)
  %5 s: node f32[1] = neg(%4)
  %6 y: output f32[1] = add(%5, %3)
";
    let fault = refused(&with_in_place(text, "p", "one"));
    assert!(fault.contains("step 1 writes `p` over `other`, which is still needed"), "{fault}");
}

/// Where a part starts is another number than where the one before it ends, at values that the passes do not look at.
#[test]
fn a_part_that_starts_elsewhere_at_some_values_is_refused() {
    let text = "\
model Parts
  dims S <= 512
  %0 a: input f32[{(S + 99) / 100}]
  %1 b: input f32[{S}]
  %2 p: node f32[{(S + 99) / 100}] = exp(%0)
  %3 q: node f32[{S}] = exp(%1)
  %4 y: output f32[{(101 * S + 99) / 100}] = concat(%2, %3, axis = 0)
";
    let mut planned = plan(&Graph::parse(text).unwrap(), &Options::default()).unwrap();
    assert_eq!(verify(&planned), Ok(()));
    let start = Dim::open(0, 512).plus(98).and_then(|dim| dim.over(99)).unwrap();
    change(&mut planned, "q", |tensor| {
        assert!(matches!(tensor.how, How::Part { axis: 0, start } if start.size == 6));
        tensor.how = How::Part { axis: 0, start };
    });
    let fault = refused(&planned);
    assert!(fault.contains("`q` reaches beyond `y`, whose bytes it has"), "{fault}");
}

/// What is empty where `S` is below 30 lies at 30 there, before every place that it has at the values that are looked at.
#[test]
fn what_is_empty_at_first_keeps_its_place() {
    let graph = Graph::parse(
        "model Late
  dims S <= 512
  %0 a: kept input f32[{31 * S / 30}]
  %1 x: node f32[{31 * S / 30}] = exp(%0)
  %2 end: node f32[{S / 30}] = slice(%1, axis = 0, start = {S}, end = {31 * S / 30}, step = 1)
  %3 c: weight f32[160]
  %4 p: node f32[160] = exp(%3)
  %5 q: node f32[160] = neg(%4)
  %6 s: node f32 = sum(%2, axes = [0], keep_dims = false)
  %7 y: output f32[160] = add(%6, %5)
",
    )
    .unwrap();
    for in_place in [true, false] {
        let planned = plan(&graph, &Options { in_place, ..Options::default() }).unwrap();
        assert_eq!(verify(&planned), Ok(()));
        let end = &planned.tensors[position(&planned, "end")];
        assert!(matches!(end.storage, Storage::View(_)), "{:?}", end.storage);
        for value in 1..=512 {
            assert_eq!(verify(&planned.at(&[value]).unwrap()), Ok(()), "S = {value}");
        }
    }
}

/// What can be shown for all values is done in place all the same: halves and ends that are next to one another.
#[test]
fn what_never_meets_is_in_place() {
    let ends = "\
model Ends
  dims S <= 100000
  %0 a: input f32[{S + 1}x8]
  %1 x: node f32[{S + 1}x8] = exp(%0)
  %2 last: node f32[1x8] = slice(%1, axis = 0, start = {S}, end = {S + 1}, step = 1)
  %3 p: node f32[1x8] = exp(%2)
  %4 first: node f32[{S}x8] = slice(%1, axis = 0, start = 0, end = {S}, step = 1)
  %5 y: output f32[{S}x8] = add(%4, %3)
";
    let halves = "\
model Halves
  dims S <= 1000, T <= 1000
  %0 a: input f32[2x{S}x{T}]
  %1 x: node f32[2x{S}x{T}] = exp(%0)
  %2 l: node f32[1x{S}x{T}] = slice(%1, axis = 0, start = 0, end = 1, step = 1)
  %3 p: node f32[1x{S}x{T}] = tanh(%2)
  %4 r: node f32[1x{S}x{T}] = slice(%1, axis = 0, start = 1, end = 2, step = 1)
  %5 y: output f32[1x{S}x{T}] = mul(%3, %4)
";
    for (text, result) in [(ends, "p"), (halves, "p")] {
        let planned = plan(&Graph::parse(text).unwrap(), &Options::default()).unwrap();
        let tensor = &planned.tensors[position(&planned, result)];
        assert!(matches!(tensor.storage, Storage::InPlace(_)), "{}: {:?}", planned.model, tensor.storage);
    }
}

/// Sound at 320 samples a frame, and many frames' views: what follows from the frames alone is looked at by frames.
#[test]
fn many_views_of_rounded_extents_are_shown_to_hold() {
    let graph = |dims: &str, frames: &str| {
        let mut text = format!("model Sound\n  dims {dims}\n  %0 w: weight f32[8x8]\n  %1 x: input f32[{frames}x8]\n");
        for at in (1..240).step_by(4) {
            text += &format!("  %{} t: node f32[8x{frames}] = permute(%{at}, axes = [1, 0])\n", at + 1);
            text += &format!("  %{} u: node f32[{frames}x8] = permute(%{}, axes = [1, 0])\n", at + 2, at + 1);
            text += &format!("  %{} m: node f32[{frames}x8] = matmul(%{}, %0)\n", at + 3, at + 2);
            text += &format!("  %{} x: node f32[{frames}x8] = softmax(%{}, axis = 1)\n", at + 4, at + 3);
        }
        text += &format!("  %242 y: output f32[{frames}x8] = relu(%241)\n");
        plan(&Graph::parse(&text).unwrap(), &Options::default()).unwrap()
    };
    let (sound, fixed) = (graph("S <= 160000", "{(S + 319) / 320}"), graph("Z <= 2", "500"));
    assert_eq!(sound.size, fixed.size);
    assert!(sound.tensors.iter().zip(&fixed.tensors).all(|(sound, fixed)| sound.storage == fixed.storage));
}

/// One frame stands still and another passes it, for 320 of 160,000 values.
#[test]
fn a_result_over_a_frame_that_passes_by_is_refused() {
    let text = "\
model Frames
  dims S <= 160000
  %0 a: input f32[{(S + 63999) / 320}]
  %1 x: node f32[{(S + 63999) / 320}] = exp(%0)
  %2 still: node f32[1] = slice(%1, axis = 0, start = 167, end = 168, step = 1)
  %3 p: node f32[1] = neg(%2)
  %4 moves: node f32[1] = slice(%1, axis = 0, start = {(S - 1) / 320}, end = {(S + 319) / 320}, step = 1)
  %5 s: node f32[1] = neg(%4)
  %6 y: output f32[1] = add(%5, %3)
";
    let fault = refused(&with_in_place(text, "p", "still"));
    assert!(fault.contains("step 1 writes `p` over `moves`, which is still needed"), "{fault}");
}

/// However long a plan is, there is as much to show of each of its tensors.
#[test]
fn long_plans_are_shown_to_hold_as_short_ones_are() {
    for count in [20, 300] {
        let mut text = String::from("model Long\n  dims A <= 5000\n  %0 x: input f32[{A}x{(A + 99) / 100}]\n");
        for at in 0..count {
            text += &format!("  %{} x: node f32[{{A}}x{{(A + 99) / 100}}] = softmax(%{at}, axis = 1)\n", at + 1);
        }
        text += &format!("  %{} y: output f32[{{A}}x{{(A + 99) / 100}}] = relu(%{count})\n", count + 1);
        let planned = plan(&Graph::parse(&text).unwrap(), &Options::default()).unwrap();
        assert_eq!(planned.size, 5000 * 50 * 4, "{count}");
    }
}
