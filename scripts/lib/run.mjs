// Starts programs and reports steps: one line per step, its time, and the output only when it fails.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { delimiter, join } from 'node:path';
import { root, toolchain } from './paths.mjs';

const verbose = process.env.NEARFIELD_VERBOSE === '1';

/** A failure whose message is all the user needs: printed without a stack. */
export class StepError extends Error {}

/** The full path of a program on the PATH, or null. */
export function which(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder || '.', program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here
    }
  }
  return null;
}

/** What a short program prints on its standard output; null when it fails or is missing. */
export function output(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  return result.status === 0 ? result.stdout : null;
}

/** Runs a program with its output on the terminal; resolves to its exit status. */
export function show(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('close', (status, signal) => {
      resolve(status ?? 128 + (osConstants.signals[signal] ?? 0));
    });
  });
}

let logs = 0;

/** Runs a program with its output in a log under .toolchain/logs; throws with the log's end when it fails. */
export async function run(program, args, options = {}) {
  const command = [program, ...args].join(' ');
  if (verbose) {
    console.log(`+ ${command}`);
    const status = await show(program, args, options);
    if (status !== 0) throw new StepError(`${command}\nfailed with status ${status}`);
    return;
  }
  const folder = join(toolchain, 'logs');
  mkdirSync(folder, { recursive: true });
  const log = join(folder, `${process.pid}-${++logs}-${program.split('/').pop()}.log`);
  const stream = createWriteStream(log);
  const status = await new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.pipe(stream, { end: false });
    child.stderr.pipe(stream, { end: false });
    child.on('error', (error) => reject(new StepError(`${program}: ${error.message}`)));
    child.on('close', (code) => stream.end(() => resolve(code ?? 1)));
  });
  if (status !== 0) {
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-60);
    const tail = lines.map((line) => line.slice(0, 600)).join('\n');
    throw new StepError(`${tail}\n\n${command}\nfailed with status ${status}; whole output: ${log}`);
  }
}

/** One named step. `action` returns a short note ('already there', say), printed with the time. */
export async function step(name, action) {
  const start = performance.now();
  const note = await action();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`[${seconds.padStart(6)} s] ${name}${note ? `: ${note}` : ''}`);
}

/** Runs a script's main function and turns its errors into an exit status. */
export async function main(action) {
  try {
    await action();
  } catch (error) {
    console.error(`\nerror: ${error instanceof StepError ? error.message : error.stack}`);
    process.exitCode = 1;
  }
}
