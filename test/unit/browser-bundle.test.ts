import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { build } from 'esbuild';
import { folderOf } from '../../scripts/imports/rooms.ts';

describe('unit/browser-bundle', () => {
  for (const room of [
    'conversion',
    'definition',
    'compile',
    'check',
    'controller',
    'reconcile',
    'http-objects',
    'sandbox',
  ]) {
    test(`${room} bundles for a browser: nothing of Node is reached`, async () => {
      const { errors, outputFiles } = await build({
        entryPoints: [`src/${folderOf(room)}/index.ts`],
        bundle: true,
        platform: 'browser',
        format: 'esm',
        write: false,
        logLevel: 'silent',
      });
      assert.deepEqual(errors, []);
      const text = outputFiles[0]?.text ?? '';
      assert.ok(text.length > 0);
      assert.doesNotMatch(text, /from "node:/);
    });
  }
});
