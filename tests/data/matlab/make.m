% Runs the MATLAB scripts of this folder in Octave (with its image package) and keeps their results:
%
%   octave-cli --no-init-file tests/data/matlab/make.m     from the project's folder
%
% Each script reads its inputs by `input_image` and sets `result`.
1;
pkg load image
% run changes the folder that it runs in.
setenv ("PROJECT", pwd);
folder = fullfile (pwd, "tests", "data", "matlab");

function array = read_array (name)
  file = fopen (name, "r", "ieee-le");
  start = fread (file, 8, "uint8");
  count = fread (file, 1, "uint16");
  head = fread (file, count, "uint8=>char")';
  quotes = find (head == "'");
  kind = head(quotes(3) + 2:quotes(4) - 1);
  shape = sscanf (strrep (head(find (head == "(", 1) + 1:find (head == ")", 1) - 1), ",", " "), "%d")';
  types = struct ("b1", "uint8=>logical", "u1", "uint8=>uint8", "u2", "uint16=>uint16", ...
                  "f4", "single=>single");
  array = fread (file, Inf, types.(kind));
  fclose (file);
  array = permute (reshape (array, fliplr (shape)), numel (shape):-1:1);
end

function array = input_image (name)
  array = read_array (fullfile (getenv ("PROJECT"), "tests", "data", "oracle-2", "inputs", [name ".npy"]));
end

function write_array (name, array)
  kinds = struct ("logical", "|b1", "uint8", "|u1", "uint16", "<u2", "single", "<f4", "double", "<f8");
  shape = sprintf ("%d, ", size (array));
  head = sprintf ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", ...
                  kinds.(class (array)), shape(1:end-2));
  head = [head repmat(" ", 1, mod (-(11 + numel (head)), 64)) "\n"];
  stored = class (array);
  if (islogical (array))
    stored = "uint8";
    array = uint8 (array);
  end
  file = fopen (name, "w", "ieee-le");
  fwrite (file, [147 double("NUMPY") 1 0], "uint8");
  fwrite (file, numel (head), "uint16");
  fwrite (file, head, "uint8");
  fwrite (file, permute (array, ndims (array):-1:1), stored);
  fclose (file);
end

scripts = dir (fullfile (folder, "script_*.m"));
for k = 1:numel (scripts)
  clear result
  run (fullfile (folder, scripts(k).name));
  write_array (fullfile (folder, strrep (scripts(k).name, ".m", ".npy")), result);
  printf ("%s: %s %s\n", scripts(k).name, class (result), mat2str (size (result)));
end
