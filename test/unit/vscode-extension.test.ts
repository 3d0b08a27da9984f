import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Diagnostic } from '../../src/lsp/protocol.ts';
import { homeostatCommand } from '../support/executable.ts';
import { LspClient } from '../support/lsp/lsp-client.ts';
import { operatorText } from '../support/lsp/marked-text.ts';

const folder = new URL('../../editors/vscode/', import.meta.url);
const load = createRequire(folder);

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}
interface Session {
  activate(context: { readonly subscriptions: unknown[] }): Promise<void>;
  deactivate(): Promise<void>;
}
type Listener = (event: unknown) => unknown;

const { serverCommand } = load('./server-command.js') as {
  serverCommand(options: {
    readonly setting: string;
    readonly folders: readonly string[];
    readonly exists?: (path: string) => boolean;
  }): ServerCommand;
};
const { createSession } = load('./session.js') as {
  createSession(options: { readonly vscode: unknown; readonly createClient: unknown }): Session;
};

const definition = documentOf('yaml', 'apiVersion: homeostat.dev/v1alpha1');

function documentOf(languageId: string, text: string) {
  return { languageId, getText: () => text };
}

/** The parts of the API of VS Code that the extension uses. */
class FakeEditor {
  readonly listeners: Record<string, Listener> = {};
  readonly messages: string[] = [];
  readonly events: string[] = [];
  setting = '';
  failure: Error | undefined;
  textDocuments: readonly unknown[] = [];
  folder = '/shop';

  session(createClient: (server: ServerCommand) => unknown = this.#fakeClient): Session {
    const on = (name: string) => (listener: Listener) => {
      this.listeners[name] = listener;
    };
    const vscode = {
      workspace: {
        textDocuments: this.textDocuments,
        workspaceFolders: [{ uri: { fsPath: this.folder } }],
        getConfiguration: () => ({ get: () => this.setting }),
        onDidOpenTextDocument: on('open'),
        onDidChangeTextDocument: on('change'),
        onDidChangeConfiguration: on('configuration'),
      },
      window: { showErrorMessage: (text: string) => void this.messages.push(text) },
      commands: { registerCommand: (name: string, run: Listener) => on(name)(run) },
    };
    return createSession({ vscode, createClient });
  }

  readonly #fakeClient = ({ command }: ServerCommand) => ({
    start: async () => {
      this.events.push(`start ${command}`);
      if (this.failure !== undefined) throw this.failure;
    },
    stop: async () => void this.events.push(`stop ${command}`),
  });
}

describe('editors/vscode', () => {
  test('the manifest names files that exist, and the settings and commands that the extension uses', () => {
    const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
    const manifest = JSON.parse(read('package.json'));
    const root = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.ok(existsSync(new URL(manifest.main, folder)));
    assert.deepEqual(manifest.activationEvents, ['onLanguage:yaml']);
    assert.equal(manifest.version, root.version);
    assert.deepEqual(Object.keys(manifest.contributes.configuration.properties), [
      'homeostat.path',
    ]);
    for (const { command } of manifest.contributes.commands)
      assert.ok(read('session.js').includes(`'${command}'`));
    assert.doesNotMatch(read('README.md'), /\]\(\.{0,2}\//, 'the packager rejects relative links');
    // The client and the server speak the same version of the protocol.
    const locked = JSON.parse(read('package-lock.json')).packages;
    assert.equal(
      locked['node_modules/vscode-languageserver-protocol'].version,
      root.devDependencies['vscode-languageserver-protocol'],
    );
  });

  for (const [what, setting, installed, command] of [
    ['the setting', '/opt/homeostat', true, '/opt/homeostat'],
    ['the setting, relative to the first folder', 'bin/homeostat', true, '/a/bin/homeostat'],
    ['the program of a folder', '', true, '/b/node_modules/.bin/homeostat'],
    ['the program on the PATH', '', false, 'homeostat'],
  ] as const) {
    test(`the server is ${what}`, () => {
      const exists = (path: string) => installed && path.startsWith('/b/');
      const found = serverCommand({ setting, folders: ['/a', '/b'], exists });
      assert.deepEqual(found, { command, args: ['lsp'] });
    });
  }

  test('the server starts once, with the first document of Homeostat', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [documentOf('yaml', 'a: 1'), documentOf('markdown', 'homeostat.dev/')];
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    assert.deepEqual(editor.events, []);
    editor.listeners.open?.(definition);
    editor.listeners.change?.({ document: definition });
    await session.deactivate();
    assert.deepEqual(editor.events, ['start homeostat', 'stop homeostat']);
  });

  test('another path restarts the server; other settings do not', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    editor.setting = '/new/homeostat';
    editor.listeners.configuration?.({ affectsConfiguration: () => false });
    editor.listeners.configuration?.({ affectsConfiguration: () => true });
    await session.deactivate();
    assert.deepEqual(editor.events, [
      'start homeostat',
      'stop homeostat',
      'start /new/homeostat',
      'stop /new/homeostat',
    ]);
  });

  test('a program that cannot be started is reported with what to do, and can be started again', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    editor.failure = new Error('spawn homeostat ENOENT');
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    assert.deepEqual(editor.messages, [
      'Cannot start "homeostat": spawn homeostat ENOENT. Install it, or set "homeostat.path"',
    ]);
    editor.failure = undefined;
    await editor.listeners['homeostat.restart']?.(undefined);
    await session.deactivate();
    assert.deepEqual(editor.events, ['start homeostat', 'start homeostat', 'stop homeostat']);
  });

  test('the program of the workspace reports a mistake in an open document, and ends with the editor', async () => {
    const root = mkdtempSync(join(tmpdir(), 'homeostat-vscode-'));
    const program = join(root, 'node_modules/.bin/homeostat');
    mkdirSync(dirname(program), { recursive: true });
    const words = homeostatCommand().map((word) => `'${word}'`);
    writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
    const uri = 'file:///shop/podset.yaml';
    const text = operatorText('podset').replace('template:', 'tempalte:');
    const editor = new FakeEditor();
    editor.folder = root;
    editor.textDocuments = [documentOf('yaml', text)];
    const reported = Promise.withResolvers<readonly Diagnostic[]>();
    const ended = Promise.withResolvers<number | null>();
    // As the client of VS Code does it.
    const createClient = ({ command, args }: ServerCommand) => {
      const stdio: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit'];
      const server = spawn(command, [...args, '--stdio'], { stdio });
      server.on('exit', (code) => ended.resolve(code));
      const client = new LspClient(server.stdout, server.stdin);
      return {
        async start() {
          await client.initialize();
          await client.open(uri, text);
          client.diagnosticsOf(uri, 1).then(reported.resolve, reported.reject);
        },
        stop: () => client.shutdown(),
      };
    };
    const session = editor.session(createClient);
    await session.activate({ subscriptions: [] });
    const [first] = await reported.promise;
    assert.match(String(first?.message), /^Unknown field "tempalte"/);
    await session.deactivate();
    assert.equal(await ended.promise, 0);
    assert.deepEqual(editor.messages, []);
    rmSync(root, { recursive: true });
  });
});
