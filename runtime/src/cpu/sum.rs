//! Folding many elements into one, in an order that the number of elements alone decides.
//!
//! Elements are taken in blocks of [`BLOCK`]; within a block element `k` goes to lane `k % LANES`; the lanes are joined
//! as a tree, and the blocks in `f64`. Strides, merged dimensions and vector widths change nothing in the result, and
//! the error of a sum of `n` elements grows with the block, not with `n`.

/// Accumulators side by side.
pub(super) const LANES: usize = 16;

/// Elements between two flushes into the total.
pub(super) const BLOCK: usize = 512;

/// How elements are folded.
pub(super) trait Fold {
    /// Where every lane starts.
    const START: f32;
    /// What is folded of an element.
    #[inline(always)]
    fn of(x: f32) -> f32 {
        x
    }
    /// One more of them, or one more lane.
    fn join(total: f32, x: f32) -> f32;
    /// One more block.
    fn join_blocks(total: f64, block: f32) -> f64;
}

/// `Σ x`.
#[derive(Debug)]
pub(super) struct Add;

impl Fold for Add {
    const START: f32 = 0.0;

    #[inline(always)]
    fn join(total: f32, x: f32) -> f32 {
        total + x
    }

    #[inline(always)]
    fn join_blocks(total: f64, block: f32) -> f64 {
        total + f64::from(block)
    }
}

/// The largest, NaN if there is one.
#[derive(Debug)]
pub(super) struct Largest;

impl Fold for Largest {
    const START: f32 = f32::NEG_INFINITY;

    #[inline(always)]
    fn join(total: f32, x: f32) -> f32 {
        if x > total || x.is_nan() { x } else { total }
    }

    #[inline(always)]
    fn join_blocks(total: f64, block: f32) -> f64 {
        if f64::from(block) > total || block.is_nan() { f64::from(block) } else { total }
    }
}

/// The smallest, NaN if there is one.
#[derive(Debug)]
pub(super) struct Smallest;

impl Fold for Smallest {
    const START: f32 = f32::INFINITY;

    #[inline(always)]
    fn join(total: f32, x: f32) -> f32 {
        if x < total || x.is_nan() { x } else { total }
    }

    #[inline(always)]
    fn join_blocks(total: f64, block: f32) -> f64 {
        if f64::from(block) < total || block.is_nan() { f64::from(block) } else { total }
    }
}

/// `Π x`.
#[derive(Debug)]
pub(super) struct Times;

impl Fold for Times {
    const START: f32 = 1.0;

    #[inline(always)]
    fn join(total: f32, x: f32) -> f32 {
        total * x
    }

    #[inline(always)]
    fn join_blocks(total: f64, block: f32) -> f64 {
        total * f64::from(block)
    }
}

/// Folds that are sums of a function of the elements.
macro_rules! sums {
    ($( $(#[$doc:meta])* $name:ident, |$x:ident| $value:expr; )*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name;

        impl Fold for $name {
            const START: f32 = 0.0;

            #[inline(always)]
            fn of($x: f32) -> f32 {
                $value
            }

            #[inline(always)]
            fn join(total: f32, x: f32) -> f32 {
                total + x
            }

            #[inline(always)]
            fn join_blocks(total: f64, block: f32) -> f64 {
                total + f64::from(block)
            }
        }
    )* };
}

sums! {
    /// `Σ x²`.
    Squares, |x| x * x;
    /// `Σ |x|`.
    Sizes, |x| x.abs();
}

/// Joins the lanes of one block.
#[inline(always)]
pub(super) fn join_lanes<F: Fold>(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = F::join(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Folds `f(x)` over a block of at most [`BLOCK`] elements.
#[inline(always)]
pub(super) fn fold_block<F: Fold>(xs: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [F::START; LANES];
    let (chunks, rest) = xs.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = F::join(lanes[lane], f(chunk[lane]));
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = F::join(*lane, f(x));
    }
    join_lanes::<F>(lanes)
}

/// Folds `f(x)` over elements that lie side by side.
#[inline(always)]
pub(super) fn fold<F: Fold>(xs: &[f32], f: impl Fn(f32) -> f32) -> f64 {
    let mut total = f64::from(F::START);
    for block in xs.chunks(BLOCK) {
        total = F::join_blocks(total, fold_block::<F>(block, &f));
    }
    total
}

/// `Σ x`.
#[inline(always)]
pub(super) fn sum(xs: &[f32]) -> f64 {
    fold::<Add>(xs, |x| x)
}

/// `Σ (x - center)²`.
#[inline(always)]
pub(super) fn sum_of_squares(xs: &[f32], center: f32) -> f64 {
    fold::<Add>(xs, |x| (x - center) * (x - center))
}

/// The largest, NaN if there is one.
#[inline(always)]
pub(super) fn largest(xs: &[f32]) -> f32 {
    fold::<Largest>(xs, |x| x) as f32
}
