//! Scaled dot-product attention, and the rotation of queries and keys by their position.

use super::rule::{Kind, bad};
use super::{Args, Described, Field, Fields, Operator, RuleError, Setting, Spec, Value, operator};
use crate::{DType, Dim, Shape, Type};

operator! {
    /// `softmax(q kᵀ scale + mask) v` for each head (Vaswani et al., 2017). Operands: q `[.., HQ, S, D]`, k
    /// `[.., HK, T, D]`, v `[.., HK, T, E]`, optional mask, which broadcasts to `[.., HQ, S, T]` and is added, optional
    /// scalar `past` of `u32`. `HQ` is a multiple of `HK`, and neighbouring query heads share keys (Ainslie et al.,
    /// 2023). Two dimensions are one head.
    ///
    /// With `past`, query `i` stands at position `past + i`, and keys from `past + S` on do not exist: what they hold is
    /// never read. `past + S` above `T` is an error of the step. A query that sees no key gives zeros.
    ///
    /// Beside an f32 q, k and v may be both f16 or both bf16: they are read as they lie, a strip of keys at a time, and the
    /// result has the bits that it has with both cast to f32 first.
    ///
    /// Values of keys that a query does not see are not multiplied: they may be infinite. A key that a mask takes out by -∞
    /// is seen, with the weight 0, as in the formula: 0 times an infinite value is NaN there.
    Attention = "attention" {
        /// A query sees the keys up to its own position and no later one; without `past`, query 0 stands at key 0.
        causal: bool,
        /// What the products are multiplied with.
        scale: f32,
    }
    /// Rotary position embedding (Su et al., 2021): element pairs `(a, b)` of each vector along the last dimension become
    /// `(a cos φ - b sin φ, a sin φ + b cos φ)`, pair `i` at position `p` with `φ = p base^(-2i / dims)`. Operands: x,
    /// and the positions: a scalar of `u32`, at which index 0 of `axis` stands, or a vector of `u32` or `i32` with one for
    /// each index. Without `axis`, x is `[.., S, H, D]`, as heads are before they are permuted for attention, or `[S, D]`.
    Rope = "rope" {
        /// The axis along which positions run.
        axis: usize,
        /// How many elements of each vector are rotated, from the first on; the others stay.
        dims: usize,
        /// What the wavelengths grow towards.
        base: f32,
        /// Pair `i` is elements `i` and `i + dims / 2` (GPT-NeoX, Hugging Face); otherwise `2i` and `2i + 1` (the paper,
        /// llama2.c).
        halves: bool,
    }
}

/// Which operand of attention is the mask and which the past. The mask may be left out before it: only the past is a
/// whole number.
pub fn mask_and_past(count: usize, dtype: impl Fn(usize) -> DType) -> (Option<usize>, Option<usize>) {
    let whole = |input: &usize| dtype(*input) == DType::U32;
    ((3..count).find(|input| !whole(input)), (3..count).find(whole))
}

