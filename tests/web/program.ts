// The native program, as the build left it.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const program = process.env['NEARFIELD_PROGRAM'] ?? join(import.meta.dirname, '..', '..', 'build', 'native', 'nearfield');

/** Runs the program and returns what it prints. Fails when it fails or is not built. */
export function native(...args: string[]): string {
  if (!existsSync(program)) {
    throw new Error(`the native program is not built: there is no ${program}; "npm test" builds it, "npm run build native" does too`);
  }
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
