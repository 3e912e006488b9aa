//! Deep stacks for work that recurses as deep as the text that it is given, and stacks that read as
//! zero for code that reads memory which it has not written.
//!
//! Knows: Linux gives the pages of private anonymous memory back on `MADV_DONTNEED`, and maps
//! zeros in their place at the next access (madvise(2)).
//! Promises: work that runs on a zeroed stack reads there the same as on a thread of its own,
//! whatever ran before. No thread is started where the caller's stack is deep enough: the system
//! maps stacks of this size for one thread at a time.
//! Does not cover: what earlier work leaves on the heap.

use std::hint::black_box;
use std::io;
use std::thread;

/// Bytes of stack that are enough for the deepest text that the parsers' limits let through.
const NEEDED_BYTES: usize = 512 << 20;

/// Bytes of stack for threads that such work shall not have to leave: what it needs, and frames of
/// those who call it. What walks, clones, stores and drops the trees of such texts needs no more.
/// Pages that are never touched cost nothing.
pub const STACK_BYTES: usize = NEEDED_BYTES + (64 << 20);

/// Bytes below a frame that stay as they are when pages are given back: the calls that do so work
/// there.
const KEPT_BYTES: usize = 16 << 10;

/// Bytes below a frame that are overwritten: what was kept and what rounding to pages adds.
const OVERWRITTEN_BYTES: usize = 2 * KEPT_BYTES;

thread_local! {
    static OWN_STACK: Option<OwnStack> = OwnStack::of_this_thread();
}

/// Runs `work` with a deep stack: on this thread where enough is left of its own, else on a new
/// one. A panic of the work goes on in the caller.
///
/// # Errors
///
/// If a thread is needed and none can be started.
pub fn run_deep<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let left_bytes = OWN_STACK.with(|stack| stack.as_ref().map_or(0, OwnStack::left_bytes));
    if left_bytes >= NEEDED_BYTES {
        return Ok(work());
    }
    thread::scope(|scope| {
        let deep_thread =
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        Ok(deep_thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Runs `work` on this thread where all of the stack below this call reads as zero.
///
/// # Errors
///
/// If the system does not tell where the stack lies or does not take its pages back.
#[inline(never)]
pub fn run_zeroed<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    OWN_STACK.with(|stack| match stack {
        Some(stack) => stack.give_back_pages(),
        None => Err(io::Error::other("the system does not tell where the stack lies")),
    })?;
    overwrite_near_frames();
    Ok(work())
}

/// The stack of a thread, from its lowest address to the frames in use.
struct OwnStack {
    lowest_address: usize,
    page_bytes: usize,
}

impl OwnStack {
    /// That of the calling thread; none where the system does not tell where it lies.
    fn of_this_thread() -> Option<Self> {
        let mut lowest_address = std::ptr::null_mut();
        let mut stack_bytes = 0;
        // SAFETY: the attributes are initialised by the first call, read by the second and
        // destroyed by the third, and by nothing else.
        let status = unsafe {
            let mut attributes = std::mem::zeroed();
            if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
                return None;
            }
            let status = libc::pthread_attr_getstack(
                &raw const attributes,
                &raw mut lowest_address,
                &raw mut stack_bytes,
            );
            libc::pthread_attr_destroy(&raw mut attributes);
            status
        };
        // SAFETY: the call reads a value of the system.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes =
            usize::try_from(page_bytes).ok().filter(|bytes| bytes.is_power_of_two())?;
        (status == 0).then(|| Self { lowest_address: lowest_address.addr(), page_bytes })
    }

    /// Bytes below the frame of this call.
    #[inline(never)]
    fn left_bytes(&self) -> usize {
        let own_variable = 0u8;
        (&raw const own_variable).addr().saturating_sub(self.lowest_address)
    }

    /// Gives back the pages that lie [`KEPT_BYTES`] and more below the frame of this call.
    #[inline(never)]
    fn give_back_pages(&self) -> io::Result<()> {
        let given_bytes = self.left_bytes().saturating_sub(KEPT_BYTES) & !(self.page_bytes - 1);
        let start = std::ptr::with_exposed_provenance_mut(self.lowest_address);
        // SAFETY: the range is part of the stack of this thread and holds no frame: all lie above
        // the variable of a call from here, but for that of the call itself, which needs less than
        // what is kept.
        let status = unsafe { libc::madvise(start, given_bytes, libc::MADV_DONTNEED) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Writes zeros to where the next calls of the caller have their frames.
#[inline(never)]
fn overwrite_near_frames() {
    let mut zeros = [0u8; OVERWRITTEN_BYTES];
    black_box(&mut zeros);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;

    /// Bytes that the work of these tests leaves and looks for: more than a page table maps.
    const LEFT_BYTES: usize = 3 << 20;

    #[inline(never)]
    fn leave_remains() {
        let mut remains = [0xA5u8; LEFT_BYTES];
        black_box(&mut remains);
    }

    /// How many bytes of the stack below the caller hold what [`leave_remains`] writes.
    #[inline(never)]
    fn count_remains() -> usize {
        let unwritten = MaybeUninit::<[u8; LEFT_BYTES]>::uninit();
        let first = black_box(&unwritten).as_ptr().cast::<u8>();
        // SAFETY: memory of the stack, of which any byte may be read; the read is volatile because
        // nothing has written it.
        let is_remaining = |at: &usize| unsafe { first.add(*at).read_volatile() } == 0xA5;
        (0..LEFT_BYTES).filter(is_remaining).count()
    }

    #[test]
    fn work_finds_no_remains_of_work_before() {
        run_deep(|| {
            leave_remains();
            let remains = count_remains();
            assert!(remains > LEFT_BYTES / 2, "{remains} are seen where nothing cleans");
            for _ in 0..3 {
                leave_remains();
                assert_eq!(run_zeroed(count_remains).unwrap(), 0);
            }
        })
        .unwrap();
    }

    #[test]
    fn frames_above_stay_as_they_are() {
        fn nested(levels: u32) -> u32 {
            let own_frame = [black_box(levels); 1_000];
            leave_remains();
            let below = if levels == 0 { 0 } else { run_zeroed(|| nested(levels - 1)).unwrap() };
            assert!(black_box(&own_frame).iter().all(|value| *value == levels));
            below + 1
        }
        assert_eq!(run_deep(|| nested(20)).unwrap(), 21);
    }

    #[test]
    fn a_new_thread_is_taken_only_where_the_stack_is_shallow() {
        let own_thread = thread::current().id();
        let (deep_thread, same_thread) = run_deep(|| {
            let deep_thread = thread::current().id();
            (deep_thread, run_deep(|| thread::current().id()).unwrap())
        })
        .unwrap();
        assert_ne!(own_thread, deep_thread);
        assert_eq!(deep_thread, same_thread);
    }

    #[test]
    fn work_may_use_all_that_it_needs() {
        #[inline(never)]
        fn reach(target: usize) -> usize {
            let mut frame = [0u8; 4096];
            let address = std::ptr::from_mut(black_box(&mut frame)).addr();
            if address <= target { address } else { black_box(reach(target)) }
        }
        let used = run_deep(|| {
            let start = reach(usize::MAX);
            start - reach(start - NEEDED_BYTES)
        });
        assert!(used.unwrap() >= NEEDED_BYTES);
    }

    #[test]
    fn a_panic_goes_on_in_the_caller() {
        let panic = std::panic::catch_unwind(|| run_deep(|| panic!("as it was asked to")));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"as it was asked to"));
    }
}
