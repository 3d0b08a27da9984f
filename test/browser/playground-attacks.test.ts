import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { encodeShareLink } from '#playground/share-link.ts';
import { encodeBase64Bytes } from '#util/base64.ts';
import type { ManifestText } from '#web';
import type { ConsolePage } from './support/browser.ts';
import {
  openFile,
  playgroundEditor,
  type ServedPlayground,
  servePlayground,
  writeInEditor,
} from './support/served-playground.ts';

const html =
  '<img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">a</a>';
/** A text that reverses what follows, hides it, clears a screen. */
const control = 'x\u202egnp\u2066\u001b[2J\u0007\u009b31m';
const secret = 'marker-of-the-secret-7461';
/** Characters that change the order of a text, and control characters. */
const acting = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/v;
const quoted = (text: string) => JSON.stringify(text);
/** A resource of the definitions here. */
const page = '#/resources/hostile.example.com/v1/Thing/default/one';
const sampleFile = 'samples/hostile.yaml';

interface Parts {
  readonly title?: string;
  readonly children?: string;
  readonly more?: string;
  readonly spec?: string;
  readonly annotations?: string;
}

/** A definition and its sample with these parts. */
function filesWith({
  title = 'a thing',
  children = '[]',
  more = '',
  spec = '{}',
  annotations = '{}',
}: Parts): readonly ManifestText[] {
  const definition = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: hostile }
spec:
  crd:
    group: hostile.example.com
    names: { kind: Thing, plural: things }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            description: ${quoted(title)}
            properties:
              spec: { type: object, description: ${quoted(title)}, x-kubernetes-preserve-unknown-fields: true }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }
  children: ${children}
${more}`;
  const sample = `apiVersion: hostile.example.com/v1
