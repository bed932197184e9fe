//! Weights in a buffer of their own, which instances of a model borrow: how it is made and filled, and how a step finds it.
//! It knows plans and buffers, and nothing of models or operators.

pub(crate) mod image;

use core::fmt;

pub use self::image::ImageFault;
use crate::marks::Half;
use crate::private::{allocate_for, fits_in, load_at};
use crate::{Buffer, BufferType, Error, Plan, PlanTensor, Storage, Usage, View, WeightSource};

/// The buffer of shared weights as a step sees it. Nothing is ever written there.
///
/// A plan counts its bytes behind those of the model's own buffer, so an operand whose offset is `start` or more lies in
/// it, that many bytes less from its beginning.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The offset that its first byte counts as.
    pub start: usize,
    /// The buffer.
    pub buffer: &'a dyn Buffer,
}

impl Shared<'_> {
    /// True for an operand that lies there.
    pub fn holds(&self, view: &View) -> bool {
        view.offset >= self.start
    }
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("start", &self.start)
            .field("buffer", &self.buffer.name())
            .field("size", &self.buffer.size())
            .finish()
    }
}

/// Never implemented; the message is what a user reads who writes the weights of one instance.
#[diagnostic::on_unimplemented(
    message = "the weights of this model are shared and its instances only borrow them",
    label = "cannot be written through an instance",
    note = "load and write them in the value that holds them, before instances borrow it: for a model `Net`, \
            `let mut weights = NetWeights::new(&Cpu)?; weights.load(&source)?;` or `weights.w_mut()`, then \
            `Net::new(&Cpu, &weights)?`"
)]
pub trait SharedWeights {}

/// The shared weights of a plan as its steps see them.
pub fn shared<'a, W: Buffer>(plan: &Plan<'static>, buffer: &'a W) -> Shared<'a> {
    Shared { start: plan.shared_start(), buffer }
}

/// Where a tensor lies in the weights' buffer.
pub const fn weight_offset(plan: &Plan<'static>, tensor: usize) -> usize {
    plan.tensors[tensor].view.offset - plan.shared_start()
}

/// A view of weights in their buffer.
pub const fn weight_view(plan: &Plan<'static>, view: &View) -> View {
    View { offset: view.offset - plan.shared_start(), ..*view }
}

/// A zeroed buffer for the weights of a plan.
pub fn allocate_weights<T: BufferType>(buffer_type: &T, plan: &Plan<'static>) -> Result<T::Buffer, Error> {
    prepare(allocate_for(buffer_type, plan, (plan.shared, Usage::Weights), weights(plan))?, plan)
}

/// A given buffer for the weights of a plan, cleared, if it fits.
pub fn adopt_weights<B: Buffer>(buffer: B, plan: &Plan<'static>) -> Result<B, Error> {
    let mut buffer = fits_in(buffer, plan.shared, plan)?;
    buffer.reset();
    buffer.clear(0)?;
    prepare(buffer, plan)
}

fn prepare<B: Buffer>(buffer: B, plan: &Plan<'static>) -> Result<B, Error> {
    let mut buffer = fits_in(buffer, plan.shared, plan)?;
    weights(plan).try_for_each(|(_, view)| buffer.init_tensor(&view))?;
    Ok(buffer)
}

/// Fills the weights' buffer from a source: first everything is looked at, then everything is written.
pub fn load_weights<B: Buffer, S: WeightSource + ?Sized>(
    buffer: &mut B,
    half: &mut Half,
    plan: &Plan<'static>,
    weights: &[(usize, &'static str)],
    source: &S,
) -> Result<(), Error> {
    load_at((buffer, plan.shared_start()), half, plan, weights, source)
}

/// The shared weights, each with its place in their buffer.
fn weights(plan: &Plan<'static>) -> impl Iterator<Item = (&'static PlanTensor<'static>, View)> {
    let start = plan.shared_start();
    let own = plan.tensors.iter().filter(|tensor| is_weight(tensor));
    own.map(move |tensor| (tensor, View { offset: tensor.view.offset - start, ..tensor.view }))
}

/// True for a weight itself, not for what looks at one.
const fn is_weight(tensor: &PlanTensor<'_>) -> bool {
    matches!(tensor.role, crate::Role::Weight) && matches!(tensor.storage, Storage::Own)
}
