//! What is emitted for shared weights: the type that holds them, and the forms that the model's own items take when it
//! borrows it. Of a model whose weights lie in its own buffer nothing is, and its items have the plain forms.

use model_graph_planner::Storage;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::{Expansion, interface, parts};
use crate::ast::{self, Model, Role};
use crate::error::Report;
use crate::lower::Lowered;

/// Methods that every value of shared weights has.
pub(super) const TAKEN: &[&str] =
    &["new", "new_in", "from_buffer", "into_buffer", "from_image", "image", "write_image", "load"];

/// True for an accessor's name that what holds the weights has already, which was complained of.
pub(super) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

/// Complains of weights whose accessors would have the name of a method of what holds them.
pub(super) fn complain_of_names(model: &Model, lowered: &Lowered<'_>, report: &mut Report) {
    if !model.shares() {
        return;
    }
    let fields = model.fields.iter().filter(|field| matches!(field.role, Role::Weight { .. }));
    let own = fields.map(|field| (field.plain_name(), &field.name, "tensor"));
    let groups = parts::groups(lowered);
    let of_blocks = groups.iter().filter(|group| group.is_weight());
    let of_blocks = of_blocks.map(|group| (group.method.clone(), &model.fields[group.field].name, "field"));
    for (name, at, what) in own.chain(of_blocks) {
        // What every model has was complained of already.
        if is_taken(&name) && !interface::TAKEN.contains(&name.as_str()) {
            let holder = holder(model);
            report.add(
                at,
                format!("`{name}` would be both the accessor of a weight and a method that every `{holder}` has; give the {what} another name"),
            );
        }
    }
}

/// The generics of a model and of its outputs, and how each is named with them.
pub(super) struct Generics {
    /// In the struct.
    pub(super) declared: TokenStream,
    /// In an `impl`.
    pub(super) bounded: TokenStream,
    /// In an `impl` that asks for nothing.
    pub(super) bare: TokenStream,
    /// Behind the model's name.
    pub(super) used: TokenStream,
    /// Behind the model's name where its buffers are the default ones.
    pub(super) default: TokenStream,
    /// Behind the name of the outputs, in an `impl` whose lifetime of the model is `'__m`.
    pub(super) of_outputs: TokenStream,
    /// The same where that lifetime has no name.
    pub(super) of_some_outputs: TokenStream,
    /// In an `impl` of the outputs.
    pub(super) outputs_bounded: TokenStream,
    /// In the struct of the outputs.
    pub(super) outputs_declared: TokenStream,
    /// Silences what is said of a lifetime that is left out in a path.
    pub(super) allow: TokenStream,
}

