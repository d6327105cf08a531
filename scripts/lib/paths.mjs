// Where things are: every script takes its folders from here.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const toolchain = join(root, '.toolchain');
export const build = join(root, 'build');
