//! The plan as a constant, and the forward pass: one call per step, in planned order.

use model_graph_planner::op::{Field, Fused, Operator};
use model_graph_planner::{DType, Dim, Planned, Role, Storage, View};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

use super::{Expansion, open, own, shared, states};
use crate::ast::Origin;

/// The value of `PLAN`.
pub(super) fn plan(expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
    let name = crate::ast::plain(&expansion.model.name);
    let Some(planned) = expansion.planned else {
        return quote! { #krate::__private::no_plan(#name) };
    };
    let Planned { size, align, lower_bound, optimal, persistent, shared, .. } = planned;
    let tensors = planned.tensors.iter().map(|tensor| {
        let (name, first, last) = (&tensor.name, tensor.first, tensor.last);
        let role = format_ident!("{}", tensor.role.variant());
        let view = view(&tensor.view, krate);
        let storage = match tensor.storage {
            Storage::Own => quote! { Own },
            Storage::View(of) => quote! { View(#of) },
            Storage::InPlace(of) => quote! { InPlace(#of) },
            Storage::Part(of) => quote! { Part(#of) },
        };
        quote! { #krate::__private::tensor(#name, #krate::Role::#role, #view, #first, #last, #krate::Storage::#storage) }
    });
    let steps = planned.steps.iter().map(|step| {
        let (op, inputs, outputs, scratch) = (step.op.name(), &step.inputs, &step.outputs, &step.scratch);
        quote! { #krate::__private::step(#op, &[#(#inputs),*], &[#(#outputs),*], &[#(#scratch),*]) }
    });
    let saved = planned.saved.iter().map(|saving| {
        let (by, bytes) = (saving.by, saving.bytes);
        quote! { #krate::Saving { by: #by, bytes: #bytes } }
    });
    let open = open::extents(planned, krate);
    let bytes = Literal::u64_unsuffixed(*size as u64);
    let shared = match shared {
        0 => quote! { 0 },
        // What a target has to address is all of it.
        _ => {
            let start = size.next_multiple_of(*align);
            let end = Literal::u64_unsuffixed((start + shared) as u64);
            quote! { #krate::__private::fits::<#end>() - #start }
        }
    };
    quote! {
        #krate::Plan {
            model: #name,
            size: #krate::__private::fits::<#bytes>(),
            align: #align,
            lower_bound: #lower_bound,
            optimal: #optimal,
            persistent: #persistent,
            shared: #shared,
            tensors: &[#(#tensors),*],
            steps: &[#(#steps),*],
            saved: &[#(#saved),*],
            open: #open,
        }
    }
}

fn view(view: &View, krate: &Path) -> TokenStream {
    let dtype = format_ident!("{}", view.dtype.variant());
    let (offset, dims, strides) = (view.offset, view.dims(), view.strides());
    let packed = view.is_packed() && !dims.contains(&0);
    if packed {
        quote! { #krate::__private::packed(#krate::DType::#dtype, #offset, &[#(#dims),*]) }
    } else {
        quote! { #krate::__private::strided(#krate::DType::#dtype, #offset, &[#(#dims),*], &[#(#strides),*]) }
    }
}

/// `forward` and `forward_with`.
pub(super) fn forward(expansion: &Expansion<'_>, krate: &Path) -> TokenStream {
    let name = &expansion.model.name;
    let outputs = format_ident!("{}Outputs", crate::ast::plain(name));
    let of_outputs = shared::generics(expansion.model, krate).of_some_outputs;
    let states = match states::there_are(expansion.lowered) {
        true => {
            ", `Position` when a state is to be written where rows do not fit, `Torn` when the last forward ended in the \
             midst of writing the states, or setting them did"
        }
        false => "",
    };
    // Those that are shared were asked of where the model was made.
    let weighs = |planned: &Planned| planned.tensors.iter().any(|tensor| tensor.role == Role::Weight);
    let weights = match expansion.planned.is_some_and(weighs) && !expansion.model.shares() {
        true => ", `HalfLoaded` when loading or writing weights ended in the midst",
        false => "",
    };
    let errors = format!("`InputNotSet` when an input was not written since the last forward{states}{weights}.");
    let (bounds, body) = match expansion.planned {
        None => (TokenStream::new(), quote! { let _ = __hook; ::core::unreachable!() }),
        Some(planned) => {
            let steps = body(expansion, planned, krate);
            let body = quote! { #steps ::core::result::Result::Ok(#outputs { model: self }) };
            (bounds(planned, &expansion.model.origins(), krate), body)
        }
    };
    let open_doc = expansion.model.varying().next().map(|_| {
        quote! { #[doc = " `Extent` when inputs have another value for the same open dim."] }
    });
    quote! {
        /// Runs every step and gives access to the outputs. Allocates nothing.
        ///
        /// # Errors
        #[doc = #errors]
        #open_doc
        pub fn forward(&mut self) -> ::core::result::Result<#outputs #of_outputs, #krate::Error>
        where
            #bounds
        {
            self.forward_with(&mut ())
        }

        /// Runs like `forward`, with a hook between the steps, such as an observer.
        ///
        /// # Errors
        /// As `forward`, and whatever the hook meets.
        pub fn forward_with<__Hook>(
            &mut self,
            __hook: &mut __Hook,
        ) -> ::core::result::Result<#outputs #of_outputs, #krate::Error>
        where
            __Hook: #krate::Hook<__Buffer>,
            #bounds
        {
            #body
        }
    }
}

/// One bound for each operator that the model uses.
fn bounds(planned: &Planned, origins: &[Origin<'_>], krate: &Path) -> TokenStream {
    let bound = |op: &dyn Operator| match own::call(op, origins) {
        Some((_, origin)) => own::bound(origin, krate),
        None => {
            let kernel = kernel(op, krate);
            quote! { __Buffer: #krate::Kernel<#kernel> }
        }
    };
    let mut bounds: Vec<(String, TokenStream)> =
        planned.steps.iter().map(|step| bound(&*step.op)).map(|bound| (bound.to_string(), bound)).collect();
    bounds.sort_by(|left, right| left.0.cmp(&right.0));
    bounds.dedup_by(|left, right| left.0 == right.0);
    let bounds = bounds.into_iter().map(|(_, bound)| bound);
    quote! { #(#bounds,)* }
}

/// The type that a kernel is implemented for.
fn kernel(op: &dyn Operator, krate: &Path) -> TokenStream {
    if let Some(fused) = op.as_any().downcast_ref::<Fused>() {
        let (base, stage) = (kernel(&*fused.base, krate), kernel(&*fused.stage, krate));
        return quote! { #krate::op::Then<#base, #stage> };
    }
    let name = format_ident!("{}", op.kernel());
    quote! { #krate::op::#name }
}

fn body(expansion: &Expansion<'_>, planned: &Planned, krate: &Path) -> TokenStream {
    let name = &expansion.model.name;
    let inputs = expansion.interface.inputs.iter().map(|input| {
        let (name, keep) = (&input.name, input.keep);
        quote! { (#name, #keep) }
    });
    let inputs: Vec<TokenStream> = inputs.collect();
    let origins = expansion.model.origins();
    let varies = expansion.model.varying().next().is_some();
    let (shares, shared) = (expansion.model.shares(), shared::of_call(expansion.model));
    let torn = planned.steps.iter().any(|step| states::writes(planned, step));
    let mend = torn.then(|| quote! { self.inputs.mend(); });
    let steps = planned.steps.iter().enumerate().map(|(index, step)| {
        let views = |tensors: &[usize]| {
            if tensors.iter().any(|tensor| expansion.moving.binary_search(tensor).is_ok()) {
                let views = tensors.iter().map(|tensor| open::view(expansion, *tensor));
                quote! { &[#(#views),*] }
            } else {
                quote! { const { &[#(TENSORS[#tensors].view),*] } }
            }
        };
        let (inputs, outputs, scratch) = (views(&step.inputs), views(&step.outputs), views(&step.scratch));
        let run = match own::call(&*step.op, &origins) {
            Some((call, origin)) => own::run(call, origin, [&inputs, &outputs, &scratch, &shared], krate),
            None => {
                let op = operator(&*step.op, krate);
                quote! {
                    #krate::Kernel::run(
                        &mut self.buffer,
                        &#krate::Call { op: #op, inputs: #inputs, outputs: #outputs, scratch: #scratch, shared: #shared },
                    )
                }
            }
        };
        // From the first step that writes a state to the last step of all, states are of no one forward.
        let run = match states::writes(planned, step) {
            // Of the language's operators it is known which errors come before anything is written.
            true if own::call(&*step.op, &origins).is_none() => quote! {
                let __torn = self.inputs.tear();
                let __result = #run;
                self.inputs.torn(__torn, __result)?;
            },
            true => quote! {
                self.inputs.tear();
                #run?;
            },
            false => quote! { #run?; },
        };
        let after = match varies || shares {
            true => quote! { after_at(__hook, &mut self.buffer, PLAN, __places, #index) },
            false => quote! { after(__hook, &mut self.buffer, PLAN, #index) },
        };
        quote! {
            #run
            #krate::Hook::#after?;
        }
    });
    let (take, before) = if varies {
        let (settle, moving) = (open::settle(expansion, planned, krate), &expansion.moving);
        let take = quote! {
            self.inputs.check(&[#(#inputs),*])?;
            #settle
            self.inputs.take(&[#(#inputs),*])?;
            const MOVING: &[::core::primitive::usize] = &[#(#moving),*];
            let (__values, __views) = (self.open.values(), self.open.views());
            let __places = #krate::__private::Places { moving: MOVING, views: __views, shared: #shared };
        };
        (take, quote! { before_at(__hook, &mut self.buffer, PLAN, __places) })
    } else if shares {
        let take = quote! {
            self.inputs.take(&[#(#inputs),*])?;
            let __places = #krate::__private::Places { shared: #shared, ..#krate::__private::Places::FIXED };
        };
        (take, quote! { before_at(__hook, &mut self.buffer, PLAN, __places) })
    } else {
        (quote! { self.inputs.take(&[#(#inputs),*])?; }, quote! { before(__hook, &mut self.buffer, PLAN) })
    };
    let shared = shared::before_steps(expansion.model, krate);
    quote! {
        const PLAN: &#krate::Plan<'static> = &<#name>::PLAN;
        #[allow(dead_code)]
        const TENSORS: &[#krate::PlanTensor<'static>] = PLAN.tensors;
        #shared
        #take
        #krate::Hook::#before?;
        #(#steps)*
        #mend
    }
}

/// The operator's struct with its settings; where extents are among them, for the values of the forward.
pub(super) fn operator(op: &dyn Operator, krate: &Path) -> TokenStream {
    if let Some(fused) = op.as_any().downcast_ref::<Fused>() {
        let (base, stage, side) = (operator(&*fused.base, krate), operator(&*fused.stage, krate), fused.side);
        return quote! { #krate::op::Then { base: #base, stage: #stage, side: #side } };
    }
    let name = format_ident!("{}", op.kernel());
    let mut fields = TokenStream::new();
    op.fields(&mut |field, value| {
        let (field, value) = (format_ident!("{field}"), setting(value, krate));
        fields.extend(quote! { #field: #value, });
    });
    quote! { #krate::op::#name { #fields } }
}

/// The value of a field.
pub(super) fn setting(value: Field<'_>, krate: &Path) -> TokenStream {
    match value {
        Field::Usize(value) => quote! { #value },
        Field::F32(value) if value == f32::INFINITY => quote! { ::core::primitive::f32::INFINITY },
        Field::F32(value) if value == f32::NEG_INFINITY => quote! { ::core::primitive::f32::NEG_INFINITY },
        Field::F32(value) => quote! { #value },
        Field::I32(value) => quote! { #value },
        Field::Bool(value) => quote! { #value },
        Field::Usizes(values) => quote! { [#(#values),*] },
        Field::F32s(values) => quote! { [#(#values),*] },
        Field::Bools(values) => quote! { [#(#values),*] },
        Field::DType(dtype) => {
            let variant = format_ident!("{}", dtype.variant());
            quote! { #krate::DType::#variant }
        }
        Field::Dim(dim) => extent(dim, krate),
        Field::Dims(dims) => {
            let dims = dims.iter().map(|dim| extent(*dim, krate));
            quote! { [#(#dims),*] }
        }
    }
}

fn extent(dim: Dim, krate: &Path) -> TokenStream {
    let size = open::extent(dim, krate);
    quote! { #krate::__private::Dim::new(#size) }
}

/// The Rust type of an element, or of a block of them.
pub(super) fn element(dtype: DType, krate: &Path) -> Option<TokenStream> {
    Some(match dtype {
        DType::F32 => quote! { ::core::primitive::f32 },
        DType::F16 => quote! { #krate::f16 },
        DType::BF16 => quote! { #krate::bf16 },
        DType::I8 => quote! { ::core::primitive::i8 },
        DType::U8 => quote! { ::core::primitive::u8 },
        DType::I32 => quote! { ::core::primitive::i32 },
        DType::U32 => quote! { ::core::primitive::u32 },
        DType::I64 => quote! { ::core::primitive::i64 },
        DType::Bool => quote! { #krate::Bool },
        DType::Q8_0 => quote! { #krate::BlockQ8_0 },
        DType::Q4_0 => quote! { #krate::BlockQ4_0 },
        _ => return None,
    })
}

/// A number of that element type as a constant's value.
pub(super) fn number(dtype: DType, number: f64, krate: &Path) -> TokenStream {
    match dtype {
        DType::F32 => {
            let single = number as f32;
            quote! { #single }
        }
        DType::F16 => quote! { #krate::f16::from_f64_const(#number) },
        DType::BF16 => quote! { #krate::bf16::from_f64_const(#number) },
        DType::Bool if number != 0.0 => quote! { #krate::Bool::TRUE },
        DType::Bool => quote! { #krate::Bool::FALSE },
        // Whole, since it was looked at when it was read.
        _ => Literal::i64_unsuffixed(number as i64).into_token_stream(),
    }
}