/// The forms of a model's items.
pub(super) fn generics(model: &Model, krate: &Path) -> Generics {
    let default = quote! { #krate::DefaultBuffer };
    if !model.shares() {
        return Generics {
            declared: quote! { <__Buffer = #default> },
            bounded: quote! { <__Buffer: #krate::Buffer> },
            bare: quote! { <__Buffer> },
            used: quote! { <__Buffer> },
            default: TokenStream::new(),
            of_outputs: quote! { <'__m, __Buffer> },
            of_some_outputs: quote! { <'_, __Buffer> },
            outputs_bounded: quote! { <'__m, __Buffer: #krate::Buffer> },
            outputs_declared: quote! { <'__m, __Buffer = #default> },
            allow: TokenStream::new(),
        };
    }
    Generics {
        declared: quote! { <'__w, __Buffer = #default, __Weights = #default> },
        bounded: quote! { <'__w, __Buffer: #krate::Buffer, __Weights: #krate::Buffer> },
        bare: quote! { <'__w, __Buffer, __Weights> },
        used: quote! { <'__w, __Buffer, __Weights> },
        default: quote! { <'_> },
        of_outputs: quote! { <'__m, '__w, __Buffer, __Weights> },
        of_some_outputs: quote! { <'_, '__w, __Buffer, __Weights> },
        outputs_bounded: quote! { <'__m, '__w, __Buffer: #krate::Buffer, __Weights: #krate::Buffer> },
        outputs_declared: quote! { <'__m, '__w, __Buffer = #default, __Weights = #default> },
        allow: quote! { #[allow(elided_lifetimes_in_paths)] },
    }
}

/// The name of the type that holds the weights.
pub(super) fn holder(model: &Model) -> Ident {
    format_ident!("{}Weights", ast::plain(&model.name))
}

/// The field of the model that borrows the weights.
pub(super) fn field(model: &Model) -> Option<TokenStream> {
    let holder = holder(model);
    model.shares().then(|| quote! { weights: &'__w #holder<__Weights>, })
}

/// The struct that holds the weights.
pub(super) fn structs(model: &Model, krate: &Path) -> Option<TokenStream> {
    let (Model { vis, name, .. }, holder) = (model, holder(model));
    let doc = format!(
        "The weights of [`{name}`], in one buffer of [`SIZE`]({holder}::SIZE) bytes, for any number of instances to borrow."
    );
    model.shares().then(|| {
        quote! {
            // A model that derives it asks it of what it borrows.
            #[derive(::core::fmt::Debug)]
            #[doc = #doc]
            #vis struct #holder<__Weights = #krate::DefaultBuffer> {
                buffer: __Weights,
                half: #krate::__private::Half,
            }
        }
    })
}

/// What a step is told of the shared weights.
pub(super) fn of_call(model: &Model) -> TokenStream {
    match model.shares() {
        true => quote! { __shared },
        false => quote! { ::core::option::Option::None },
    }
}

/// Puts that into a variable, before the steps.
pub(super) fn before_steps(model: &Model, krate: &Path) -> Option<TokenStream> {
    model.shares().then(|| {
        quote! {
            let __shared = ::core::option::Option::Some(#krate::__private::shared(PLAN, &self.weights.buffer));
        }
    })
}

/// Construction of a model that borrows its weights. `build` makes the fields of `Self` out of a filled buffer, `init`
/// fills it.
pub(super) fn construction(model: &Model, init: &TokenStream, rest: &TokenStream, krate: &Path) -> TokenStream {
    let (name, holder) = (&model.name, holder(model));
    quote! {
        /// A model in a new buffer of that type; the one allocation there ever is. It borrows the weights.
        ///
        /// # Errors
        /// `AlignmentTooSmall`, `TooLarge`, `SlotTooSmall` or `OutOfMemory`; `HalfLoaded` when the weights are.
        pub fn new<__Type>(
            __buffer_type: &__Type,
            __weights: &'__w #holder<__Weights>,
        ) -> ::core::result::Result<Self, #krate::Error>
        where
            __Type: #krate::BufferType<Buffer = __Buffer>,
        {
            Self::__build(#krate::__private::allocate(__buffer_type, &<#name>::PLAN)?, __weights)
        }

        /// A model in a buffer that is there already. Its bytes are cleared. It borrows the weights.
        ///
        /// # Errors
        /// `Misaligned` or `TooSmall`, with what is needed and what was given; `HalfLoaded` when the weights are.
        pub fn from_buffer(
            __buffer: __Buffer,
            __weights: &'__w #holder<__Weights>,
        ) -> ::core::result::Result<Self, #krate::Error> {
            Self::__build(#krate::__private::adopt(__buffer, &<#name>::PLAN)?, __weights)
        }

        #[allow(unused_mut)]
        fn __build(
            mut __buffer: __Buffer,
            __weights: &'__w #holder<__Weights>,
        ) -> ::core::result::Result<Self, #krate::Error> {
            #krate::__private::loaded(&__weights.half)?;
            #init
            ::core::result::Result::Ok(Self { buffer: __buffer, weights: __weights, #rest })
        }

        /// The weights, which other instances may borrow as well.
        pub fn weights(&self) -> &'__w #holder<__Weights> {
            self.weights
        }

        #[doc(hidden)]
        pub fn load<__Source>(&mut self, _: &__Source) -> ::core::result::Result<(), #krate::Error>
        where
            __Source: ?::core::marker::Sized,
            __Weights: #krate::__private::SharedWeights,
        {
            ::core::unreachable!()
        }

        /// The buffer, given back.
        pub fn into_buffer(self) -> __Buffer {
            self.buffer
        }
    }
}

/// The impl of a model in memory that the caller owns.
pub(super) fn new_in(model: &Model, krate: &Path) -> TokenStream {
    let (name, holder) = (&model.name, holder(model));
    quote! {
        #[allow(dead_code, deprecated, elided_lifetimes_in_paths, clippy::all, clippy::indexing_slicing)]
        impl<'__m, '__w, __Weights: #krate::Buffer> #name<'__w, #krate::CpuSlice<'__m>, __Weights> {
            /// A model in memory that the caller owns. [`PLAN`](Self::PLAN) says how many bytes it takes and what
            /// their start has to be a multiple of. It borrows the weights.
            ///
            /// # Errors
            /// `Misaligned` or `TooSmall`, with what is needed and what was given; `HalfLoaded` when the weights are.
            pub fn new_in(
                __memory: &'__m mut [::core::primitive::u8],
                __weights: &'__w #holder<__Weights>,
            ) -> ::core::result::Result<Self, #krate::Error> {
                Self::from_buffer(#krate::CpuSlice::borrowed(__memory), __weights)
            }
        }
    }
}

/// Everything that the holder of the weights has.
pub(super) fn holder_items(expansion: &Expansion<'_>, krate: &Path) -> Option<TokenStream> {
    let model = expansion.model;
    if !model.shares() {
        return None;
    }
    let (name, holder) = (&model.name, holder(model));
    let plan = quote! { <#name>::PLAN };
    let load = match expansion.planned {
        Some(planned) => {
            let entries = expansion.weights(planned);
            quote! { #krate::__private::load_weights(&mut self.buffer, &mut self.half, &#plan, &[#(#entries),*], __source) }
        }
        None => quote! { let _ = __source; ::core::unreachable!() },
    };
    let accessors = expansion.interface.on_weights(expansion, krate);
    let of_blocks = parts::on_weights(expansion, krate);
    Some(quote! {
        #[allow(dead_code, deprecated, elided_lifetimes_in_paths, clippy::all, clippy::indexing_slicing)]
        impl #holder {
            /// How many bytes the buffer has.
            pub const SIZE: ::core::primitive::usize = #plan.shared;
            /// What its start has to be a multiple of, in bytes.
            pub const ALIGN: ::core::primitive::usize = #plan.align;
            /// How many bytes an image of the weights has, header and all.
            pub const IMAGE_SIZE: ::core::primitive::usize = #krate::__private::image_size(&#plan);
        }

        #[allow(dead_code, deprecated, elided_lifetimes_in_paths, clippy::all, clippy::indexing_slicing)]
        impl<__Weights: #krate::Buffer> #holder<__Weights> {
            /// Weights in a new buffer of that type. They are zero until they are loaded or written.
            ///
            /// # Errors
            /// `AlignmentTooSmall`, `TooLarge`, `SlotTooSmall` or `OutOfMemory`.
            pub fn new<__Type>(__buffer_type: &__Type) -> ::core::result::Result<Self, #krate::Error>
            where
                __Type: #krate::BufferType<Buffer = __Weights>,
            {
                let buffer = #krate::__private::allocate_weights(__buffer_type, &#plan)?;
                ::core::result::Result::Ok(Self { buffer, half: #krate::__private::Half::NONE })
            }

            /// Weights in a buffer that is there already. Its bytes are cleared.
            ///
            /// # Errors
            /// `Misaligned` or `TooSmall`, with what is needed and what was given.
            pub fn from_buffer(__buffer: __Weights) -> ::core::result::Result<Self, #krate::Error> {
                let buffer = #krate::__private::adopt_weights(__buffer, &#plan)?;
                ::core::result::Result::Ok(Self { buffer, half: #krate::__private::Half::NONE })
            }

            /// Fills the weights by name.
            ///
            /// # Errors
            /// `Weights` with everything that is missing or of another shape or element type; the weights are then as
            /// they were. `ReadOnly` when they are borrowed from an image. After an error of the device, or of the source
            /// in the midst, no model borrows them until they are loaded: `HalfLoaded`.
            pub fn load<__Source>(&mut self, __source: &__Source) -> ::core::result::Result<(), #krate::Error>
            where
                __Source: #krate::WeightSource + ?::core::marker::Sized,
            {
                #load
            }

            /// Writes an image to `IMAGE_SIZE` bytes, which `from_image` borrows: the model's name, each weight's name,
            /// element type, shape and place, then the weights as they lie in their buffer.
            ///
            /// # Errors
            /// `ImageSize` when the slice has another length, `HalfLoaded` when the weights are, and what the device reports.
            pub fn write_image(&self, __out: &mut [::core::primitive::u8]) -> ::core::result::Result<(), #krate::Error> {
                #krate::__private::write_image(&self.buffer, &self.half, &#plan, __out)
            }

            #krate::__private::if_alloc! {
                /// The image that `write_image` writes.
                ///
                /// # Errors
                /// `HalfLoaded` when the weights are, and what the device reports.
                pub fn image(
                    &self,
                ) -> ::core::result::Result<#krate::__private::Vec<::core::primitive::u8>, #krate::Error> {
                    #krate::__private::image(&self.buffer, &self.half, &#plan)
                }
            }

            /// The buffer, given back.
            pub fn into_buffer(self) -> __Weights {
                self.buffer
            }

            #accessors
            #of_blocks
        }

        #[allow(dead_code, deprecated, elided_lifetimes_in_paths, clippy::all, clippy::indexing_slicing)]
        impl<'__m> #holder<#krate::CpuSlice<'__m>> {
            /// Weights in memory that the caller owns, whose bytes are cleared. It takes `SIZE` bytes, and their start has
            /// to be a multiple of `ALIGN`.
            ///
            /// # Errors
            /// `Misaligned` or `TooSmall`, with what is needed and what was given.
            pub fn new_in(__memory: &'__m mut [::core::primitive::u8]) -> ::core::result::Result<Self, #krate::Error> {
                Self::from_buffer(#krate::CpuSlice::borrowed(__memory))
            }
        }

        #[allow(dead_code, deprecated, elided_lifetimes_in_paths, clippy::all, clippy::indexing_slicing)]
        impl<'__m> #holder<#krate::CpuImage<'__m>> {
            /// The weights of an image, borrowed as they lie: nothing is copied, and of a mapped file nothing but the
            /// header is read.
            ///
            /// # Errors
            /// `Image`, with what was expected and what is given, when the bytes are no image of these weights or are cut
            /// off; `Misaligned` when the image does not begin at a multiple of `ALIGN`, which a mapped file does.
            pub fn from_image(__image: &'__m [::core::primitive::u8]) -> ::core::result::Result<Self, #krate::Error> {
                let buffer = #krate::CpuImage::new(#krate::__private::check_image(__image, &#plan)?);
                ::core::result::Result::Ok(Self { buffer, half: #krate::__private::Half::NONE })
            }
        }
    })
}

/// Whether a tensor of that role lies among the shared weights: one of them, or what looks at one. Without a plan the role
/// alone says so.
pub(super) fn lies_there(expansion: &Expansion<'_>, role: &Role, tensor: Option<usize>) -> bool {
    if !expansion.model.shares() {
        return false;
    }
    let Some((planned, tensor)) = expansion.planned.zip(tensor) else { return matches!(role, Role::Weight { .. }) };
    // By whose bytes they are and not by where: weights without elements lie nowhere.
    planned.with(|plan| {
        let mut root = &plan.tensors[tensor];
        while let Storage::View(of) = root.storage {
            root = &plan.tensors[of];
        }
        root.role == model_graph_planner::Role::Weight
    })
}
