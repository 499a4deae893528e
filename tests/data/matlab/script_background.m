% Takes an uneven background away and keeps the mean.
A = input_image ("scene128x96_u8");
background = imfilter (A, fspecial ("gaussian", [31 31], 6), "replicate");
B = double (A) - double (background) + mean2 (A);
result = medfilt2 (uint8 (B), [3 3]);
