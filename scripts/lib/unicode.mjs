// The tables of the Unicode Character Database that core/text is generated from.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { toolchain } from './paths.mjs';
import { StepError } from './run.mjs';

const source = process.env.UNICODE_DATA ?? '/usr/share/unicode';
const files = [
  'UnicodeData.txt', 'CaseFolding.txt', 'CompositionExclusions.txt', 'DerivedNormalizationProps.txt', 'Scripts.txt',
  'auxiliary/WordBreakProperty.txt', 'auxiliary/WordBreakTest.txt', 'emoji/emoji-data.txt',
];

export function setUpUnicode() {
  const folder = join(toolchain, 'unicode');
  const missing = files.filter((file) => !existsSync(join(folder, basename(file))));
  if (missing.length === 0) return 'already there';
  mkdirSync(folder, { recursive: true });
  for (const file of missing) {
    if (!existsSync(join(source, file))) {
      throw new StepError(
        `${file} of the Unicode Character Database is needed, and ${source} does not have it; ` +
          'set UNICODE_DATA to its folder; see "Requirements" in README.md',
      );
    }
    copyFileSync(join(source, file), join(folder, basename(file)));
  }
  return 'copied';
}
