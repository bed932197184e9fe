//! The table, the peak report and the picture: as they should look, well-formed for whatever names and sizes come, and
//! the same each time.

mod support;

use expect_test::expect_file;
use model_graph_planner::{Plan, PlanStep, PlanTensor, Role, Shape, Storage, View};
use roxmltree::{Document, Node};
use support::{Draft, interleaved, load, many, small, text, twice};

const EMPTY: Plan<'static> = Plan {
    model: "Empty",
    size: 0,
    align: 1,
    lower_bound: 0,
    optimal: true,
    persistent: 0,
    shared: 0,
    tensors: &[],
    steps: &[],
    saved: &[],
    open: model_graph_planner::OpenExtents::NONE,
};

/// The picture as XML, after looking at what every picture must keep to.
fn check_svg(plan: &Plan<'_>) -> String {
    let svg = twice(plan.svg());
    let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{}: {error}", plan.model));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}: a coordinate is no number", plan.model);
    let view: Vec<f64> = root.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    for rect in document.descendants().filter(|node| node.has_tag_name("rect")) {
        let number = |name: &str| rect.attribute(name).map_or(0.0, |value| value.parse::<f64>().unwrap());
        assert!(number("width") >= 0.0 && number("height") >= 0.0, "{}: a box of negative size", plan.model);
        assert!(number("x") + number("width") <= view[2] && number("y") + number("height") <= view[3]);
    }
    assert_eq!(tooltips(&document).len(), plan.tensors.len(), "{}: a tooltip for each tensor", plan.model);
    twice(plan);
    twice(plan.peak());
    svg
}

fn tooltips(document: &Document<'_>) -> Vec<String> {
    let inner = |node: &Node<'_, '_>| node.has_tag_name("title") && node.parent() != Some(document.root_element());
    document.descendants().filter(inner).map(|node| node.text().unwrap_or("").to_owned()).collect()
}

#[test]
fn a_small_plan_as_a_table() {
    expect_file!["golden/small.txt"].assert_eq(&format!("{}\n", small()));
}

#[test]
fn a_small_plan_in_short() {
    expect_file!["golden/small.short.txt"].assert_eq(&format!("{:#}\n", small()));
}

#[test]
fn why_the_peak_is_what_it_is() {
    let plan = small();
    let peak = plan.peak();
    assert_eq!((peak.moment, peak.bytes, peak.moments), (1, 125_112, 1));
    assert_eq!(plan.tensors[peak.live[0].tensor].name, "dense.weight");
    expect_file!["golden/small.peak.txt"].assert_eq(&format!("{peak}\n\n{peak:#}\n"));
}

#[test]
fn a_small_plan_as_a_picture() {
    expect_file!["golden/small.svg"].assert_eq(&check_svg(&small()));
}

#[test]
fn what_lies_in_between_is_not_drawn_over() {
    let plan = interleaved();
    assert!(plan.to_string().contains("part of joined, 128 of every 256 bytes"));
    let svg = check_svg(&plan);
    let document = Document::parse(&svg).unwrap();
    let edges = |name: &str| {
        let is_it = |node: &Node<'_, '_>| node.text().is_some_and(|text| text.starts_with(&format!("{name}\n")));
        let title = document.descendants().filter(|node| node.has_tag_name("title")).find(is_it).unwrap();
        let rect = title.parent().unwrap().children().find(|node| node.has_tag_name("rect")).unwrap();
        let [y, height] = ["y", "height"].map(|name| rect.attribute(name).unwrap().parse::<f64>().unwrap());
        (y, y + height)
    };
    assert!(edges("v").1 <= edges("k").0 + 0.02 && edges("k").1 <= edges("q").0 + 0.02);
    assert!(edges("kept").1 <= edges("mixed").0 + 0.02);
}

#[test]
fn a_view_does_not_hide_the_name_of_what_it_looks_at() {
    let mut draft = Draft::default();
    let from = draft.tensor("layer", Role::Node, &[4, 64], Storage::Own);
    let view = draft.tensor("flat", Role::Node, &[256], Storage::View(from));
    draft.step("fill", &[], &[from, view], &[]);
    draft.step("sum", &[view], &[], &[]);
    let svg = check_svg(&draft.plan("View", 4));
    assert!(svg.contains(">layer</text>") && svg.contains(">flat</text>"), "{svg}");
}

