import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentSymbolRequest,
  HoverRequest,
} from '#lsp/protocol.ts';
import { thingDefinition } from '../support/definitions.ts';
import { startSession, testOf } from './support/language-session.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'homeostat-lsp-')));
const at = (name: string) => join(folder, name);
const uriOf = (path: string) => pathToFileURL(path).href;
const definition = thingDefinition('one', '  children: []\n');

describe('attacks/lsp: only files below the folders of the editor are read', () => {
  mkdirSync(at('workspace/tests'), { recursive: true });
  mkdirSync(at('outside'));
  writeFileSync(at('workspace/one.yaml'), definition);
  writeFileSync(at('outside/secret.yaml'), definition.replaceAll('one', 'secret'));
  symlinkSync(at('outside/secret.yaml'), at('workspace/linked.yaml'));
  symlinkSync(at('outside'), at('workspace/folder'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const files of [
    `definitions: [${at('outside/secret.yaml')}]`,
    'definitions: [../../outside/secret.yaml]',
    'definitions: [../../outside]',
    'definitions: [../linked.yaml]',
    'definitions: [../folder]',
    `definitions: [${resolve('operators/podset.yaml')}]`,
    `given: [{ file: ${resolve('package.json')} }]`,
    'given: [{ file: ../../outside/secret.yaml }]',
  ])
    test(files.replaceAll(folder, '').replaceAll(process.cwd(), ''), async () => {
      const { client, read, ended } = startSession();
      await client.initialize(uriOf(at('workspace')));
      const uri = uriOf(at('workspace/tests/hostile.yaml'));
      await client.open(uri, testOf(files));
      const messages = (await client.diagnosticsOf(uri, 1)).map(({ message }) => message);
      assert.match(messages.join('\n'), /A test reads no file outside of its workspace/);
      for (const position of [
        { line: 4, character: 20 },
        { line: 2, character: 3 },
      ])
        await client.connection.sendRequest(HoverRequest.type, { textDocument: { uri }, position });
      await client.shutdown();
      await ended;
      for (const file of read)
        assert.ok(realpathSync(file).startsWith(at('workspace/')) || file.includes('linked'), file);
    });

  for (const [what, root, document, definitions] of [
    ['outside of the workspace', 'workspace', 'outside/samples/one.yaml', 'outside/secret.yaml'],
    ['in a workspace "tests"', 'workspace/tests', 'workspace/tests/a.yaml', 'workspace/one.yaml'],
    [
      'in a workspace "samples"',
      'outside/samples',
      'outside/samples/a.yaml',
      'outside/secret.yaml',
    ],
  ] as const)
    test(`a document ${what}: files beside it and beside its folder are read, and no others`, async () => {
      const { client, read, ended } = startSession();
      await client.initialize(uriOf(at(root)));
      const uri = uriOf(at(document));
      await client.open(uri, testOf(`definitions: [.., ${resolve('operators/podset.yaml')}]`));
      await client.diagnosticsOf(uri, 1);
      await client.shutdown();
      await ended;
      assert.ok(read.includes(at(definitions)), read.join());
      const folder = at(definitions.split('/')[0] ?? '');
      for (const file of read) assert.ok(file.startsWith(`${folder}/`), file);
    });

  test('without a folder, files beside the document are read, and none of the current folder', async () => {
    const { client, read, ended } = startSession();
    await client.initialize();
    const uri = uriOf(at('workspace/tests/hostile.yaml'));
    await client.open(uri, testOf(`definitions: [.., ${resolve('operators/podset.yaml')}]`));
    const messages = (await client.diagnosticsOf(uri, 1)).map(({ message }) => message);
    assert.match(messages.join('\n'), /outside of its workspace, found ".*podset\.yaml"/);
    await client.shutdown();
    await ended;
    assert.ok(read.includes(at('workspace/one.yaml')));
    for (const file of read) assert.ok(file.startsWith(at('workspace/')), file);
  });
});

describe('attacks/lsp: messages', () => {
  for (const [what, text] of [
    ['a negative length', 'Content-Length: -5\r\n\r\n{}'],
    ['no length', 'Content-Type: a\r\n\r\n{}'],
    ['an empty length', 'Content-Length:\r\n\r\n{}'],
    ['length 0', 'Content-Length: 0\r\n\r\n'],
    ['a length that is no number', 'Content-Length: 1e3\r\n\r\n{}'],
    ['a length beyond all memory', 'Content-Length: 99999999999999\r\n\r\n{'],
    ['a header without an end', 'a'.repeat(100_000)],
    ['text that is no JSON', 'Content-Length: 3\r\n\r\nfoo'],
  ] as const)
    test(`${what} ends the session with the reason`, async () => {
      const { input, ended, broken } = startSession();
      input.write(text);
      assert.equal(await ended, 'disconnected');
      assert.equal(broken.length, 1);
    });

  test('messages in pieces are read', async () => {
    const { input, client, ended } = startSession();
    const body = JSON.stringify({ jsonrpc: '2.0', method: '$/nothing', params: {} });
    for (const part of `Content-Length: ${body.length}\r\n\r\n${body}`) input.write(part);
    await client.initialize();
    await client.shutdown();
    assert.equal(await ended, 'shutdown');
  });

  test('values that are no parameters are errors, and the session continues', async () => {
    const { client, ended } = startSession();
    await client.initialize();
    const { connection } = client;
    for (const params of [{}, { textDocument: null }, { textDocument: { uri: 3 }, position: 'x' }])
      await connection.sendRequest(HoverRequest.method, params).then(
        (found) => assert.equal(found, null),
        (error: Error) => assert.ok(error.message),
      );
    for (const params of [{}, { textDocument: {} }, { textDocument: { uri: 3, text: 4 } }]) {
      await connection.sendNotification(DidOpenTextDocumentNotification.method, params);
      await connection.sendNotification(DidChangeTextDocumentNotification.method, params);
    }
    const uri = 'file:///nowhere/one.yaml';
    await client.open(uri, definition.replace('children', 'chlidren'));
    assert.equal((await client.diagnosticsOf(uri, 1)).length > 0, true);
    await client.shutdown();
    assert.equal(await ended, 'shutdown');
  });

  for (const uri of [
    'file://host/share/one.yaml',
    'file:///a%2Fb.yaml',
    'file:///a%00b.yaml',
    'file:///%E0%A4%A.yaml',
    'file:',
    'untitled:Untitled-1',
    'https://example.com/one.yaml',
    '',
  ])
    test(`a document with the URI "${uri}" is checked as one in no file`, async () => {
      const { client, read, ended } = startSession();
      await client.initialize();
      await client.open(uri, definition.replace('children', 'chlidren'));
      const messages = (await client.diagnosticsOf(uri, 1)).map(({ message }) => message);
      assert.match(messages.join('\n'), /Unknown field "chlidren"/);
      assert.deepEqual(read, []);
      await client.shutdown();
      await ended;
    });

  for (const [what, text] of [
    ['empty lines', '\n'.repeat(4_000_000)],
    ['blanks', ' '.repeat(4_000_000)],
    ['carriage returns', '\r'.repeat(4_000_000)],
    ['quotes', '"'.repeat(1_000_000)],
    ['keys', 'kind:\n'.repeat(1_000_000)],
    ['definitions of empty lines', `${definition}\n${' \n'.repeat(2_000_000)}`],
    ['a document of 100 MB', `${definition}#${'x'.repeat(100_000_000)}`],
  ] as const)
    test(`a document of ${what} is answered`, { timeout: 60_000 }, async () => {
      const { client, ended } = startSession();
      await client.initialize();
      const uri = uriOf('/nowhere/one.yaml');
      await client.open(uri, text);
      await client.diagnosticsOf(uri, 1);
      await client.connection.sendRequest(DocumentSymbolRequest.type, { textDocument: { uri } });
      await client.connection.sendRequest(HoverRequest.type, {
        textDocument: { uri },
        position: { line: 1, character: 1 },
      });
      await client.shutdown();
      await ended;
    });
});
