import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { storedTheme, storeTheme } from './stored-theme.ts';

function storageOf(value: string | null) {
  return { localStorage: { getItem: () => value, setItem: () => {} } as unknown as Storage };
}

describe('web/stored-theme', () => {
  test('only a theme is taken from the storage', () => {
    assert.equal(storedTheme(storageOf('dark')), 'dark');
    for (const value of [null, '', '__proto__', '"><script>', 'x'.repeat(1_000_000)])
      assert.equal(storedTheme(storageOf(value)), 'system');
  });

  test('a browser that denies the storage is no error', () => {
    const denied = {
      get localStorage(): Storage {
        throw new Error('SecurityError');
      },
    };
    assert.equal(storedTheme(denied), 'system');
    storeTheme(denied, 'dark');
  });
});
