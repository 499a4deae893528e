% Puts a moved picture back by a known shift and says how well it lies on the first.
A = input_image ("scene64x64_u8");
moved = circshift (A, [5 -7]);
moved = imadd (moved, 6);
back = circshift (moved, [-5 7]);
result = [corr2(A, back) mean2(imabsdiff (A, back)) immse(A, back)];
