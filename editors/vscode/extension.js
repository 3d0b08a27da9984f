// biome-ignore lint/correctness/noUndeclaredDependencies: the editor provides it
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');
const { createSession } = require('./session.js');

const session = createSession({
  vscode,
  createClient: (server) =>
    new LanguageClient(
      'homeostat',
      'Homeostat',
      { ...server, transport: TransportKind.stdio },
      { documentSelector: [{ language: 'yaml' }] },
    ),
});

module.exports = session;
