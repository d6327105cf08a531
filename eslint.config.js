import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Node's globals that the scripts use; the page's own come with TypeScript, which checks them itself.
const node = {
  Buffer: 'readonly',
  URL: 'readonly',
  WebAssembly: 'readonly',
  clearTimeout: 'readonly',
  console: 'readonly',
  fetch: 'readonly',
  performance: 'readonly',
  process: 'readonly',
  setTimeout: 'readonly',
  structuredClone: 'readonly',
  TextDecoder: 'readonly',
  TextEncoder: 'readonly',
};

export default defineConfig(
  globalIgnores(['build/', 'dist/', '.toolchain/', 'bench/datasets/cache/', '**/node_modules/', 'test-results/']),
  js.configs.recommended,
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: node },
    rules: { eqeqeq: 'error', 'no-var': 'error', 'prefer-const': 'error' },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // An implementation that has nothing to wait for is still asynchronous where its interface is.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // Projects of their own: the package's types come with its installation there.
    files: ['examples/**/*.ts'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  { files: ['examples/vanilla/**'], languageOptions: { globals: { document: 'readonly' } } },
);
