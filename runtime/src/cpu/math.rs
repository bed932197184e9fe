//! Functions of one `f32` that compile to branch-free vector code and give the same bits on every machine: additions,
//! multiplications, divisions and selections only, never a fused multiply-add.
//!
//! The polynomials are Chebyshev fits made for this file on the intervals named beside them; the errors given were
//! measured against `f64`. NaN gives NaN everywhere.

/// Adding and subtracting this rounds to the nearest integer (an `f32` from 2²³ on has no fraction bits); the integer
/// stands in the low bits between the two.
const ROUND: f32 = 12_582_912.0;

/// A polynomial, lowest coefficient first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut value = coefficients[N - 1];
    for power in (0..N - 1).rev() {
        value = value * x + coefficients[power];
    }
    value
}

#[inline(always)]
fn at_most(x: f32, high: f32) -> f32 {
    if x > high { high } else { x }
}

#[inline(always)]
fn at_least(x: f32, low: f32) -> f32 {
    if x < low { low } else { x }
}

/// `min(max(x, low), high)`.
#[inline(always)]
pub(super) fn clamp(x: f32, low: f32, high: f32) -> f32 {
    at_most(at_least(x, low), high)
}

/// `2^n` for `n` from -126 to 127, anything for others.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// `e^x` within 2e-7 of its value, subnormal results included.
///
/// `x = n ln 2 + r`, so `e^x = 2^n e^r`, with `e^r = 1 + r + r² P(r)` for `|r| ≤ ln 2 / 2` and `ln 2` in two parts
/// (Cody and Waite, 1980). `2^n` is multiplied in two halves, so that neither overflows before the result does.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Beyond these the result is 0 or ∞ anyway.
    let x = clamp(x, -105.0, 90.0);
    let rounded = x * core::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let p = polynomial(r, [0.5, 0.166_665_73, 0.041_666_55, 0.008_363_774, 0.001_392_692_7]);
    let e = 1.0 + (r + r * r * p);
    // For a NaN this is anything, and `e` a NaN whatever it is multiplied with.
    let n = (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = n >> 1;
    e * power_of_two(half) * power_of_two(n - half)
}

/// Natural logarithm within 2e-7 of its value; -∞ at 0, NaN below.
///
/// `x = 2^e (1 + f)` with `1 + f` from `√½` to `√2`, and `ln (1 + f) = f - f²/2 + f³ P(f)`.
#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    const SQRT_HALF: u32 = 0x3f35_04f3;
    let tiny = x < f32::MIN_POSITIVE;
    let bits = (if tiny { x * 8_388_608.0 } else { x }).to_bits();
    let shifted = bits.wrapping_sub(SQRT_HALF) as i32 >> 23;
    let e = shifted as f32 - if tiny { 23.0 } else { 0.0 };
    let f = f32::from_bits(bits.wrapping_sub((shifted as u32) << 23)) - 1.0;
    let p = polynomial(
        f,
        [
            0.333_333_3,
            -0.249_999_97,
            0.200_007_16,
            -0.166_678_02,
            0.142_490_58,
            -0.124_256_87,
            0.116_854_2,
            -0.114_797_34,
            0.069_716_12,
        ],
    );
    let f2 = f * f;
    let value = e * 0.693_359_4 + (f + (f2 * (f * p - 0.5) + e * -2.121_944_4e-4));
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < f32::INFINITY {
        if x < 0.0 { f32::NAN } else { value }
    } else {
        // ∞ and NaN.
        x
    }
}

/// Square root, correctly rounded.
#[inline(always)]
pub(super) fn sqrt(x: f32) -> f32 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    libm::sqrtf(x)
}

/// `1 / (1 + e^-x)` within 3e-7 of its value; below 0 as `e^x / (1 + e^x)`, which cannot overflow.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// Hyperbolic tangent within 3e-7 of its value, odd: `x + x³ P(x²)` below 0.625, `1 - 2 / (e^2x + 1)` from there on.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    let p = polynomial(square, [-0.333_333_3, 0.133_327_7, -0.053_850_91, 0.020_997_18, -0.006_096_714]);
    let small = size + size * (square * p);
    let large = 1.0 - 2.0 / (exp(2.0 * size) + 1.0);
    (if size < 0.625 { small } else { large }).copysign(x)
}

