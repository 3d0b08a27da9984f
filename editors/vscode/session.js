const { serverCommand } = require('./server-command.js');

/** The documents for which the server is started: YAML files of Homeostat. */
function isOwn(document) {
  return document.languageId === 'yaml' && document.getText().includes('homeostat.dev/');
}

/**
 * Starts the language server when the first document of Homeostat is open, and again when the setting changes.
 * @param {object} options
 * @param {typeof import('vscode')} options.vscode
 * @param {(server: { command: string, args: string[] }) => { start(): Promise<void>, stop(): Promise<void> }} options.createClient
 */
function createSession({ vscode, createClient }) {
  const { workspace, window, commands } = vscode;
  let client;
  // One after the other: a restart waits for the start before it.
  let last = Promise.resolve();

  async function start() {
    const server = serverCommand({
      setting: workspace.getConfiguration('homeostat').get('path', ''),
      folders: (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
    });
    client = createClient(server);
    try {
      await client.start();
    } catch (error) {
      client = undefined;
      const advice = 'Install it, or set "homeostat.path"';
      void window.showErrorMessage(`Cannot start "${server.command}": ${error.message}. ${advice}`);
    }
  }

  async function stop() {
    const running = client;
    client = undefined;
    await running?.stop();
  }

  function inOrder(...steps) {
    for (const step of steps) last = last.then(step);
    return last;
  }

  let isWanted = false;
  function startFor(document) {
    if (isWanted || !isOwn(document)) return;
    isWanted = true;
    void inOrder(start);
  }

  return {
    /** Follows the documents of the editor. */
    activate({ subscriptions }) {
      subscriptions.push(
        workspace.onDidOpenTextDocument(startFor),
        workspace.onDidChangeTextDocument(({ document }) => startFor(document)),
        workspace.onDidChangeConfiguration((change) => {
          if (isWanted && change.affectsConfiguration('homeostat.path')) void inOrder(stop, start);
        }),
        commands.registerCommand('homeostat.restart', () => {
          isWanted = true;
          return inOrder(stop, start);
        }),
      );
      for (const document of workspace.textDocuments) startFor(document);
      return last;
    },
    deactivate: () => inOrder(stop),
  };
}

module.exports = { createSession };
