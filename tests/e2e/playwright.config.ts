// Browser tests, in Debian's Chromium.
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: '../../test-results',
  // Each test times things or writes megabytes: one at a time.
  workers: 1,
  timeout: 120_000,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync',
      ],
    },
  },
});
