//! Runs plans that are not written into a program: finds each step's kernel by the operator's struct.

use std::rc::Rc;

use model_graph::cpu::OwnedBytes;
use model_graph::{
    Buffer, BufferType, Call, Cpu, CpuBuffer, DType, Error, HostBuffer, Kernel, Poison, Usage, View, op,
};
use model_graph::{bf16, f16};
use model_graph::{read_view, write_view};
use model_graph_planner::op::Operator;
use model_graph_planner::{Planned, Shape, TensorId, Type};

/// The buffer that plans run on.
pub type Host = CpuBuffer<OwnedBytes>;

macro_rules! kernels {
    ($($op:ident)*) => {
        /// Runs one call of an operator.
        ///
        /// # Errors
        /// What the kernel complains of.
        ///
        /// # Panics
        /// When the operator has no kernel.
        pub fn call(
            buffer: &mut Host,
            op: &dyn Operator,
            inputs: &[View],
            outputs: &[View],
            scratch: &[View],
        ) -> Result<(), Error> {
            if let Some(fused) = op.as_any().downcast_ref::<op::Fused>() {
                return staged(buffer, fused, inputs, outputs, scratch);
            }
            $(
                if let Some(op) = op.as_any().downcast_ref::<op::$op>() {
                    return Kernel::run(buffer, &Call { op: *op, inputs, outputs, scratch, shared: None });
                }
            )*
            panic!("no kernel is listed for `{}`", op.kernel())
        }
    };
}

kernels! {
    MatMul Conv2d MaxPool2d AvgPool2d GlobalAvgPool
    Relu LeakyRelu Sigmoid Tanh Gelu Silu Exp Log Sqrt Abs Neg Clamp
    Add Sub Mul Div Maximum Minimum
    Softmax LogSoftmax LayerNorm RmsNorm BatchNorm
    Cast Linear Gather OneHot Where Equal NotEqual Less LessEqual Greater GreaterEqual IsNan IsInf And Or Xor Not
    Pow Rem Modulo Round Floor Ceil Sign Sin Cos Erf Reciprocal ArgMax ArgMin CumSum Trilu BroadcastTo
    Scatter
    Elu Selu HardSigmoid HardSwish Softplus Mish Prelu
    Min Prod SumSquare L1 L2 LogSum LogSumExp
    Attention Rope Lstm Gru Rnn
    Conv1d MaxPool1d AvgPool1d ConvTranspose2d ConvTranspose1d
    GroupNorm InstanceNorm Border Resize
    Sum Mean Max Copy Fill
    Write
    Quantize Dequantize QConv2d QDepthwiseConv2d HybridConv2d QLinear QAdd QAvgPool2d QMaxPool2d QSoftmax
}

/// Runs the base and then each stage as a step of its own, over the base's result. The bits are those of the kernel that
/// does both at once, which the runtime's own tests hold against this.
fn staged(
    buffer: &mut Host,
    fused: &op::Fused,
    inputs: &[View],
    outputs: &[View],
    scratch: &[View],
) -> Result<(), Error> {
    let (own, other) = inputs.split_at(fused.operands);
    call(buffer, &*fused.base, own, outputs, scratch)?;
    let mut operands = other.to_vec();
    operands.insert(fused.side.min(operands.len()), outputs[0]);
    call(buffer, &*fused.stage, &operands, outputs, &[])
}

/// How closely a run is watched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    /// Overwrite what is dead before each step with this byte.
    pub poison: Option<u8>,
    /// Make sure that a step changes no byte but its results' elements and its scratch.
    pub writes: bool,
    /// Give matrix products the bits of packed operands. A product's rounding depends on which way the operands lie;
    /// this takes that out, once the two were found to be close.
    pub packed: bool,
}

/// A plan with a buffer.
pub struct Machine<'p> {
    planned: &'p Planned,
    buffer: Host,
}

