// biome-ignore lint/correctness/noUndeclaredDependencies: the editor provides it
const vscode = require('vscode');
const {
  CloseAction,
  ErrorAction,
  LanguageClient,
  State,
  TransportKind,
} = require('vscode-languageclient/node');
const { createSession } = require('./session.js');

/** Files and texts that are not saved yet. Not the versions of a comparison: their problems are of the past. */
const documentSelector = ['file', 'untitled'].map((scheme) => ({ scheme, language: 'yaml' }));

/** A client that reports nothing to the author itself: errors are written into the output. `onEnd`: a server that ran has died. */
function createClient(server, { output, onEnd }) {
  const client = new LanguageClient(
    'homeostat',
    'Homeostat',
    { ...server, transport: TransportKind.stdio },
    {
      documentSelector,
      outputChannel: output,
      errorHandler: {
        // What was written to a server that has died: the end of its process follows.
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      initializationFailedHandler: () => false,
    },
  );
  const log = client.error.bind(client);
  // The library would show each error of a start, up to ten at once.
  client.error = (message, data) => log(message, data, false);
  let isRunning = false;
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped && isRunning) onEnd();
    isRunning = newState === State.Running;
  });
  return {
    start: () => client.start(),
    stop() {
      isRunning = false;
      return client.stop();
    },
  };
}

module.exports = createSession({ vscode, createClient });
