import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeShareLink, encodeShareLink, isShareLink, ShareLinkError } from './share-link.ts';

const files = [
  { file: 'web-app.yaml', text: 'kind: OperatorDefinition # ü € 😀\n'.repeat(50) },
  { file: 'samples/web-app.yaml', text: 'kind: WebApp\n' },
];

/** A link with any content, made like {@link encodeShareLink} makes them. */
async function linkOf(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const packed = new Blob([content]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return `#/share/1/${Buffer.from(bytes).toString('base64url')}`;
}

function isBroken(message: RegExp) {
  return (error: unknown) =>
    error instanceof ShareLinkError && error.code === 'broken' && message.test(error.message);
}

describe('playground/share-link', () => {
  test('files come out of a link as they went in, and the link is a plain fragment', async () => {
    const link = await encodeShareLink(files);
    assert.match(link, /^#\/share\/1\/[\w-]+$/);
    assert.ok(isShareLink(link));
    assert.ok(link.length < 400, `${link.length} characters`);
    assert.deepEqual(await decodeShareLink(link), files);
  });

  test('a cut or changed link is broken', async () => {
    const link = await encodeShareLink(files);
    for (const broken of [
      link.slice(0, -20),
      `${link.slice(0, 40)}AAAA${link.slice(44)}`,
      `${link}!`,
      '#/share/1/',
    ])
      await assert.rejects(decodeShareLink(broken), isBroken(/incomplete, or was changed/), broken);
  });

  test('a link of another version is reported as that', async () => {
    await assert.rejects(decodeShareLink('#/share/2/abc'), isBroken(/another version/));
  });

  const contents: readonly (readonly [string, unknown, RegExp])[] = [
    ['no list', { file: 'a.yaml' }, /1 to 20 files/],
    ['no files', [], /1 to 20 files/],
    ['too many files', Array.from({ length: 21 }, (_, at) => [`a${at}.yaml`, '']), /1 to 20/],
    ['a path outside', [['../a.yaml', '']], /not a YAML file/],
    ['another folder', [['tests/a.yaml', '']], /not a YAML file/],
    ['another type', [['a.html', '']], /not a YAML file/],
    ['no text', [['a.yaml', { toString: 1 }]], /not a YAML file/],
    ['markup in a name', [['<img src=x>.yaml', '']], /not a YAML file/],
    [
      'a name twice',
      [
        ['a.yaml', '1'],
        ['a.yaml', '2'],
      ],
      /same name/,
    ],
  ];
  for (const [what, value, message] of contents)
    test(`rejects a link with ${what}`, async () => {
      await assert.rejects(decodeShareLink(await linkOf(JSON.stringify(value))), isBroken(message));
    });

  test('a short link that decompresses to a large text is rejected before it is read', async () => {
    const link = await linkOf(new Uint8Array(50_000_000));
    assert.ok(link.length < 100_000);
    await assert.rejects(decodeShareLink(link), isBroken(/more than 262144 bytes/));
  });

  test('files that are too large for a link are reported with the limit', async () => {
    const random = Array.from({ length: 30_000 }, () => Math.random().toString(36)[3]).join('');
    for (const text of [random, 'a'.repeat(300_000)])
      await assert.rejects(
        encodeShareLink([{ file: 'a.yaml', text }]),
        (error: unknown) => error instanceof ShareLinkError && error.code === 'too-long',
      );
  });
});
