% Thin dark lines of the green channel, one pixel wide.
A = input_image ("rgb48x40_u8");
G = imcomplement (A(:,:,2));
G = imtophat (G, strel ("disk", 3, 0));
bw = im2bw (G, graythresh (G));
bw = bwareaopen (bw, 5);
result = bwmorph (bw, "thin", Inf);
