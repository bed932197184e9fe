//! What other frameworks call otherwise: operators, settings and element types, and what to write for them here. It knows
//! names alone, of neither operands nor shapes.

use model_graph_planner::DType;

use crate::error::suggestion;
use crate::names::nearest;

/// What to write for operators that other frameworks have under another name.
pub(crate) fn operator(op: &str) -> Option<&'static str> {
    Some(match op {
        "cat" => "write `concat(a, b, axis = 0)`",
        "stack" => "write `concat` of parts that `expand_dims` gave the new dimension",
        "view" => "write `reshape(x, shape = [2, 3])`",
        "unsqueeze" => "write `expand_dims(x, axis = 0)`",
        "chunk" => "write `split(x, axis = 0, parts = 2)`, whose parts are `[0]` and `[1]`",
        "narrow" => "write each part as an index: `x[0..2, ..]`, or `x[0]`",
        "swapaxes" => "write `permute(x, axes = [1, 0, 2])`",
        "upsample" | "interpolate" => "write `resize(x, scale = 2)`",
        "dense" | "gemm" => "write `linear(x, w, b)`, or `matmul(x, w) + b`",
        "dot" | "mm" | "bmm" => "write `matmul(a, b)`",
        "sdpa" | "scaled_dot_product_attention" => "write `attention(q, k, v)`",
        "conv" => "write `conv1d(x, w)` or `conv2d(x, w)`",
        "conv_transpose" | "deconv" => "write `conv_transpose1d(x, w)` or `conv_transpose2d(x, w)`",
        "pixel_shuffle" => "write `depth_to_space(x, block = 2, mode = crd)`",
        "pixel_unshuffle" => "write `space_to_depth(x, block = 2, mode = crd)`",
        "normalize" => "write `lp_norm(x)`",
        "logsumexp" => "write `log_sum_exp(x)`",
        "adaptive_avg_pool2d" => "the mean of each whole plane is `global_avg_pool(x)`",
        "batch_norm1d" | "batch_norm2d" => "write `batch_norm(x, scale, bias, mean, var)`",
        "square" => "write a product, such as `x * x`",
        "argmax" => "write `arg_max(x)`",
        "argmin" => "write `arg_min(x)`",
        "cumsum" => "write `cum_sum(x)`",
        "scatter_add" | "index_add" => "write `scatter(x, index, updates, reduce = add)`",
        "index_copy" | "index_put" => "write `scatter(x, index, updates)`",
        "embedding" => "write `gather(table, index)`",
        "select" => "one of two tensors is `where(condition, a, b)`, and a part of one an index: `x[0]`",
        "eq" => "write `a == b`",
        "lt" => "write `a < b`",
        "gt" => "write `a > b`",
        "tril" => "write `trilu(x, part = lower)`",
        "triu" => "write `trilu(x)`",
        "expand" | "broadcast" => "write `broadcast_to(x, shape = [2, 3])`",
        "fmod" | "remainder" => "write `x % y`, or `modulo(x, y)` for the sign of `y`",
        "rsqrt" => "write `1 / sqrt(x)`",
        "relu6" => "write `clamp(x, low = 0, high = 6)`",
        "dropout" => "nothing is dropped when a network is only run: leave it out",
        "identity" | "contiguous" | "detach" => "write the operand alone",
        "t" => "write `transpose(x)`",
        "assign" | "copy" | "store" | "update" => "a state is set by `write(s, src = x)`",
        "read" | "load" => "a state is read by its name alone",
        "reset" | "reset_state" | "reset_state_of" => {
            "states are reset between forwards, by the model's `reset_state()` and `reset_state_of(\"cache\")`"
        }
        "roll" => "write its parts in the other order: `concat(x[1..], x[..1], axis = 0)`",
        "swish" => "write `silu(x)`",
        _ => return None,
    })
}

/// The one among an operator's settings that other frameworks call `name`.
pub(crate) fn setting<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let here: &[&str] = match name {
        "dim" | "dims" => &["axis", "axes"],
        "keepdim" | "keepdims" => &["keep_dims"],
        "min" | "a_min" => &["low"],
        "max" | "a_max" => &["high"],
        "kernel_size" | "kernel_shape" => &["kernel"],
        "ceil_mode" => &["ceil"],
        "count_include_pad" => &["count_padding"],
        "negative_slope" | "alpha" => &["slope"],
        "start_dim" => &["start"],
        "size" | "newshape" => &["shape"],
        "epsilon" => &["eps"],
        "num_groups" | "group" => &["groups"],
        "is_causal" => &["causal"],
        "reduction" => &["reduce"],
        "scale_factor" | "scales" => &["scale"],
        "chunks" | "sections" => &["parts"],
        "block_size" | "blocksize" | "upscale_factor" | "downscale_factor" => &["block"],
        "data_format" => &["layout"],
        "theta" | "rope_theta" | "freq_base" => &["base"],
        "interleaved" => &["pairs"],
        _ => return None,
    };
    known.iter().copied().find(|known| here.contains(known))
}

