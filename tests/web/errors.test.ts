// The list of error codes is the engine's.
import { readFileSync } from 'node:fs';
import { errorCodes } from 'nearfield';
import { expect, test } from 'vitest';

test('error codes are those of the engine, in its order', () => {
  const header = readFileSync(new URL('../../core/include/nearfield/result.h', import.meta.url), 'utf8');
  const list = /enum class ErrorCode[^{]*\{([^}]*)\}/.exec(header)?.[1] ?? '';
  const names = [...list.matchAll(/^\s*k(\w+),/gm)].map(([, name = '']) =>
    name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase(),
  );
  expect(names.length).toBeGreaterThan(10);
  expect([...errorCodes]).toEqual(names);
});
