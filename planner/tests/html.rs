//! The page: that it asks for nothing from outside, that names cannot break it, and, in a real browser where one is
//! installed, that hovering, zooming, moving, searching and sorting do what they say.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model_graph_planner::draw::Peak;
use model_graph_planner::{Plan, Role, Storage};
use support::{Draft, interleaved, load, many, small, twice};

/// Collects what goes wrong, from before the page's own script runs.
const WATCH: &str = "<script>window.faults = [];
addEventListener('error', (event) => faults.push(event.message));
addEventListener('securitypolicyviolation', (event) => faults.push('blocked ' + event.blockedURI));
for (const level of ['error', 'warn']) console[level] = (...words) => faults.push(words.join(' '));
</script>";

/// Plays a visitor, with events as a browser would send them, and writes what was seen into the page.
const VISIT: &str = "<script>(() => {
const seen = {}, frame = canvas.getBoundingClientRect();
const send = (type, x, y, more = {}) => canvas.dispatchEvent(new (type === 'wheel' ? WheelEvent : PointerEvent)(type,
  { clientX: frame.left + x, clientY: frame.top + y, bubbles: true, cancelable: true, pointerId: 1, ...more }));
const middle = (tensor) => { const box = area(tensor); return [box.x + box.w / 2, box.y + box.h / 2]; };
const largest = tensors.filter((t) => t.root === t.index).sort((a, b) => b.end - b.start - a.end + a.start)[0];
const others = (t) => storages.get(t.root).members.length > 1;
const target = tensors.filter((t) => !others(t)).sort((a, b) => b.end - b.start - a.end + a.start)[0] ?? largest;

seen.tensors = tensors.length;
const written = [], write = pen.fillText;
pen.fillText = (text, ...rest) => { written.push(text); write.call(pen, text, ...rest); };
draw();
pen.fillText = write;
seen.marked = written.find((text) => text.startsWith('peak at ')) ?? '';
send('pointermove', sx(PEAK + 0.5), frame.height / 2);
seen.used = find('status').textContent;
if (target) {
  send('pointermove', ...middle(target));
  seen.tip = !tip.hidden && tip.textContent.startsWith(target.name) && tip.textContent.includes(target.offset);
  seen.status = find('status').textContent.endsWith(' live');
  draw();
  const [x, y] = middle(target), ratio = devicePixelRatio;
  const box = area(target), clear = [box.x + 5, box.y + 5];
  seen.painted = box.h > 12 && box.w > 12
    ? pen.getImageData(clear[0] * ratio, clear[1] * ratio, 1, 1).data[3] === 255 : true;

  send('wheel', x, y, { deltaY: -60 });
  seen.zoomed = view.w < 1 && view.h < 1;
  seen.anchored = under(x, y) === target;
  const wide = view.w;
  send('wheel', x, y, { deltaY: -60, altKey: true });
  seen.tall = view.w === wide && view.h < 0.7;
  const before = view.x;
  send('pointerdown', x, y); send('pointermove', x + 40, y + 10);
  send('pointermove', x - 60, y + 10); send('pointerup', x - 60, y + 10);
  seen.moved = view.x !== before || view.x === 0 || view.x === 1 - view.w;
  canvas.dispatchEvent(new MouseEvent('dblclick'));
  seen.whole = view.x === 0 && view.y === 0 && view.w === 1 && view.h === 1;
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
  seen.key = view.w < 1;
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0' }));

  send('pointerdown', ...middle(target)); send('pointerup', ...middle(target));
  seen.picked = picked === target && target.row.className === 'picked';
  target.row.click();
  seen.shown = view.h < 1 || ceiling(target.end) - floor(target.start) > 0.4;
  find('peak').click();
  seen.peak = PEAK / MOMENTS >= view.x && (PEAK + 1) / MOMENTS <= view.x + view.w + 1e-9;
  const most = Math.max(...live);
  seen.most = live[PEAK] === most && live.indexOf(most) === PEAK;

  search.value = target.name.toUpperCase(); search.dispatchEvent(new Event('input'));
  seen.found = !target.row.hidden && tensors.every((t) => t.row.hidden === !t.name.toLowerCase().includes(target.name.toLowerCase()));
  search.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  search.value = ''; search.dispatchEvent(new Event('input'));
  columns[5].click(); columns[5].click();
  const first = find('tensors').tBodies[0].rows[0];
  seen.sorted = tensors.every((t) => keys[5](t) <= keys[5](tensors.find((u) => u.row === first)));
  if (!find('scale').hidden) { find('scale').click(); seen.scaled = base === 0; find('scale').click(); }
  look(0, 0, 1, 1);
}
draw();
seen.inert = document.querySelectorAll('img, iframe, link, object, script[src]').length === 0 && !window.broken;
seen.faults = faults;
const note = document.createElement('pre');
note.id = 'seen'; note.textContent = JSON.stringify(seen);
document.body.append(note);
})();</script>";

