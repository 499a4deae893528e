% Cleans a page: evens the paper out, then black on white without specks.
A = input_image ("scene128x96_u8");
paper = imclose (A, strel ("disk", 6, 0));
ink = imsubtract (paper, A);
ink = imadjust (ink, stretchlim (ink, [0 0.995]), []);
bw = im2bw (ink, 0.4);
bw = bwareaopen (bw, 8, 8);
result = ! bw;
