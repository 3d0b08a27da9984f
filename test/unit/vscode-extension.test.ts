import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Diagnostic } from '#lsp/protocol.ts';
import { homeostatCommand } from '../support/executable.ts';
import { LspClient } from '../support/lsp/lsp-client.ts';
import { operatorText } from '../support/lsp/marked-text.ts';

const folder = new URL('../../editors/vscode/', import.meta.url);
const load = createRequire(folder);

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}
interface Reports {
  onEnd(): void;
}
interface Session {
  activate(context: { readonly subscriptions: unknown[] }): Promise<void>;
  deactivate(): Promise<void>;
}
type Listener = (event: unknown) => unknown;

interface ServerOptions {
  readonly setting: string;
  readonly folders: readonly string[];
  readonly searchPath?: string;
  readonly isProgram?: (path: string) => boolean;
}
type FindServer = (options: ServerOptions) => ServerCommand | undefined;

const { serverCommand } = load('./server-command.js') as { serverCommand: FindServer };
const { createSession } = load('./session.js') as {
  createSession(options: {
    readonly vscode: unknown;
    readonly createClient: unknown;
    readonly findServer: FindServer;
    readonly startPatienceMs: number;
    readonly now: () => number;
  }): Session;
};

const installed = '/shop/node_modules/.bin/homeostat';
const definition = documentOf('yaml', 'apiVersion: homeostat.dev/v1alpha1');

/** A document of the editor. @param path default: it is not saved */
function documentOf(languageId: string, text: string, path?: string) {
  const uri =
    path === undefined ? { scheme: 'untitled', fsPath: '' } : { scheme: 'file', fsPath: path };
  return { languageId, getText: () => text, uri };
}

/** The parts of the API of VS Code that the extension uses. */
class FakeEditor {
  readonly listeners: Record<string, Listener> = {};
  readonly messages: string[] = [];
  readonly events: string[] = [];
  setting = '';
  /** Whether the program of the workspace or the setting exists. */
  hasProgram = true;
  /** The button that the user presses in the next message; before "Try Again", the program is installed. */
  answer: string | undefined;
  remoteName: string | undefined;
  /** Ends the server that runs. */
  kill = () => {};
  /** In ms. */
  time = 0;
  startFails = false;
  startHangs = false;
  stopFails = false;
  textDocuments: readonly unknown[] = [];
  folder = '/shop';

