function result = impipe (pipeline, input, varargin)
% IMPIPE  Sends an array, or the pictures of a folder, through a pipeline.
%
%   B = impipe (PIPELINE, A) is the image, or the measurement, that the program impipe makes of the
%   array A: logical, uint8, uint16 or single, rows x columns, or rows x columns x 3. A double
%   array is taken as single (as im2single leaves its values), an int16 array as numbers without a
%   white: `mat2gray -32768,32767` gives them one.
%   B = impipe (PIPELINE, A, "b", C, ...) names other images, which the pipeline reads as :b.
%   impipe (PIPELINE, FOLDER, OUTPUT) is `impipe PIPELINE FOLDER -o OUTPUT`.
%
%   The program is found on the path, or where the variable IMPIPE of the environment says.
%
%   Example:
%     edges = impipe ("imadjust | edge canny", A);
%     table = impipe ("regionprops image=:g", bw, "g", A);   % a row an object

  program = getenv ('IMPIPE');
  if (isempty (program))
    program = 'impipe';
  end
  if (ischar (input))
    if (numel (varargin) ~= 1)
      error ('impipe: a folder needs the folder of the results');
    end
    run_program ({program, pipeline, input, '-o', varargin{1}});
    return;
  end
  if (mod (numel (varargin), 2) ~= 0)
    error ('impipe: images come as pairs of a name and an array');
  end
  folder = tempname ();
  mkdir (folder);
  unwind = onCleanup (@() remove_folder (folder));
  source = fullfile (folder, 'a.npy');
  write_npy (source, input);
  target = fullfile (folder, 'result.npy');
  words = {program, pipeline, source, '--quiet', '-o', target};
  for k = 1:2:numel (varargin)
    other = fullfile (folder, ['with_' varargin{k} '.npy']);
    write_npy (other, varargin{k + 1});
    words = [words, {'--with', [varargin{k} '=' other]}]; %#ok<AGROW>
  end
  run_program (words);
  result = read_npy (target);
end

function run_program (words)
  command = '';
  for k = 1:numel (words)
    command = [command ' ''' strrep(words{k}, '''', '''\''''') '''']; %#ok<AGROW>
  end
  [status, text] = system ([command ' 2>&1']);
  if (status ~= 0)
    error ('impipe: %s', strtrim (text));
  end
end

function remove_folder (folder)
  names = dir (fullfile (folder, '*.npy'));
  for k = 1:numel (names)
    delete (fullfile (folder, names(k).name));
  end
  rmdir (folder);
end

% Rows are written one after the other, and the channels of a pixel side by side.
function write_npy (name, array)
  switch (class (array))
    case 'logical', kind = '|b1'; stored = 'uint8';
    case 'uint8',   kind = '|u1'; stored = 'uint8';
    case 'uint16',  kind = '<u2'; stored = 'uint16';
    case 'int16',   kind = '<i2'; stored = 'int16';
    case {'single', 'double'}, kind = '<f4'; stored = 'single';
    otherwise, error ('impipe: a %s array is no image', class (array));
  end
  shape = sprintf ('%d, ', size (array));
  head = sprintf ('{''descr'': ''%s'', ''fortran_order'': False, ''shape'': (%s), }', kind, shape(1:end-2));
  head = [head repmat(' ', 1, mod (-(11 + numel (head)), 64))];
  file = fopen (name, 'w', 'ieee-le');
  fwrite (file, [147 double('NUMPY') 1 0], 'uint8');
  fwrite (file, numel (head) + 1, 'uint16');
  fwrite (file, [head char(10)], 'uint8');
  fwrite (file, permute (cast (array, stored), ndims (array):-1:1), stored);
  fclose (file);
end

function array = read_npy (name)
  file = fopen (name, 'r', 'ieee-le');
  start = fread (file, 8, 'uint8');
  if (start(7) == 1)
    count = fread (file, 1, 'uint16');
  else
    count = fread (file, 1, 'uint32');
  end
  head = fread (file, count, 'uint8=>char')';
  quotes = find (head == '''');  % around descr and what it is
  kind = head(quotes(3) + 1:quotes(4) - 1);
  shape = sscanf (strrep (head(find (head == '(', 1) + 1:find (head == ')', 1) - 1), ',', ' '), '%d')';
  switch (kind(2:end))
    case 'b1', stored = 'uint8=>logical';
    case 'u1', stored = 'uint8=>uint8';
    case 'u2', stored = 'uint16=>uint16';
    case 'f4', stored = 'single=>single';
    case 'f8', stored = 'double=>double';
    otherwise, error ('impipe: %s holds %s', name, kind);
  end
  array = fread (file, Inf, stored);
  fclose (file);
  if (numel (shape) < 2)
    shape = [shape ones(1, 2 - numel (shape))];
  end
  array = permute (reshape (array, fliplr (shape)), numel (shape):-1:1);
end
