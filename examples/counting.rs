//! A global allocator that counts, so that "allocates nothing" is a measurement, and that refuses a thread on which
//! allocating is forbidden. Every example includes it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations so far, on all threads.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

thread_local! {
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with allocating forbidden on this thread: the program stops where it is done all the same.
#[allow(dead_code, reason = "not every example has such a thread")]
pub(crate) fn forbid<R>(work: impl FnOnce() -> R) -> R {
    FORBIDDEN.set(true);
    let result = work();
    FORBIDDEN.set(false);
    result
}

/// Counts an allocation and says whether it may be made.
fn count() -> bool {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    // A thread that is at its end has no such cell any more.
    !FORBIDDEN.try_with(Cell::get).unwrap_or(false)
}

// SAFETY: every call goes to the system's allocator unchanged, which keeps the contract of `GlobalAlloc`, or fails as the
// contract allows.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !count() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of this function, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: `start` came from `alloc` or `realloc` of this allocator, and so from the system's.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !count() {
            return std::ptr::null_mut();
        }
        // SAFETY: as for `dealloc`; the caller keeps the rest of the contract.
        unsafe { System.realloc(start, layout, size) }
    }
}