impl<'p> Machine<'p> {
    /// A zeroed buffer for the plan.
    ///
    /// # Errors
    /// What the allocation complains of.
    pub fn new(planned: &'p Planned) -> Result<Machine<'p>, Error> {
        Ok(Machine { planned, buffer: Cpu.allocate(planned.size, planned.align, Usage::Any)? })
    }

    /// Fills the whole buffer with one byte.
    pub fn fill(&mut self, byte: u8) {
        self.buffer.bytes_mut().fill(byte);
    }

    /// Writes a tensor of the graph, unless nothing needs it.
    ///
    /// # Errors
    /// When the number of elements is not the tensor's.
    pub fn write(&mut self, id: TensorId, values: &[f32]) -> Result<(), Error> {
        match self.planned.position(id) {
            Some(index) => {
                write_view(&mut self.buffer, &self.planned.tensors[index].view, bytemuck::cast_slice(values))
            }
            None => Ok(()),
        }
    }

    /// Reads a tensor of the graph; none when it has no place.
    ///
    /// # Errors
    /// None, in a plan that is right.
    pub fn read(&self, id: TensorId) -> Result<Option<Vec<f32>>, Error> {
        self.planned.position(id).map(|index| self.at(index)).transpose()
    }

    /// Writes a tensor of any element type, from numbers that it can hold, unless nothing needs it.
    ///
    /// # Errors
    /// When the number of elements is not the tensor's.
    pub fn write_numbers(&mut self, id: TensorId, values: &[f64]) -> Result<(), Error> {
        let Some(index) = self.planned.position(id) else { return Ok(()) };
        let view = self.planned.tensors[index].view;
        let bytes: Vec<u8> = values.iter().flat_map(|value| encode(view.dtype, *value)).collect();
        write_view(&mut self.buffer, &view, &bytes)
    }

    /// Reads a tensor of any element type as numbers; none when it has no place.
    ///
    /// # Errors
    /// None, in a plan that is right.
    pub fn read_numbers(&self, id: TensorId) -> Result<Option<Vec<f64>>, Error> {
        let Some(index) = self.planned.position(id) else { return Ok(None) };
        let view = self.planned.tensors[index].view;
        let mut bytes = vec![0; view.elements() * view.dtype.size()];
        read_view(&self.buffer, &view, &mut bytes)?;
        Ok(Some(bytes.chunks_exact(view.dtype.size()).map(|bytes| decode(view.dtype, bytes)).collect()))
    }

    fn at(&self, index: usize) -> Result<Vec<f32>, Error> {
        self.elements(&self.planned.tensors[index].view)
    }

    fn elements(&self, view: &View) -> Result<Vec<f32>, Error> {
        let mut values = vec![0.0f32; view.elements()];
        read_view(&self.buffer, view, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// Runs every step.
    ///
    /// # Errors
    /// In words: what a kernel complains of, or that a step changed bytes that are not its own, if `watch` says to look.
    pub fn run(&mut self, watch: Watch) -> Result<(), String> {
        let planned = self.planned;
        planned.with(|plan| {
            let poison = |buffer: &mut Host, moment| {
                if let Some(byte) = watch.poison {
                    Poison { byte }.fill(buffer.bytes_mut(), plan, moment);
                }
            };
            poison(&mut self.buffer, 0);
            for (index, step) in planned.steps.iter().enumerate() {
                let views =
                    |tensors: &[usize]| -> Vec<View> { tensors.iter().map(|at| plan.tensors[*at].view).collect() };
                let (inputs, outputs, scratch) = (views(&step.inputs), views(&step.outputs), views(&step.scratch));
                for (op, inputs) in apart(&step.op, inputs, outputs[0]) {
                    self.step(&*op, &inputs, &outputs, &scratch, watch)
                        .map_err(|text| format!("step {index} ({op:?}) {text}"))?;
                }
                poison(&mut self.buffer, index + 1);
            }
            Ok(())
        })
    }

    fn step(
        &mut self,
        op: &dyn Operator,
        inputs: &[View],
        outputs: &[View],
        scratch: &[View],
        watch: Watch,
    ) -> Result<(), String> {
        let words = |error: Error| error.to_string();
        let exact = match op.as_any().is::<op::MatMul>() && watch.packed {
            true => Some(self.product(op, inputs, &outputs[0]).map_err(words)?),
            false => None,
        };
        let before = watch.writes.then(|| self.buffer.bytes().to_vec());
        call(&mut self.buffer, op, inputs, outputs, scratch).map_err(words)?;
        if let Some(before) = before {
            let own = own_bytes(outputs, scratch, before.len());
            let changed = before.iter().zip(self.buffer.bytes()).zip(own);
            let strange = changed.map(|((before, after), own)| before != after && !own);
            let strange: Vec<usize> = strange.enumerate().filter(|(_, is)| *is).map(|(at, _)| at).collect();
            if !strange.is_empty() {
                return Err(format!("changed bytes {strange:?}"));
            }
        }
        if let Some((exact, tolerance)) = exact {
            let rounded = self.elements(&outputs[0]).map_err(words)?;
            let close = |(a, b): (&f32, &f32)| (a - b).abs() <= tolerance || a.is_nan() && b.is_nan();
            if !exact.iter().zip(&rounded).all(close) {
                return Err(format!("is {rounded:?} instead of {exact:?}"));
            }
            write_view(&mut self.buffer, &outputs[0], bytemuck::cast_slice(&exact)).map_err(words)?;
        }
        Ok(())
    }

    /// The product of packed copies of the operands, and how far a sum in another order may be from it.
    fn product(&self, op: &dyn Operator, inputs: &[View], output: &View) -> Result<(Vec<f32>, f32), Error> {
        let values = inputs.iter().map(|view| self.elements(view)).collect::<Result<Vec<_>, _>>()?;
        let slices: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
        let types: Vec<Type> = inputs.iter().map(type_of).collect();
        let largest = values.iter().map(|side| side.iter().fold(1.0f32, |most, value| most.max(value.abs())));
        let inner = inputs[0].dims().last().copied().unwrap_or(1);
        let tolerance = 1e-6 * inner.max(1) as f32 * largest.product::<f32>();
        Ok((crate::naive::packed(op, &types, &slices, type_of(output))?, tolerance))
    }

    /// The buffer's size in bytes.
    pub fn size(&self) -> usize {
        self.buffer.size()
    }
}

/// A call with stages as the calls it is made of.
fn apart(op: &Rc<dyn Operator>, mut inputs: Vec<View>, output: View) -> Vec<(Rc<dyn Operator>, Vec<View>)> {
    let Some(fused) = op.as_any().downcast_ref::<op::Fused>() else { return vec![(op.clone(), inputs)] };
    let mut others = inputs.split_off(fused.operands);
    let mut calls = apart(&fused.base, inputs, output);
    others.insert(fused.side.min(others.len()), output);
    calls.push((fused.stage.clone(), others));
    calls
}

fn type_of(view: &View) -> Type {
    Type { dtype: view.dtype, shape: Shape::new(view.dims()).expect("a view has few dimensions") }
}

/// Marks the bytes of the results' elements and of the scratch.
fn own_bytes(outputs: &[View], scratch: &[View], size: usize) -> Vec<bool> {
    let mut own = vec![false; size];
    for view in outputs {
        for at in crate::naive::places(view) {
            own[at..at + view.dtype.size()].fill(true);
        }
    }
    for view in scratch {
        own[view.span()].fill(true);
    }
    own
}

/// The bytes of one element.
fn encode(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F32 => (value as f32).to_ne_bytes().to_vec(),
        DType::F16 => f16::from_f64(value).to_ne_bytes().to_vec(),
        DType::BF16 => bf16::from_f64(value).to_ne_bytes().to_vec(),
        DType::I8 => vec![value as i8 as u8],
        DType::U8 => vec![value as u8],
        DType::I32 => (value as i32).to_ne_bytes().to_vec(),
        DType::U32 => (value as u32).to_ne_bytes().to_vec(),
        DType::I64 => (value as i64).to_ne_bytes().to_vec(),
        DType::Bool => vec![u8::from(value != 0.0)],
        dtype => panic!("{dtype} has no single elements"),
    }
}

fn decode(dtype: DType, bytes: &[u8]) -> f64 {
    let word = || bytes.try_into().expect("4 bytes");
    let half = || bytes.try_into().expect("2 bytes");
    match dtype {
        DType::F32 => f32::from_ne_bytes(word()).into(),
        DType::F16 => f16::from_ne_bytes(half()).into(),
        DType::BF16 => bf16::from_ne_bytes(half()).into(),
        DType::I8 => (bytes[0] as i8).into(),
        DType::I32 => i32::from_ne_bytes(word()).into(),
        DType::U32 => u32::from_ne_bytes(word()).into(),
        DType::I64 => i64::from_ne_bytes(bytes.try_into().expect("8 bytes")) as f64,
        _ => bytes[0].into(),
    }
}
