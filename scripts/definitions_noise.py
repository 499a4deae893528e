"""imnoise's random numbers and what it makes of them, in plain numpy: a second opinion.

Philox4x32-10 (Salmon et al. 2011) and Wichura's Algorithm AS 241 (1988), written from the papers.
"""
import numpy as np

import definitions as d

MASK = np.uint64(0xFFFFFFFF)
TAGS = {"gaussian": 0, "salt": 1, "speckle": 2, "poisson": 3}

CENTRE = ([3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
           1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
           3.3430575583588128105e4, 2.5090809287301226727e3],
          [1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
           2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
           5.2264952788528545610e3])
TAIL = ([1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
         3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
         2.27238449892691845833e-2, 7.74545014278341407640e-4],
        [1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
         1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
         1.05075007164441684324e-9])


def philox(key, counter):
    """The first of the four words."""
    k0, k1 = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    c0, c1, c2, c3 = [np.asarray(c, np.uint64) for c in counter]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = ((second >> np.uint64(32)) ^ c1 ^ k0, second & MASK,
                          (first >> np.uint64(32)) ^ c3 ^ k1, first & MASK)
        k0 = (k0 + np.uint64(0x9E3779B9)) & MASK
        k1 = (k1 + np.uint64(0xBB67AE85)) & MASK
    return c0


def horner(coefficients, x):
    p = np.zeros_like(x)
    for c in coefficients[::-1]:
        p = p * x + c
    return p


def normal(u):
    q = u - 0.5
    r = 0.180625 - q * q
    centre = q * horner(CENTRE[0], r) / horner(CENTRE[1], r)
    t = np.sqrt(-np.log(np.where(q < 0, u, 1 - u))) - 1.6
    tail = np.sign(q) * horner(TAIL[0], t) / horner(TAIL[1], t)
    return np.where(np.abs(q) <= 0.425, centre, tail)


def events(mean, u):
    """Of a Poisson variable: by its sums up to a mean of 50, else by its normal quantile."""
    p = np.exp(-mean)
    s, k = p.copy(), np.zeros_like(mean)
    for i in range(1, 200):
        more = u > s
        p = np.where(more, p * mean / i, p)
        k = np.where(more, i, k)
        s = np.where(more, s + p, s)
    z = normal(u)
    many = np.maximum(0, np.floor(mean + np.sqrt(mean) * z + (z * z - 1) / 6 + 0.5))
    return np.where(mean < 50, k, many)


def imnoise(a, kind, amount, mean, seed):
    """`amount`: the density of salt, the variance of gaussian and speckle."""
    planes = a[..., None] if a.ndim == 2 else a
    rows, columns, channels = planes.shape
    row, column, channel = np.mgrid[:rows, :columns, :channels]
    words = philox(seed, (column, row, channel, np.full(planes.shape, TAGS[kind])))
    u = (words.astype(np.float64) + 0.5) / 2.0 ** 32
    white = d.WHITE[d.class_of(a)]
    v = planes.astype(np.float64) / white
    if kind == "gaussian":
        v = v + mean + np.sqrt(amount) * normal(u)
    elif kind == "salt":
        v = np.where(words < int(amount * 2.0 ** 31), 0,
                     np.where(words < int(amount * 2.0 ** 32), 1, v))
    elif kind == "speckle":
        v = v + np.sqrt(12 * amount) * (u - 0.5) * v
    else:
        scale = 1 if white > 1 else 1e6
        v = events(np.maximum(planes.astype(np.float64) * scale, 0), u) / scale / white
    result = np.clip(v, 0, 1) * white
    return d.cast(result[..., 0] if a.ndim == 2 else result, d.class_of(a))
