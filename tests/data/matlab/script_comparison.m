% What a median changes: where, and how much.
A = input_image ("noisy64x64_u8");
B = medfilt2 (A, [3 3], "symmetric");
changed = imabsdiff (A, B) > 0.1 * 255;
changed = bwareaopen (changed, 2, 8);
result = A;
result(changed) = 255;
result = imresize (result, 0.5, "bilinear");