kind: Thing
metadata: { name: one, annotations: ${annotations} }
spec: ${spec}
`;
  return [
    { file: 'hostile.yaml', text: definition },
    { file: sampleFile, text: sample },
  ];
}

const mapChild = (data: string, metadata = '') =>
  `[{ id: map, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: one-map ${metadata} }, data: ${data} } }]`;

describe('browser/playground: hostile files and links', () => {
  let served: ServedPlayground;
  before(async () => {
    served = await servePlayground();
  });
  after(() => served.close());

  const button = (app: ConsolePage, name: string) =>
    app.page.getByRole('button', { name, exact: true });

  /** Opens files, and waits for their resource. */
  async function opened(files: readonly ManifestText[]): Promise<ConsolePage> {
    const app = await served.open(await encodeShareLink(files));
    await app.page.waitForURL(/Thing\/default\/one/);
    return app;
  }

  /** What is shown beside the editor, whose text is that of the user. */
  const shownText = ({ page: window }: ConsolePage) =>
    window.evaluate(() => {
      const body = document.body.cloneNode(true) as HTMLElement;
      for (const editor of body.querySelectorAll('.editor')) editor.remove();
      return body.textContent ?? '';
    });

  /** The page is shown, with what it asks the worker for. */
  async function untilShown(app: ConsolePage): Promise<void> {
    await button(app, 'Examples').waitFor();
    await app.page.waitForFunction(() => document.querySelector('.loading') === null);
  }

  /** The page responds, and another example runs in it. */
  async function assertUsable(app: ConsolePage): Promise<void> {
    await button(app, 'Examples').click();
    const dialog = app.page.getByRole('dialog');
    await dialog.waitFor();
    await app.page.keyboard.type('exists only when needed');
    await app.page.keyboard.press('Tab');
    await app.page.keyboard.press('Enter');
    await app.page.waitForURL(/WorkerPool\/default\/invoices$/);
    await app.untilText('3/3 ready');
  }

  /** No script ran, no element came from a text, and nothing failed. */
  async function assertHarmless(app: ConsolePage): Promise<void> {
    const found = await app.page.evaluate(() => ({
      elements: document.querySelectorAll(
        'img, iframe, object, embed, script:not([src]), a[href^="javascript" i], [onerror], [onload], [style*="javascript" i]',
      ).length,
      polluted: Object.keys(Object.prototype),
    }));
    assert.deepEqual(found, { elements: 0, polluted: [] });
    assert.deepEqual(app.problems, []);
  }

  const pages = [
    ...['', '?detail=events', '?detail=live', '?tab=edit', '?tab=expressions'].map(
      (query) => `${page}${query}`,
    ),
    ...['live', 'wanted', 'differences', 'owners', 'events'].map(
      (detail) => `${page}?node=ConfigMap%2Fdefault%2Fone-map&detail=${detail}`,
    ),
    ...['', '?tab=source', '?tab=resources', '?tab=rollout', '?tab=rights', '?tab=events'].map(
      (query) => `#/definitions/hostile${query}`,
    ),
    ...['#/', '#/resources', '#/clusters', '#/files'],
  ];

  test('markup and control characters in every text are text on every page', async () => {
    const text = quoted(`${html} ${control}`);
    const app = await opened(
      filesWith({
        title: `${html} ${control}`,
        children: mapChild(
          `{ html: ${quoted(html)}, control: ${quoted('x\u202egnp\u2066')}, link: "javascript:alert(4)" }`,
          `, annotations: { note: ${quoted(html)}, url: "javascript:alert(5)" }`,
        ),
        spec: `{ note: ${text}, url: "javascript:alert(6)", ${quoted(html)}: ${text} }`,
        annotations: `{ note: ${quoted(html)} }`,
        more: `  events: [{ when: "\${ true }", type: Warning, reason: Hostile, message: ${quoted(`${html} \${ spec.note }`)} }]
  status:
    note: "\${ spec.note }"
`,
      }),
    );
    for (const hash of pages) {
      await app.go(hash);
      await untilShown(app);
      await assertHarmless(app);
      assert.doesNotMatch(await shownText(app), acting, hash);
    }
    await assertUsable(app);
    await app.close();
  });

  test('values of Secrets are shown on no page', async () => {
    const encoded = Buffer.from(secret).toString('base64');
    // Computed: the definition is shown as it is written.
    const value = '$join(["marker-of", "the-secret-7461"], "-")';
    const children = `
    - id: secret
      template: { apiVersion: v1, kind: Secret, metadata: { name: one-map }, stringData: { password: '\${ ${value} }' }, data: { other: '\${ $base64encode(${value}) }' } }
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: one-map }, data: { size: "\${ $string($length(children.secret.data.password)) }" } }`;
    const files = filesWith({ children });
    const app = await opened(files);

    const secretPages = pages.map((hash) => hash.replace('ConfigMap%2F', 'Secret%2F'));
    for (const hash of new Set([...pages, ...secretPages])) {
      await app.go(hash);
      await button(app, 'Examples').waitFor();
      if (hash.includes('Secret%2F') && /detail=live/.test(hash))
        await app.page.locator('.node-detail pre.yaml', { hasText: 'kind: Secret' }).waitFor();
      const shown = await shownText(app);
      assert.ok(!shown.includes(secret) && !shown.includes(encoded), `${hash}: ${shown}`);
    }
    await app.go(`${page}?tab=expressions`);
    const expression = app.page.locator('.beside .editor .cm-content');
    for (const text of [
      'children.secret.data.password',
      '$string(children.secret)',
      '{ "a": [children.secret.data] }',
      '$join($split(children.secret.data.password, ""), "-")',
    ]) {
      await expression.click();
      await app.page.keyboard.press('Control+A');
      await app.page.keyboard.insertText(text);
      await app.page.locator('.beside .result', { hasText: '(sensitive)' }).waitFor();
      const shown = await shownText(app);
      assert.ok(!shown.includes(secret) && !shown.includes(encoded), text);
    }
    // What an edit of the definition would change.
    await openFile(app.page, 'hostile.yaml');
    const [definition] = files;
    await writeInEditor(app.page, definition?.text.replaceAll('7461', '9999') ?? '');
    await app.page.locator('.files .changes li', { hasText: 'Secret' }).first().waitFor();
    assert.doesNotMatch(await shownText(app), /marker-of-the-secret/);
    await assertHarmless(app);
    await app.close();
  });

  test('a field "__proto__" is an error, and other names of prototypes are names', async () => {
    const names = ['constructor', 'prototype', 'toString', 'hasOwnProperty'];
    const map = `{ ${names.map((name) => `${quoted(name)}: { polluted: true, admin: "${name}" }`).join(', ')} }`;
    const files = filesWith({
      spec: map,
      annotations: '{ constructor: text, toString: text }',
      children: mapChild(
        '{ constructor: a, toString: b }',
        ', labels: { constructor: a, toString: b }',
      ),
      more: '  status: { spec: "${ spec }" }\n',
    });
    const app = await opened(files);
    for (const hash of [
      ...pages,
      ...[...names, '__proto__'].flatMap((name) => [
        `#/definitions/${name}`,
        `#/definitions/hostile?tab=${name}`,
        `${page}?tab=${name}&node=${name}&detail=${name}`,
        `#/resources/${name}/${name}/${name}/${name}/${name}`,
        `#/${name}`,
      ]),
    ]) {
      await app.go(hash);
      await button(app, 'Examples').waitFor();
      await assertHarmless(app);
    }
    for (const { file, text } of files) {
      await openFile(app.page, file);
      await writeInEditor(app.page, text.replace('{ constructor:', '{ __proto__: a, constructor:'));
      await app.page
        .locator('.files .diagnostic.error', { hasText: '__proto__' })
        .first()
        .waitFor();
    }
    await button(app, 'Apply').click();
    await app.page.locator('.files .applied').waitFor();
    const [worker] = app.page.workers();
    assert.deepEqual(await worker?.evaluate(() => Object.keys(Object.prototype)), []);
    await assertUsable(app);
    await assertHarmless(app);
    await app.close();
  });

  const growing = '${ ($f := function($s) { $f($s & $s) }; $f("x")) }';
  for (const [what, parts] of [
    [
      'an endless loop',
      { children: mapChild('{ a: "${ ($f := function($n) { $f($n + 1) }; $f(0)) }" }') },
    ],
    ['a text that grows', { children: mapChild(`{ a: ${quoted(growing)} }`) }],
    ['a sequence of a billion', { children: mapChild('{ a: "${ $string([1..1000000000]) }" }') }],
    [
      'sequences in sequences',
      {
        children: mapChild(
          '{ a: "${ $string($map([1..9999], function($a) { $map([1..9999], function($b) { [1..9999] }) })) }" }',
        ),
      },
    ],
    [
      'a regular expression that backtracks',
      {
        children: mapChild(
          `{ a: ${quoted(`\${ $string($match("${'a'.repeat(40)}!", /^(a+)+$/)) }`)} }`,
        ),
      },
    ],
    [
      'a million children',
      {
        children:
          '[{ id: map, forEach: "${ [1..1000000] }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "one-${ $string($item) }" } } }]',
      },
    ],
    [
      'a template that nests loops',
      {
        children: mapChild(
          `{ a: { $template: ${quoted(`${'{{#each spec.list}}'.repeat(9)}x${'{{/each}}'.repeat(9)}`)} } }`,
        ),
        spec: `{ list: [${'1,'.repeat(99)}1] }`,
      },
    ],
    [
      'a status that changes with each reconcile',
      {
        more: '  status: { count: "${ ($previous.status.count ?? 0) + 1 }", at: "${ $now() }" }\n',
      },
    ],
  ] as const satisfies readonly (readonly [string, Parts])[])
    test(`${what} leaves a page that responds, and a sandbox that can be replaced`, async () => {
      const app = await served.open(await encodeShareLink(filesWith(parts)));
      await app.page.locator(playgroundEditor).waitFor();
      for (const hash of ['#/definitions/hostile', page, `${page}?tab=expressions`]) {
        await app.go(hash);
        await app.page.getByRole('button', { name: 'Examples' }).waitFor();
      }
      await assertUsable(app);
      await assertHarmless(app);
      await app.close();
    });

  for (const [what, text] of [
    ['five megabytes in a line', `a: "${'x'.repeat(5_000_000)}"\n`],
    ['five megabytes of lines', 'key: value\n'.repeat(450_000)],
    ['five megabytes of expressions', `a: "${'${ spec.a }'.repeat(450_000)}"\n`],
    ['five megabytes of documents', '---\na: 1\n'.repeat(550_000)],
    ['a list nested 100,000 deep', `a: ${'['.repeat(100_000)}`],
    [
      'aliases that multiply',
      Array.from(
        { length: 30 },
        (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : `${`*a${at - 1},`.repeat(9)}`}]`,
      ).join('\n'),
    ],
    ['control characters', `${control}\n\u0000\ufeff\ufffe`.repeat(1_000)],
  ] as const)
    test(`${what} as a sample and as a definition: an error, and a page that responds`, async () => {
      const app = await opened(filesWith({ children: mapChild('{ a: b }') }));
      for (const file of [sampleFile, 'hostile.yaml']) {
        await openFile(app.page, file);
        await writeInEditor(app.page, text);
        await app.page.locator('.files .diagnostic.error').first().waitFor();
        await button(app, 'Apply').click();
        await app.page.locator('.files .applied').waitFor();
      }
      await button(app, 'Share').click();
      const dialog = app.page.getByRole('dialog');
      await dialog
        .getByText(/Link|link/)
        .first()
        .waitFor();
      await dialog.getByRole('button', { name: 'Close', exact: true }).click();
      await assertUsable(app);
      await assertHarmless(app);
      await app.close();
    });

  test('links that are broken, too large or of other files open an example, with the reason', async () => {
    const packed = async (value: unknown) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
      const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
      return `#/share/1/${encodeBase64Bytes(bytes).replaceAll('+', '-').replaceAll('/', '_')}`;
    };
    const many = Array.from({ length: 21 }, (_, at) => [`a${at}.yaml`, 'a: b']);
    for (const link of [
      '#/share/',
      '#/share/1/',
      '#/share/2/abc',
      '#/share/1/%E0%A4%A',
      `#/share/1/${'A'.repeat(1_000_000)}`,
      await packed(`["${'x'.repeat(200_000_000)}"]`),
      await packed('[['),
      await packed({ __proto__: null, length: 1, 0: ['a.yaml', 'a: b'] }),
      await packed([['../../a.yaml', 'a: b']]),
      await packed([['__proto__.yaml', 'a: b']]),
      await packed([[`${html}.yaml`, 'a: b']]),
      await packed([['a.yaml', { toString: 'a' }]]),
      await packed([
        ['a.yaml', 'a: b'],
        ['a.yaml', 'a: c'],
      ]),
      await packed(many),
      await packed('['.repeat(200_000)),
    ]) {
      const app = await served.open(link);
      await app.untilText('The link cannot be opened');
      await app.untilText('2/2 ready');
      await assertHarmless(app);
      await app.close();
    }
  });

  test('addresses that name nothing are answered', async () => {
    const app = await opened(filesWith({ children: mapChild('{ a: b }') }));
    for (const hash of [
      '#/%E0%A4%A',
      '#/definitions/%E0%A4%A',
      `#/definitions/${encodeURIComponent(html)}`,
      `${page}?node=%E0%A4%A&detail=%00`,
      `${page}?node=${encodeURIComponent(html)}&tab=${encodeURIComponent(html)}`,
      `#/resources/${'a/'.repeat(50_000)}`,
      `#/resources/hostile.example.com/v1/Thing/..%2F..%2Fsecrets/one`,
      '#javascript:alert(1)',
      '#/?q=__proto__',
      `#/${'?'.repeat(100_000)}`,
    ]) {
      await app.go(hash);
      await button(app, 'Examples').waitFor();
      await assertHarmless(app);
    }
    await app.go(page);
    await app.untilText('one-map');
    await app.close();
  });

  for (const [what, script] of [
    [
      'another value',
      () => localStorage.setItem('homeostat.theme', '"><img src=x onerror=alert(1)>'),
    ],
    ['the name of a prototype', () => localStorage.setItem('homeostat.theme', '__proto__')],
    ['four megabytes', () => localStorage.setItem('homeostat.theme', 'x'.repeat(4_000_000))],
    [
      'nothing, because it is denied',
      () =>
        Object.defineProperty(window, 'localStorage', {
          get() {
            throw new DOMException('Denied', 'SecurityError');
          },
        }),
    ],
    [
      'nothing, because it is full',
      () => {
        Storage.prototype.setItem = () => {
          throw new DOMException('Full', 'QuotaExceededError');
        };
      },
    ],
  ] as const)
    test(`a storage with ${what} as the theme: the page works, and its theme can be changed`, async () => {
      const app = await served.open('', { initScript: script });
      await app.untilText('2/2 ready');
      await app.page.getByRole('button', { name: /theme/i }).first().click();
      await app.untilText('2/2 ready');
      await assertHarmless(app);
      await app.close();
    });
});
