//! One allocation in construction and none in forward, counted on all threads by the allocator itself.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use model_graph::{
    Converted, Cpu, DType, Error, ErrorKind, Observer, Poison, TfLite, Weight, WeightSource, model_graph,
};
use model_graph_examples::digits::{Digits, digits, show, weights};
use model_graph_examples::keywords;
use model_graph_examples::rnnoise::{self, Rnnoise, RnnoiseWeights};
use model_graph_examples::silero::Silero;
use model_graph_examples::snake::Signal;
use model_graph_examples::stories::Stories;

/// What a file of `f32` is converted for.
#[model_graph]
struct Smaller {
    #[input]
    x: Tensor<f32, 40>,
    #[weight]
    w: Tensor<q4_0, 40, 40>,
    #[weight]
    b: Tensor<f16, 40>,
    #[output(linear(x, w, b as f32))]
    y: _,
}

struct Zeros([u8; 6400]);

impl WeightSource for Zeros {
    fn find(&self, name: &str) -> Result<Option<Weight<'_>>, Error> {
        let shape: &[usize] = if name == "w" { &[40, 40] } else { &[40] };
        let bytes = &self.0[..4 * shape.iter().product::<usize>()];
        Ok(Some(Weight { dtype: Some(DType::F32), shape, bytes }))
    }

    fn names(&self, _: &mut dyn FnMut(&str)) {}
}

/// A model whose views are worked out for the value that comes with its input.
#[model_graph(dims(N <= 64))]
struct Open {
    #[input]
    x: Tensor<f32, N, 4>,
    #[output(concat(softmax(matmul(x, transpose(x))), transpose(x), axis = 0))]
    y: Tensor<f32, { N + 4 }, N>,
}

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator unchanged, which keeps the contract of `GlobalAlloc`.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of this function, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        COUNT.fetch_add(1, Ordering::SeqCst);
        // SAFETY: `start` came from this allocator, and so from the system's.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Runs `f` and returns how often anything was allocated or freed meanwhile.
fn counted<T>(f: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.load(Ordering::SeqCst);
    let value = f();
    (COUNT.load(Ordering::SeqCst) - before, value)
}

/// A cache, a running mean, and what goes wrong with them.
#[model_graph]
struct States {
    #[input]
    x: Tensor<f32, 1, 4>,
    #[input]
    position: Tensor<u32>,
    #[state]
    cache: Tensor<f32, 8, 4>,
    #[state]
    mean: Tensor<f32, 1, 4>,
    #[node(write(cache, src = transpose(reshape(x, shape = [4, 1])), at = position))]
    filled: _,
    #[node(write(mean, mean * 0.9 + x * 0.1))]
    next: _,
    #[output(sum(filled) + sum(next))]
    y: _,
}

/// An operator of a user's crate, and one in a block.
fn own_operators() {
    let (count, model) = counted(|| Signal::new(&Cpu));
    assert_eq!(count, 1);
    let mut model = model.unwrap();
    let (count, ran) = counted(|| {
        model.x_mut().as_mut_slice().fill(0.5);
        model.forward().is_ok()
    });
    assert_eq!((count, ran), (0, true));
}

fn states() {
    let (count, model) = counted(|| States::new(&Cpu));
    assert_eq!(count, 1);
    let mut model = model.unwrap();
    let mut saved = [0; States::STATE_SIZE];
    let (count, ran) = counted(|| {
        for position in 0..8 {
            model.x_mut().write(&[[1.0; 4]])?;
            model.position_mut().set(position)?;
            let _ = model.forward()?;
        }
        model.save_state(&mut saved)?;
        model.reset_state()?;
        model.restore_state(&saved)
    });
    assert_eq!((count, ran), (0, Ok(())));
    let (count, refused) = counted(|| {
        let kept = [model.restore_state(&saved[1..]).is_err(), model.reset_state_of("none").is_err()];
        model.x_mut().write(&[[1.0; 4]]).and_then(|()| model.position_mut().set(8)).is_ok()
            && model.forward().is_err()
            && kept == [true; 2]
    });
    assert_eq!((count, refused), (0, true));
}

