//! Run-time choice of wider vectors.

/// Defines functions whose bodies are compiled for the target and, on x86-64 with the feature `std`, a second time for
/// AVX2, which is taken where the processor has it. Neither form contracts a multiplication and an addition into one
/// rounding, and neither reorders: both give the same bits. In the body, `WIDE` says which form it is.
///
/// What the body calls has to be `#[inline(always)]` to be compiled with it.
macro_rules! wide {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$generic:ident: $bound:path>)? ($($arg:ident: $ty:ty),* $(,)?) $(-> $result:ty)? $body:block
    )*) => { $(
        $(#[$meta])*
        $vis fn $name $(<$generic: $bound>)? ($($arg: $ty),*) $(-> $result)? {
            #[allow(clippy::extra_unused_type_parameters, reason = "not every body asks for its width")]
            #[inline(always)]
            fn body<const WIDE: bool $(, $generic: $bound)?>($($arg: $ty),*) $(-> $result)? $body

            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            {
                #[target_feature(enable = "avx2")]
                fn avx2 $(<$generic: $bound>)? ($($arg: $ty),*) $(-> $result)? {
                    body::<true $(, $generic)?>($($arg),*)
                }
                if $crate::cpu::std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the only condition of a call is that the processor has AVX2, which was just asked.
                    return unsafe { avx2 $(::<$generic>)? ($($arg),*) };
                }
            }
            body::<false $(, $generic)?>($($arg),*)
        }
    )* };
}
pub(super) use wide;
