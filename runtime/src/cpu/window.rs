//! Which taps of a window meet the image: the arithmetic that pooling and convolution share.

use core::ops::Range;

/// One direction of a sliding window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Elements of the image.
    pub(super) image: usize,
    /// Taps of the window.
    pub(super) kernel: usize,
    /// Distance between windows.
    pub(super) stride: usize,
    /// Elements added before the image.
    pub(super) before: usize,
    /// Elements added after the image.
    pub(super) after: usize,
    /// Distance between taps.
    pub(super) dilation: usize,
    /// Number of windows.
    pub(super) windows: usize,
}

impl Side {
    /// The taps of window `window` that lie inside the image.
    pub(super) fn taps(&self, window: usize) -> Range<usize> {
        self.between(window, self.before, self.before + self.image)
    }

    /// How many taps of window `window` lie inside the image or its padding.
    pub(super) fn padded_taps(&self, window: usize) -> usize {
        self.between(window, 0, self.before + self.image + self.after).len()
    }

    /// The taps whose position, counted from the padding's start, lies from `low` to before `high`.
    fn between(&self, window: usize, low: usize, high: usize) -> Range<usize> {
        let start = window * self.stride;
        let first = low.saturating_sub(start).div_ceil(self.dilation);
        let last = high.saturating_sub(start).div_ceil(self.dilation).min(self.kernel);
        first.min(last)..last
    }

    /// The windows whose tap `tap` lies inside the image.
    pub(super) fn windows_of(&self, tap: usize) -> Range<usize> {
        let reach = tap * self.dilation;
        let first = self.before.saturating_sub(reach);
        let last = (self.before + self.image).saturating_sub(reach);
        // No division in the common case.
        let count = |positions: usize| if self.stride == 1 { positions } else { positions.div_ceil(self.stride) };
        let (first, last) = (count(first), count(last).min(self.windows));
        first.min(last)..last
    }

    /// The element of the image under a tap that lies inside it.
    pub(super) fn element(&self, window: usize, tap: usize) -> usize {
        window * self.stride + tap * self.dilation - self.before
    }
}

/// Both directions, vertical first, of an operator's settings and the extents of image and output.
pub(super) fn sides(
    image: [usize; 2],
    windows: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 4],
    dilation: [usize; 2],
) -> [Side; 2] {
    [0, 1].map(|side| Side {
        image: image[side],
        kernel: kernel[side],
        stride: stride[side],
        before: padding[side],
        after: padding[side + 2],
        dilation: dilation[side],
        windows: windows[side],
    })
}
