//! `c += a b` on slices: the loops behind matrix products and 1 x 1 convolutions.
//!
//! When the right side lies row by row, each element of `c` takes its products one after the other in the order of
//! `k`, whatever the tiles are. When it lies column by column, an element is a dot product of two rows of memory, in
//! [`LANES`] partial sums (product `k` goes to lane `k % LANES`) that are joined as a tree. No fused multiply-add is
//! used, so every machine gives the same bits.

use super::wide::wide;

/// A matrix inside a slice: extents are told separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<'a> {
    /// From the first element on.
    pub(super) data: &'a [f32],
    /// Distance between rows.
    pub(super) row: usize,
    /// Distance between columns.
    pub(super) column: usize,
}

/// Partial sums of a dot product.
pub(super) const LANES: usize = 8;

/// Rows of a tile.
const ROWS: usize = 4;

/// Products between two visits of a tile, when an operand has to be packed for it.
pub(super) const DEPTH: usize = 64;

/// Products between two visits of a tile, when none has.
const LONG_DEPTH: usize = 256;

/// Elements of the left side that are worked on at a time.
const BLOCK: usize = 128 * 1024;

/// Distance between the right side's rows from which on they are packed.
const FAR: usize = 512;

/// `c += a b` with `a` of `m x k`, `b` of `k x n` and `c` of `m x n`, packed.
pub(super) fn gemm(extents: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32]) {
    gemm_into(extents, a, b, c, extents[1]);
}

/// As [`gemm`], with rows of `c` at a distance of `c_row`.
pub(super) fn gemm_into([m, n, k]: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32], c_row: usize) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let b_row = if k == 1 { 1 } else { b.row };
    if in_lanes(n, b_row, b.column) && (a.column == 1 || k == 1) {
        dots([m, n, k], a, b, c, c_row);
    } else if m == 1 && b.column == 1 {
        row_times_matrix([n, k], a, b, c);
    } else {
        tiled([m, n, k], a, b, c, c_row);
    }
}

/// True when a product with `n` columns of a right side with these distances between rows and columns, and a left side that
/// lies row by row, is made of dot products in lanes.
pub(super) fn in_lanes(n: usize, row: usize, column: usize) -> bool {
    row == 1 && !(column == 1 && n > 1)
}

wide! {
    fn tiled(extents: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32], c_row: usize) {
        if WIDE { tiles::<16>(extents, a, b, c, c_row) } else { tiles::<8>(extents, a, b, c, c_row) }
    }
}

wide! {
    /// One row times a matrix that lies row by row: `c += a[k] * b[k, ..]`, eight `k` at a time.
    fn row_times_matrix(extents: [usize; 2], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32]) {
        let [n, k] = extents;
        let c = &mut c[..n];
        let row = |k: usize| &b.data[k * b.row..][..n];
        let mut done = 0;
        while done + 8 <= k {
            let x: [f32; 8] = core::array::from_fn(|i| a.data[(done + i) * a.column]);
            let rows: [&[f32]; 8] = core::array::from_fn(|i| row(done + i));
            for (j, c) in c.iter_mut().enumerate() {
                let mut sum = *c;
                for i in 0..8 {
                    sum += x[i] * rows[i][j];
                }
                *c = sum;
            }
            done += 8;
        }
        for k in done..k {
            let x = a.data[k * a.column];
            for (c, &b) in c.iter_mut().zip(row(k)) {
                *c += x * b;
            }
        }
    }
}

