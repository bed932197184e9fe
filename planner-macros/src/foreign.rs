//! What other frameworks call otherwise: operators, settings and element types, and what to write for them here. It knows
//! names alone, of neither operands nor shapes.

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

/// True for a floating-point type that is not `f32`.
pub(crate) fn float(dtype: &str) -> bool {
    ["f64", "float", "double", "Float", "float32", "float64"].contains(&dtype)
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
    fn a_setting_is_named_as_the_operator_has_it() {
        assert_eq!(setting("dim", &["axis"]), Some("axis"));
        assert_eq!(setting("dim", &["axes", "keep_dims"]), Some("axes"));
        assert_eq!(setting("dim", &["low", "high"]), None);
        assert_eq!(setting("max", &["low", "high"]), Some("high"));
        assert_eq!(setting("theta", &["axis", "base"]), Some("base"));
        assert_eq!(setting("stride", &["stride"]), None);
    }
}
