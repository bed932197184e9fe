//! A model in a program that has no std and no allocator. If anything in the runtime asked for memory, this would not
//! link: there is no global allocator here.
#![no_std]
#![no_main]

use core::ffi::c_int;

use model_graph::model_graph;

/// One layer.
#[model_graph(dims(IN = 3, OUT = 2))]
pub struct Layer {
    /// What is classified.
    #[input]
    pub x: Tensor<f32, IN>,
    /// Weights.
    #[weight]
    pub w: Tensor<f32, IN, OUT>,
    /// How likely each class is.
    #[output(softmax(matmul(x, w)))]
    pub y: Tensor<f32, OUT>,
}

/// The memory of one layer, as a `static` or the stack would hold it.
#[repr(C, align(64))]
struct Memory([u8; Layer::PLAN.size]);

// The alignment above is what the plan asks for.
const _: () = assert!(align_of::<Memory>().is_multiple_of(Layer::PLAN.align));

// The C library's start-up code, and `memcpy` and the like, which the compiler calls.
#[link(name = "c")]
unsafe extern "C" {}

/// Where the C start-up code goes. Gives 0 when the answer is right.
// SAFETY: no other symbol of this program is called `main`, and this is the signature that C gives it.
#[unsafe(no_mangle)]
pub extern "C" fn main(_count: c_int, _arguments: *const *const u8) -> c_int {
    match run() {
        Ok([low, high]) if (low - 0.268_941_4).abs() < 1e-6 && (high - 0.731_058_6).abs() < 1e-6 => 0,
        Ok(_) => 1,
        Err(_) => 2,
    }
}

/// `core` was compiled with tables for unwinding, which name this function. Nothing here ever unwinds.
// SAFETY: std, which has the only other function of this name, is not linked.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

fn run() -> Result<[f32; 2], model_graph::Error> {
    let mut memory = Memory([0; Layer::PLAN.size]);
    let mut model = Layer::new_in(&mut memory.0)?;
    model.w_mut().write(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])?;
    model.x_mut().write(&[1.0, 2.0, 3.0])?;
    let outputs = model.forward()?;
    Ok(*outputs.y())
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
