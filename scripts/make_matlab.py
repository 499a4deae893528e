#!/usr/bin/env python3
"""Writes docs/matlab.md: what impipe calls each function of MATLAB's Image Processing Toolbox and
of Octave's image package, what differs, and what is missing.

    make_matlab.py IMPIPE [--check docs/matlab.md]

The names stand here; what is said of each comes from the program: an operator's own note, or the
hint that it gives for a function that is not there.
"""
import json
import re
import subprocess
import sys

SECTIONS = {
    "Reading, showing and converting": """
        imread imwrite imshow imfinfo im2double im2single im2uint8 im2uint16 im2int16 double single
        uint8 uint16 int16 logical mat2gray im2bw imbinarize gray2ind ind2gray ind2rgb rgb2ind rgb2gray im2gray
        gray2rgb grayslice label2rgb labeloverlay imoverlay imfuse imtile montage cat phantom
        checkerboard imnoise zeros ones rand randn size impixel improfile
        imcast getrangefromclass
        isbw isgray isind isrgb imattributes imshowpair subimage tiff_tag_read wavelength2rgb""",
    "Colour": """
        rgb2hsv hsv2rgb rgb2lab lab2rgb rgb2xyz xyz2rgb rgb2ycbcr ycbcr2rgb rgb2ntsc ntsc2rgb rgb2lin
        lin2rgb rgb2lightness xyz2lab lab2xyz makecform applycform whitepoint chromadapt illumgray
        illumpca illumwhite imapplymatrix imcolordiff deltaE colorangle decorrstretch imsplit
        lab2double lab2single
        lab2uint8 lab2uint16 cmunique cmpermute""",
    "Arithmetic": """
        imabsdiff imadd imsubtract immultiply imdivide imcomplement imlincomb intlut plus minus times
        rdivide power and or not xor abs exp log sqrt round floor ceil bsxfun arrayfun""",
    "Geometry": """
        imresize imresize3 imrotate imrotate3 imcrop imtranslate imwarp imtransform imremap circshift
        fliplr flipud flip rot90 rotdim transpose permute padarray impad impyramid affine2d affinetform2d
        projective2d projtform2d maketform cp2tform cpselect tformfwd tforminv fitgeotform2d fitgeotrans
        imref2d imregister imregtform imregcorr imregdemons centerCropWindow2d randomAffine2d
        affine3d
        findbounds imperspectivewarp imshear rotate_scale""",
    "Contrast": """
        imadjust imadjustn imcontrast stretchlim histeq adapthisteq imhistmatch imhist otsuthresh
        graythresh adaptthresh multithresh imquantize localcontrast locallapfilt imlocalbrighten
        imreducehaze imflatfield imsharpen intrans""",
    "Filters": """
        imfilter filter2 conv2 convn convmtx2 fspecial imgaussfilt imgaussfilt3 imboxfilt imboxfilt3
        integralImage integralBoxFilter medfilt2 medfilt3 modefilt ordfilt2 ordfiltn wiener2 stdfilt rangefilt
        entropyfilt imbilatfilt imguidedfilter imnlmfilt imdiffusefilt imgaborfilt gabor nlfilter
        colfilt blockproc col2im im2col freqz2 fsamp2 ftrans2 fwind1 fwind2 fft2 ifft2 dct2 idct2
        imsmooth edgetaper deconvblind deconvlucy deconvreg deconvwnr fibermetric maxhessiannorm
        fftconv2 fftconvn fftshift ifftshift
        bestblk otf2psf psf2otf nonmax_suppress""",
    "Edges and lines": """
        edge imgradient imgradientxy imgradient3 hough houghlines houghpeaks hough_line hough_circle
        imfindcircles viscircles radon iradon fanbeam ifanbeam para2fan fan2para
        houghtf rho_filter colorgradient""",
    "Morphology": """
        imdilate imerode imopen imclose imtophat imbothat imgradmorph mmgradm imhmax imhmin
        imextendedmax imextendedmin imregionalmax imregionalmin imimposemin imreconstruct imfill
        imclearborder strel offsetstrel watershed bwdist bwdistgeodesic graydist bwmorph bwmorph3 bwskel
        bwulterode bwperim bwhitmiss bwlookup applylut makelut bwpack bwunpack bwareaopen bwareafilt
        bwpropfilt bwselect bwconvhull bwfill
        conndef iptcheckconn immaximas""",
    "Objects and measurements": """
        bwlabel bwlabeln bwconncomp labelmatrix regionprops regionprops3 bwarea bwboundaries
        bwtraceboundary bweuler bwferet cc2bw mean2 std2 corr2 entropy immaxabs mean median std var min
        max sum poly2mask roipoly roicolor roifill regionfill inpaintExemplar
        integralImage3 fchcode""",
    "Texture and comparison": """
        graycomatrix graycoprops immse psnr ssim multissim niqe brisque piqe normxcorr2 xcorr2 dice
        jaccard bfscore qtdecomp qtgetblk qtsetblk""",
    "Segmentation": """
        activecontour imsegkmeans superpixels grabcut lazysnapping grayconnected imsegfmm
        gradientweight graydiffweight boundarymask""",
}

