//! A plan played through word by word: which element of which tensor every word of the buffer holds. It says whether a
//! plan does harm, by no rule but that whoever reads a tensor has to find its elements there.

use model_graph::{MAX_RANK, View};
use model_graph_planner::{Planned, PlannedTensor, Role, Storage};

/// Element `k` of tensor `t` is `t << 12 | k`.
type Token = u32;

/// Nobody knows what is there.
const UNKNOWN: Token = u32::MAX;

/// What goes wrong when the plan is run, if anything does.
pub(crate) fn harm(plan: &Planned) -> Option<String> {
    play(plan).err()
}

fn play(plan: &Planned) -> Result<(), String> {
    for tensor in &plan.tensors {
        let (span, own) = (tensor.view.span(), tensor.storage == Storage::Own);
        if span.end > plan.size || tensor.view.offset % 4 != 0 || own && tensor.view.offset % plan.align != 0 {
            return Err(format!("`{}` lies at {span:?}", tensor.name));
        }
    }
    let tokens = (0..plan.tensors.len()).map(|index| tokens(plan, index, 0)).collect::<Result<Vec<_>, _>>()?;
    let mut game = Game { plan, tokens, words: vec![UNKNOWN; plan.size.div_ceil(4)] };
    game.write_leaves(&[Role::Input, Role::KeptInput, Role::Weight, Role::Constant, Role::State]);
    game.forward()?;
    game.expect_roles(&[Role::Output])?;
    // Everything that is kept is still there when the inputs are written again, and the next run finds it.
    game.write_leaves(&[Role::Input]);
    game.expect_roles(&[Role::KeptNode])?;
    // What a forward left in a state is what the state is for the next.
    game.write_leaves(&[Role::State]);
    game.expect_kept()?;
    game.forward()?;
    game.expect_roles(&[Role::Output])
}

/// True when a tensor's elements come from outside.
fn is_leaf(tensor: &PlannedTensor) -> bool {
    matches!(tensor.role, Role::Input | Role::KeptInput | Role::Weight | Role::Constant | Role::State)
        && tensor.storage == Storage::Own
}

/// What a tensor's elements are, in row-major order: its own, those of what it is a view of, or those of its parts.
fn tokens(plan: &Planned, index: usize, depth: usize) -> Result<Vec<Token>, String> {
    let tensor = &plan.tensors[index];
    if depth > plan.tensors.len() {
        return Err(format!("`{}` looks at itself", tensor.name));
    }
    let places = places(&tensor.view);
    let written = plan.steps.iter().any(|step| step.outputs.contains(&index) || step.scratch.contains(&index));
    if written || is_leaf(tensor) || places.is_empty() {
        return Ok((0..places.len()).map(|k| (index as Token) << 12 | k as Token).collect());
    }
    let sources: Vec<usize> = match tensor.storage {
        Storage::View(of) => vec![of],
        _ => (0..plan.tensors.len()).filter(|part| plan.tensors[*part].storage == Storage::Part(index)).collect(),
    };
    let mut found: Vec<Option<Token>> = vec![None; places.len()];
    for source in sources {
        let tokens = tokens(plan, source, depth + 1)?;
        for (place, token) in self::places(&plan.tensors[source].view).into_iter().zip(tokens) {
            for (found, _) in found.iter_mut().zip(&places).filter(|(_, at)| **at == place) {
                if found.replace(token).is_some_and(|other| other != token) {
                    return Err(format!("parts of `{}` overlap", tensor.name));
                }
            }
        }
    }
    found.into_iter().collect::<Option<_>>().ok_or(format!("`{}` has elements that nobody writes", tensor.name))
}

/// The word of every element, in row-major order. Working space counts as words.
fn places(view: &View) -> Vec<usize> {
    if view.dtype.size() != 4 {
        return (view.offset / 4..view.span().end.div_ceil(4)).collect();
    }
    let count: usize = view.dims.iter().product();
    (0..count)
        .map(|mut position| {
            let mut place = view.offset / 4;
            for axis in (0..MAX_RANK).rev() {
                place += position % view.dims[axis] * view.strides[axis];
                position /= view.dims[axis];
            }
            place
        })
        .collect()
}

