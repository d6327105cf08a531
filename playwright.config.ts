// Found here by `playwright test`; the settings lie with the tests.
export { default } from './tests/e2e/playwright.config.ts';
