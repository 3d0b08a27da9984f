import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DidChangeWorkspaceFoldersNotification, HoverRequest } from '#lsp/protocol.ts';
import { thingDefinition } from '../support/definitions.ts';
import { startSession, testOf } from './support/language-session.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'homeostat-lsp-folders-')));
const at = (name: string) => join(folder, name);
const uriOf = (path: string) => pathToFileURL(path).href;
const definition = thingDefinition('one', '  children: []\n');
const outside = /A test reads no file outside of its workspace/;

describe('attacks/lsp: folders with links, pipes and devices', () => {
  mkdirSync(at('real/tests'), { recursive: true });
  mkdirSync(at('outside'));
  writeFileSync(at('real/one.yaml'), definition);
  writeFileSync(at('outside/secret.yaml'), definition.replaceAll('one', 'secret'));
  symlinkSync('real', at('link'));
  symlinkSync('link', at('link-to-link'));
  symlinkSync('outside', at('samples'));
  symlinkSync('.', at('real/loop'));
  symlinkSync('itself', at('real/itself'));
  symlinkSync('../outside', at('real/away'));
  symlinkSync('../../outside/secret.yaml', at('real/tests/away.yaml'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The diagnostics of a test in an editor with this folder, and the files that were read. */
  async function messagesOf(root: string, document: string, files: string) {
    const { client, read, ended } = startSession();
    await client.initialize(uriOf(at(root)));
    const uri = uriOf(at(document));
    await client.open(uri, testOf(files));
    const messages = (await client.diagnosticsOf(uri, 1)).map(({ message }) => message);
    const asked = { textDocument: { uri }, position: { line: 4, character: 20 } };
    await client.connection.sendRequest(HoverRequest.type, asked);
    await client.shutdown();
    await ended;
    return { text: messages.join('\n'), read };
  }

  for (const root of ['link', 'link-to-link'])
    for (const document of [`${root}/tests/a.yaml`, 'real/tests/a.yaml'])
      test(`a workspace "${root}" that is a link has the files behind it, for ${document}`, async () => {
        const found = await messagesOf(root, document, 'definitions: [..]');
        assert.doesNotMatch(found.text, outside);
        assert.ok(found.read.some((file) => realpathSync(file) === at('real/one.yaml')));
      });

  for (const files of [
    'definitions: [../../outside]',
    'definitions: [../../samples/secret.yaml]',
    'definitions: [../away]',
    'definitions: [../loop/away/secret.yaml]',
    'definitions: [../loop/loop/loop/tests/away.yaml]',
    'given: [{ file: away.yaml }]',
    'given: [{ file: ../loop/away/secret.yaml }]',
  ])
    test(`in a workspace that is a link, no file outside of it is used: ${files}`, async () => {
      const { text, read } = await messagesOf('link', 'link/tests/a.yaml', files);
      assert.match(text, outside);
      for (const file of read) assert.ok(file.startsWith(at('link/')), file);
    });

  test('a workspace whose link leads elsewhere meanwhile has the files that are there now', async () => {
    mkdirSync(at('moved/before'), { recursive: true });
    mkdirSync(at('moved/after'));
    writeFileSync(at('moved/before/one.yaml'), definition);
    symlinkSync('before', at('moved/root'));
    const { client, read, ended } = startSession();
    await client.initialize(uriOf(at('moved/root')));
    rmSync(at('moved/root'));
    symlinkSync('after', at('moved/root'));
    const uri = uriOf(at('moved/root/a.yaml'));
    await client.open(uri, testOf('definitions: [../before/one.yaml]'));
    const messages = (await client.diagnosticsOf(uri, 1)).map(({ message }) => message);
    assert.match(messages.join('\n'), outside);
    await client.shutdown();
    await ended;
    assert.deepEqual(read, []);
  });

  for (const [what, files, message] of [
    ['a link to itself', 'definitions: [../itself]', /itself/],
    ['a folder in a loop', 'definitions: [../loop/loop/one.yaml]', undefined],
    ['a chain of loops', `definitions: [..${'/loop'.repeat(50)}]`, /loop/],
  ] as const)
    test(`${what} is answered`, async () => {
      const { text } = await messagesOf('link', 'link/tests/a.yaml', files);
      if (message !== undefined) assert.match(text, message);
    });

  for (const [name, make] of [
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a link to nothing', (path: string) => symlinkSync('nowhere', path)],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link to the memory of the process', (path: string) => symlinkSync('/proc/self/mem', path)],
  ] as const)
    test(`${name} in a workspace is not read, and does not stop the session`, async () => {
      const root = `root of ${name}`;
      mkdirSync(at(`${root}/tests`), { recursive: true });
      writeFileSync(at(`${root}/one.yaml`), definition);
      make(at(`${root}/odd.yaml`));
      const files = 'definitions: [../odd.yaml]\n  given: [{ file: ../odd.yaml }]';
      const { text } = await messagesOf(root, `${root}/tests/a.yaml`, files);
      if (name !== 'a folder') assert.match(text, /odd\.yaml|outside of its workspace/);
      // The one beside it is found, too.
      const beside = await messagesOf(root, `${root}/tests/b.yaml`, 'definitions: [../one.yaml]');
      assert.doesNotMatch(beside.text, /one\.yaml/);
    });

  for (const uri of [
    'file:///',
    'file:///proc',
    'file:///dev',
    'file://host/share',
    'file:///a%00b',
  ])
    test(`a workspace ${uri} is answered`, async () => {
      const { client, ended } = startSession();
      await client.initialize(uri);
      const document = uriOf(at('real/tests/a.yaml'));
      await client.open(document, testOf('definitions: [../one.yaml]'));
      await client.diagnosticsOf(document, 1);
      const event = { added: [{ uri, name: 'a' }], removed: [{ uri, name: 'a' }] };
      await client.connection.sendNotification(DidChangeWorkspaceFoldersNotification.type, {
        event,
      });
      const asked = { textDocument: { uri: document }, position: { line: 4, character: 20 } };
      await client.connection.sendRequest(HoverRequest.type, asked);
      await client.shutdown();
      assert.equal(await ended, 'shutdown');
    });
});
