/// Two layers, one hundred images at a time.
/**

A planned model: one buffer of 771904 bytes, 3 steps, lower bound 771904 bytes. See [`Mlp::PLAN`].*/
pub struct Mlp<__Buffer = ::model_graph::DefaultBuffer> {
    buffer: __Buffer,
    inputs: ::model_graph::__private::Inputs<1usize>,
}
///What [`Mlp::forward`] gives: the outputs, until the model is written to or run again. Everything else that the model lets one read is there as well.
#[must_use]
pub struct MlpOutputs<'__m, __Buffer = ::model_graph::DefaultBuffer> {
    model: &'__m Mlp<__Buffer>,
}
#[allow(
    dead_code,
    deprecated,
    overflowing_literals,
    clippy::all,
    clippy::indexing_slicing
)]
impl Mlp {
    /// Where every tensor lies and when, and the steps that are run.
    pub const PLAN: ::model_graph::Plan<'static> = ::model_graph::Plan {
        model: "Mlp",
        size: ::model_graph::__private::fits::<771904>(),
        align: 64usize,
        lower_bound: 771904usize,
        optimal: true,
        persistent: 407080usize,
        shared: 0,
        tensors: &[
            ::model_graph::__private::tensor(
                "image",
                ::model_graph::Role::Input,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    458304usize,
                    &[100usize, 784usize],
                ),
                0usize,
                1usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "w1",
                ::model_graph::Role::Weight,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    0usize,
                    &[784usize, 128usize],
                ),
                0usize,
                4usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "b1",
                ::model_graph::Role::Weight,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    401408usize,
                    &[128usize],
                ),
                0usize,
                4usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "w2",
                ::model_graph::Role::Weight,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    401920usize,
                    &[128usize, 10usize],
                ),
                0usize,
                4usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "b2",
                ::model_graph::Role::Weight,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    407040usize,
                    &[10usize],
                ),
                0usize,
                4usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "hidden",
                ::model_graph::Role::Node,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    407104usize,
                    &[100usize, 128usize],
                ),
                1usize,
                2usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "probs.add",
                ::model_graph::Role::Node,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    458304usize,
                    &[100usize, 10usize],
                ),
                2usize,
                3usize,
                ::model_graph::Storage::Own,
            ),
            ::model_graph::__private::tensor(
                "probs",
                ::model_graph::Role::Output,
                ::model_graph::__private::packed(
                    ::model_graph::DType::F32,
                    458304usize,
                    &[100usize, 10usize],
                ),
                3usize,
                4usize,
                ::model_graph::Storage::InPlace(6usize),
            ),
        ],
        steps: &[
            ::model_graph::__private::step(
                "matmul + add + relu",
                &[0usize, 1usize, 2usize],
                &[5usize],
                &[],
            ),
            ::model_graph::__private::step(
                "matmul + add",
                &[5usize, 3usize, 4usize],
                &[6usize],
                &[],
            ),
            ::model_graph::__private::step("softmax", &[6usize], &[7usize], &[]),
        ],
        saved: &[],
        open: ::model_graph::__private::OpenExtents::NONE,
    };
    ///The declared extent `BATCH`.
    pub const BATCH: ::core::primitive::usize = 100usize;
    ///The declared extent `HIDDEN`.
    pub const HIDDEN: ::core::primitive::usize = 128usize;
}
#[allow(dead_code, deprecated, clippy::all, clippy::indexing_slicing)]
impl<__Buffer: ::model_graph::Buffer> Mlp<__Buffer> {
    /// A model in a new buffer of that type; the one allocation there ever is.
    ///
    /// Weights are zero until they are loaded or written.
    ///
    /// # Errors
    /// `AlignmentTooSmall`, `TooLarge`, `SlotTooSmall` or `OutOfMemory`.
    pub fn new<__Type>(
        __buffer_type: &__Type,
    ) -> ::core::result::Result<Self, ::model_graph::Error>
    where
        __Type: ::model_graph::BufferType<Buffer = __Buffer>,
    {
        Self::__build(::model_graph::__private::allocate(__buffer_type, &<Mlp>::PLAN)?)
    }
    /// A model in a buffer that is there already. Its bytes are cleared.
    ///
    /// # Errors
    /// `Misaligned` or `TooSmall`, with what is needed and what was given.
    pub fn from_buffer(
        __buffer: __Buffer,
    ) -> ::core::result::Result<Self, ::model_graph::Error> {
        Self::__build(::model_graph::__private::adopt(__buffer, &<Mlp>::PLAN)?)
    }
    #[allow(unused_mut)]
    fn __build(
        mut __buffer: __Buffer,
    ) -> ::core::result::Result<Self, ::model_graph::Error> {
        ::core::result::Result::Ok(Self {
            buffer: __buffer,
            inputs: ::model_graph::__private::Inputs::none(),
        })
    }
    /// Fills the weights by name.
    ///
    /// # Errors
    /// `Weights` with everything that is missing or of another shape or element type. The model is then as it
    /// was. After an error of the device, or of the source in the midst, forward is `HalfLoaded` until they are
    /// loaded.
    pub fn load<__Source>(
        &mut self,
        __source: &__Source,
    ) -> ::core::result::Result<(), ::model_graph::Error>
    where
        __Source: ::model_graph::WeightSource + ?::core::marker::Sized,
    {
        ::model_graph::__private::load(
            &mut self.buffer,
            self.inputs.weights(),
            &<Mlp>::PLAN,
            &[(1usize, "w1"), (2usize, "b1"), (3usize, "w2"), (4usize, "b2")],
            __source,
        )
    }
    /// The buffer, given back.
    pub fn into_buffer(self) -> __Buffer {
        self.buffer
    }
    /// Runs every step and gives access to the outputs. Allocates nothing.
    ///
    /// # Errors
    ///`InputNotSet` when an input was not written since the last forward, `HalfLoaded` when loading or writing weights ended in the midst.
    pub fn forward(
        &mut self,
    ) -> ::core::result::Result<MlpOutputs<'_, __Buffer>, ::model_graph::Error>
    where
        __Buffer: ::model_graph::Kernel<::model_graph::op::Softmax>,
        __Buffer: ::model_graph::Kernel<
            ::model_graph::op::Then<::model_graph::op::MatMul, ::model_graph::op::Add>,
        >,
        __Buffer: ::model_graph::Kernel<
            ::model_graph::op::Then<
                ::model_graph::op::Then<
                    ::model_graph::op::MatMul,
                    ::model_graph::op::Add,
                >,
                ::model_graph::op::Relu,
            >,
        >,
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
    ) -> ::core::result::Result<MlpOutputs<'_, __Buffer>, ::model_graph::Error>
    where
        __Hook: ::model_graph::Hook<__Buffer>,
        __Buffer: ::model_graph::Kernel<::model_graph::op::Softmax>,
        __Buffer: ::model_graph::Kernel<
            ::model_graph::op::Then<::model_graph::op::MatMul, ::model_graph::op::Add>,
        >,
        __Buffer: ::model_graph::Kernel<
            ::model_graph::op::Then<
                ::model_graph::op::Then<
                    ::model_graph::op::MatMul,
                    ::model_graph::op::Add,
                >,
                ::model_graph::op::Relu,
            >,
        >,
    {
        const PLAN: &::model_graph::Plan<'static> = &<Mlp>::PLAN;
        #[allow(dead_code)]
        const TENSORS: &[::model_graph::PlanTensor<'static>] = PLAN.tensors;
        self.inputs.take(&[("image", false)])?;
        ::model_graph::Hook::before(__hook, &mut self.buffer, PLAN)?;
        ::model_graph::Kernel::run(
            &mut self.buffer,
            &::model_graph::Call {
                op: ::model_graph::op::Then {
                    base: ::model_graph::op::Then {
                        base: ::model_graph::op::MatMul {},
                        stage: ::model_graph::op::Add {},
                        side: 0usize,
                    },
                    stage: ::model_graph::op::Relu {},
                    side: 0usize,
                },
                inputs: const {
                    &[TENSORS[0usize].view, TENSORS[1usize].view, TENSORS[2usize].view]
                },
                outputs: const { &[TENSORS[5usize].view] },
                scratch: const { &[] },
                shared: ::core::option::Option::None,
            },
        )?;
        ::model_graph::Hook::after(__hook, &mut self.buffer, PLAN, 0usize)?;
        ::model_graph::Kernel::run(
            &mut self.buffer,
            &::model_graph::Call {
                op: ::model_graph::op::Then {
                    base: ::model_graph::op::MatMul {},
                    stage: ::model_graph::op::Add {},
                    side: 0usize,
                },
                inputs: const {
                    &[TENSORS[5usize].view, TENSORS[3usize].view, TENSORS[4usize].view]
                },
                outputs: const { &[TENSORS[6usize].view] },
                scratch: const { &[] },
                shared: ::core::option::Option::None,
            },
        )?;
        ::model_graph::Hook::after(__hook, &mut self.buffer, PLAN, 1usize)?;
        ::model_graph::Kernel::run(
            &mut self.buffer,
            &::model_graph::Call {
                op: ::model_graph::op::Softmax {
                    axis: 1usize,
                },
                inputs: const { &[TENSORS[6usize].view] },
                outputs: const { &[TENSORS[7usize].view] },
                scratch: const { &[] },
                shared: ::core::option::Option::None,
            },
        )?;
        ::model_graph::Hook::after(__hook, &mut self.buffer, PLAN, 2usize)?;
        ::core::result::Result::Ok(MlpOutputs { model: self })
    }
    #[doc(hidden)]
    pub fn image(
        &self,
    ) -> ::model_graph::TensorRef<
        '_,
        [[::core::primitive::f32; 784usize]; 100usize],
        __Buffer,
    >
    where
        __Buffer: ::model_graph::__private::Overwritten,
    {
        ::core::unreachable!()
    }
    /**

Tensor `image`: `f32[100x784]`. To be written before a forward; zero until it is.*/
    pub fn image_mut(
        &mut self,
    ) -> ::model_graph::TensorMut<
        '_,
        [[::core::primitive::f32; 784usize]; 100usize],
        __Buffer,
    > {
        ::model_graph::__private::tensor_mut(
            &mut self.buffer,
            <Mlp>::PLAN.tensors[0usize].view.offset,
            self.inputs.written(0usize),
        )
    }
    /**

Tensor `w1`: `f32[784x128]`.*/
    fn w1(
        &self,
    ) -> ::model_graph::TensorRef<
        '_,
        [[::core::primitive::f32; 128usize]; 784usize],
        __Buffer,
    > {
        ::model_graph::__private::tensor_ref(
            &self.buffer,
            <Mlp>::PLAN.tensors[1usize].view.offset,
        )
    }
    /**

Tensor `w1`: `f32[784x128]`. To be written.*/
    fn w1_mut(
        &mut self,
    ) -> ::model_graph::TensorMut<
        '_,
        [[::core::primitive::f32; 128usize]; 784usize],
        __Buffer,
    > {
        ::model_graph::__private::tensor_mut(
            &mut self.buffer,
            <Mlp>::PLAN.tensors[1usize].view.offset,
            self.inputs.weight(),
        )
    }
    /**

Tensor `b1`: `f32[128]`.*/
    fn b1(
        &self,
    ) -> ::model_graph::TensorRef<'_, [::core::primitive::f32; 128usize], __Buffer> {
        ::model_graph::__private::tensor_ref(
            &self.buffer,
            <Mlp>::PLAN.tensors[2usize].view.offset,
        )
    }
    /**

Tensor `b1`: `f32[128]`. To be written.*/
    fn b1_mut(
        &mut self,
    ) -> ::model_graph::TensorMut<'_, [::core::primitive::f32; 128usize], __Buffer> {
        ::model_graph::__private::tensor_mut(
            &mut self.buffer,
            <Mlp>::PLAN.tensors[2usize].view.offset,
            self.inputs.weight(),
        )
    }
    /**

Tensor `w2`: `f32[128x10]`.*/
    fn w2(
        &self,
    ) -> ::model_graph::TensorRef<
        '_,
        [[::core::primitive::f32; 10usize]; 128usize],
        __Buffer,
    > {
        ::model_graph::__private::tensor_ref(
            &self.buffer,
            <Mlp>::PLAN.tensors[3usize].view.offset,
        )
    }
    /**

Tensor `w2`: `f32[128x10]`. To be written.*/
    fn w2_mut(
        &mut self,
    ) -> ::model_graph::TensorMut<
        '_,
        [[::core::primitive::f32; 10usize]; 128usize],
        __Buffer,
    > {
        ::model_graph::__private::tensor_mut(
            &mut self.buffer,
            <Mlp>::PLAN.tensors[3usize].view.offset,
            self.inputs.weight(),
        )
    }
    /**

Tensor `b2`: `f32[10]`.*/
    fn b2(
        &self,
    ) -> ::model_graph::TensorRef<'_, [::core::primitive::f32; 10usize], __Buffer> {
        ::model_graph::__private::tensor_ref(
            &self.buffer,
            <Mlp>::PLAN.tensors[4usize].view.offset,
        )
    }
    /**

Tensor `b2`: `f32[10]`. To be written.*/
    fn b2_mut(
        &mut self,
    ) -> ::model_graph::TensorMut<'_, [::core::primitive::f32; 10usize], __Buffer> {
        ::model_graph::__private::tensor_mut(
            &mut self.buffer,
            <Mlp>::PLAN.tensors[4usize].view.offset,
            self.inputs.weight(),
        )
    }
    #[doc(hidden)]
    fn hidden(
        &self,
    ) -> ::model_graph::TensorRef<
        '_,
        [[::core::primitive::f32; 128usize]; 100usize],
        __Buffer,
    >
    where
        __Buffer: ::model_graph::__private::Transient,
    {
        ::core::unreachable!()
    }
    #[doc(hidden)]
    pub fn probs(
        &self,
    ) -> ::model_graph::TensorRef<
        '_,
        [[::core::primitive::f32; 10usize]; 100usize],
        __Buffer,
    >
    where
        __Buffer: ::model_graph::__private::AfterForward,
    {
        ::core::unreachable!()
    }
}
#[allow(dead_code, deprecated, clippy::all, clippy::indexing_slicing)]
impl<'__m> Mlp<::model_graph::CpuSlice<'__m>> {
    /// A model in memory that the caller owns. [`PLAN`](Self::PLAN) says how many bytes it takes and what
    /// their start has to be a multiple of.
    ///
    /// # Errors
    /// `Misaligned` or `TooSmall`, with what is needed and what was given.
    pub fn new_in(
        __memory: &'__m mut [::core::primitive::u8],
    ) -> ::core::result::Result<Self, ::model_graph::Error> {
        Self::from_buffer(::model_graph::CpuSlice::borrowed(__memory))
    }
}
#[allow(dead_code, deprecated, clippy::all, clippy::indexing_slicing)]
impl<'__m, __Buffer: ::model_graph::Buffer> MlpOutputs<'__m, __Buffer> {
    /**

Tensor `probs`: `f32[100x10]`.*/
    pub fn probs(
        &self,
    ) -> ::model_graph::TensorRef<
        '_,
        [[::core::primitive::f32; 10usize]; 100usize],
        __Buffer,
    > {
        ::model_graph::__private::tensor_ref(
            &self.model.buffer,
            <Mlp>::PLAN.tensors[7usize].view.offset,
        )
    }
}
impl<__Buffer> ::core::ops::Deref for MlpOutputs<'_, __Buffer> {
    type Target = Mlp<__Buffer>;
    fn deref(&self) -> &Mlp<__Buffer> {
        self.model
    }
}
#[doc(hidden)]
#[allow(unused_macros, clippy::all)]
#[macro_export]
#[allow(non_local_definitions)]
macro_rules! __block_Mlp_9477bbcf913f9be9 {
    ([$($callback:tt)*] $($rest:tt)*) => {
        $($callback)* ! { { { sound } { dims(BATCH = 100, HIDDEN = 128) } { #[doc =
        r" Two layers, one hundred images at a time."] pub struct Mlp { #[input] pub
        image : Tensor < f32, BATCH, 784 >, #[weight] w1 : Tensor < f32, 784, HIDDEN >,
        #[weight] b1 : Tensor < f32, HIDDEN >, #[weight] w2 : Tensor < f32, HIDDEN, 10 >,
        #[weight] b2 : Tensor < f32, 10 >, #[node(relu(matmul(image, w1) + b1))] hidden :
        _, #[output(softmax(matmul(hidden, w2) + b2))] pub probs : Tensor < f32, BATCH,
        10 >, } } {} } { $($rest)* } }
    };
}
#[doc(hidden)]
#[allow(unused_imports, unreachable_pub)]
pub use __block_Mlp_9477bbcf913f9be9 as Mlp;
