//! Fixed-point arithmetic as gemmlowp and TensorFlow Lite's reference kernels define it, to the last bit: what integers
//! are rescaled with, and the exponential and the reciprocal of an integer softmax. It knows no operators.
//!
//! Sources: gemmlowp's `fixedpoint.h`, and TensorFlow Lite's `quantization_util.cc` and `common.cc`. Where those leave an
//! overflow undefined, this saturates or wraps.

/// A positive factor as a 31-bit mantissa and a power of two: `mantissa * 2^(shift - 31)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Multiplier {
    mantissa: i32,
    shift: i32,
}

impl Multiplier {
    /// The nearest to `factor` (`QuantizeMultiplier`). 0 for one below 2^-32, and for what is no positive number, such as
    /// the quotient of scales that nobody has written.
    pub(super) fn new(factor: f64) -> Multiplier {
        if !(factor.is_normal() && factor > 0.0) {
            return Multiplier::default();
        }
        // The factor is `fraction * 2^(exponent - 1075)`, with a fraction of 53 bits.
        let bits = factor.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, (bits & ((1 << 52) - 1)) | (1 << 52));
        // A half goes up.
        let mantissa = (fraction + (1 << 21)) >> 22;
        let shift = exponent - 1022;
        let (mantissa, shift) = if mantissa == 1 << 31 { (1 << 30, shift + 1) } else { (mantissa as i32, shift) };
        match shift {
            ..-31 => Multiplier::default(),
            31.. => Multiplier { mantissa: i32::MAX, shift: 30 },
            _ => Multiplier { mantissa, shift },
        }
    }

    /// By how many bits numbers are shifted to the left.
    pub(super) fn left_shift(self) -> u32 {
        self.shift.max(0) as u32
    }

    /// `x` times the factor, rounded to the mantissa's bits, halves up, and then to the result's, halves away from zero
    /// (`MultiplyByQuantizedMultiplier` as the reference has it by default), saturated.
    #[inline(always)]
    pub(super) fn twice(self, x: i32) -> i32 {
        let shifted = (i64::from(x) << self.left_shift()).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        divide_by_power(high_mul(shifted, self.mantissa), (-self.shift).max(0) as u32)
    }

    /// `x` times the factor, rounded once, halves up (the same with `TFLITE_SINGLE_ROUNDING`), saturated.
    #[inline(always)]
    pub(super) fn once(self, x: i32) -> i32 {
        let shift = 31 - self.shift;
        let product = i64::from(x) * i64::from(self.mantissa);
        ((product + (1 << (shift - 1))) >> shift).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

/// `a * b / 2^31`, rounded, halves up, saturated (`SaturatingRoundingDoublingHighMul`).
#[inline(always)]
pub(super) fn high_mul(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    let product = i64::from(a) * i64::from(b);
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    ((product + nudge) / (1 << 31)) as i32
}

/// `x / 2^exponent`, rounded, halves away from zero (`RoundingDivideByPOT`); `exponent` up to 31.
#[inline(always)]
pub(super) fn divide_by_power(x: i32, exponent: u32) -> i32 {
    let mask = ((1i64 << exponent) - 1) as i32;
    let threshold = (mask >> 1) + i32::from(x < 0);
    (x >> exponent) + i32::from(x & mask > threshold)
}

/// `x * 2^exponent`, saturated (`SaturatingRoundingMultiplyByPOT`).
fn multiply_by_power(x: i32, exponent: u32) -> i32 {
    (i64::from(x) << exponent).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// `exp(x)` for `x <= 0` with 26 bits behind the point; the result has 31 (`exp_on_negative_values`).
pub(super) fn exp(x: i32) -> i32 {
    const QUARTER: i32 = 1 << 24;
    /// `exp(-2^(bit - 26))` for bit 24 and those after it.
    const FACTORS: [i32; 7] = [1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242];
    if x == 0 {
        return i32::MAX;
    }
    let rest = (x & (QUARTER - 1)) - QUARTER;
    let whole = rest.wrapping_sub(x);
    let start = exp_near_zero(multiply_by_power(rest, 5));
    let factors = FACTORS.iter().enumerate().filter(|(bit, _)| whole & (QUARTER << bit) != 0);
    factors.fold(start, |result, (_, factor)| high_mul(result, *factor))
}

/// `exp(x)` for `-1/4 <= x < 0`, both with 31 bits behind the point: the Taylor series around -1/8
/// (`exp_on_interval_between_negative_one_quarter_and_0_excl`).
fn exp_near_zero(x: i32) -> i32 {
    const EXP_OF_MINUS_EIGHTH: i32 = 1895147668;
    const THIRD: i32 = 715827883;
    let x = x + (1 << 28);
    let square = high_mul(x, x);
    let (cube, fourth) = (high_mul(square, x), high_mul(square, square));
    let rest = divide_by_power(high_mul(divide_by_power(fourth, 2) + cube, THIRD) + square, 1);
    EXP_OF_MINUS_EIGHTH + high_mul(EXP_OF_MINUS_EIGHTH, x + rest)
}

/// `1 / x` for an `x > 0` with `31 - integer_bits` bits behind the point: a number from 1/2 to 1 with 31 of them, and by
/// how many bits more it has to be shifted to the right (`GetReciprocal`).
pub(super) fn reciprocal(x: i32, integer_bits: i32) -> (i32, i32) {
    let headroom = x.leading_zeros();
    let fraction = (((x as u32) << headroom) - (1 << 31)) as i32;
    (one_over_one_plus(fraction), integer_bits - headroom as i32)
}

/// `1 / (1 + x)` for `0 <= x < 1`, both with 31 bits behind the point: three steps of Newton and Raphson
/// (`one_over_one_plus_x_for_x_in_0_1`).
fn one_over_one_plus(x: i32) -> i32 {
    // With 29 bits behind the point.
    const START: i32 = 1515870810;
    const SLOPE: i32 = -1010580540;
    const ONE: i32 = 1 << 29;
    let half = ((i64::from(x) + i64::from(i32::MAX) + 1) / 2) as i32;
    let mut y = START + high_mul(half, SLOPE);
    for _ in 0..3 {
        y += multiply_by_power(high_mul(y, ONE - high_mul(half, y)), 2);
    }
    multiply_by_power(y, 1)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn multipliers_are_the_nearest() {
        assert_eq!(Multiplier::new(1.0), Multiplier { mantissa: 1 << 30, shift: 1 });
        assert_eq!(Multiplier::new(0.75), Multiplier { mantissa: 3 << 29, shift: 0 });
        // Just below a power of two: the mantissa rounds up to 2^31 and is halved.
        assert_eq!(Multiplier::new(1.0 - f64::EPSILON), Multiplier { mantissa: 1 << 30, shift: 1 });
        assert_eq!(Multiplier::new(2f64.powi(-32)), Multiplier { mantissa: 1 << 30, shift: -31 });
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2f64.powi(-33), f64::MIN_POSITIVE / 2.0]
        {
            assert_eq!(Multiplier::new(nothing).twice(i32::MAX), 0, "{nothing}");
        }
        assert_eq!([1, -5].map(|x| Multiplier::new(1e30).twice(x)), [1 << 30, i32::MIN + 1]);
        assert_eq!([1, -5].map(|x| Multiplier::new(1e30).once(x)), [1 << 30, i32::MIN]);
    }

    #[test]
    fn products_are_rounded_once_or_twice() {
        let half = Multiplier::new(0.5);
        assert_eq!([-3, -2, -1, 0, 1, 2, 3].map(|x| half.twice(x)), [-1, -1, 0, 0, 1, 1, 2]);
        assert_eq!([-3, -2, -1, 0, 1, 2, 3].map(|x| half.once(x)), [-1, -1, 0, 0, 1, 1, 2]);
        // The second rounding takes halves away from zero, those among them that the first one made.
        assert_eq!([6, -6, 5].map(|x| Multiplier::new(0.25).twice(x)), [2, -2, 2]);
        assert_eq!([6, -6, 5].map(|x| Multiplier::new(0.25).once(x)), [2, -1, 1]);
        assert_eq!(high_mul(i32::MIN, i32::MIN), i32::MAX);
        for factor in [0.001, 0.3, 0.999, 1.0, 7.3, 100.0] {
            for x in [-100_000, -999, -1, 0, 1, 5, 12_345] {
                let exact = f64::from(x) * factor;
                assert!((f64::from(Multiplier::new(factor).once(x)) - exact).abs() <= 0.51, "{x} * {factor}");
                // At most a quarter of a step more.
                assert!((f64::from(Multiplier::new(factor).twice(x)) - exact).abs() <= 0.76, "{x} * {factor}");
            }
        }
    }

    #[test]
    fn exponentials_and_reciprocals_are_close() {
        for step in 0..2000 {
            let x = -step * (1 << 20) - step;
            let expected = (f64::from(x) / f64::from(1 << 26)).exp();
            assert!((f64::from(exp(x)) / 2f64.powi(31) - expected).abs() < 1e-6, "exp of {x}");
        }
        for x in [1 << 19, (1 << 19) + 1, 3 << 18, 12345678, 1 << 25, i32::MAX] {
            let (mantissa, shift) = reciprocal(x, 12);
            let given = f64::from(mantissa) / 2f64.powi(31 + shift);
            let expected = 2f64.powi(19) / f64::from(x);
            assert!((given - expected).abs() < expected * 1e-7, "1 / {x}: {given} and not {expected}");
        }
    }
}
