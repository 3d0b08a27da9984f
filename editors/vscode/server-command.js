const { existsSync } = require('node:fs');
const { join, resolve } = require('node:path');

/**
 * Which program is the language server: the setting, else that of a folder of the workspace, else the one on the PATH.
 * @param {object} options
 * @param {string} options.setting `homeostat.path`; empty: not set
 * @param {readonly string[]} options.folders paths of the folders of the workspace
 * @param {(path: string) => boolean} [options.exists]
 * @returns {{ command: string, args: string[] }}
 */
function serverCommand({ setting, folders, exists = existsSync }) {
  const args = ['lsp'];
  if (setting !== '') return { command: resolve(folders[0] ?? '', setting), args };
  const installed = folders
    .map((folder) => join(folder, 'node_modules', '.bin', 'homeostat'))
    .find(exists);
  return { command: installed ?? 'homeostat', args };
}

module.exports = { serverCommand };
