// The C++ files under version control, and new ones that git does not ignore.
import { output } from './run.mjs';
import { root } from './paths.mjs';

export function cppFiles(folders = ['core', 'wasm', 'native', 'tests', 'bench', 'examples']) {
  const list = output('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', ...folders], {
    cwd: root,
  });
  return list.split('\n').filter((file) => /\.(cpp|h)$/.test(file));
}