impl Described for Attention {
    const SPEC: Spec = Spec {
        name: "attention",
        doc: "softmax(q kᵀ scale + mask) v for q `[.., HQ, S, D]`, k and v `[.., HK, T, D]`, HQ a multiple of HK (arXiv \
              1706.03762); with a u32 scalar `past`, queries stand behind so many keys, and keys from past + S on are not \
              read; `causal` hides the keys behind a query's own position: query i sees keys 0 to past + i, and without \
              `past` keys 0 to i, however many keys there are (PyTorch's `is_causal`); k and v may be f16 or bf16 beside a q \
              of f32",
        operands: &["q", "k", "v", "mask", "past"],
        optional: 2,
        variadic: false,
        settings: &[
            Setting { name: "causal", expects: "`true` or `false`", default: Some("false") },
            Setting { name: "scale", expects: "a number", default: Some("1 / sqrt(D)") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Attention, RuleError> {
        let depth = args.inputs[0].shape.dims().last().map_or(1, |dim| dim.size);
        Ok(Attention { causal: args.bool("causal", false)?, scale: args.float("scale", inverse_root(depth))? })
    }
}

/// `1 / √n` by Newton's steps, which need no library and give the same bits everywhere.
fn inverse_root(n: usize) -> f32 {
    let n = n.max(1) as f64;
    let mut root = n;
    // Each step halves the exponent's error at first, then doubles the number of right digits.
    for _ in 0..64 {
        root = 0.5 * (root + n / root);
    }
    (1.0 / root) as f32
}

/// The heads, rows and columns of an operand of attention.
fn matrix(shape: &Shape) -> [Dim; 3] {
    let dims = shape.dims();
    let rank = dims.len();
    [if rank > 2 { dims[rank - 3] } else { Dim::new(1) }, dims[rank - 2], dims[rank - 1]]
}

impl Attention {
    /// Rows of queries that are worked on at a time, each with a row of working space as long as there are keys.
    pub const ROWS: usize = 16;

    /// Keys, and then values, that are unpacked to `f32` at a time where they are halves.
    pub const STRIP: usize = 32;

    /// Elements of a strip for keys and values of these many elements: none where they are `f32` already.
    pub fn strip(dtype: DType, depth: usize, width: usize) -> usize {
        // Rows at a distance of 1 would be a column, whose products are added in another order.
        if dtype.is_half() { depth.max(width).max(2).saturating_mul(Attention::STRIP) } else { 0 }
    }
}

impl Operator for Attention {
    fn through_f32(&self) -> bool {
        true
    }

    /// Keys and values.
    fn reads_halves(&self, input: usize) -> bool {
        input == 1 || input == 2
    }

    fn settings(&self, inputs: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        if let (None, Some(_)) = mask_and_past(inputs.len(), |input| inputs[input].dtype) {
            visit("mask", Value::Infer);
        }
        self.fields(&mut |name, field| field.spell(&mut |value| visit(name, value)));
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let [q, k, v] = [0, 1, 2].map(|input| inputs[input].shape);
        let (mask, past) = mask_and_past(inputs.len(), |input| inputs[input].dtype);
        for input in (0..inputs.len()).filter(|input| Some(*input) != past) {
            let given = Kind::Floats.check(inputs, input)?;
            // Values are held against the keys, which may be halves beside queries of `f32`.
            let left = if input == 2 { 1 } else { 0 };
            let narrower = input == 1 && inputs[0].dtype == DType::F32;
            if given != inputs[left].dtype && !narrower {
                return Err(RuleError::Mixed { left, right: input });
            }
        }
        if q.rank() < 2 {
            return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions, queries by their elements" });
        }
        for (input, shape) in [(1, k), (2, v)] {
            if shape.rank() != q.rank() {
                return Err(RuleError::Rank { input, expected: "as many dimensions as the queries" });
            }
        }
        let rank = q.rank();
        let [heads, queries, depth] = matrix(&q);
        let [key_heads, keys, key_depth] = matrix(&k);
        let [value_heads, values, width] = matrix(&v);
        for axis in 0..rank.saturating_sub(3) {
            for (input, shape) in [(1, k), (2, v)] {
                if shape.dims()[axis] != q.dims()[axis] {
                    return Err(RuleError::Mismatch {
                        left: (0, axis),
                        right: (input, axis),
                        rule: "the dimensions before the heads have to agree",
                    });
                }
            }
        }
        let rules = [
            (depth == key_depth, (0, rank - 1), (1, rank - 1), "queries and keys have to have as many elements"),
            (keys == values, (1, rank - 2), (2, rank - 2), "there has to be one value per key"),
            (
                key_heads == value_heads,
                (1, rank.max(3) - 3),
                (2, rank.max(3) - 3),
                "keys and values have to have as many heads",
            ),
        ];
        for (holds, left, right, rule) in rules {
            if !holds {
                return Err(RuleError::Mismatch { left, right, rule });
            }
        }
        let shared = match key_heads.fixed() {
            Some(0) => heads == Dim::new(0),
            Some(count) => heads.over_exactly(count).is_some(),
            None => heads == key_heads,
        };
        if !shared {
            return Err(RuleError::Mismatch {
                left: (0, rank - 3),
                right: (1, rank - 3),
                rule: "the heads of the queries have to be a multiple of those of the keys",
            });
        }
        if let Some(input) = mask {
            let mut scores = q;
            scores.dims_mut()[rank - 1] = keys;
            let given = inputs[input].shape;
            if given.rank() > rank {
                return Err(RuleError::Rank { input, expected: "no more dimensions than the queries" });
            }
            for (axis, dim) in given.dims().iter().enumerate() {
                let target = axis + rank - given.rank();
                if !dim.is_one() && *dim != scores.dims()[target] {
                    return Err(RuleError::Mismatch {
                        left: if target + 1 == rank { (1, rank - 2) } else { (0, target) },
                        right: (input, axis),
                        rule: "a mask has a number for each query and each key, and other extents may be 1",
                    });
                }
            }
        }
        if let Some(input) = past
            && inputs[input].shape.rank() != 0
        {
            return Err(RuleError::Rank { input, expected: "a scalar" });
        }
        if inputs.len() == 5 && (past != Some(4) || mask.is_none()) {
            return Err(RuleError::DType { input: 4, expected: DType::U32 });
        }
        if past.is_some() && !queries.at_most(keys) {
            return Err(RuleError::Extent {
                at: (1, rank - 2),
                expected: queries.size,
                at_least: true,
                rule: "with `past`, the queries' own keys are among the keys",
            });
        }
        let mut output = q;
        output.dims_mut()[rank - 1] = width;
        Ok(Type { dtype: inputs[0].dtype, shape: output })
    }

    /// The kernel reads a block of queries before it writes its results.
    fn in_place(&self, input: usize) -> bool {
        input == 0
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn scratch(&self, inputs: &[Type], _: &Type) -> usize {
        let [heads, queries, _] = matrix(&inputs[0].shape);
        let [key_heads, keys, depth] = matrix(&inputs[1].shape);
        let [_, _, width] = matrix(&inputs[2].shape);
        // Heads that share keys of halves are worked on together where each has a single query.
        let shared = if inputs[1].dtype.is_half() { heads.size / key_heads.size.max(1) } else { 1 };
        let rows = queries.size.saturating_mul(shared).min(Attention::ROWS);
        let scores = keys.size.saturating_mul(rows);
        scores.saturating_add(Attention::strip(inputs[1].dtype, depth.size, width.size)).saturating_mul(4)
    }
}

impl Described for Rope {
    const SPEC: Spec = Spec {
        name: "rope",
        doc: "rotary position embedding (arXiv 2104.09864): pairs of the last dimension turned by their position, which is a \
              u32 scalar where `axis` starts, or a vector of u32 or i32 along `axis`",
        operands: &["x", "position"],
        optional: 0,
        variadic: false,
        settings: &[
            Setting { name: "axis", expects: "the positions' axis", default: Some("-3, or 0 of two dimensions") },
            Setting { name: "pairs", expects: "`adjacent` or `halves`", default: Some("adjacent") },
            Setting { name: "base", expects: "a number above 0", default: Some("10000") },
            Setting { name: "dims", expects: "an even whole number", default: Some("the last extent") },
        ],
    };

    fn build(args: &Args<'_>) -> Result<Rope, RuleError> {
        let x = args.inputs[0].shape;
        if x.rank() < 2 {
            return Err(RuleError::Rank { input: 0, expected: "at least 2 dimensions, positions by elements" });
        }
        let axis = args.axis("axis", 0, Some(if x.rank() == 2 { 0 } else { -3 }))?;
        let base = args.float("base", 10000.0)?;
        if base <= 0.0 {
            return Err(bad("base", "a number above 0"));
        }
        let dims = args.size("dims", 0, x.dims().last().map(|dim| dim.size))?;
        let halves = args.word("pairs", &["adjacent", "halves"], "`adjacent` or `halves`")? == 1;
        let rope = Rope { axis, dims, base, halves };
        rope.infer(args.inputs)?;
        Ok(rope)
    }
}

impl Operator for Rope {
    fn through_f32(&self) -> bool {
        true
    }

    fn settings(&self, _: &[Type], visit: &mut dyn FnMut(&'static str, Value<'_>)) {
        self.fields(&mut |name, field| match (name, field) {
            ("halves", Field::Bool(halves)) => {
                visit("pairs", Value::Word(if halves { "halves" } else { "adjacent" }));
            }
            _ => field.spell(&mut |value| visit(name, value)),
        });
    }

    fn infer(&self, inputs: &[Type]) -> Result<Type, RuleError> {
        let (x, position) = (inputs[0], inputs[1]);
        Kind::Floats.check(inputs, 0)?;
        let whole = position.dtype == DType::U32 || position.dtype == DType::I32 && position.shape.rank() == 1;
        if !whole {
            return Err(RuleError::DType { input: 1, expected: DType::U32 });
        }
        let last = x.shape.rank() - 1;
        if self.axis == last {
            return Err(bad("axis", "another axis than the last, which holds the elements that are turned"));
        }
        let extent = x.shape.dims()[last].size;
        if self.dims > extent || !self.dims.is_multiple_of(2) {
            return Err(bad("dims", "an even whole number, no more than the last extent of x"));
        }
        match position.shape.dims() {
            [] => {}
            [count] if *count == x.shape.dims()[self.axis] => {}
            [_] => {
                return Err(RuleError::Mismatch {
                    left: (0, self.axis),
                    right: (1, 0),
                    rule: "there has to be one position per index of `axis`",
                });
            }
            _ => return Err(RuleError::Rank { input: 1, expected: "no dimensions or 1" }),
        }
        Ok(x)
    }

    fn in_place(&self, input: usize) -> bool {
        input == 0
    }

    fn strided_input(&self, _: usize) -> bool {
        true
    }

    fn strided_output(&self) -> bool {
        true
    }

    /// A cosine and a sine for each pair.
    fn scratch(&self, _: &[Type], _: &Type) -> usize {
        self.dims.saturating_mul(4)
    }
}
