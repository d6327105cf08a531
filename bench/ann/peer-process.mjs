// A peer in a process of its own, which answers lines with lines of JSON (see peer_host.cpp).
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { StepError } from '../../scripts/lib/run.mjs';

export class PeerProcess {
  #child;
  #answers;
  #command;

  constructor(program, args) {
    this.#command = [program, ...args].join(' ');
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.on('error', () => {}); // its output then ends, which call() reports
    this.#child.stdin.on('error', () => {});
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async call(line) {
    this.#child.stdin.write(`${line}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new StepError(`"${line}" failed in ${this.#command}`);
    return JSON.parse(value);
  }

  /** Resolves when the process has ended, so that its memory and its locks are free. */
  async close() {
    const ended = this.#child.exitCode ?? new Promise((done) => this.#child.once('close', done));
    this.#child.stdin.end();
    await ended;
  }
}