/// What is wrong with an element type that there is not. `others` is what could stand there besides.
pub(crate) fn no_dtype(name: &str, others: &[&str]) -> String {
    let mut known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    known.extend(others);
    let advice = match dtype(name) {
        Some(advice) => String::from(advice),
        None => suggestion(nearest(name, known.iter().copied()), &known),
    };
    format!("there is no element type `{name}`; {advice}")
}

/// What to write for element types that there are elsewhere.
fn dtype(name: &str) -> Option<&'static str> {
    const FLOATS: &str = "floats are `f32`, `f16` or `bf16`";
    const INTEGERS: &str = "integers are `i8`, `u8`, `i32`, `u32` or `i64`";
    Some(match name {
        "float32" | "Float32" => "write `f32`",
        "half" | "float16" | "Float16" => "write `f16`",
        "bfloat16" | "BFloat16" => "write `bf16`",
        "boolean" => "write `bool`",
        "int8" | "char" => "write `i8`",
        "uint8" | "byte" => "write `u8`",
        "int32" | "int" => "write `i32`",
        "uint32" => "write `u32`",
        "int64" | "long" => "write `i64`",
        "f64" | "f128" | "float" | "Float" | "float64" | "Float64" | "double" | "Double" => FLOATS,
        "usize" | "isize" | "u64" | "uint64" | "i16" | "u16" | "int16" | "uint16" | "short" | "i128" | "u128"
        | "i4" | "u4" => INTEGERS,
        // The formats of ggml, of which two are read.
        _ if is_ggml(name) => "weights in blocks are `q8_0` or `q4_0`",
        _ => return None,
    })
}

/// `q4_1`, `Q5_0`, `q6_k`, `iq4_nl`.
fn is_ggml(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let Some((bits, kind)) = name.trim_start_matches('i').strip_prefix('q').and_then(|rest| rest.split_once('_'))
    else {
        return false;
    };
    let known = ["0", "1", "k", "k_s", "k_m", "k_l", "s", "m", "xs", "xxs", "nl"];
    bits.len() == 1 && bits.starts_with(|bits: char| bits.is_ascii_digit()) && known.contains(&kind)
}

/// What to say when too many operands are given to an operator that has a namesake elsewhere.
pub(crate) fn operands(op: &str) -> Option<&'static str> {
    Some(match op {
        "max" => "the larger of two is `maximum(a, b)`",
        "min" => "the smaller of two is `minimum(a, b)`",
        "transpose" => "it swaps the last two dimensions; others are moved by `permute(x, axes = [1, 0, 2])`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use model_graph_planner::op;

    use super::setting;

    #[test]
    fn what_is_advised_is_there_and_what_is_replaced_is_not() {
        for name in
            ["cat", "view", "unsqueeze", "chunk", "upsample", "dense", "square", "relu6", "identity", "t", "roll"]
        {
            assert!(super::operator(name).is_some() && op::find(name).is_none(), "{name}");
        }
        assert_eq!(super::operator("relu"), None);
        let advised = ["maximum", "minimum", "permute", "concat", "reshape", "clamp", "global_avg_pool", "silu"];
        assert!(advised.iter().all(|name| op::find(name).is_some()));
    }

    #[test]
    fn an_element_type_from_elsewhere_is_no_misspelling() {
        let advice = |name: &str| super::no_dtype(name, &[]);
        for name in ["f64", "double", "float", "float64"] {
            assert!(advice(name).ends_with("; floats are `f32`, `f16` or `bf16`"), "{name}");
        }
        for name in ["usize", "u64", "i16", "u16", "i128"] {
            assert!(advice(name).ends_with("; integers are `i8`, `u8`, `i32`, `u32` or `i64`"), "{name}");
        }
        for name in ["q4_1", "q5_0", "Q6_K", "iq4_nl", "q8_1", "Q8_0"] {
            assert!(advice(name).ends_with("; weights in blocks are `q8_0` or `q4_0`"), "{name}");
        }
        assert!(advice("float32").ends_with("; write `f32`"));
        assert!(advice("f33").ends_with("; did you mean `f32`?"));
        assert!(advice("q_0").ends_with("; did you mean `q4_0`?") || advice("q_0").ends_with("; did you mean `q8_0`?"));
        assert!(super::no_dtype("Complex", &["x"]).ends_with("`q8_0`, `q4_0` and `x`"));
        assert!(
            model_graph_planner::DType::ALL
                .iter()
                .all(|dtype| super::dtype(dtype.name()).is_none() || dtype.is_quantised())
        );
    }

    #[test]
    fn a_setting_is_named_as_the_operator_has_it() {
        assert_eq!(setting("dim", &["axis"]), Some("axis"));
        assert_eq!(setting("dim", &["axes", "keep_dims"]), Some("axes"));
        assert_eq!(setting("dim", &["low", "high"]), None);
        assert_eq!(setting("max", &["low", "high"]), Some("high"));
        assert_eq!(setting("theta", &["axis", "base"]), Some("base"));
        assert_eq!(setting("stride", &["stride"]), None);
    }
}