#[test]
fn every_name_is_shown_and_nothing_else() {
    let names = ["<&\">", "']]>--", "größe_中文_🦀", "r#type", "\u{0}\u{1b}[31m\n", "\u{ffff}", "", "a b\tc", "&amp;"];
    let mut draft = Draft::default();
    for (index, name) in names.into_iter().enumerate() {
        let tensor = draft.tensor(name, Role::Node, &[64], Storage::Own);
        draft.step(names[names.len() - 1 - index], &[], &[tensor], &[]);
    }
    let plan = Plan { model: "<script>&\u{7}", ..draft.plan("", 4) };
    let svg = check_svg(&plan);
    let document = Document::parse(&svg).unwrap();
    let shown: Vec<String> =
        tooltips(&document).into_iter().map(|text| text.split('\n').next().unwrap().to_owned()).collect();
    assert_eq!(shown[0], names[0]);
    assert_eq!(shown[1], names[1]);
    assert_eq!(shown[2], names[2]);
    assert_eq!(shown[4], "\u{fffd}\u{fffd}[31m\u{fffd}");
    assert!(!plan.to_string().contains('\u{1b}'), "a name must not steer the terminal");
}

#[test]
fn nothing_at_all() {
    check_svg(&EMPTY);
    assert_eq!(EMPTY.peak().live, []);
    assert!(EMPTY.to_string().ends_with("0 tensors, 0 steps"));
}

#[test]
fn weights_without_steps() {
    let mut draft = Draft::default();
    draft.tensor("w", Role::Weight, &[3], Storage::Own);
    let plan = draft.plan("Weights", 16);
    check_svg(&plan);
    assert_eq!(plan.peak().bytes, 12);
}

#[test]
fn steps_without_bytes() {
    let mut draft = Draft::default();
    let from = draft.tensor("from", Role::Input, &[0, 3], Storage::Own);
    let to = draft.tensor("to", Role::Output, &[0], Storage::Own);
    draft.step("nothing", &[from], &[to], &[]);
    check_svg(&draft.plan("Hollow", 16));
}

#[test]
fn sizes_near_the_largest() {
    let tensor = |name, offset, size, role| PlanTensor {
        name,
        role,
        view: View { offset, ..View::packed(model_graph_planner::DType::U8, 0, &Shape::new(&[size]).unwrap()) },
        first: 0,
        last: 2,
        storage: Storage::Own,
    };
    let half = usize::MAX / 2;
    let tensors = [tensor("low", 0, half, Role::Weight), tensor("high", half, half, Role::Node)];
    let steps = [PlanStep { op: "op", inputs: &[0], outputs: &[1], scratch: &[] }];
    let whole = Plan { size: usize::MAX, lower_bound: usize::MAX, tensors: &tensors, steps: &steps, ..EMPTY };
    for persistent in [0, 1, half, usize::MAX] {
        check_svg(&Plan { persistent, ..whole });
    }
    // Two of them overflow together: wrong, and still shown.
    let twins = [tensor("a", usize::MAX, usize::MAX, Role::Node), tensor("b", 1, usize::MAX, Role::Node)];
    check_svg(&Plan { tensors: &twins, ..whole });
    check_svg(&Plan { tensors: &twins, size: 1, lower_bound: 0, ..whole });
}

#[test]
fn a_broken_plan_is_shown_too() {
    let own = small().tensors[0];
    let strange = PlanTensor { first: 9, last: 3, ..own };
    let tensors = [
        PlanTensor { storage: Storage::View(1), ..strange },
        PlanTensor { storage: Storage::Part(0), ..strange },
        PlanTensor { storage: Storage::InPlace(99), ..strange },
        PlanTensor { storage: Storage::View(3), ..own },
    ];
    let steps = [PlanStep { op: "op", inputs: &[0, 77], outputs: &[], scratch: &[usize::MAX] }];
    check_svg(&Plan { tensors: &tensors, steps: &steps, ..EMPTY });
}

#[test]
fn two_thousand_tensors() {
    let plan = many(2000);
    let svg = check_svg(&plan);
    assert!(svg.len() < 600_000, "{} bytes", svg.len());
    let table = plan.to_string();
    assert!(table.lines().all(|line| line.chars().count() <= 160), "lines stay readable");
}

#[test]
fn what_makes_the_peak_is_named_in_a_large_picture() {
    let mut plans = vec![many(1700)];
    plans.extend(["sd15_unet_64", "unet_resnet34_256"].into_iter().filter_map(|name| load(name, true)));
    for plan in plans {
        let svg = check_svg(&plan);
        let document = Document::parse(&svg).unwrap();
        let written: Vec<&str> =
            document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
        let peak = plan.peak();
        let passing = peak.live.iter().filter(|live| !plan.tensors[live.tensor].role.is_persistent());
        let names: Vec<&str> = passing.map(|live| plan.tensors[live.holder].name).collect();
        assert!(!names.is_empty() && names.len() <= 32, "{}: {}", plan.model, names.len());
        for name in names {
            // A name of more than forty letters is cut in its middle.
            let whole = |text: &&str| match text.split_once('…') {
                Some((head, tail)) if name.len() > 40 => name.starts_with(head) && name.ends_with(tail),
                _ => *text == name,
            };
            assert!(written.iter().any(whole), "{}: {name} has no label", plan.model);
        }
    }
}

