const { isOwnDocument, isSample } = require('./own-document.js');
const { serverCommand } = require('./server-command.js');

/** A server that dies more often than this within this time, in ms, is not started again. */
const maxDeaths = 4;
const deathsWithinMs = 180_000;

/**
 * Starts the language server when the first document of Homeostat is open, and again when the setting changes.
 * @param {object} options
 * @param {typeof import('vscode')} options.vscode
 * @param {(server: { command: string, args: string[] }, reports: { output: import('vscode').LogOutputChannel, onEnd: () => void }) =>
 *   { start(): Promise<void>, stop(): Promise<void> }} options.createClient `onEnd`: a server that ran has died
 * @param {typeof serverCommand} [options.findServer]
 * @param {number} [options.startPatienceMs] how long a restart waits for a start before it: a program that is no language server never answers
 * @param {() => number} [options.now] in ms
 */
function createSession({
  vscode,
  createClient,
  findServer = serverCommand,
  startPatienceMs = 5000,
  now = Date.now,
}) {
  const { workspace, window, commands, env } = vscode;
  let client;
  let output;
  // One after the other: a restart waits for the start before it.
  let last = Promise.resolve();

  async function start() {
    const setting = workspace.getConfiguration('homeostat').get('path', '');
    const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const server = findServer({ setting, folders });
    if (server === undefined) return void reportMissing(setting);
    output ??= window.createOutputChannel('Homeostat', { log: true });
    const started = createClient(server, { output, onEnd: () => void startAgain(server) });
    client = started;
    const start = started.start().catch(() => {
      if (client === started) void reportFailure(server);
    });
    await Promise.race([start, elapsed(startPatienceMs)]);
  }

  /** A server that dies is started again, until it has died too often. */
  let deaths = [];
  function startAgain(server) {
    const time = now();
    deaths = [...deaths.filter((earlier) => time - earlier < deathsWithinMs), time];
    return deaths.length > maxDeaths ? reportFailure(server) : restart();
  }

  async function stop() {
    const running = client;
    client = undefined;
    await running?.stop().catch(() => {});
  }

  function reportMissing(setting) {
    const message =
      setting === ''
        ? 'Cannot find "homeostat" in the workspace or on the PATH. Install it, or set "homeostat.path"'
        : `Cannot execute "${setting}". Correct the setting "homeostat.path"`;
    // The setting belongs to the machine: in a remote window, the settings of the user do not have it.
    const where = env.remoteName === undefined ? 'openSettings' : 'openRemoteSettings';
    return report(message, 'Open Settings', () =>
      commands.executeCommand(`workbench.action.${where}`, { query: 'homeostat.path' }),
    );
  }

  function reportFailure({ command }) {
    const message = `The language server "${command}" does not run. The output has the reason`;
    return report(message, 'Show Output', () => output.show());
  }

  async function report(message, remedy, run) {
    const answer = await window.showErrorMessage(message, 'Try Again', remedy);
    if (answer === 'Try Again') await restart();
    if (answer === remedy) await run();
  }

  function inOrder(...steps) {
    for (const step of steps) last = last.then(step);
    return last;
  }

  let isWanted = false;
  function startFor(document, isWorth) {
    if (isWanted || !isWorth(document)) return;
    isWanted = true;
    void inOrder(start);
  }

  function onOpen(document) {
    startFor(document, (each) => isOwnDocument(each) || isSample(each));
  }

  function restart() {
    isWanted = true;
    return inOrder(stop, start);
  }

  return {
    /** Follows the documents of the editor. */
    activate({ subscriptions }) {
      subscriptions.push(
        workspace.onDidOpenTextDocument(onOpen),
        workspace.onDidChangeTextDocument(({ document }) => startFor(document, isOwnDocument)),
        workspace.onDidChangeConfiguration((change) => {
          if (isWanted && change.affectsConfiguration('homeostat.path')) void restart();
        }),
        commands.registerCommand('homeostat.restart', restart),
      );
      for (const document of workspace.textDocuments) onOpen(document);
      return last;
    },
    async deactivate() {
      await inOrder(stop);
      output?.dispose();
    },
  };
}

function elapsed(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

module.exports = { createSession };