/// The general case, in tiles of [`ROWS`] x `W`.
///
/// The left side is taken in blocks of rows that stay in the second-level cache. A panel of the right side, `W` columns
/// of it, is packed on the stack when its rows are incomplete or strided, and when enough tiles use it to pay for that:
/// rows far apart cost a cache line and a page each.
#[inline(always)]
fn tiles<const W: usize>([m, n, k]: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32], c_row: usize) {
    let mut packed = [[0.0; W]; DEPTH];
    let block = block_rows(k).min(m);
    let pays = block >= 16 * ROWS && b.row >= FAR;
    for top in (0..m).step_by(block) {
        let rows = (m - top).min(block);
        let (a, c) = (Matrix { data: &a.data[top * a.row..], ..a }, &mut c[top * c_row..]);
        for j in (0..n).step_by(W) {
            let width = (n - j).min(W);
            let packs = pays || b.column != 1 || width < W;
            let long = if packs || a.column != 1 { DEPTH } else { LONG_DEPTH };
            for start in (0..k).step_by(long) {
                let depth = (k - start).min(long);
                let from = &b.data[start * b.row + j * b.column..];
                let a = Matrix { data: &a.data[start * a.column..], ..a };
                if packs {
                    pack(from, b, &mut packed[..depth], width);
                    column::<W>(rows, a, packed[..depth].as_flattened(), W, depth, &mut c[j..], c_row, width);
                } else {
                    column::<W>(rows, a, from, b.row, depth, &mut c[j..], c_row, width);
                }
            }
        }
    }
}

/// How many rows of the left side are worked on at a time.
pub(super) fn block_rows(k: usize) -> usize {
    (BLOCK / k.max(1)).max(16 * ROWS)
}

/// Copies `width` columns of `b` to rows side by side.
#[inline(always)]
fn pack<const W: usize>(from: &[f32], b: Matrix<'_>, packed: &mut [[f32; W]], width: usize) {
    for (row, packed) in packed.iter_mut().enumerate() {
        let from = &from[row * b.row..];
        match from.first_chunk::<W>() {
            Some(from) if b.column == 1 && width == W => *packed = *from,
            _ => super::unary::gather(from, 0, b.column, &mut packed[..width]),
        }
    }
}

/// All rows of `a` with one panel.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "the extents of three matrices")]
pub(super) fn column<const W: usize>(
    m: usize,
    a: Matrix<'_>,
    panel: &[f32],
    step: usize,
    depth: usize,
    c: &mut [f32],
    c_row: usize,
    width: usize,
) {
    let mut i = 0;
    while i < m {
        let a = Matrix { data: &a.data[i * a.row..], ..a };
        let c = &mut c[i * c_row..];
        i += match m - i {
            1 => tile::<1, W>(a, panel, step, depth, c, c_row, width),
            2 => tile::<2, W>(a, panel, step, depth, c, c_row, width),
            3 => tile::<3, W>(a, panel, step, depth, c, c_row, width),
            _ => tile::<ROWS, W>(a, panel, step, depth, c, c_row, width),
        };
    }
}

/// `R` rows by `width ≤ W` columns; returns `R`.
#[inline(always)]
fn tile<const R: usize, const W: usize>(
    a: Matrix<'_>,
    panel: &[f32],
    step: usize,
    depth: usize,
    c: &mut [f32],
    c_row: usize,
    width: usize,
) -> usize {
    let mut sums = [[0.0; W]; R];
    for (i, sums) in sums.iter_mut().enumerate() {
        sums[..width].copy_from_slice(&c[i * c_row..][..width]);
    }
    if a.column == 1 {
        let rows = core::array::from_fn(|i| &a.data[i * a.row..][..depth]);
        add_products(&mut sums, rows, panel, step);
    } else {
        let mut packed = [[0.0; DEPTH]; R];
        for (i, packed) in packed.iter_mut().enumerate() {
            super::unary::gather(a.data, i * a.row, a.column, &mut packed[..depth]);
        }
        let rows = core::array::from_fn(|i| &packed[i][..depth]);
        add_products(&mut sums, rows, panel, step);
    }
    for (i, sums) in sums.iter().enumerate() {
        c[i * c_row..][..width].copy_from_slice(&sums[..width]);
    }
    R
}

