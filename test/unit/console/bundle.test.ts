import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

interface BundledFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** Of the whole console, compressed. */
const maxBytes = 350_000;
/** Of what the first page loads: the editor comes later. */
const maxFirstBytes = 60_000;

describe('unit/console/bundle', () => {
  let files: readonly BundledFile[] = [];
  before(async () => {
    const script = new URL('../../../scripts/bundle/web.mjs', import.meta.url).href;
    const { bundleWeb } = (await import(script)) as {
      bundleWeb(): Promise<readonly BundledFile[]>;
    };
    files = await bundleWeb();
  });
  const textOf = (pattern: RegExp) => {
    const found = files.find(({ name }) => pattern.test(name));
    assert.ok(found, `${pattern}`);
    return Buffer.from(found.content).toString('utf8');
  };
  const sizeOf = (some: readonly BundledFile[]) =>
    some.reduce((sum, { content }) => sum + gzipSync(content).length, 0);

  test('stays within its budget, compressed', (context) => {
    const bytes = sizeOf(files);
    context.diagnostic(`${bytes} bytes`);
    assert.ok(bytes < maxBytes, `${bytes} bytes`);
  });

  test('the first page loads no editor', () => {
    const first = files.filter(({ name }) => /^(?:main-|console-|index\.html)/.test(name));
    assert.equal(first.length, 3);
    assert.ok(sizeOf(first) < maxFirstBytes);
    assert.doesNotMatch(textOf(/^main-/), /cm-content/);
  });

  test('the page has no inline script and no inline style, and names files with hashes', () => {
    const page = textOf(/^index\.html$/);
    assert.doesNotMatch(page, /<style|style=|<script(?![^>]*\ssrc=)|https?:/);
    assert.match(page, /src="assets\/main-[A-Z0-9]{8}\.js"/);
    assert.match(page, /href="assets\/console-[A-Z0-9]{8}\.css"/);
  });

  test('nothing of another server is named', () => {
    for (const { name, content } of files.filter((file) => file.name.endsWith('.css')))
      assert.doesNotMatch(Buffer.from(content).toString('utf8'), /url\(|@import/, name);
  });
});