/// The only test of this file, without the usual harness, whose own thread would allocate now and then meanwhile.
fn main() {
    assert!(counted(|| drop(Box::new(1))).0 == 2, "the counter counts");
    let (count, model) = counted(|| Digits::new(&Cpu));
    assert_eq!(count, 1);
    let mut model = model.unwrap();
    let weights = weights().unwrap();
    assert_eq!(counted(|| model.load(&weights)).0, 0);
    for (pixels, _) in digits().take(10) {
        let (count, result) = counted(|| {
            show(pixels, model.image_mut().as_mut_slice());
            model.forward().map(|outputs| outputs.probabilities()[0][0])
        });
        assert_eq!(count, 0);
        assert!(result.unwrap().is_finite());
    }
    // Neither do the errors, the observer and the test mode.
    assert_eq!(counted(|| model.forward().is_err()).0, 0);
    let mut seen = 0;
    let (count, ran) = counted(|| {
        show(&[7; 784], model.image_mut().as_mut_slice());
        model.forward_with(&mut Observer(|_: &model_graph::Moment<'_>| seen += 1)).is_ok()
    });
    assert_eq!((count, ran, seen), (0, true, Digits::PLAN.steps.len() + 1));
    let (count, ran) = counted(|| {
        show(&[7; 784], model.image_mut().as_mut_slice());
        model.forward_with(&mut Poison::default()).is_ok()
    });
    assert_eq!((count, ran), (0, true));
    assert_eq!(counted(|| drop(model)).0, 1, "and what was allocated is freed");
    open_dims();
    states();
    shared_weights();
    own_operators();
    keyword_spotting();
    other_networks();
    errors();
    println!("construction allocates once and forward never ... ok");
}

/// Weights that instances share: one allocation for them, one for each instance, none to borrow an image.
#[model_graph(weights = "shared")]
struct Shared {
    #[input]
    x: Tensor<f32, 2, 8>,
    #[weight]
    w: Tensor<f32, 8, 8>,
    #[weight]
    b: Tensor<f32, 8>,
    #[output(softmax(matmul(relu(matmul(x, w) + b), transpose(w))))]
    y: _,
}

fn shared_weights() {
    let (count, weights) = counted(|| SharedWeights::new(&Cpu));
    assert_eq!(count, 1);
    let weights = weights.unwrap();
    let mut bytes = vec![0; SharedWeights::IMAGE_SIZE + 64];
    let start = bytes.as_ptr().align_offset(64);
    let bytes = &mut bytes[start..start + SharedWeights::IMAGE_SIZE];
    assert_eq!(counted(|| weights.write_image(bytes)), (0, Ok(())));
    let (count, image) = counted(|| SharedWeights::from_image(bytes).unwrap());
    assert_eq!(count, 0);
    let (count, models) = counted(|| (Shared::new(&Cpu, &weights), Shared::new(&Cpu, &image)));
    assert_eq!(count, 2);
    let (mut one, mut other) = (models.0.unwrap(), models.1.unwrap());
    for step in 0..3u8 {
        let (count, ran) = counted(|| {
            one.x_mut().as_mut_slice().fill(f32::from(step));
            other.x_mut().as_mut_slice().fill(f32::from(step));
            one.forward_with(&mut Poison::default()).is_ok() && other.forward().is_ok()
        });
        assert_eq!((count, ran), (0, true));
    }
}

/// Working out the views for another value allocates nothing either.
fn open_dims() {
    let (count, model) = counted(|| Open::new(&Cpu));
    assert_eq!(count, 1);
    let mut model = model.unwrap();
    for n in [64, 1, 33, 64] {
        let (count, shape) = counted(|| {
            model.x_mut().resize([n, 4]).map(|x| x.fill(0.5))?;
            model.forward().map(|outputs| outputs.y().shape())
        });
        assert_eq!((count, shape.unwrap()), (0, [n + 4, n]));
    }
    assert_eq!(counted(|| model.x_mut().write(&[0.0; 4], [2, 4]).is_err()).0, 0);
}

/// Both networks for keywords; of the one whose file is not embedded the weights stay zero.
fn keyword_spotting() {
    let (file, names) = (TfLite::new(keywords::MODEL).unwrap(), keywords::names());
    let source = keywords::weights(&file, &names);
    let mut integers = keywords::QuantizedKeywords::new(&Cpu).unwrap();
    assert_eq!(counted(|| integers.load(&source)).0, 0);
    let mut numbers = keywords::Keywords::new(&Cpu).unwrap();
    assert!(source.find("blocks.0.pointwise").unwrap().is_some());
    for step in 0..3i8 {
        let (count, ran) = counted(|| {
            integers.features_mut().as_mut_slice().fill(40 * step);
            numbers.features_mut().as_mut_slice().fill(f32::from(step) + 0.5);
            integers.forward().is_ok() && numbers.forward().is_ok()
        });
        assert_eq!((count, ran), (0, true));
    }
}

/// The other networks of the examples; the weights of those whose file is not embedded stay zero.
fn other_networks() {
    let mut denoise = Rnnoise::new(&Cpu).unwrap();
    let weights = RnnoiseWeights::new(rnnoise::WEIGHTS).unwrap();
    assert_eq!(counted(|| denoise.load(&weights)).0, 0);
    let mut smaller = Smaller::new(&Cpu).unwrap();
    assert_eq!(counted(|| smaller.load(&Converted::new(&Zeros([0; 6400])))), (0, Ok(())), "nor does a conversion");
    let mut speech = Silero::new(&Cpu).unwrap();
    let (count, mut stories) = counted(|| Stories::new(&Cpu).unwrap());
    assert_eq!(count, 1, "also with an open extent");
    for step in 0..4u8 {
        let (count, ran) = counted(|| {
            denoise.features_mut().as_mut_slice().fill(f32::from(step));
            speech.samples_mut().as_mut_slice().fill(0.1 * f32::from(step));
            // Another number of tokens each time.
            let tokens = [1, 2, 3, 4];
            stories.tokens_mut().write(&tokens[usize::from(step)..]).unwrap();
            stories.position_mut().write(&0).unwrap();
            denoise.forward().is_ok() && speech.forward().is_ok() && stories.forward().is_ok()
        });
        assert_eq!((count, ran), (0, true));
    }
}

/// A step that writes a state, and one that can fail after it.
#[model_graph]
struct Lookup {
    #[input]
    index: Tensor<i32, 2>,
    #[state]
    runs: Tensor<f32, 1>,
    #[weight]
    table: Tensor<f32, 5, 4>,
    #[node(write(runs, runs + 1.0))]
    next: _,
    #[output(gather(table, index) + next)]
    y: Tensor<f32, 2, 4>,
}

/// Two inputs that have to agree, and attention that has room for so many keys.
#[model_graph(dims(N <= 3))]
struct Cached {
    #[input]
    q: Tensor<f32, N, 4>,
    #[input]
    more: Tensor<f32, N, 4>,
    #[input]
    past: Tensor<u32>,
    #[weight]
    cache: Tensor<f32, 4, 4>,
    #[weight]
    halves: Tensor<f16, 4, 4>,
    #[node(attention(q, halves, halves, past = past))]
    other: _,
    #[output(attention(q, cache, cache, past = past) + other + more)]
    y: Tensor<f32, N, 4>,
}

/// Each error that a forward can give on host memory, with everything that comes after it.
fn errors() {
    let mut model = Lookup::new(&Cpu).unwrap();
    let mut saved = [0; Lookup::STATE_SIZE];
    let (count, kinds) = counted(|| {
        let missing = model.forward().err();
        model.index_mut().write(&[0, 5]).unwrap();
        let out_of_range = model.forward().err();
        model.index_mut().write(&[0, 4]).unwrap();
        let torn = [model.forward().err(), model.save_state(&mut saved).err()];
        model.reset_state().unwrap();
        let fine = model.forward().is_ok();
        let [missing, out_of_range, torn, also] =
            [&missing, &out_of_range, &torn[0], &torn[1]].map(|error| error.as_ref().map(Error::kind));
        matches!(missing, Some(ErrorKind::InputNotSet { .. }))
            && matches!(out_of_range, Some(ErrorKind::IndexOutOfRange { index: 5, extent: 5, .. }))
            && [torn, also] == [Some(&ErrorKind::Torn); 2]
            && fine
    });
    assert_eq!((count, kinds), (0, true));
    let mut model = Cached::new(&Cpu).unwrap();
    let (count, kinds) = counted(|| {
        let mut write = |n: [usize; 2], past| {
            model.q_mut().write(&[1.0; 12][..4 * n[0]], [n[0], 4]).unwrap();
            model.more_mut().write(&[1.0; 12][..4 * n[1]], [n[1], 4]).unwrap();
            model.past_mut().set(past).unwrap();
            model.forward().err()
        };
        let (past, extent, fine) = (write([2, 2], 3), write([2, 3], 0), write([3, 3], 1));
        let extents = model.q_mut().write(&[1.0; 16], [4, 4]).err();
        let [past, extent, extents] = [&past, &extent, &extents].map(|error| error.as_ref().map(Error::kind));
        matches!(past, Some(ErrorKind::Past { past: 3, queries: 2, keys: 4 }))
            && matches!(extent, Some(ErrorKind::Extent { given: 3, expected: 2, .. }))
            && matches!(extents, Some(ErrorKind::Extents { given: 4, most: 3, .. }))
            && fine.is_none()
    });
    assert_eq!((count, kinds), (0, true));
}
