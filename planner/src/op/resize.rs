//! Resizing: other extents of the same picture, by the nearest element or between neighbours.

use super::rule::{Kind, bad};
use super::{Args, Described, Field, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{Dim, MAX_RANK, Type};

operator! {
    /// The operand at other extents along some axes, as ONNX's `Resize` defines it: an index of the result becomes a
    /// coordinate of the operand, and its value is that of the nearest element, or a mean of 2 or 4 neighbours along each
    /// axis. Elements beyond an edge are the edge's.
    Resize = "resize" {
        /// The axes that are resized.
        axes: [bool; MAX_RANK],
        /// The extents along them.
        sizes: [Dim; MAX_RANK],
        /// How many times as many elements there are along them; 0 says that the extents' quotient is meant.
        scales: [f32; MAX_RANK],
        /// 0 nearest, 1 linear, 2 cubic (Keys, 1981).
        mode: usize,
        /// Which coordinate index `i` has, with `s` for the scale: 0 half_pixel, `(i + ½) / s - ½`; 1 asymmetric, `i / s`;
        /// 2 align_corners, `i (n - 1) / (m - 1)`; 3 pytorch_half_pixel, as half_pixel but 0 for a single element; 4
        /// half_pixel_symmetric, half_pixel with both ends equally far out.
        coordinates: usize,
        /// Which element is the nearest: 0 round_prefer_floor, 1 round_prefer_ceil, 2 floor, 3 ceil.
        rounding: usize,
        /// The parameter of cubic neighbours.
        cubic: f32,
        /// Neighbours beyond an edge are left out instead.
        exclude_outside: bool,
    }
}

const MODES: [&str; 3] = ["nearest", "linear", "cubic"];
const COORDINATES: [&str; 5] =
    ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"];
const ROUNDINGS: [&str; 4] = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

/// Axes that can be resized together, unless by the nearest element.
const TOGETHER: usize = 3;

impl Described for Resize {
    const SPEC: Spec = Spec {
        name: "resize",
        doc: "other extents along some axes, by the nearest element or between neighbours (ONNX's Resize)",
        operands: &["x"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axes", expects: "an axis or a list of axes", default: Some("from 2 on") },
            Setting { name: "size", expects: "an extent for each of the axes", default: Some("by `scale`") },
            Setting {
                name: "scale",
                expects: "one number above 0 or one for each of the axes",
                default: Some("by `size`"),
            },
            Setting { name: "mode", expects: "`nearest`, `linear` or `cubic`", default: Some("nearest") },
            Setting {
                name: "coordinates",
                expects: "`half_pixel`, `asymmetric`, `align_corners`, `pytorch_half_pixel` or `half_pixel_symmetric`",
                default: Some("half_pixel"),
            },
            Setting {
                name: "rounding",
                expects: "`round_prefer_floor`, `round_prefer_ceil`, `floor` or `ceil`",
                default: Some("round_prefer_floor"),
            },
            Setting { name: "cubic", expects: "a number", default: Some("-0.75") },
            Setting { name: "exclude_outside", expects: "`true` or `false`", default: Some("false") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Resize, RuleError> {
        let rank = args.inputs[0].shape.rank();
        let mut axes = args.axes("axes")?;
        if args.get("axes").is_none() {
            if rank < 3 {
                return Err(RuleError::Rank { input: 0, expected: "at least 3 dimensions, or `axes` named" });
            }
            axes[..2].fill(false);
        }
        let mut resize = Resize {
            axes,
            sizes: [Dim::new(0); MAX_RANK],
            scales: [0.0; MAX_RANK],
            mode: args.word("mode", &MODES, "`nearest`, `linear` or `cubic`")?,
            coordinates: args.word(
                "coordinates",
                &COORDINATES,
                "a rule of ONNX's, such as `half_pixel` or `align_corners`",
            )?,
            rounding: args.word(
                "rounding",
                &ROUNDINGS,
                "`round_prefer_floor`, `round_prefer_ceil`, `floor` or `ceil`",
            )?,
            cubic: args.float("cubic", -0.75)?,
            exclude_outside: args.bool("exclude_outside", false)?,
        };
        let count = axes.iter().filter(|marked| **marked).count();
        let marked = (0..rank).filter(|axis| axes[*axis]);
        match (args.get("size"), args.get("scale")) {
            (Some(_), Some(_)) => return Err(bad("scale", "left out where `size` is given")),
            (None, None) => {
                return Err(RuleError::Missing {
                    name: "size",
                    expects: "an extent for each of the axes, or `scale = …`",
                });
            }
            (Some(size), None) => {
                let wrong = bad("size", "a list of extents, one for each of the axes");
                let Value::List(list) = size else { return Err(wrong) };
                if list.len() != count {
                    return Err(wrong);
                }
                for (axis, value) in marked.zip(list) {
                    resize.sizes[axis] = match *value {
                        Value::Int(size, _) => Dim::new(usize::try_from(size).map_err(|_| wrong)?),
                        Value::Open(dim) => dim.named(0),
                        _ => return Err(wrong),
                    };
                }
            }
            (None, Some(scale)) => {
                let wrong = bad("scale", "a number above 0 for all axes, or a list of one for each");
                for (index, axis) in marked.enumerate() {
                    let value = match scale {
                        Value::List(list) if list.len() == count => list[index],
                        Value::List(_) => return Err(wrong),
                        value => value,
                    };
                    let value = match value {
                        Value::Int(value, _) => value as f32,
                        Value::Float(value) => value as f32,
                        _ => return Err(wrong),
                    };
                    if !(value > 0.0 && value.is_finite()) {
                        return Err(wrong);
                    }
                    let extent = args.inputs[0].shape.dims()[axis];
                    resize.sizes[axis] = match extent.fixed() {
                        // The cast rounds towards zero, and what is beyond all sizes becomes the largest one.
                        Some(extent) => Dim::new((extent as f64 * f64::from(value)) as usize),
                        None => scaled(extent, value).ok_or(RuleError::OpenExtent {
                            at: (0, axis),
                            rule: "a scale of an open extent is a whole number, or one half, one quarter and so on",
                        })?,
                    };
                    resize.scales[axis] = value;
                }
            }
        }
        resize.infer(args.inputs)?;
        Ok(resize)
    }
}

/// An open extent times a scale, rounded down, where that has a formula.
fn scaled(extent: Dim, scale: f32) -> Option<Dim> {
    // What a single cannot tell from its neighbours is no whole number.
    let whole =
        |number: f32| ((1.0..=1e6).contains(&number) && (number as usize) as f32 == number).then_some(number as usize);
    match whole(scale) {
        Some(times) => extent.times(times),
        // A power of two has an exact inverse, so that both ways of rounding are the same.
        None => extent.over(whole(1.0 / scale).filter(|parts| parts.is_power_of_two())?),
    }
}

impl Resize {
    /// Neighbours along an axis that one element of the result is made of.
    pub const fn neighbours(&self) -> usize {
        match self.mode {
            0 => 1,
            1 => 2,
            _ => 4,
        }
    }
}

impl Operator for Resize {
    fn through_f32(&self) -> bool {
        true
    }

    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        let mut list = [Value::Infer; MAX_RANK];
        let mut count = 0;
        let scaled = self.scales.iter().any(|scale| *scale > 0.0);
        Field::Bools(&self.axes).spell(&mut |axes| visit("axes", axes));
        for axis in (0..MAX_RANK).filter(|axis| self.axes[*axis]) {
            list[count] = match scaled {
                true => Value::Float(f64::from(self.scales[axis])),
                false => super::extent(self.sizes[axis]),
            };
            count += 1;
        }
        visit(if scaled { "scale" } else { "size" }, Value::List(&list[..count]));
        visit("mode", Value::Word(MODES[self.mode.min(2)]));
        visit("coordinates", Value::Word(COORDINATES[self.coordinates.min(4)]));
        match self.mode {
            0 => visit("rounding", Value::Word(ROUNDINGS[self.rounding.min(3)])),
            mode => {
                if mode == 2 {
                    visit("cubic", Value::Float(f64::from(self.cubic)));
                }
                visit("exclude_outside", Value::Bool(self.exclude_outside));
            }
        }
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        Kind::Floats.of_all(inputs)?;
        if self.mode != 0 && self.axes.iter().filter(|marked| **marked).count() > TOGETHER {
            return Err(bad("axes", "at most 3 axes, unless `mode = nearest`"));
        }
        let mut output = inputs[0];
        for (axis, dim) in output.shape.dims_mut().iter_mut().enumerate().filter(|(axis, _)| self.axes[*axis]) {
            let size = self.sizes[axis];
            if !Dim::new(1).at_most(*dim) && size != Dim::new(0) {
                let rule = "there is nothing to resize";
                return Err(RuleError::Extent { at: (0, axis), expected: 1, at_least: true, rule });
            }
            if *dim != size {
                *dim = size;
            }
        }
        Ok(output)
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    /// The neighbours and their weights along the last axis, where it is resized.
    fn scratch(&self, inputs: &[Type], output: &Type) -> usize {
        let last = inputs[0].shape.rank().saturating_sub(1);
        let columns = output.shape.dims().last().map_or(0, |dim| dim.size);
        if self.axes[last] { columns.saturating_mul(self.neighbours()).saturating_mul(8) } else { 0 }
    }
}
