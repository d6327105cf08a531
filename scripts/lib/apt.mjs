// Debian packages: installed ones by group, and packages of other suites unpacked into a folder.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolchain } from './paths.mjs';
import { StepError, output, run, which } from './run.mjs';

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

export const haveApt = () => which('apt-get') !== null && which('dpkg-query') !== null;

const asRoot = () => {
  if (process.getuid?.() === 0) return [];
  if (which('sudo')) return ['sudo'];
  throw new StepError('installing packages needs root or sudo');
};

function aptGet(...args) {
  const quiet = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3', '-q'];
  const command = [...asRoot(), 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...quiet, ...args];
  return run(command[0], command.slice(1));
}

let updated = false;

/** Refreshes the system's package lists, once per run. */
async function update() {
  if (updated) return;
  updated = true;
  // A third party's list that cannot be reached is no reason to stop: an install says what is missing.
  await aptGet('update').catch(() => {});
}

/** The given packages that are not installed. */
export function missingPackages(packages) {
  const installed = output('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n'])
    .split('\n')
    .filter((line) => line.endsWith(' installed'))
    .map((line) => line.split(' ')[0]);
  return packages.filter((name) => !installed.includes(name));
}

/** Installs what is missing of `packages`. Returns the names it installed. */
export async function installPackages(packages) {
  const missing = missingPackages(packages);
  if (missing.length === 0) return missing;
  await update();
  await aptGet('install', '--yes', '--no-install-recommends', ...missing);
  return missing;
}

/** The address of the mirror that this Debian itself uses, whichever third-party sources stand beside it. */
async function mirror() {
  const codename = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const find = () => {
    const format = '$(ORIGIN)|$(CODENAME)|$(COMPONENT)|$(CREATED_BY)|$(SITE)';
    const lines = (output('apt-get', ['indextargets', '--format', format]) ?? '').split('\n');
    const line = lines.find((text) => text.startsWith(`Debian|${codename}|main|Packages|`));
    return line?.split('|')[4];
  };
  const known = find();
  if (known) return known;
  // Without package lists (a fresh container image) apt does not know the origins yet.
  await update();
  const found = find();
  if (!found) {
    throw new StepError(`apt knows no Debian mirror for "${codename}"; see "Requirements" in README.md`);
  }
  return found;
}

/**
 * Downloads packages of another Debian suite and unpacks each into a folder, touching nothing of the
 * system: apt gets a configuration of its own with one source, checked against Debian's keyring.
 * `unpack` maps a package name (with ":arch" for another architecture) to its folder.
 */
export async function unpackFromSuite(suite, unpack) {
  const work = join(toolchain, 'apt', suite);
  const debs = join(work, 'debs');
  rmSync(debs, { recursive: true, force: true });
  for (const folder of ['lists/partial', 'cache/archives/partial', 'debs']) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const source = join(work, 'sources.list');
  writeFileSync(source, `deb [signed-by=${keyring}] ${await mirror()} ${suite} main\n`);

  const native = output('dpkg', ['--print-architecture']).trim();
  const names = Object.keys(unpack);
  const architectures = new Set([native, ...names.map((name) => name.split(':')[1] ?? native)]);
  const settings = [
    `Dir::Etc::sourcelist=${source}`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::Lists=${join(work, 'lists')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    'APT::Sandbox::User=root', // the sandbox user may not be able to write below a home folder
    'APT::Update::Post-Invoke=', // a container's clean-up hooks are not for this cache
    'Acquire::Languages=none',
    'Acquire::Retries=3',
    'Acquire::Check-Valid-Until=false', // the system may use a dated snapshot of the archive
    ...[...architectures].map((name) => `APT::Architectures::=${name}`),
  ].flatMap((setting) => ['-o', setting]);

  await run('apt-get', [...settings, '-q', 'update']);
  await run('apt-get', [...settings, '-q', 'download', ...names], { cwd: debs });
  const files = readdirSync(debs);
  for (const name of names) {
    const [plain, architecture = native] = name.split(':');
    const file = files.find(
      (text) => text.startsWith(`${plain}_`) && /_(all|[^_]+)\.deb$/.exec(text)?.[1].match(`^(all|${architecture})$`),
    );
    if (!file || !existsSync(join(debs, file))) throw new StepError(`${name} of ${suite} was not downloaded`);
    mkdirSync(unpack[name], { recursive: true });
    await run('dpkg', ['-x', join(debs, file), unpack[name]]);
  }
  rmSync(work, { recursive: true, force: true }); // lists and archives: several hundred MB
}
