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

/** Shows the proposals for the value after a key was accepted, if there are some. */
async function provideCompletionItem(document, position, context, token, next) {
  const found = await next(document, position, context, token);
  const items = Array.isArray(found) ? found : (found?.items ?? []);
  for (const item of items)
    if (item.data?.isContinued)
      item.command = { command: 'editor.action.triggerSuggest', title: 'Suggest' };
  return found;
}

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
      middleware: { provideCompletionItem },
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