struct Game<'p> {
    plan: &'p Planned,
    tokens: Vec<Vec<Token>>,
    words: Vec<Token>,
}

impl Game<'_> {
    fn write_leaves(&mut self, roles: &[Role]) {
        for index in 0..self.plan.tensors.len() {
            let tensor = &self.plan.tensors[index];
            if is_leaf(tensor) && roles.contains(&tensor.role) {
                self.write(index, true);
            }
        }
    }

    fn write(&mut self, index: usize, known: bool) {
        for (place, token) in places(&self.plan.tensors[index].view).into_iter().zip(&self.tokens[index]) {
            self.words[place] = if known { *token } else { UNKNOWN };
        }
    }

    fn expect(&self, index: usize) -> Result<(), String> {
        let tensor = &self.plan.tensors[index];
        match places(&tensor.view).into_iter().zip(&self.tokens[index]).find(|(at, token)| self.words[*at] != **token) {
            None => Ok(()),
            Some((at, _)) => Err(format!("`{}` is not there any more at {}", tensor.name, 4 * at)),
        }
    }

    /// Kept tensors hold what they did, whatever is written from outside.
    fn expect_kept(&self) -> Result<(), String> {
        let kept = (0..self.plan.tensors.len()).filter(|index| self.plan.tensors[*index].role == Role::KeptNode);
        kept.into_iter().try_for_each(|index| self.expect(index))
    }

    fn expect_roles(&self, roles: &[Role]) -> Result<(), String> {
        let kept = [Role::KeptInput, Role::Weight, Role::Constant, Role::KeptNode];
        let last = |index: &usize| {
            let tensor = &self.plan.tensors[*index];
            let over = |next: &PlannedTensor| next.role == Role::State && next.storage == Storage::InPlace(*index);
            tensor.role == Role::State && !self.plan.tensors.iter().any(over)
        };
        (0..self.plan.tensors.len())
            .filter(|index| {
                let role = self.plan.tensors[*index].role;
                roles.contains(&role) && role != Role::State || kept.contains(&role) || last(index)
            })
            .try_for_each(|index| self.expect(index))
    }

    fn forward(&mut self) -> Result<(), String> {
        let plan = self.plan;
        self.forget(0);
        for (number, step) in plan.steps.iter().enumerate() {
            for input in &step.inputs {
                self.expect(*input).map_err(|text| format!("step {number}: {text}"))?;
            }
            for write in step.outputs.iter().chain(&step.scratch) {
                let target = places(&plan.tensors[*write].view);
                for (operand, input) in step.inputs.iter().enumerate() {
                    let from = places(&plan.tensors[*input].view);
                    let in_place = step.outputs.contains(write) && step.op.in_place(operand) && from == target;
                    if !in_place && target.iter().any(|at| from.contains(at)) {
                        return Err(format!("step {number} writes over what it reads"));
                    }
                }
                let other = step.outputs.iter().chain(&step.scratch).filter(|other| *other != write);
                if other.flat_map(|other| places(&plan.tensors[*other].view)).any(|at| target.contains(&at)) {
                    return Err(format!("step {number} writes twice to one place"));
                }
                self.write(*write, step.outputs.contains(write));
            }
            self.forget(number + 1);
        }
        Ok(())
    }

    /// What no tensor counts on after that moment is overwritten, as `Poison` does.
    fn forget(&mut self, moment: usize) {
        let mut live = vec![false; self.words.len()];
        for tensor in &self.plan.tensors {
            if tensor.first <= moment && moment < tensor.last {
                let span = tensor.view.span();
                live[span.start / 4..span.end.div_ceil(4)].fill(true);
            }
        }
        self.words.iter_mut().zip(live).filter(|(_, live)| !live).for_each(|(word, _)| *word = UNKNOWN);
    }
}
