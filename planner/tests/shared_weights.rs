//! Weights in a buffer of their own: what a plan says of them, and what the checker refuses.

use model_graph_planner::{Graph, Options, Planned, PlannedTensor, Role, Storage, plan, verify};

/// Weights read as they are and turned, one that nobody reads, and one without elements.
const NET: &str = "model Net
    %0 x: input f32[1x4]
    %1 w: weight f32[4x4]
    %2 turned: node f32[4x4] = transpose(%1)
    %3 empty: weight f32[0x4]
    %4 bias: weight f32[4]
    %5 half: constant f32
    %6 s: state f32[1x4]
    %7 h: node f32[1x4] = matmul(%0, %1)
    %8 next: state f32[1x4] = write(%6, %7)
    %9 y: output f32[1x4] = matmul(%8, %2)
    %10 z: output f32[1x4] = add(%9, %4)
    %11 e: output f32[1x4] = concat(%3, %7, axis = 0)
    ";

fn planned(shared_weights: bool, align: usize) -> Planned {
    let graph = Graph::parse(NET).unwrap_or_else(|error| panic!("{error}"));
    plan(&graph, &Options { align, shared_weights, ..Options::default() }).unwrap()
}

fn tensor<'p>(planned: &'p mut Planned, name: &str) -> &'p mut PlannedTensor {
    planned.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no `{name}`"))
}

#[test]
fn weights_and_what_looks_at_them_lie_behind_the_own_buffer() {
    for align in [4, 64, 4096] {
        let (own, apart) = (planned(false, align), planned(true, align));
        assert_eq!((own.shared, apart.shared), (0, 64usize.next_multiple_of(align) + 16));
        apart.with(|plan| {
            assert_eq!(plan.shared_start(), plan.size.next_multiple_of(align));
            for tensor in plan.tensors {
                let there = tensor.view.offset >= plan.shared_start();
                let weight = tensor.role == Role::Weight
                    || matches!(tensor.storage, Storage::View(of) if plan.tensors[of].role == Role::Weight);
                assert_eq!(there, weight, "{}", tensor.name);
                assert!(!there || tensor.view.span().end <= plan.shared_start() + plan.shared);
            }
        });
        assert!(own.size - apart.size >= apart.shared, "{} {}", own.size, apart.size);
        assert!(apart.lower_bound <= apart.size && apart.persistent < own.persistent);
        assert_eq!(own.steps.len(), apart.steps.len());
    }
}

#[test]
fn the_checker_knows_where_weights_and_others_may_be() {
    let sound = planned(true, 64);
    let start = sound.with(|plan| plan.shared_start());
    let refuse = |change: &dyn Fn(&mut Planned), expected: &str| {
        let mut changed = sound.clone();
        change(&mut changed);
        let fault = verify(&changed).expect_err(expected).to_string();
        assert!(fault.contains(expected), "{fault}");
    };
    refuse(
        &|plan| tensor(plan, "bias").view.offset = 0,
        "`bias` is a weight and does not lie among the shared weights",
    );
    refuse(&|plan| tensor(plan, "bias").view.offset += 64, "`bias` ends at");
    refuse(&|plan| plan.shared -= 1, "`bias` ends at");
    refuse(&|plan| plan.shared = 0, "ends at");
    refuse(&|plan| tensor(plan, "x").view.offset = start, "`x` ends at");
    refuse(&|plan| tensor(plan, "half").view.offset = start + 128, "`half` ends at");
    refuse(&|plan| tensor(plan, "h").view.offset = start, "`h` ends at");
    refuse(&|plan| plan.shared = usize::MAX, "no address lies behind");
    refuse(&|plan| tensor(plan, "bias").view.offset = tensor(plan, "w").view.offset, "overlap");
    refuse(
        &|plan| {
            // A step that writes what it calls a view of a weight.
            let w = plan.tensors.iter().position(|tensor| tensor.name == "w").unwrap();
            let h = tensor(plan, "h");
            (h.storage, h.view.offset) = (Storage::View(w), start);
        },
        "writes `h`, which does not lie in the model's own buffer",
    );
    verify(&sound).unwrap();
}

#[test]
fn tables_pictures_and_peaks_say_both_sizes() {
    planned(true, 64).with(|plan| {
        let table = plan.to_string();
        assert!(table.contains("shared       80 bytes in 3 weights, in a buffer of their own at 320"), "{table}");
        for drawn in [plan.svg().to_string(), plan.html().to_string()] {
            assert!(drawn.contains("; not drawn: 80 bytes of weights in a buffer of their own"), "{drawn}");
        }
        let peak = plan.peak();
        assert!(peak.bytes <= plan.size);
        assert!(peak.live.iter().all(|live| !plan.is_shared(&plan.tensors[live.tensor].view)));
        assert!(peak.to_string().ends_with("beside it: 80 bytes of weights in a buffer of their own"), "{peak}");
    });
    planned(false, 64).with(|plan| assert!(!plan.to_string().contains("shared")));
}
