//! Why the peak is what it is: the moment of the most live bytes, and what lives then.

use alloc::vec::Vec;
use core::fmt::{self, Display};

use super::layout::{Group, Layout, held};
use super::words::{Grouped, Left, Moment, Name, Right, Share, Size, width};
use crate::{Plan, Storage};

/// The widest a name gets.
const NAME: usize = 40;

/// The moment at which a plan has the most live bytes, and the storages that live then, largest first.
///
/// It prints as a table: bytes, share of the buffer, tensor, and from which step until which it lives. Persistent
/// tensors live at every moment, so they are one row; in the alternate form, `{:#}`, each has its own.
#[derive(Clone, Debug)]
pub struct Peak<'a> {
    /// The plan that it is the peak of.
    pub plan: &'a Plan<'a>,
    /// The moment, counted as in [`Plan`]; the first one when there are several.
    pub moment: usize,
    /// Live bytes at that moment, holes not counted.
    pub bytes: usize,
    /// At how many moments just as many bytes live.
    pub moments: usize,
    /// What lives then, largest first: no two of them share bytes.
    pub live: Vec<Live>,
}

/// A storage that lives at a peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Index in [`Plan::tensors`] of the tensor whose storage it is.
    pub tensor: usize,
    /// The tensor that has those bytes at the peak: the same one, or one that was written in its place.
    pub holder: usize,
    /// Its bytes that are in use at the peak.
    pub bytes: usize,
    /// First moment at which one of the tensors in it lives.
    pub first: usize,
    /// Last moment at which one does.
    pub last: usize,
}

impl Plan<'_> {
    /// Why the buffer is as large as it is: what lives at the moment of the most live bytes.
    pub fn peak(&self) -> Peak<'_> {
        let layout = Layout::of(self);
        let moment = layout.peak;
        let at_peak = |group: &Group| {
            let held = held(self, group).into_iter().find(|(from, until, _)| (*from..*until).contains(&moment));
            held.map_or(0, |(_, _, bytes)| bytes)
        };
        let live = layout.groups.iter().map(|group| Live {
            tensor: group.root,
            holder: holder(self, group, moment),
            bytes: at_peak(group),
            first: group.first,
            last: group.last,
        });
        let mut live: Vec<Live> = live.filter(|live| live.bytes > 0).collect();
        live.sort_by_key(|live| (core::cmp::Reverse(live.bytes), live.tensor));
        let most = layout.peak_bytes();
        Peak {
            plan: self,
            moment,
            bytes: usize::try_from(most).unwrap_or(usize::MAX),
            moments: layout.live.iter().filter(|&&bytes| bytes == most).count(),
            live,
        }
    }
}

/// Which tensor of a storage has its bytes at that moment: the last one written in place by then.
fn holder(plan: &Plan<'_>, group: &Group, moment: usize) -> usize {
    let written = |&&member: &&usize| {
        let tensor = &plan.tensors[member];
        matches!(tensor.storage, Storage::InPlace(_)) && (tensor.first..=tensor.last).contains(&moment)
    };
    group.members.iter().rev().find(written).copied().unwrap_or(group.root)
}

/// A moment of a storage's life with the operator that runs then.
struct When<'a>(&'a Plan<'a>, Live, usize);

impl Display for When<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.tensors[self.1.tensor].role.is_persistent() {
            return f.write_str("always");
        }
        let moment = Moment(self.0, self.2);
        match moment.step() {
            Some((_, step)) => write!(f, "{moment} {}", Name(step.op, 24)),
            None => write!(f, "{moment}"),
        }
    }
}

/// The name of a storage, and who holds it where that is another tensor.
struct Held<'a>(&'a Plan<'a>, Live);

impl Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |tensor: usize| Name(self.0.tensors[tensor].name, NAME);
        write!(f, "{}", name(self.1.tensor))?;
        if self.1.holder == self.1.tensor { Ok(()) } else { write!(f, ", now {}", name(self.1.holder)) }
    }
}

impl Display for Peak<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan;
        let always = |live: &&Live| plan.tensors[live.tensor].role.is_persistent();
        let every = f.alternate();
        let listed = || self.live.iter().filter(|live| every || !always(live)).copied();
        let size = plan.size as u128;
        let number = width(Grouped(size.max(self.bytes as u128))).max("bytes".len());
        let share = width("100.0 %");
        let name = listed().map(|live| width(Held(plan, live))).max().unwrap_or(0).max(24);
        let role = listed().map(|live| width(plan.tensors[live.tensor].role.name())).max().unwrap_or(0).max(4);
        let from = listed().map(|live| width(When(plan, live, live.first))).max().unwrap_or(0).max(4);

        write!(f, "peak of {}: {} bytes", Name(plan.model, NAME), Grouped::of(self.bytes))?;
        if self.bytes >= 1024 {
            write!(f, " ({})", Size::of(self.bytes))?;
        }
        let moment = Moment(plan, self.moment);
        match moment.step() {
            Some((number, step)) => write!(f, " at step {number}, {}", Name(step.op, 24))?,
            None => write!(f, " at {moment}")?,
        }
        if self.moments > 1 {
            write!(f, " (and {} more)", Grouped::of(self.moments - 1))?;
        }
        write!(
            f,
            "\n{:>number$}  {:>share$}  {:name$}  {:role$}  {:from$}  until",
            "bytes", "share", "tensor", "role", "from"
        )?;
        let row = |f: &mut fmt::Formatter<'_>, bytes: u128| {
            write!(f, "\n{}  {}  ", Right(Grouped(bytes), number), Right(Share(bytes, size), share))
        };
        for live in listed() {
            row(f, live.bytes as u128)?;
            write!(
                f,
                "{}  {:role$}  {}  {}",
                Left(Held(plan, live), name),
                plan.tensors[live.tensor].role.name(),
                Left(When(plan, live, live.first), from),
                When(plan, live, live.last)
            )?;
        }
        let persistent = self.live.iter().filter(always).count();
        if persistent > 0 && !every {
            row(f, self.live.iter().filter(always).map(|live| live.bytes as u128).sum())?;
            write!(f, "{} persistent tensor{}", Grouped::of(persistent), if persistent == 1 { "" } else { "s" })?;
        }
        let unused = size.saturating_sub(self.bytes as u128);
        if unused > 0 {
            row(f, unused)?;
            f.write_str("not in use then: holes, alignment")?;
        }
        if plan.shared > 0 {
            write!(f, "\nbeside it: {} bytes of weights in a buffer of their own", Grouped::of(plan.shared))?;
        }
        Ok(())
    }
}