/// `x sigmoid(x)`; -0 at -∞, its limit.
#[inline(always)]
pub(super) fn silu(x: f32) -> f32 {
    let x = at_least(x, -110.0);
    x * sigmoid(x)
}

/// `0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³)))`, as `x sigmoid(2 √(2/π) (x + 0.044715 x³))`, which is the same and
/// keeps its digits for negative `x` (Hendrycks and Gimpel, arXiv 1606.08415); -0 at -∞, its limit.
#[inline(always)]
pub(super) fn gelu_tanh(x: f32) -> f32 {
    const TWICE_SQRT_2_OVER_PI: f32 = 1.595_769;
    let x = at_least(x, -30.0);
    x * sigmoid(TWICE_SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x))
}

/// `x Φ(x)` with the normal distribution's `Φ` (Hendrycks and Gimpel, arXiv 1606.08415); -0 at -∞, its limit.
///
/// `Φ(-z √2) = ½ erfc(z)` for `z ≥ 0`, and `erfc(z) = t P(t) e^-z²` with `t = 1 / (1 + z/2)` (the form of Hastings,
/// 1955), so the negative tail keeps its digits as well.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let x = at_least(x, -15.0);
    let z = at_most(x.abs(), 15.0) * core::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * z);
    let p = polynomial(
        t,
        [
            0.282_054_28,
            0.283_085_7,
            0.236_490_65,
            0.236_769_42,
            -0.134_083_59,
            0.493_722_97,
            -0.763_677,
            0.503_703_8,
            -0.156_832_68,
            0.018_766_468,
        ],
    );
    let tail = 0.5 * t * p * exp(-z * z);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// -1, 0 or 1; zeros and NaN stay as they are.
#[inline(always)]
pub(super) fn sign(x: f32) -> f32 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

/// What is left of `a / b` with the sign of `b`, as numpy's `mod`.
#[inline(always)]
pub(super) fn modulo(a: f32, b: f32) -> f32 {
    let left = libm::fmodf(a, b);
    if left == 0.0 {
        return libm::copysignf(0.0, b);
    }
    if (left < 0.0) != (b < 0.0) { left + b } else { left }
}

/// `e^x - 1` for `x ≤ 0`, as `2 t / (1 - t)` with `t = tanh (x/2)`, which keeps its digits near 0; anything above 0.
#[inline(always)]
pub(super) fn exp_minus_1(x: f32) -> f32 {
    let t = tanh(0.5 * x);
    2.0 * t / (1.0 - t)
}

/// `ln (1 + e^x)`, as `max(x, 0) + ln (1 + e^-|x|)`. The logarithm of `u = 1 + e` is taken times `e / (u - 1)`, which
/// gives back what was lost when `u` was rounded (Goldberg, 1991).
#[inline(always)]
pub(super) fn softplus(x: f32) -> f32 {
    let e = exp(-x.abs());
    let u = 1.0 + e;
    let less = u - 1.0;
    let log = if less > 0.0 { log(u) * (e / less) } else { e };
    (if x > 0.0 { x } else { 0.0 }) + log
}

/// `x tanh(ln (1 + e^x))`, as `x e (e + 2) / (e (e + 2) + 2)` with `e = e^x`; -0 at -∞, its limit.
#[inline(always)]
pub(super) fn mish(x: f32) -> f32 {
    let x = at_least(x, -110.0);
    let e = exp(at_most(x, 20.0));
    let p = e * (e + 2.0);
    x * (p / (p + 2.0))
}

/// `x min(max(x / 6 + 0.5, 0), 1)`; -0 at -∞, its limit.
#[inline(always)]
pub(super) fn hard_swish(x: f32) -> f32 {
    let x = at_least(x, -4.0);
    x * clamp(x / 6.0 + 0.5, 0.0, 1.0)
}
