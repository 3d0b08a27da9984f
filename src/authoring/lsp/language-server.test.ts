import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { DefinitionValidator } from '#testing';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { LspClient } from '../../../test/support/lsp/lsp-client.ts';
import { operatorText } from '../../../test/support/lsp/marked-text.ts';
import { serveLanguage } from './language-server.ts';
import {
  CodeActionRequest,
  CompletionRequest,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DocumentSymbolRequest,
  ExitNotification,
  HoverRequest,
  ReferencesRequest,
  ShutdownRequest,
} from './protocol.ts';

const uri = 'file:///operators/podset.yaml';
const podset = operatorText('podset');

/** A session; `files`: what is on the disk, by path. */
function startSession(
  signal: AbortSignal = new AbortController().signal,
  files: Readonly<Record<string, string>> = {},
) {
  const input = new PassThrough();
  const output = new PassThrough();
  const clock = new FakeClock();
  const broken: string[] = [];
  const load = async (path: string) =>
    Object.entries(files)
      .filter(([file]) => file === path || dirname(file) === path)
      .map(([file, text]) => ({ file, text }));
  const options = { input, output, clock, load, version: '1.2.3' };
  const onBrokenConnection = (reason: string) => void broken.push(reason);
  const ended = serveLanguage({ ...options, onBrokenConnection }, signal);
  return { input, clock, ended, broken, client: new LspClient(output, input) };
}

/** A session with an open document whose diagnostics have arrived. */
async function openSession(text: string) {
  const session = startSession();
  await session.client.initialize();
  await session.client.open(uri, text);
  await untilPending(session.clock);
  await session.clock.advance(0);
  return { ...session, diagnostics: await session.client.diagnosticsOf(uri, 1) };
}

/** Waits until the server has received a change. */
async function untilPending(clock: FakeClock): Promise<void> {
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
}

