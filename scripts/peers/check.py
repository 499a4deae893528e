"""Is a peer's result impipe's?"""
import numpy as np


def disagreement(row, kind, call, ours, theirs):
    """What is wrong, in words; empty when nothing is. Both are arrays of rows and columns."""
    if row.ours is not None:
        ours = row.ours(ours)
    if call.see is not None:
        theirs = call.see(theirs)
    if ours.dtype == np.bool_:
        theirs = theirs != 0
    ours, theirs = np.squeeze(ours).astype(float), np.squeeze(np.asarray(theirs)).astype(float)
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    if row.labels:
        return _other_sets(ours, theirs)
    margin = row.margin if call.margin is None else call.margin
    if margin and ours.ndim > 1:
        inside = (slice(margin, -margin),) * 2
        ours, theirs = ours[inside], theirs[inside]
    off = np.abs(ours - theirs)
    most = row.tolerance(kind) if call.off is None else call.off
    share = np.count_nonzero(~(off <= most)) / max(1, off.size)
    allowed = row.share if call.share is None else call.share
    return "" if share <= allowed else f"{share:.2%} differ, by up to {np.nanmax(off):.4g}"


def _other_sets(ours, theirs):
    pairs = len(np.unique(ours.ravel() * (theirs.max() + 1) + theirs.ravel()))
    counts = {pairs, len(np.unique(ours)), len(np.unique(theirs))}
    return "" if len(counts) == 1 else f"other sets: {sorted(counts)}"