/// `sums[i] += a[i][k] * panel[k * step..]`, in the order of `k`.
#[inline(always)]
fn add_products<const R: usize, const W: usize>(sums: &mut [[f32; W]; R], a: [&[f32]; R], panel: &[f32], step: usize) {
    let mut local = *sums;
    let depth = a[0].len();
    let a = a.map(|row| &row[..depth]);
    for k in 0..depth {
        let Some(b) = panel[k * step..].first_chunk::<W>() else { unreachable!("a panel has {W} columns") };
        for i in 0..R {
            let x = a[i][k];
            for j in 0..W {
                local[i][j] += x * b[j];
            }
        }
    }
    *sums = local;
}

wide! {
    /// Both operands' `k` elements lie side by side.
    fn dots(extents: [usize; 3], a: Matrix<'_>, b: Matrix<'_>, c: &mut [f32], c_row: usize) {
        let [m, n, k] = extents;
        let left = |i: usize| &a.data[i * a.row..][..k];
        let right = |j: usize| &b.data[j * b.column..][..k];
        let mut j = 0;
        while j < n {
            let wide = j + 4 <= n;
            let mut i = 0;
            while i < m {
                let tall = i + 2 <= m;
                match (tall, wide) {
                    (true, true) => {
                        put([0, 1].map(|d| left(i + d)), [0, 1, 2, 3].map(|d| right(j + d)), &mut c[i * c_row + j..], c_row)
                    }
                    (true, false) => put([0, 1].map(|d| left(i + d)), [right(j)], &mut c[i * c_row + j..], c_row),
                    (false, true) => put([left(i)], [0, 1, 2, 3].map(|d| right(j + d)), &mut c[i * c_row + j..], c_row),
                    (false, false) => put([left(i)], [right(j)], &mut c[i * c_row + j..], c_row),
                }
                i += if tall { 2 } else { 1 };
            }
            j += if wide { 4 } else { 1 };
        }
    }
}

/// Adds the dot products of `P` with `Q` rows to `c`.
#[inline(always)]
fn put<const P: usize, const Q: usize>(a: [&[f32]; P], b: [&[f32]; Q], c: &mut [f32], c_row: usize) {
    let mut sums = [[[0.0; LANES]; Q]; P];
    add_dots(&mut sums, a, b);
    for (i, sums) in sums.iter().enumerate() {
        for (j, sums) in sums.iter().enumerate() {
            c[i * c_row + j] += join(sums);
        }
    }
}

/// Partial sums of dot products, on which [`add_dots`] goes on.
pub(super) type Dots<const P: usize, const Q: usize> = [[[f32; LANES]; Q]; P];

/// Adds the products of `P` with `Q` rows of equal length to partial sums.
#[inline(always)]
pub(super) fn add_dots<const P: usize, const Q: usize>(sums: &mut Dots<P, Q>, a: [&[f32]; P], b: [&[f32]; Q]) {
    let mut local = *sums;
    let a = a.map(|row| row.as_chunks::<LANES>());
    let b = b.map(|row| row.as_chunks::<LANES>());
    let chunks = a[0].0.len();
    let (a_chunks, b_chunks) = (a.map(|row| &row.0[..chunks]), b.map(|row| &row.0[..chunks]));
    for k in 0..chunks {
        for p in 0..P {
            let x = a_chunks[p][k];
            for q in 0..Q {
                let y = b_chunks[q][k];
                let mut sum = local[p][q];
                for lane in 0..LANES {
                    sum[lane] += x[lane] * y[lane];
                }
                local[p][q] = sum;
            }
        }
    }
    for p in 0..P {
        for q in 0..Q {
            for ((sum, x), y) in local[p][q].iter_mut().zip(a[p].1).zip(b[q].1) {
                *sum += x * y;
            }
        }
    }
    *sums = local;
}

/// Joins the partial sums of one dot product.
#[inline(always)]
pub(super) fn join(s: &[f32; LANES]) -> f32 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