  session(
    createClient: (server: ServerCommand, reports: Reports) => unknown = this.#fakeClient,
  ): Session {
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
      window: {
        showErrorMessage: async (text: string, ...buttons: string[]) => {
          this.messages.push(`${text} [${buttons.join('] [')}]`);
          const { answer } = this;
          this.answer = undefined;
          if (answer === 'Try Again') this.hasProgram = true;
          return answer;
        },
        createOutputChannel: (name: string) => ({
          show: () => void this.events.push(`show ${name}`),
          dispose: () => {},
        }),
      },
      commands: {
        registerCommand: (name: string, run: Listener) => on(name)(run),
        executeCommand: async (name: string, { query }: { readonly query: string }) =>
          void this.events.push(`${name} ${query}`),
      },
      env: { remoteName: this.remoteName },
    };
    const findServer: FindServer = (options) =>
      serverCommand({ ...options, searchPath: '/usr/bin', isProgram: () => this.hasProgram });
    return createSession({
      vscode,
      createClient,
      findServer,
      startPatienceMs: 1,
      now: () => this.time,
    });
  }

  readonly #fakeClient = ({ command }: ServerCommand, { onEnd }: Reports) => ({
    start: async () => {
      this.events.push(`start ${command}`);
      if (this.startHangs) await new Promise(() => {});
      if (this.startFails) throw new Error('The process has ended');
      this.kill = onEnd;
    },
    stop: async () => {
      this.events.push(`stop ${command}`);
      if (this.stopFails) throw new Error('The client is not running');
    },
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

  for (const [what, setting, missing, command] of [
    ['the setting', '/opt/homeostat', '/none', '/opt/homeostat'],
    ['the setting, relative to the first folder', 'bin/homeostat', '/none', '/a/bin/homeostat'],
    ['the program of a folder', '', '/a/', '/b/node_modules/.bin/homeostat'],
    ['the first program on the PATH', '', /^\/[ab]\/|^\/usr\/local/, '/usr/bin/homeostat'],
  ] as const) {
    test(`the server is ${what}`, () => {
      const found = serverCommand({
        setting,
        folders: ['/a', '/b'],
        searchPath: '/usr/local/bin::/usr/bin:/bin',
        isProgram: (path) =>
          typeof missing === 'string' ? !path.startsWith(missing) : !missing.test(path),
      });
      assert.deepEqual(found, { command, args: ['lsp'] });
    });
  }

  test('a folder and a file that cannot be executed are no programs', () => {
    const folders = [fileURLToPath(folder)];
    const options = { folders, searchPath: '' };
    assert.equal(serverCommand({ ...options, setting: '.' }), undefined);
    assert.equal(serverCommand({ ...options, setting: 'README.md' }), undefined);
    assert.equal(serverCommand({ ...options, setting: 'missing' }), undefined);
    assert.equal(serverCommand({ ...options, setting: '' }), undefined);
    assert.equal(
      serverCommand({ ...options, setting: process.execPath })?.command,
      process.execPath,
    );
  });

  test('the server starts once, with the first document of Homeostat', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [documentOf('yaml', 'a: 1'), documentOf('markdown', 'homeostat.dev/')];
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    assert.deepEqual(editor.events, []);
    editor.listeners.open?.(definition);
    editor.listeners.change?.({ document: definition });
    await session.deactivate();
    assert.deepEqual(editor.events, [`start ${installed}`, `stop ${installed}`]);
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
      `start ${installed}`,
      `stop ${installed}`,
      'start /new/homeostat',
      'stop /new/homeostat',
    ]);
  });

  test('a missing program is reported with what to do, and is found after it was installed', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    editor.hasProgram = false;
    editor.answer = 'Open Settings';
    editor.remoteName = 'ssh-remote';
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    assert.deepEqual(editor.messages, [
      'Cannot find "homeostat" in the workspace or on the PATH. Install it, or set "homeostat.path" [Try Again] [Open Settings]',
    ]);
    editor.setting = '/opt/homeostat';
    await editor.listeners['homeostat.restart']?.(undefined);
    assert.equal(
      editor.messages[1],
      'Cannot execute "/opt/homeostat". Correct the setting "homeostat.path" [Try Again] [Open Settings]',
    );
    editor.hasProgram = true;
    await editor.listeners['homeostat.restart']?.(undefined);
    await session.deactivate();
    assert.deepEqual(editor.events, [
      'workbench.action.openRemoteSettings homeostat.path',
      'start /opt/homeostat',
      'stop /opt/homeostat',
    ]);
  });

  test('"Try Again" looks for the program again', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    editor.hasProgram = false;
    editor.answer = 'Try Again';
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    await new Promise((resolve) => setImmediate(resolve));
    await session.deactivate();
    assert.equal(editor.messages.length, 1);
    assert.deepEqual(editor.events, [`start ${installed}`, `stop ${installed}`]);
  });

  test('a server that fails to start or to stop is reported once, and can be restarted', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    editor.startFails = true;
    editor.stopFails = true;
    editor.answer = 'Show Output';
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    editor.startFails = false;
    await editor.listeners['homeostat.restart']?.(undefined);
    await session.deactivate();
    assert.deepEqual(editor.events, [
      `start ${installed}`,
      'show Homeostat',
      `stop ${installed}`,
      `start ${installed}`,
      `stop ${installed}`,
    ]);
    assert.deepEqual(editor.messages, [
      `The language server "${installed}" does not run. The output has the reason [Try Again] [Show Output]`,
    ]);
  });

  test('a server that dies is started again, but not more than four times within three minutes', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    const starts = () => editor.events.filter((event) => event.startsWith('start')).length;
    const kill = async (afterMs: number) => {
      editor.time += afterMs;
      editor.kill();
      await new Promise((resolve) => setImmediate(resolve));
    };
    for (let death = 1; death <= 8; death++) await kill(60_000);
    assert.equal(starts(), 9);
    await kill(1000);
    assert.deepEqual(editor.messages, []);
    await kill(1000);
    assert.equal(starts(), 10);
    assert.equal(editor.messages.length, 1);
    await session.deactivate();
  });

  test('a program that never answers is replaced by a restart', async () => {
    const editor = new FakeEditor();
    editor.textDocuments = [definition];
    editor.setting = '/bin/other';
    editor.startHangs = true;
    const session = editor.session();
    await session.activate({ subscriptions: [] });
    editor.startHangs = false;
    editor.setting = '';
    editor.listeners.configuration?.({ affectsConfiguration: () => true });
    await session.deactivate();
    assert.deepEqual(editor.events, [
      'start /bin/other',
      'stop /bin/other',
      `start ${installed}`,
      `stop ${installed}`,
    ]);
  });

  test('a sample starts the server, if it is in a folder "samples" beside definitions', async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'homeostat-vscode-'));
    t.after(() => rmSync(root, { recursive: true }));
    writeFileSync(join(root, 'podset.yaml'), operatorText('podset'));
    mkdirSync(join(root, 'others'));
    writeFileSync(join(root, 'others/values.yaml'), 'a: 1');
    const sample = 'apiVersion: apps.example.com/v1\nkind: PodSet\n';
    for (const [language, path, starts] of [
      ['yaml', 'samples/podset.yaml', 1],
      ['markdown', 'samples/podset.yaml', 0],
      ['yaml', 'other/podset.yaml', 0],
      ['yaml', 'others/samples/podset.yaml', 0],
      ['yaml', 'nowhere/samples/podset.yaml', 0],
    ] as const) {
      const editor = new FakeEditor();
      const session = editor.session();
      await session.activate({ subscriptions: [] });
      editor.listeners.open?.(documentOf(language, sample, join(root, path)));
      await session.deactivate();
      const started = editor.events.filter((event) => event.startsWith('start'));
      assert.equal(started.length, starts, `${language} ${path}`);
    }
  });

  for (const [what, path, text, message] of [
    [
      'a definition',
      'operators/podset.yaml',
      operatorText('podset').replace('template:', 'tempalte:'),
      /^Unknown field "tempalte"/,
    ],
    [
      'a sample that is open alone',
      'operators/samples/podset.yaml',
      'apiVersion: apps.example.com/v1alpha1\nkind: PodSet\nmetadata: { name: a }\nspec: {}\n',
      /^Missing field "size"/,
    ],
  ] as const)
    test(`the program of the workspace reports a mistake in ${what}, and ends with the editor`, async (t) => {
      const root = mkdtempSync(join(tmpdir(), 'homeostat-vscode-'));
      mkdirSync(join(root, 'operators/samples'), { recursive: true });
      writeFileSync(join(root, 'operators/podset.yaml'), operatorText('podset'));
      const file = join(root, path);
      writeFileSync(file, text);
      const program = join(root, 'node_modules/.bin/homeostat');
      mkdirSync(dirname(program), { recursive: true });
      const words = homeostatCommand().map((word) => `'${word}'`);
      writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
      const uri = pathToFileURL(file).href;
      const editor = new FakeEditor();
      editor.folder = root;
      editor.textDocuments = [documentOf('yaml', text, file)];
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
      t.after(() => session.deactivate());
      await session.activate({ subscriptions: [] });
      const [first] = await reported.promise;
      assert.match(String(first?.message), message);
      await session.deactivate();
      assert.equal(await ended.promise, 0);
      assert.deepEqual(editor.messages, []);
      rmSync(root, { recursive: true });
    });
});
