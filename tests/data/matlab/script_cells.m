% Counts cells and measures them: a row a cell.
A = input_image ("scene128x96_u8");
bw = im2bw (A, graythresh (A));
bw = imfill (bw, "holes");
bw = bwareaopen (bw, 3);
bw = bwareafilt (bw, [3 400]);
props = regionprops (bwlabel (bw), A, "Area", "Centroid", "BoundingBox", "MeanIntensity", "MaxIntensity");
result = zeros (numel (props), 9);
for i = 1:numel (props)
  p = props(i);
  result(i, :) = [p.Area p.Centroid p.BoundingBox p.MeanIntensity double(p.MaxIntensity)];
end