HEAD = """# MATLAB's and Octave's functions

Made by `scripts/make_matlab.py` from what the program says of itself. The names of operators,
parameters, kernels and elements, and words, are found whatever their case; the order of arguments is the one of
`impipe ops NAME`. What an operator computes is written there to the bit, and in
[operators.md](operators.md).

What holds for all of them: pixels that the user gives are counted from 0, x to the right and y down
(`imcrop … origin=1` takes MATLAB's rectangles; `regionprops` counts from 1 unless `origin=0`). A picture's class is logical,
uint8, uint16 or single; there is no double image, but integer classes are computed in double and
sums are exact. Colour goes through `rgb2gray` where an operator is defined on one channel.
`impipe.m` (in `scripts/`) calls a pipeline from MATLAB and Octave.

A function that is not here is answered with what does its work: `impipe has no X; Y does Z`.
"""


def operators(program):
    text = subprocess.run([program, "ops", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(text.stdout)
    return {op["name"].lower(): op for op in (found["operators"] if isinstance(found, dict) else found)}


def hint(program, name):
    """What impipe says does the function's work; nothing where it says that nothing does."""
    done = subprocess.run([program, "plan", name], capture_output=True, text=True)
    match = re.search(r"impipe has no \S+; (.*)", done.stderr)
    says_none = match and re.search(r"\bnone (like it works )?on volumes\b|\b(there is no|the nearest)\b", match[1])
    return match[1] if match and not says_none else None


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def page(program):
    known = operators(program)
    lines = [HEAD]
    counts = {"has": 0, "way": 0, "missing": 0}
    for title, names in SECTIONS.items():
        lines += [f"## {title}", "", "| function | impipe | |", "|---|---|---|"]
        missing = []
        for name in names.split():
            op = known.get(name.lower())
            if op:
                counts["has"] += 1
                lines.append(f"| `{name}` | `{op['name']}` | {cell(op['matlab'])} |")
                continue
            way = hint(program, name)
            if way:
                counts["way"] += 1
                lines.append(f"| `{name}` | | {cell(way)} |")
            else:
                counts["missing"] += 1
                missing.append(f"`{name}`")
        lines.append("")
        if missing:
            lines += ["Missing: " + " ".join(missing) + ".", ""]
    named = {name.lower() for names in SECTIONS.values() for name in names.split()}
    own = sorted(op["name"] for key, op in known.items() if key not in named)
    lines += ["## Without a counterpart", "", "Operators of impipe's own: " +
              " ".join(f"`{name}`" for name in own) + ".", ""]
    total = sum(counts.values())
    lines.insert(1, f"Of {total} functions {counts['has']} are operators by their name, for {counts['way']} there is "
                    f"another way, {counts['missing']} are missing.\n")
    return "\n".join(lines)


def main():
    text = page(sys.argv[1])
    if len(sys.argv) > 3 and sys.argv[2] == "--check":
        with open(sys.argv[3], encoding="utf-8") as there:
            if there.read() == text:
                return 0
        print(f"{sys.argv[3]} is not what scripts/make_matlab.py writes", file=sys.stderr)
        return 1
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