/// The first browser of a few names that can be started.
fn browser() -> Option<&'static str> {
    let starts = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| starts(name).is_ok());
    if found.is_none() {
        assert!(
            std::env::var_os("MODEL_GRAPH_STRICT").is_none(),
            "no Chromium is installed, and nothing may be skipped"
        );
        support::aloud("skipped: no Chromium is installed, so the page is not opened in a browser");
    }
    found
}

/// Opens a page, plays the visitor, and returns what was seen.
fn visit(browser: &str, name: &str, plan: &Plan<'_>) -> serde_json::Value {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html");
    std::fs::create_dir_all(&folder).unwrap();
    let (page, dump) = (folder.join(name).with_extension("html"), folder.join(name).with_extension("dump"));
    let html = plan.html().to_string();
    let html =
        html.replacen("<style>", &format!("{WATCH}<style>"), 1).replacen("</body>", &format!("{VISIT}</body>"), 1);
    std::fs::write(&page, html).unwrap();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--virtual-time-budget=4000"])
        .arg(format!("--user-data-dir={}", folder.join(format!("{name}.profile")).display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .stdout(std::fs::File::create(&dump).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(90) {
            child.kill().unwrap();
            panic!("{name}: the browser did not come back");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let dump = std::fs::read_to_string(&dump).unwrap();
    let (_, seen) = dump.rsplit_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("{name}: the visit broke off"));
    let seen = seen.split("</pre>").next().unwrap().replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    serde_json::from_str(&seen).unwrap()
}

/// Whether a text gives a peak's bytes as the peak does itself.
fn says(text: &str, peak: &Peak<'_>) -> bool {
    let peak_text = peak.to_string();
    let head = peak_text.lines().next().unwrap();
    let size = match head.split_once(" (") {
        Some((_, rest)) if peak.bytes >= 1024 => rest.split(')').next().unwrap().to_owned(),
        _ => format!("{} bytes", peak.bytes),
    };
    text.trim_end_matches(" live").ends_with(&format!(": {size}"))
}

/// A concatenation that is filled part by part: at the peak one half of its storage is in use.
fn filled_by_parts() -> Plan<'static> {
    let mut draft = Draft::default();
    let x = draft.tensor("x", Role::Input, &[1, 4, 64, 64], Storage::Own);
    let joined = draft.tensor("joined", Role::Node, &[1, 8, 64, 64], Storage::Own);
    let skip = draft.tensor("skip", Role::Node, &[1, 4, 64, 64], Storage::Part(joined));
    let wide = draft.tensor("wide", Role::Node, &[1, 32, 64, 64], Storage::Own);
    let wider = draft.tensor("wider", Role::Node, &[1, 48, 64, 64], Storage::Own);
    let up = draft.tensor("up", Role::Node, &[1, 4, 64, 64], Storage::Part(joined));
    let y = draft.tensor("y", Role::Output, &[1, 4, 64, 64], Storage::Own);
    draft.step("conv2d", &[x], &[skip], &[]);
    draft.step("conv2d", &[skip], &[wide], &[]);
    draft.step("conv2d", &[wide], &[wider], &[]);
    draft.step("conv2d", &[wider], &[up], &[]);
    draft.step("concat", &[skip, up], &[joined], &[]);
    draft.step("conv2d", &[joined], &[y], &[]);
    draft.plan("FilledByParts", 64)
}

/// Everything that was tried worked, and nothing was complained of.
fn check_visit(browser: &str, name: &str, plan: &Plan<'_>) {
    let seen = visit(browser, name, plan);
    assert_eq!(seen["tensors"], plan.tensors.len(), "{name}");
    for (what, outcome) in seen.as_object().unwrap() {
        match what.as_str() {
            "tensors" => {}
            "marked" | "used" => assert!(says(outcome.as_str().unwrap(), &plan.peak()), "{name}: {what} in {seen}"),
            "faults" => assert_eq!(outcome, &serde_json::json!([]), "{name}"),
            _ => assert_eq!(outcome, true, "{name}: {what} in {seen}"),
        }
    }
}

#[test]
fn a_visit_in_a_browser() {
    let Some(browser) = browser() else { return };
    check_visit(browser, "small", &small());
    check_visit(browser, "interleaved", &interleaved());
    check_visit(browser, "filled_by_parts", &filled_by_parts());
    check_visit(browser, "many", &many(600));
    check_visit(browser, "odd", &odd());
    let empty = Plan { tensors: &[], steps: &[], size: 0, lower_bound: 0, persistent: 0, ..small() };
    check_visit(browser, "empty", &empty);
    if let Some(plan) = load("gpt2_small_decode_past127", true) {
        check_visit(browser, "gpt2", &plan);
    }
}

/// Names that would break a page that took them at their word.
fn odd() -> Plan<'static> {
    let mut draft = Draft::default();
    let names =
        ["</td></table><script>broken=1</script>", "<img src=x onerror=broken=1>", "&lt;b&gt;", "\"'`", "中文🦀"];
    for (index, name) in names.into_iter().enumerate() {
        let tensor = draft.tensor(name, Role::Node, &[16 + index], Storage::Own);
        draft.step(name, &[tensor], &[tensor], &[]);
    }
    draft.plan("</title><script>broken=1</script>", 4)
}

#[test]
fn nothing_comes_from_outside() {
    for plan in [small(), odd()] {
        let html = twice(plan.html());
        assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("//cdn"));
        assert_eq!(html.matches("<script").count(), 1);
        assert_eq!(html.matches("</script").count(), 1);
    }
}

#[test]
fn the_page_has_the_bytes_of_each_moment() {
    let plan = filled_by_parts();
    let held: usize = [4, 32, 48].map(|channels| channels * 64 * 64 * 4).iter().sum();
    assert_eq!(plan.peak().bytes, held, "half of the concatenation is in use while `wider` is made");
    let html = plan.html().to_string();
    let (_, live) = html.split_once("data-live=\"").unwrap();
    let live: Vec<usize> = live.split('"').next().unwrap().split(' ').map(|bytes| bytes.parse().unwrap()).collect();
    assert_eq!(live.len(), plan.steps.len() + 2);
    assert_eq!(live[plan.peak().moment], plan.peak().bytes);
    assert_eq!(live.iter().max(), Some(&plan.peak().bytes));
}

#[test]
fn every_tensor_and_step_has_its_row() {
    let plan = small();
    let html = plan.html().to_string();
    assert_eq!(html.matches("<tr data-box=").count(), plan.tensors.len());
    assert_eq!(html.matches("<td class=\"n\">").count(), 2 * plan.tensors.len() + plan.steps.len());
    assert!(html.contains(&plan.peak().to_string()));
}