#[test]
fn long_operand_lists_are_broken() {
    let mut draft = Draft::default();
    let parts: Vec<usize> = (0..40)
        .map(|index| draft.tensor(format!("a_rather_long_name_{index}"), Role::Node, &[4], Storage::Own))
        .collect();
    let all = draft.tensor("all", Role::Output, &[160], Storage::Own);
    draft.step("concat", &parts, &[all], &[]);
    let table = draft.plan("Wide", 4).to_string();
    let steps = &table[table.find("step  op").unwrap()..];
    assert!(steps.lines().count() > 8 && steps.lines().all(|line| line.chars().count() <= 120));
    assert!(parts.iter().all(|part| steps.contains(&format!("a_rather_long_name_{part}"))));
}

#[test]
fn labels_never_overlap() {
    let mut plans = vec![small(), interleaved(), many(300)];
    plans.extend(["densenet121", "bert_base_s128"].into_iter().filter_map(|name| load(name, true)));
    for plan in plans {
        let svg = check_svg(&plan);
        let document = Document::parse(&svg).unwrap();
        let mut boxes: Vec<[f64; 4]> = Vec::new();
        for label in document.descendants().filter(|node| node.attribute("class").is_some_and(is_label)) {
            let length = label.text().unwrap_or("").chars().count() as f64;
            let size = match label.attribute("style").and_then(|style| style.strip_prefix("font-size:")) {
                Some(size) => size.trim_end_matches("px").parse().unwrap(),
                None if label.attribute("class").unwrap().contains('s') => 9.0,
                None => 11.0,
            };
            let (along, across) = (length * size * 0.6 / 2.0, size * 0.4);
            let here: Vec<f64> = match label.attribute("transform") {
                None => ["x", "y"].map(|axis| label.attribute(axis).unwrap().parse().unwrap()).into(),
                Some(turn) => {
                    let inside = &turn["translate(".len()..turn.find(')').unwrap()];
                    inside.split(' ').map(|n| n.parse().unwrap()).collect()
                }
            };
            let upright = label.attribute("transform").is_some();
            let (half_width, half_height) = if upright { (across, along) } else { (along, across) };
            let (x, y) = if upright { (here[0] - across, here[1]) } else { (here[0], here[1] - across) };
            let area = [x - half_width, x + half_width, y - half_height, y + half_height];
            for other in &boxes {
                let apart = area[1] <= other[0] || other[1] <= area[0] || area[3] <= other[2] || other[3] <= area[2];
                assert!(apart, "{}: {:?} overlaps another label", plan.model, label.text());
            }
            boxes.push(area);
        }
        assert!(!boxes.is_empty());
    }
}

fn is_label(class: &str) -> bool {
    class.starts_with("c n")
}

#[test]
fn real_networks() {
    let Some(folder) = support::shared() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            check_svg(&load(name, true).unwrap());
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen} networks");
}

#[test]
fn a_name_is_cut_in_its_middle() {
    let mut draft = Draft::default();
    let long = text("encoder.layers.11.attention.self.query.weight.transposed.and.packed");
    let tensor = draft.tensor(long, Role::Output, &[1], Storage::Own);
    draft.step("op", &[], &[tensor], &[]);
    let table = draft.plan("Long", 4).to_string();
    assert!(table.contains("encoder.layers.…ht.transposed.and.packed"), "{table}");
}

/// Open extents are drawn as they follow from their dim.
#[test]
fn open_extents_go_by_their_dims() {
    let text = "\
model Open
  dims SEQ <= 512, WIDE <= 8
  %0 x: input f32[{SEQ}x{WIDE}]
  %1 z: input f32[{2 * SEQ - 1}x{WIDE}]
  %2 y: output f32[{3 * SEQ - 1}x{WIDE}] = concat(%0, %1, axis = 0)
  %3 m: output f32[{WIDE}] = mean(%2, axes = [0], keep_dims = false)
";
    let graph: model_graph_planner::Graph = text.parse().unwrap();
    assert_eq!(graph.to_string(), text);
    let planned = model_graph_planner::plan(&graph, &model_graph_planner::Options::default()).unwrap();
    planned.with(|plan| {
        let table = plan.to_string();
        assert!(table.contains("\nopen        SEQ <= 512, WIDE <= 8\n"), "{table}");
        for extents in ["{SEQ}x{WIDE}", "{2 * SEQ - 1}x{WIDE}", "{3 * SEQ - 1}x{WIDE}"] {
            assert!(table.contains(extents) && plan.html().to_string().contains(extents), "{extents}: {table}");
            assert!(plan.svg().to_string().contains(extents), "{extents}");
        }
        assert_eq!(plan.open.dims, [("SEQ", 512), ("WIDE", 8)]);
    });
}