/** Line and character of a part of a text. */
function positionOf(text: string, part: string, add = 0) {
  const lines = text.slice(0, text.indexOf(part) + add).split('\n');
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

describe('lsp/language-server', () => {
  test('initialize names the server and what it can do', async () => {
    const { client, ended } = startSession();
    const { serverInfo, capabilities } = await client.initialize();
    assert.deepEqual(serverInfo, { name: 'homeostat', version: '1.2.3' });
    assert.equal(capabilities.hoverProvider, true);
    assert.deepEqual(capabilities.codeActionProvider, { codeActionKinds: ['quickfix'] });
    await client.shutdown();
    assert.equal(await ended, 'shutdown');
  });

  test('an open document has the diagnostics of "homeostat validate", with code, hint and range', async () => {
    const text = podset.replace('template:', 'tempalte:');
    const { diagnostics, client } = await openSession(text);
    const [first] = diagnostics;
    const validator = new DefinitionValidator();
    const validated = validator.validate([{ file: uri, text }]).diagnostics;
    validator.close();
    assert.deepEqual(
      diagnostics.map(({ code, range }) => [code, range.start]),
      validated.map(({ code, line, column }) => [code, { line: line - 1, character: column - 1 }]),
    );
    assert.deepEqual(first, {
      severity: 1,
      source: 'homeostat',
      code: 'unknown-field',
      message: 'Unknown field "tempalte". Did you mean "template"?',
      range: {
        start: positionOf(text, 'tempalte'),
        end: positionOf(text, 'tempalte', 'tempalte'.length),
      },
      data: { path: '/spec/children/0/tempalte', hint: 'Did you mean "template"?' },
    });
    await client.shutdown();
  });

  test('a conversion that loses a value is an error at its rule, after the other diagnostics', async () => {
    const valid = readFileSync('test/fixtures/valid/conversions.yaml', 'utf8');
    const text = valid.replace(
      'properties:\n                  replicas',
      'required: [replicas]\n                properties:\n                  replicas',
    );
    const { client, clock, diagnostics } = await openSession(text);
    assert.deepEqual(diagnostics, []);
    const [found, ...others] = await client.diagnosticsOf(uri, 1, 1);
    assert.deepEqual(others, []);
    assert.deepEqual(found?.range.start, positionOf(text, 'spec.replicas }'));
    assert.match(
      String(found?.message),
      /^An object of version "v1alpha1" lacks a required field in "v1": "spec\.replicas": \{"spec":.* becomes \{.*\}\. Give the field a default/,
    );
    await client.replace(uri, 2, valid);
    await untilPending(clock);
    await clock.advance(150);
    assert.deepEqual(await client.diagnosticsOf(uri, 2), []);
    await client.shutdown();
  });

  test('a newer text ends the check of conversions, and is answered meanwhile', async () => {
    const text = readFileSync('test/fixtures/valid/conversions.yaml', 'utf8');
    const { client, clock } = await openSession(text);
    const broken = text.replace('spec.size', 'spec.sise');
    await client.replace(uri, 2, broken);
    const hover = await client.connection.sendRequest(HoverRequest.type, {
      textDocument: { uri },
      position: positionOf(broken, 'conversions:', 2),
    });
    assert.ok(hover !== null);
    await untilPending(clock);
    await clock.advance(150);
    const [found] = await client.diagnosticsOf(uri, 2);
    assert.match(String(found?.message), /has no field "spec\.sise"/);
    await client.shutdown();
  });

  test('changes are checked once, after a pause', async () => {
    const { client, clock } = await openSession(podset);
    await client.replace(uri, 2, podset.replace('spec:', 'spce:'));
    await client.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version: 3 },
      contentChanges: [
        {
          range: { start: positionOf(podset, 'spec:'), end: positionOf(podset, 'spec:', 4) },
          text: 'spec',
        },
      ],
    });
    await client.connection.sendRequest(DocumentSymbolRequest.type, { textDocument: { uri } });
    await clock.advance(149);
    assert.deepEqual(
      client.published.map(({ version }) => version),
      [1],
    );
    await clock.advance(1);
    assert.deepEqual(await client.diagnosticsOf(uri, 3), []);
    assert.deepEqual(
      client.published.map(({ version }) => version),
      [1, 3],
    );
    await client.shutdown();
  });

  test('a closed document has no diagnostics, and no check that waits', async () => {
    const { client, clock, ended } = await openSession(podset.replace('template:', 'tempalte:'));
    await client.replace(uri, 2, podset);
    await client.connection.sendNotification(DidCloseTextDocumentNotification.type, {
      textDocument: { uri },
    });
    assert.deepEqual(await client.diagnosticsOf(uri), client.published[0]?.diagnostics);
    await client.shutdown();
    await ended;
    assert.deepEqual(client.published.at(-1)?.diagnostics, []);
    assert.equal(clock.pending, 0);
  });

  test('a YAML file of another tool has no diagnostics and no proposals', async () => {
    const { client, diagnostics } = await openSession('apiVersion: v1\nkind: ConfigMap\nspce: 1\n');
    assert.deepEqual(diagnostics, []);
    const at = { textDocument: { uri }, position: { line: 2, character: 2 } };
    assert.deepEqual(await client.connection.sendRequest(CompletionRequest.type, at), []);
    assert.equal(await client.connection.sendRequest(HoverRequest.type, at), null);
    await client.shutdown();
  });

  test('completion, hover, definition, references and symbols are answered with lines and columns', async () => {
    const { client } = await openSession(podset);
    const position = positionOf(podset, 'spec.size', 'spec.si'.length);
    const at = { textDocument: { uri }, position };
    const word = {
      start: positionOf(podset, 'spec.size', 5),
      end: positionOf(podset, 'spec.size', 9),
    };
    const items = await client.connection.sendRequest(CompletionRequest.type, at);
    const size = Array.isArray(items) ? items.find(({ label }) => label === 'size') : undefined;
    assert.deepEqual(size?.textEdit, { range: word, newText: 'size' });
    assert.equal(size?.data, undefined);
    const hover = await client.connection.sendRequest(HoverRequest.type, at);
    assert.deepEqual(hover?.range, word);
    const target = await client.connection.sendRequest(DefinitionRequest.type, at);
    assert.deepEqual(target, {
      uri,
      range: { start: positionOf(podset, 'size:'), end: positionOf(podset, 'size:', 4) },
    });
    const references = await client.connection.sendRequest(ReferencesRequest.type, {
      ...at,
      context: { includeDeclaration: false },
    });
    assert.deepEqual(references?.[0], { uri, range: word });
    const symbols = await client.connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument: { uri },
    });
    assert.deepEqual(
      symbols?.map(({ name }) => name),
      ['podset'],
    );
    await client.shutdown();
  });

  test('a completion whose value has proposals is marked for the client', async () => {
    const text = 'apiVersion: homeostat.dev/v1alpha1\n';
    const { client } = await openSession(text);
    const at = { textDocument: { uri }, position: { line: 1, character: 0 } };
    const items = await client.connection.sendRequest(CompletionRequest.type, at);
    const found = Array.isArray(items) ? items.map(({ label, data }) => [label, data]) : [];
    assert.deepEqual(found[0], ['kind', { isContinued: true }]);
    await client.shutdown();
  });

  test('a diagnostic that suggests a name has a quick fix', async () => {
    const text = podset.replace('template:', 'tempalte:');
    const { client, diagnostics } = await openSession(text);
    const [diagnostic] = diagnostics;
    assert.ok(diagnostic);
    const ask = (only?: string[]) =>
      client.connection.sendRequest(CodeActionRequest.type, {
        textDocument: { uri },
        range: diagnostic.range,
        context: { diagnostics: [...diagnostics], ...(only && { only }) },
      });
    assert.deepEqual(await ask(['source.organizeImports']), []);
    const actions = await ask();
    assert.deepEqual(actions, [
      {
        title: 'Change to "template"',
        kind: 'quickfix',
        diagnostics: [diagnostic],
        isPreferred: true,
        edit: { changes: { [uri]: [{ range: diagnostic.range, newText: 'template' }] } },
      },
    ]);
    await client.shutdown();
  });

  test('a question about a document that is not open has no answer', async () => {
    const { client } = startSession();
    await client.initialize();
    const at = { textDocument: { uri }, position: { line: 0, character: 0 } };
    assert.equal(await client.connection.sendRequest(HoverRequest.type, at), null);
    await client.shutdown();
  });

  test('questions before "initialize" and after "shutdown" are errors', async () => {
    const { client, ended } = startSession();
    const at = { textDocument: { uri }, position: { line: 0, character: 0 } };
    const ask = () => client.connection.sendRequest(HoverRequest.type, at);
    await assert.rejects(ask, { code: -32002 });
    await client.initialize();
    await client.connection.sendRequest(ShutdownRequest.type);
    await assert.rejects(ask, { code: -32600 });
    await client.connection.sendNotification(ExitNotification.type);
    assert.equal(await ended, 'shutdown');
  });

  test('a request that the server does not have is an error, and the session continues', async () => {
    const { client, ended } = startSession();
    await client.initialize();
    await assert.rejects(client.connection.sendRequest('homeostat/nothing'), { code: -32601 });
    await client.shutdown();
    assert.equal(await ended, 'shutdown');
  });

  test('a client that ends without "shutdown" is disconnected', async () => {
    const exiting = startSession();
    await exiting.client.initialize();
    await exiting.client.connection.sendNotification(ExitNotification.type);
    assert.equal(await exiting.ended, 'disconnected');

    const closing = startSession();
    await closing.client.initialize();
    closing.input.end();
    await once(closing.input, 'end');
    assert.equal(await closing.ended, 'disconnected');
  });

  test('bytes that are no messages end the session with the reason', async () => {
    const { input, ended, broken } = startSession();
    input.write('kind: PodSet\r\n\r\n');
    assert.equal(await ended, 'disconnected');
    assert.equal(broken.length, 1);
    assert.match(broken[0] ?? '', /Content-Length/);
  });

  test('an aborted signal ends the session', async () => {
    const stopper = new AbortController();
    const { client, ended } = startSession(stopper.signal);
    await client.initialize();
    stopper.abort();
    assert.equal(await ended, 'shutdown');
  });

  describe('samples and tests', () => {
    const sampleUri = 'file:///operators/samples/podset.yaml';
    const sample = operatorText('samples/podset');

    /** A session with a file open below the definition, which is on the disk. */
    async function openBelow(path: string, text: string) {
      const files = { '/operators/podset.yaml': podset };
      const session = startSession(undefined, files);
      await session.client.initialize();
      await session.client.open(path, text);
      await untilPending(session.clock);
      await session.clock.advance(0);
      const messages = async (version: number) =>
        (await session.client.diagnosticsOf(path, version)).map(({ message }) => message);
      const labelsAt = async (line: number, character: number) => {
        const textDocument = { uri: path };
        const position = { line, character };
        const found = await session.client.connection.sendRequest(CompletionRequest.type, {
          textDocument,
          position,
        });
        return (Array.isArray(found) ? found : []).map(({ label }) => label);
      };
      return { ...session, messages, labelsAt };
    }

    test('a sample has diagnostics, fixes, completion and hover of the definition in the folder above', async () => {
      const text = sample.replace('size:', 'szie:');
      const { client, messages, labelsAt, ended } = await openBelow(sampleUri, text);
      assert.deepEqual(await messages(1), ['Unknown field "szie". Did you mean "size"?']);
      const textDocument = { uri: sampleUri };
      const diagnostics = [...(await client.diagnosticsOf(sampleUri, 1))];
      const [action] =
        (await client.connection.sendRequest(CodeActionRequest.type, {
          textDocument,
          range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
          context: { diagnostics },
        })) ?? [];
      assert.equal(action?.title, 'Change to "size"');
      const { line, character } = positionOf(text, 'szie');
      assert.deepEqual(await labelsAt(line, character), ['size']);
      await client.replace(sampleUri, 2, sample);
      const hover = await client.connection.sendRequest(HoverRequest.type, {
        textDocument,
        position: positionOf(sample, 'size:', 1),
      });
      assert.match(JSON.stringify(hover), /\*\*size\*\*: integer/);
      await client.shutdown();
      await ended;
    });

    test('a file of another tool has nothing, though a definition is near', async () => {
      const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndat: {}\n';
      const { client, messages, labelsAt, ended } = await openBelow(
        'file:///operators/a.yaml',
        text,
      );
      assert.deepEqual(await messages(1), []);
      assert.deepEqual(await labelsAt(3, 2), []);
      await client.shutdown();
      await ended;
    });

    test('a sample is checked again when its definition changes in the editor', async () => {
      const { client, clock, messages, ended } = await openBelow(sampleUri, sample);
      assert.deepEqual(await messages(1), []);
      await client.open(uri, podset);
      await untilPending(clock);
      await clock.advance(0);
      await client.diagnosticsOf(uri, 1);
      await client.replace(uri, 2, podset.replaceAll(/\bsize\b/g, 'count'));
      await untilPending(clock);
      client.published.length = 0;
      await clock.advance(150);
      assert.deepEqual(await messages(1), [
        'Missing field "count"',
        'Unknown field "size". Known fields: count',
      ]);
      await client.shutdown();
      await ended;
    });

    test('a test has completion of its objects, patches and expected statuses', async () => {
      const testUri = 'file:///operators/tests/podset.yaml';
      const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: a }
spec:
  steps:
    - name: one
      apply:
        apiVersion: apps.example.com/v1alpha1
        kind: PodSet
        metadata: { name: a }
        spec: { }
      patch: { target: PodSet/a, merge: { spec: { } } }
      expect:
        - status: { of: PodSet/a, is: { } }
`;
      const { client, labelsAt, ended } = await openBelow(testUri, text);
      const spec = positionOf(text, 'spec: { }', 7);
      assert.deepEqual(await labelsAt(spec.line, spec.character), ['size']);
      const merge = positionOf(text, 'merge: { spec: { }', 17);
      assert.deepEqual(await labelsAt(merge.line, merge.character), ['size']);
      const status = positionOf(text, 'is: { }', 5);
      assert.ok((await labelsAt(status.line, status.character)).includes('readyReplicas'));
      await client.shutdown();
      await ended;
    });
  });
});
