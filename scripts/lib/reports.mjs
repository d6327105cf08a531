// Counts of passed and failed tests, read from what each test runner wrote.
import { existsSync, readFileSync } from 'node:fs';

const none = { passed: 0, failed: 0, skipped: 0 };

/** CTest's --output-junit file. */
export function countCTest(file) {
  if (!existsSync(file)) return none;
  const head = /<testsuite [^>]*>/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
  const number = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failed = number('failures');
  const skipped = number('skipped') + number('disabled');
  return { passed: number('tests') - failed - skipped, failed, skipped };
}

/** Vitest's JSON report. A test file that does not load has no tests, and counts as one failure. */
export function countVitest(file) {
  if (!existsSync(file)) return none;
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Playwright's JSON report. A flaky test passed only on a second try: here that is a failure. */
export function countPlaywright(file) {
  if (!existsSync(file)) return none;
  const { stats, errors } = JSON.parse(readFileSync(file, 'utf8'));
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
  };
}
