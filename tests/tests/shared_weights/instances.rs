//! Instances: what they own, what they borrow, and that they compute the same.

use model_graph::{Cpu, CpuSlice, ErrorKind, HostRead, Observer, Poison, Role, model_graph};

use super::{Bits, Made, Net, NetWeights, Owning, bits, expected, input};

fn weights() -> NetWeights {
    let mut weights = NetWeights::new(&Cpu).unwrap();
    weights.load(&Made::new()).unwrap();
    weights
}

fn run<B, W>(model: &mut Net<'_, B, W>, steps: usize) -> Vec<Bits>
where
    B: model_graph::HostBuffer,
    W: HostRead,
    for<'a> Net<'a, B, W>: Runs,
{
    (0..steps).map(|step| model.run(step)).collect()
}

/// A model of any buffers, run once.
trait Runs {
    fn run(&mut self, step: usize) -> Bits;
}

macro_rules! runs {
    ($($buffer:ty),*) => { $(
        impl<W: HostRead> Runs for Net<'_, $buffer, W> {
            fn run(&mut self, step: usize) -> Bits {
                self.x_mut().write(&input(step)).unwrap();
                let outputs = self.forward_with(&mut Poison::default()).unwrap();
                (bits(outputs.y().as_slice()), bits(outputs.turned().as_slice()))
            }
        }
    )* };
}
runs!(model_graph::DefaultBuffer, CpuSlice<'_>);

#[test]
fn each_computes_what_a_model_with_weights_of_its_own_does() {
    let weights = weights();
    let (mut one, mut other) = (Net::new(&Cpu, &weights).unwrap(), Net::new(&Cpu, &weights).unwrap());
    let expected = expected(4);
    assert_eq!(run(&mut one, 4), expected);
    assert_eq!(run(&mut other, 2), expected[..2]);
    assert_eq!(run(&mut other, 0), []);
}

#[test]
fn two_threads_run_two_instances_over_the_same_weights() {
    let weights = weights();
    let expected = expected(20);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| run(&mut Net::new(&Cpu, &weights).unwrap(), 20))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
        // One that was made here is run there.
        let mut model = Net::new(&Cpu, &weights).unwrap();
        let moved = scope.spawn(move || run(&mut model, 20));
        assert_eq!(moved.join().unwrap(), expected);
    });
}

#[test]
fn the_own_buffer_has_no_weights_and_plans_say_both_sizes() {
    let (own, apart) = (Owning::PLAN, Net::PLAN);
    let each: usize = own
        .tensors
        .iter()
        .filter(|tensor| tensor.role == Role::Weight)
        .map(|tensor| tensor.view.span().len().next_multiple_of(64))
        .sum();
    assert_eq!(apart.shared.next_multiple_of(64), each);
    assert_eq!(apart.size + each, own.size);
    assert_eq!(apart.lower_bound + each, own.lower_bound);
    assert_eq!((own.shared, NetWeights::SIZE, NetWeights::ALIGN), (0, apart.shared, 64));
    let weights = weights();
    let model = Net::new(&Cpu, &weights).unwrap();
    assert_eq!(model.into_buffer().readable().len(), apart.size);
    assert_eq!(weights.into_buffer().readable().len(), apart.shared);
    let text = apart.to_string();
    assert!(text.contains("shared") && text.contains("in 8 weights, in a buffer of their own at"), "{text}");
    assert!(apart.svg().to_string().contains("of weights in a buffer of their own"));
    assert!(apart.html().to_string().contains("of weights in a buffer of their own"));
    assert!(apart.peak().bytes <= apart.size, "{}", apart.peak());
}

#[test]
fn weights_are_read_and_written_by_field_and_by_path() {
    let mut weights = weights();
    weights.w1_mut()[3][4] = 7.0;
    weights.layers_w_mut(2).set([[0.5; 12]; 12]).unwrap();
    let model = Net::new(&Cpu, &weights).unwrap();
    assert_eq!((model.w1()[3][4], model.layers_w(2)[11][11], weights.layers_w(2)[0][0]), (7.0, 0.5, 0.5));
    assert_eq!(model.flat()[3 * 12 + 4], 7.0, "a view of a weight is read among the weights");
    assert!(std::ptr::eq(model.w1().as_array(), weights.w1().as_array()), "nothing is copied");
    assert!(std::ptr::eq(model.weights(), &weights));
    assert_ne!(*model.layers_bias(0), [0.0; 12]);
}

#[test]
fn observers_see_the_weights_of_other_buffers() {
    let weights = weights();
    let mut model = Net::new(&Cpu, &weights).unwrap();
    model.x_mut().write(&input(0)).unwrap();
    let mut seen = 0;
    let mut look = Observer(|moment: &model_graph::Moment<'_>| {
        let tensor = moment.tensor("layers.1.w").unwrap();
        let mut bytes = [0; 4 * 144];
        tensor.read(&mut bytes).unwrap();
        assert_eq!(bytemuck::cast_slice::<u8, f32>(&bytes), weights.layers_w(1).as_slice());
        assert!(std::ptr::eq(tensor.as_f32().unwrap(), weights.layers_w(1).as_slice()));
        assert!(moment.tensor("x").is_none() || moment.tensor("x").unwrap().as_f32().is_some());
        seen += 1;
    });
    let _ = model.forward_with(&mut look).unwrap();
    assert_eq!(seen, Net::PLAN.steps.len() + 1);
}

#[repr(align(64))]
struct Aligned<const N: usize>([u8; N]);

