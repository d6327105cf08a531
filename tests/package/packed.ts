// The tarball, as it would be published, and copies of the examples that use it.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export interface Packed {
  folder: string;
  tarball: string;
  /** The unpacked package. */
  contents: string;
  files: string[];
}

function filesIn(folder: string, prefix = ''): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    return entry.isDirectory() ? filesIn(folder, path) : [path];
  });
}

/** Packs dist/ into a new folder; the caller removes it. */
export function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), 'nearfield-package-'));
  const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(output) as [{ filename: string }];
  const tarball = join(folder, filename);
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  const contents = join(folder, 'package');
  return { folder, tarball, contents, files: filesIn(contents) };
}

/** A copy of an example with the tarball's contents installed, and tools of this repository linked in. */
export function exampleCopy({ folder, contents }: Packed, name: string, tools: string[] = []): string {
  const copy = join(folder, `example-${name}`);
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(root, 'examples', name), copy, {
    recursive: true,
    filter: (path) => !/node_modules|\/dist$|\/store$/.test(path),
  });
  mkdirSync(join(copy, 'node_modules'));
  cpSync(contents, join(copy, 'node_modules', 'nearfield'), { recursive: true });
  for (const tool of tools) {
    if (!existsSync(join(copy, 'node_modules', tool))) {
      symlinkSync(join(root, 'node_modules', tool), join(copy, 'node_modules', tool));
    }
  }
  return copy;
}

export const manifestOf = ({ contents }: Packed): Record<string, unknown> =>
  JSON.parse(readFileSync(join(contents, 'package.json'), 'utf8')) as Record<string, unknown>;