#[test]
fn both_buffers_can_be_memory_of_the_callers() {
    let mut theirs = Aligned([3; NetWeights::SIZE]);
    let mut weights = NetWeights::new_in(&mut theirs.0).unwrap();
    weights.load(&Made::new()).unwrap();
    // More than is needed: what lies behind the plan's end is not the weights'.
    let mut own = Aligned([9; Net::PLAN.size + 8192]);
    let mut model = Net::new_in(&mut own.0, &weights).unwrap();
    assert_eq!(run(&mut model, 3), expected(3));

    let mut small = Aligned([0; 64]);
    let error = NetWeights::new_in(&mut small.0).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::TooSmall { needed: NetWeights::SIZE, given: 64 });
    let error = Net::new_in(&mut small.0[..4], &weights).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::TooSmall { needed: Net::PLAN.size, given: 4 });
    let error = NetWeights::new_in(&mut own.0[1..]).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Misaligned { needed: 64, .. }), "{error}");
    let error = NetWeights::new(&Cpu).unwrap().load(&Empty).unwrap_err();
    assert!(error.to_string().contains("scale.weight"), "{error}");
}

/// A source of nothing.
struct Empty;

impl model_graph::WeightSource for Empty {
    fn find(&self, _: &str) -> Result<Option<model_graph::Weight<'_>>, model_graph::Error> {
        Ok(None)
    }

    fn names(&self, _: &mut dyn FnMut(&str)) {}
}

/// Views that are worked out for each forward, of weights too.
#[model_graph(dims(N <= 9), weights = "shared")]
struct Open {
    #[input]
    x: Tensor<f32, N, 4>,
    #[weight]
    table: Tensor<f32, 9, 4>,
    #[output(matmul(x, transpose(x)) + sum(table))]
    y: Tensor<f32, N, N>,
    #[output(table[..N] * x)]
    z: Tensor<f32, N, 4>,
    #[output(transpose(table[..N]))]
    turned: Tensor<f32, 4, N>,
}

#[test]
fn open_extents_and_shared_weights_go_together() {
    let mut weights = OpenWeights::new(&Cpu).unwrap();
    weights.table_mut().set(std::array::from_fn(|row| [row as f32 + 1.0; 4])).unwrap();
    let mut model = Open::new(&Cpu, &weights).unwrap();
    for n in [9, 1, 4] {
        model.x_mut().resize([n, 4]).unwrap().fill(2.0);
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!(outputs.y().as_slice(), vec![16.0 + 180.0; n * n]);
        let rows: Vec<f32> = (0..n).flat_map(|row| [2.0 * (row as f32 + 1.0); 4]).collect();
        assert_eq!(outputs.z().as_slice(), rows);
        let mut turned = vec![0.0; 4 * n];
        outputs.turned().read_slice(&mut turned).unwrap();
        assert!((0..4 * n).all(|at| turned[at] == (at % n) as f32 + 1.0), "{turned:?}");
    }
}

/// The setting of the outermost model counts: here that of the block is not heard, there it is not needed.
#[model_graph(weights = "shared")]
struct Inner {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w: Tensor<f32, 2>,
    #[constant([1.0, 2.0])]
    one: Tensor<f32, 2>,
    #[output(x * w + one)]
    y: _,
}

#[model_graph]
struct Outer {
    #[input]
    x: Tensor<f32, 2>,
    #[output(Inner(x))]
    y: _,
}

#[test]
fn the_outermost_model_decides() {
    let mut outer = Outer::new(&Cpu).unwrap();
    outer.y_w_mut().set([3.0, 4.0]).unwrap();
    outer.x_mut().set([1.0, 1.0]).unwrap();
    assert_eq!(*outer.forward().unwrap().y(), [4.0, 6.0]);
    assert_eq!(Outer::PLAN.shared, 0);
    let weights = InnerWeights::new(&Cpu).unwrap();
    let mut inner = Inner::new(&Cpu, &weights).unwrap();
    inner.x_mut().set([1.0, 1.0]).unwrap();
    assert_eq!(*inner.forward().unwrap().y(), [1.0, 2.0]);
}

/// Weights without elements: their buffer has no bytes, and the model's own ends before where they would begin.
#[model_graph(weights = "shared")]
struct Hollow {
    #[input]
    x: Tensor<f32, 2>,
    #[weight]
    w: Tensor<f32, 0>,
    #[weight]
    blocks: Tensor<q8_0, 3, 0>,
    #[output(concat(w, x, axis = 0))]
    y: _,
    #[output(linear(reshape(w, shape = [1, 0]), blocks))]
    zeros: _,
    #[output(w)]
    same: _,
}

#[test]
fn weights_without_elements_are_borrowed_too() {
    let weights = HollowWeights::new(&Cpu).unwrap();
    assert_eq!(HollowWeights::SIZE, 0);
    assert_ne!(Hollow::PLAN.size % Hollow::PLAN.align, 0);
    let mut model = Hollow::new(&Cpu, &weights).unwrap();
    for _ in 0..2 {
        model.x_mut().set([1.0, 2.0]).unwrap();
        let outputs = model.forward_with(&mut Poison::default()).unwrap();
        assert_eq!((*outputs.y(), *outputs.zeros(), *outputs.same()), ([1.0, 2.0], [[0.0; 3]], []));
    }
    assert!(!Hollow::PLAN.svg().to_string().is_empty() && !Hollow::PLAN.html().to_string().is_empty());
}
